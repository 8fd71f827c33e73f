"""One run as one ATIF trajectory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from trackway.schema import Operation
from trackway_analyzer.atif.told import TOLD, Dialogues, as_text, messages_of, parts_of, text_of
from trackway_analyzer.json_text import compact
from trackway_analyzer.model import NOT_RECORDED, JsonValue, Step, Trajectory
from trackway_analyzer.read.atif_evidence import EXTRA, evidence_of
from trackway_analyzer.span_json import written_below

VERSION: Final = "ATIF-v1.7"
"""The newest version that every known reader takes; nothing of 1.8 is needed."""
_UNKNOWN: Final = "unknown"

Object = dict[str, Any]


def atif_of(trajectory: Trajectory, spans: pa.Table) -> Object:
    """Return a run as a trajectory; `spans` are the rows that it was made of."""
    run = trajectory.run
    steps = list(_steps(trajectory))
    for number, step in enumerate(steps, 1):
        step["step_id"] = number
    models = Counter(step["model_name"] for step in steps if "model_name" in step)
    agent: Object = {
        "name": run["agent"] or run["service"] or _UNKNOWN,
        "version": run["agent_version"] or _UNKNOWN,
    }
    if models:
        agent["model_name"] = models.most_common(1)[0][0]
    metrics = {
        "total_prompt_tokens": run["tokens_in"],
        "total_completion_tokens": run["tokens_out"],
        "total_cost_usd": run["cost"],
        "total_steps": len(steps),
    }
    return {
        "schema_version": VERSION,
        "session_id": run["session_id"] or trajectory.run_id,
        "trajectory_id": trajectory.run_id,
        "agent": agent,
        "steps": [_ordered(step) for step in steps],
        "final_metrics": _known(metrics),
        "extra": {EXTRA: {**_about(trajectory), **evidence_of(spans, steps)}},
    }


def _about(trajectory: Trajectory) -> Object:
    run = trajectory.run
    names = ("suite_id", "task_id", "trial", "variant", "outcome_success", "outcome_label")
    gaps = [_known({"name": gap.name, "count": gap.count}) for gap in trajectory.gaps]
    return {"run": _known({name: run[name] for name in names} | {"gaps": gaps or None})}


def _steps(trajectory: Trajectory) -> Iterator[Object]:
    """Yield the steps in order; a run that nobody was asked for says at least its input."""
    dialogues = Dialogues()
    answered = _answers(trajectory.steps)
    done: set[int] = set()
    asked = False
    for step in trajectory.steps:
        if step.position in done:
            continue
        if step.operation == Operation.LLM:
            told = list(dialogues.new_of(step))
            asked = asked or any(role == "user" for role, _ in told)
            yield from _told(told)
            calls = answered.get(step.position, [])
            done.update(call.position for call in calls)
            yield _turn(step, calls)
        else:
            if not asked and trajectory.input is not None:
                asked = True
                yield {"source": "user", "message": trajectory.input}
            yield _dispatch(step)
    yield from _frame(trajectory, asked)


def _frame(trajectory: Trajectory, asked: bool) -> Iterator[Object]:
    """Yield what only the run says: its input, where nothing was done, and its last words."""
    if not asked and not trajectory.steps:
        yield {"source": "user", "message": trajectory.input or ""}
    spoke = any(step.operation == Operation.LLM for step in trajectory.steps)
    if trajectory.final_text is not None and not spoke:
        yield {"source": "agent", "message": trajectory.final_text, "llm_call_count": 0}


def _answers(steps: tuple[Step, ...]) -> dict[int, list[Step]]:
    """Return the calls of each model turn, by its position."""
    found: dict[int, list[Step]] = {}
    for step in steps:
        if step.operation == Operation.TOOL and step.turn is not None:
            found.setdefault(step.turn, []).append(step)
    return found


def _told(messages: list[tuple[str, Object]]) -> list[Object]:
    """Return what a turn was told; answers stand at the copied step that asked for them."""
    made: list[Object] = []
    for role, message in messages:
        if role in TOLD:
            made.append({"source": role, "message": text_of(message)})
            continue
        for answer in parts_of(message, "tool_call_response"):
            step = next((step for step in reversed(made) if _asks(step, answer.get("id"))), None)
            result: Object = {"content": as_text(answer.get("response"))}
            if step is None:
                made.append(_copied({"message": ""}))
                step = made[-1]
            else:
                result["source_call_id"] = answer["id"]
            step.setdefault("observation", {"results": []})["results"].append(result)
        calls = _copied_calls(message)
        if calls or text_of(message):
            made.append(_copied({"message": text_of(message)} | calls))
    return made


def _copied(step: Object) -> Object:
    return {"source": "agent", "is_copied_context": True, **step}


def _copied_calls(message: Object) -> Object:
    calls = [
        {
            "tool_call_id": str(call.get("id") or f"copied_{place}"),
            "function_name": str(call.get("name") or _UNKNOWN),
            "arguments": _arguments(call.get("arguments")),
        }
        for place, call in enumerate(parts_of(message, "tool_call"))
    ]
    return {"tool_calls": calls} if calls else {}


def _asks(step: Object, call_id: JsonValue) -> bool:
    return any(call["tool_call_id"] == call_id for call in step.get("tool_calls", ()))


def _turn(step: Step, calls: list[Step]) -> Object:
    said = messages_of(step.output)
    reasoning = [part for message in said for part in parts_of(message, "reasoning")]
    made: Object = {
        "source": "agent",
        "message": "\n".join(filter(None, map(text_of, said))),
        "timestamp": _iso(step.start),
        "model_name": step.model_answered or step.model_requested,
        "reasoning_content": "\n".join(as_text(part.get("content")) for part in reasoning) or None,
        "llm_call_count": 1,
        "metrics": _metrics(step),
        **_called(calls),
        "extra": {EXTRA: _beside(step)},
    }
    return _known(made)


def _dispatch(step: Step) -> Object:
    """Return a step that no model asked for; what is no tool is called by its operation."""
    made: Object = {
        "source": "agent",
        "message": "",
        "timestamp": _iso(step.start),
        "llm_call_count": 0,
        **_called([step]),
        "extra": {EXTRA: _beside(step)},
    }
    return _known(made)


def _called(calls: list[Step]) -> Object:
    made: list[Object] = []
    results: list[Object] = []
    taken: set[str] = set()
    for call in calls:
        call_id = _call_id(call, taken)
        arguments = call.input if call.operation == Operation.RETRIEVAL else call.arguments
        result = call.output if call.operation == Operation.RETRIEVAL else call.result
        entry: Object = {
            "tool_call_id": call_id,
            "function_name": call.tool or call.operation,
            "arguments": _arguments(arguments),
            "extra": {EXTRA: _beside(call)},
        }
        made.append(entry)
        if call.executed:
            results.append(_result(call_id, call, result))
    found: Object = {"tool_calls": made} if made else {}
    return found | ({"observation": {"results": results}} if results else {})


def _result(call_id: str, call: Step, result: Any) -> Object:
    failure = _known({"error_type": call.error_type, "error_message": call.error_message})
    made: Object = {"source_call_id": call_id}
    if result is not NOT_RECORDED:
        made["content"] = as_text(result)
    elif call.error_message is not None:
        made["content"] = call.error_message
    if failure:
        made["extra"] = {"is_error": True, EXTRA: failure}
    return made


def _call_id(call: Step, taken: set[str]) -> str:
    """Return a call id that no other call of the step has."""
    call_id = call.call_id or f"call_{call.position}"
    if call_id in taken:
        call_id = f"{call_id}#{call.position}"
    taken.add(call_id)
    return call_id


def _arguments(value: Any) -> Object:
    """Return arguments as the object that ATIF wants; what cannot be one there is `input`."""
    if value is NOT_RECORDED or value is None:
        return {}
    if written_below(value) is None:
        return {"input": compact(value)}
    return value if isinstance(value, dict) else {"input": value}


def _metrics(step: Step) -> Object | None:
    extra = {"reasoning_tokens": step.tokens_reasoning, "cache_write": step.tokens_cache_write}
    metrics = {
        "prompt_tokens": step.tokens_in,
        "completion_tokens": step.tokens_out,
        "cached_tokens": step.tokens_cache_read,
        "cost_usd": step.cost,
        "extra": _known(extra) or None,
    }
    return _known(metrics) or None


def _beside(step: Step) -> Object:
    """Return the few words that stand at a step."""
    facts = {
        "position": step.position,
        "operation": None if step.operation in (Operation.LLM, Operation.TOOL) else step.operation,
        "agent": step.agent_path or step.agent,
        "kind": step.kind,
        "ok": step.ok,
        "attempt": step.attempt,
        "end": _iso(step.end),
        "synthesised": step.synthesised or None,
        "executed": None if step.executed else False,
        "finish_reasons": list(step.finish_reasons) or None,
        "error_type": step.error_type if step.operation != Operation.TOOL else None,
        "error_message": step.error_message if step.operation != Operation.TOOL else None,
    }
    return _known(facts)


_ORDER: Final = ("step_id", "timestamp", "source", "model_name", "message", "reasoning_content")


def _ordered(step: Object) -> Object:
    first = {name: step[name] for name in _ORDER if name in step}
    return first | {name: value for name, value in step.items() if name not in first}


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _known(values: dict[str, JsonValue]) -> Object:
    return {name: value for name, value in values.items() if value is not None}
