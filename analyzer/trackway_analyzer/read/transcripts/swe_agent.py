"""SWE-agent trajectories (`.traj`): a model turn and a command a step, no times, no reward.

1. A step of `trajectory` is a model turn (`response`) and the execution of its command (`action` →
   `observation`). Where the model called a function, name and arguments are the call's; else the
   command's first word is the tool and the command its only argument, and the call bears no id.
2. A step without a command asked for nothing. A file with `history` alone is a chat. A file whose
   lists are both empty is a run without steps.
3. What the model was told before its first turn stands in `history`; demonstrations are marked
   there and left out of the run.
4. SWE-agent names the file after the task and the folder after the configuration: task id and
   variant. The exit status is the outcome's label: whether the patch was right stands elsewhere.
5. Of an agent that tries again (`attempts`), each attempt is a run, its trial its place among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trackway.schema import GenAI, Trackway
from trackway_analyzer.dialects.message_forms import read_message
from trackway_analyzer.dialects.values import integer, number
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.transcripts.dialogue import write_dialogue
from trackway_analyzer.read.transcripts.shell_commands import commands_of
from trackway_analyzer.read.transcripts.written import (
    KEPT,
    Result,
    WrittenRun,
    kept,
    names_of,
    text_at,
    within_bounds,
)
from trackway_analyzer.spans import Attributes, RawSpan

_OF_STEP: Final = ("action", "observation", "response", "thought", "query", "tool_calls")
_OF_FILE: Final = ("trajectory", "history", "info")
TRIAL: Final = "trackway_attempt"
"""Member of an attempt: its place among the others, which is its trial."""


def swe_agent_files(document: Any) -> list[Any] | None:
    """Return the trajectory of a document; None where it is none."""
    if not isinstance(document, dict):
        return None
    tries = [each for each in _list(document, "attempts") if _of_file(each)]
    if tries:
        return _attempts(document, tries)
    return [document] if _of_file(document) else None


def _attempts(document: dict[str, Any], tries: list[Any]) -> list[Any]:
    """Return the attempts of an agent that tries again, and the chosen one if it is none."""
    about = {key: value for key, value in document.items() if key not in ("attempts", *_OF_FILE)}
    chosen = document if _of_file(document) else None
    own = [{**about, **each, TRIAL: place} for place, each in enumerate(tries)]
    if chosen is None or any(_lists(each) == _lists(chosen) for each in tries):
        return own
    return [*own, {key: value for key, value in chosen.items() if key != "attempts"}]


def _lists(document: Mapping[str, Any]) -> list[Any]:
    return [document.get("trajectory") or [], document.get("history") or []]


def _of_file(document: Any) -> bool:
    if not isinstance(document, dict):
        return False
    steps, history = document.get("trajectory"), document.get("history")
    if isinstance(steps, list) and any(map(_is_step, steps)):
        return True
    agents = isinstance(history, list) and any(
        isinstance(message, dict) and "role" in message and "agent" in message
        for message in history
    )
    empty = not (steps or history) and "trajectory" in document and "history" in document
    empty = empty and isinstance(document.get("info"), dict)
    return agents or empty


def _is_step(step: Any) -> bool:
    return isinstance(step, dict) and "action" in step and "observation" in step


def swe_agent_spans(
    items: list[Any], quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan]:
    """Write a trajectory as the spans of a run."""
    for place, document in enumerate(items):
        if within_bounds(document, quarantine, offset):
            names = names_of(quarantine.file)
            run = WrittenRun("swe-agent", document, place, named=names)
            history = [m for m in _list(document, "history") if isinstance(m, dict)]
            if "trajectory" in document:
                _write_steps(run, document, history, quarantine, offset)
            else:
                write_dialogue(run, map(_with_call_id, history))
            yield from run.ended(_facts(document, *names))


def _write_steps(
    run: WrittenRun,
    document: Mapping[str, JsonValue],
    history: list[dict[str, Any]],
    quarantine: Quarantine,
    offset: int | None,
) -> None:
    turns = [message for message in history if _is_turn(message)]
    for message in history:
        if _is_turn(message):
            break
        if not message.get("is_demo"):
            run.hear(message)
    for place, step in enumerate(_list(document, "trajectory")):
        if not _is_step(step):
            quarantine.add(Reason.BROKEN_SPAN, "a step without action and observation", offset)
            continue
        asked = turns[place] if place < len(turns) else {}
        _write_step(run, step, asked)


def _write_step(run: WrittenRun, step: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    said, action = step.get("response"), step.get("action")
    calls = step.get("tool_calls") or asked.get("tool_calls")
    raw = {"role": "assistant", "content": said, "tool_calls": calls or []}
    message = read_message(raw, "assistant")
    parts = message.parts if message is not None else []
    made = [part for part in parts if part.get("type") == "tool_call"]
    commands = commands_of(action) if isinstance(action, str) else []
    if len(made) != 1 and commands:
        made = [
            {"type": "tool_call", "name": each.name, "arguments": {"command": each.line}}
            for each in commands
        ]
        text = [{"type": "text", "content": said}] if isinstance(said, str) and said else []
        raw = {"role": "assistant", "parts": [*text, *made]}
    run.turn([raw])
    if not commands:
        run.hear({"role": "user", "content": step.get("observation")})
        return
    for place, call in enumerate(made):
        run.result(
            Result(
                call_id=call.get("id"),
                tool=call.get("name"),
                arguments=call.get("arguments"),
                value=None if place else step.get("observation"),
                attributes={} if place else kept(step, _OF_STEP),
            )
        )
    run.hear(
        {
            "role": "tool",
            "tool_call_id": made[0].get("id"),
            "name": made[0].get("name"),
            "content": step.get("observation"),
        }
    )


def _is_turn(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "assistant" and not message.get("is_demo")


def _with_call_id(message: dict[str, Any]) -> dict[str, Any]:
    """SWE-agent writes a list of the one call that was answered."""
    ids = message.get("tool_call_ids")
    single = isinstance(ids, list) and len(ids) == 1
    return message | {"tool_call_id": ids[0]} if single and ids else message


def _facts(document: Mapping[str, JsonValue], folder: str, name: str) -> Attributes:
    info = document.get("info")
    info = info if isinstance(info, dict) else {}
    usage = info.get("model_stats")
    usage = usage if isinstance(usage, dict) and usage.get("api_calls") else {}
    return {
        Trackway.TASK_ID: name or None,
        Trackway.VARIANT: folder or None,
        Trackway.TRIAL_INDEX: integer(document.get(TRIAL), bits=32),
        Trackway.OUTCOME_LABEL: text_at(info, "exit_status"),
        GenAI.INPUT_TOKENS: integer(usage.get("tokens_sent")),
        GenAI.OUTPUT_TOKENS: integer(usage.get("tokens_received")),
        Trackway.COST_USD: number(usage.get("instance_cost")),
        f"{KEPT}info": info or None,
        **kept(document, (TRIAL, *_OF_FILE)),
    }


def _list(document: Mapping[str, JsonValue], name: str) -> list[Any]:
    value = document.get(name)
    return value if isinstance(value, list) else []
