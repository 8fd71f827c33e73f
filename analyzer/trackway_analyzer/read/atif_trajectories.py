"""ATIF trajectories, versions 1.0 to 1.8, as spans.

1. A trajectory is one trace: an agent span, a model span for each agent step, a tool span for each
   call that was answered. A call without an answer was asked for and not run.
2. A result without `source_call_id` answers the calls of its step in their order; the span then has
   no call id, for nobody wrote one.
3. A step that says `llm_call_count` 0 has no model span. Steps of copied context are no steps; they
   are what the next model turn was told. So is what the system and the user say.
4. A sub-agent's trajectory stands below the call that refers to it, else below the agent.
5. Times are the steps' own; where there is none, none is made up. The order is that of the steps.
6. What has no place in a span stays in attributes under `atif.`.
7. A result that answers no call of its step is heard by the next turn, and put aside: nobody says
   what was carried out. A version that is not known is read all the same, and told of.
8. A trajectory whose list of steps is empty is a run without steps; one without that list is put
   aside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trackway.schema import GenAI, Trackway
from trackway_analyzer.dialects.values import json_of, text
from trackway_analyzer.json_text import UnencodableError, compact
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.atif_evidence import EXTRA
from trackway_analyzer.read.foreign_values import made_id, time_of
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.session_spans import Answer, SessionSpans
from trackway_analyzer.spans import Attributes, RawSpan

_VERSION: Final = "ATIF-v"
_KNOWN: Final = frozenset(f"ATIF-v1.{minor}" for minor in range(9))
_MAX_DEPTH: Final = 32
_SHOWN: Final = 32
_OF_STEP: Final = ("reasoning_effort", "is_copied_context", "extra")
_FAILED: Final = ("is_error", "failed")

Object = dict[str, Any]


def atif_trajectories(document: Any) -> list[Any] | None:
    """Return the trajectories of a document; None where it holds none."""
    items = document if isinstance(document, list) else [document]
    return items if any(map(_is_trajectory, items)) else None


def _is_trajectory(item: Any) -> bool:
    version = item.get("schema_version") if isinstance(item, dict) else None
    return isinstance(version, str) and version.startswith(_VERSION)


def atif_spans(items: list[Any], quarantine: Quarantine, offset: int | None) -> Iterator[RawSpan]:
    """Return trajectories as spans."""
    for place, item in enumerate(items):
        if not _is_trajectory(item) or not isinstance(item.get("steps"), list):
            quarantine.add(Reason.BROKEN_SPAN, "a trajectory without steps", offset)
            continue
        try:
            # The place first: runs without times come in the order of the file.
            key = f"{(offset or 0) + place & 0xFFFFFFFF:08x}{made_id(compact(item), digits=24)}"
        except UnencodableError as error:
            quarantine.add(Reason.TOO_DEEP, f"a trajectory {error}", offset)
            continue
        if item["schema_version"] not in _KNOWN:
            detail = f"read as ATIF-v1.8: {item['schema_version'][:_SHOWN]}"
            quarantine.add(Reason.UNKNOWN_VERSION, detail, offset)
        session = SessionSpans("atif", key)
        _Reading(session, quarantine, offset).trajectory(item, None, 0)
        yield from session.ended()


class _Reading:
    """One trajectory, with its sub-agents, on its way into spans."""

    def __init__(self, session: SessionSpans, quarantine: Quarantine, offset: int | None) -> None:
        self._session = session
        self._quarantine = quarantine
        self._offset = offset

    def trajectory(self, item: Object, parent: str | None, depth: int) -> None:
        """Put a trajectory down as spans below a span."""
        if depth > _MAX_DEPTH:
            self._quarantine.add(Reason.TOO_DEEP, "sub-agents nested too deep", self._offset)
            return
        agent = item.get("agent")
        agent = agent if isinstance(agent, dict) else {}
        steps = [step for step in item["steps"] if isinstance(step, dict)]
        if len(steps) < len(item["steps"]):
            self._broken("a step must be an object", len(item["steps"]) - len(steps))
        times = [time for step in steps if (time := time_of(step.get("timestamp"))) is not None]
        head = self._session.agent(
            text(agent.get("name")) or "",
            _about(item, agent),
            parent,
            start=min(times, default=None),
            end=max(times, default=None),
        )
        subagents = _subagents(item)
        if len(subagents) < len(_list(item, "subagent_trajectories")):
            self._broken("a sub-agent's trajectory without steps", 1)
        for step in steps:
            self._step(step, agent, head, subagents, depth)
        for left in subagents.values():
            self.trajectory(left, head, depth + 1)

    def _step(
        self, step: Object, agent: Object, head: str, subagents: dict[str, Object], depth: int
    ) -> None:
        calls = [call for call in _list(step, "tool_calls") if isinstance(call, dict)]
        if len(calls) < len(_list(step, "tool_calls")):
            self._broken("a tool call must be an object", 1)
        results = _results(step)
        message = _content(step.get("message"))
        copied = step.get("is_copied_context") is True
        if step.get("source") != "agent" or copied:
            self._heard(step, message, calls, results, head)
            return
        time = time_of(step.get("timestamp"))
        if step.get("llm_call_count") != 0:
            attributes = _turn(step, agent, message, calls)
            self._session.model(head, attributes, start=time)
        elif message:
            self._session.hear(head, {"role": "assistant", "content": message})
        for call, result in _paired(calls, results):
            if result is None:
                continue
            span = self._session.tool(head, _answer(call, result), start=time)
            for name in _references(result):
                if name in subagents:
                    self.trajectory(subagents.pop(name), span, depth + 1)
        for result in _left(calls, results):
            self._stray(head, result)

    def _heard(
        self, step: Object, message: JsonValue, calls: list[Any], results: list[Any], head: str
    ) -> None:
        role = "assistant" if step.get("source") == "agent" else text(step.get("source")) or "user"
        said: Object = {"role": role, "content": message}
        if step.get("is_copied_context") is True and (calls or results):
            # No calls of this trajectory: they are told, and nothing is to be made of them.
            beside = {"type": "copied_context", "calls": calls, "results": results}
            said = {"role": role, "parts": [{"type": "text", "content": message}, beside]}
        self._session.hear(head, said)
        if step.get("is_copied_context") is not True:
            for result in results:
                self._stray(head, result)

    def _stray(self, head: str, result: Object) -> None:
        """Let a result that answers no call of its step be heard."""
        self._broken("a result that answers no call of its step", 1)
        self._session.hear(head, {"role": "tool", "content": _content(result.get("content"))})

    def _broken(self, detail: str, count: int) -> None:
        self._quarantine.add(Reason.BROKEN_VALUE, detail, self._offset, count=count)


def _about(item: Object, agent: Object) -> Attributes:
    """Return the attributes of an agent span."""
    metrics = item.get("final_metrics")
    metrics = metrics if isinstance(metrics, dict) else {}
    found: Attributes = {
        GenAI.AGENT_NAME: agent.get("name"),
        GenAI.CONVERSATION_ID: item.get("session_id"),
        Trackway.AGENT_VERSION: agent.get("version"),
        GenAI.REQUEST_MODEL: agent.get("model_name"),
        GenAI.TOOL_DEFINITIONS: agent.get("tool_definitions"),
        GenAI.INPUT_TOKENS: metrics.get("total_prompt_tokens"),
        GenAI.OUTPUT_TOKENS: metrics.get("total_completion_tokens"),
        GenAI.CACHE_READ_TOKENS: metrics.get("total_cached_tokens"),
        Trackway.COST_USD: metrics.get("total_cost_usd"),
        "atif.schema_version": item.get("schema_version"),
        "atif.agent.extra": agent.get("extra"),
        "atif.final_metrics.extra": metrics.get("extra"),
        "atif.final_metrics.total_steps": metrics.get("total_steps"),
    }
    for name in ("trajectory_id", "notes", "continued_trajectory_ref"):
        found[f"atif.{name}"] = item.get(name)
    extra = item.get("extra")
    if isinstance(extra, dict):
        found["atif.extra"] = {name: inner for name, inner in extra.items() if name != EXTRA}
        ours = extra.get(EXTRA)
        found |= _told_by_us(ours.get("run") if isinstance(ours, dict) else None)
    return found


_RUN: Final = {
    "suite_id": Trackway.SUITE_ID,
    "task_id": Trackway.TASK_ID,
    "trial": Trackway.TRIAL_INDEX,
    "variant": Trackway.VARIANT,
    "outcome_success": Trackway.OUTCOME_SUCCESS,
    "outcome_label": Trackway.OUTCOME_LABEL,
}


def _told_by_us(run: Any) -> Attributes:
    return {key: run.get(name) for name, key in _RUN.items()} if isinstance(run, dict) else {}


def _turn(step: Object, agent: Object, message: JsonValue, calls: list[Any]) -> Attributes:
    metrics = step.get("metrics")
    metrics = metrics if isinstance(metrics, dict) else {}
    extra = metrics.get("extra")
    extra = extra if isinstance(extra, dict) else {}
    said: Object = {"role": "assistant", "content": message}
    if calls:
        said["tool_calls"] = [_requested(call) for call in calls]
    output: list[Any] = [said]
    reasoning = step.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning:
        part = {"type": "reasoning", "content": reasoning}
        output.insert(0, {"role": "assistant", "parts": [part]})
    found: Attributes = {
        GenAI.OUTPUT_MESSAGES: output,
        GenAI.REQUEST_MODEL: step.get("model_name") or agent.get("model_name"),
        GenAI.INPUT_TOKENS: metrics.get("prompt_tokens"),
        GenAI.OUTPUT_TOKENS: metrics.get("completion_tokens"),
        GenAI.CACHE_READ_TOKENS: metrics.get("cached_tokens"),
        GenAI.CACHE_WRITE_TOKENS: extra.get(
            "cache_write", extra.get("cache_creation_input_tokens")
        ),
        GenAI.REASONING_TOKENS: extra.get("reasoning_tokens"),
        Trackway.COST_USD: metrics.get("cost_usd"),
        "atif.step_id": step.get("step_id"),
        "atif.metrics.extra": extra or None,
    }
    for name in _OF_STEP:
        found[f"atif.{name}"] = step.get(name)
    return found


def _requested(call: Object) -> Object:
    function = {"name": call.get("function_name"), "arguments": call.get("arguments")}
    return {"id": call.get("tool_call_id"), "type": "function", "function": function}


def _answer(call: Object, result: Object) -> Answer:
    extra = result.get("extra")
    extra = extra if isinstance(extra, dict) else {}
    ours = extra.get(EXTRA)
    ours = ours if isinstance(ours, dict) else {}
    failed = any(extra.get(name) is True for name in _FAILED) or extra.get("status") == "error"
    beside = {
        "atif.tool_call.extra": call.get("extra"),
        "atif.result.extra": extra or None,
        "atif.subagent_trajectory_ref": result.get("subagent_trajectory_ref"),
    }
    return Answer(
        call_id=_id(result.get("source_call_id")),
        tool=text(call.get("function_name")) or "",
        arguments=json_of(call.get("arguments")),
        value=_content(result.get("content")),
        failed=failed or "error_type" in ours,
        error_type=ours.get("error_type"),
        error_message=ours.get("error_message"),
        attributes=beside,
    )


def _paired(calls: list[Any], results: list[Any]) -> Iterator[tuple[Object, Object | None]]:
    """Return each call with its result: by call id, else in order where no result has one."""
    if _unnamed(results):
        for place, call in enumerate(calls):
            yield call, results[place] if place < len(results) else None
        return
    by_id = {_id(result.get("source_call_id")): result for result in reversed(results)}
    for call in calls:
        yield call, by_id.get(_id(call.get("tool_call_id")) or "")


def _unnamed(results: list[Any]) -> bool:
    return all(result.get("source_call_id") is None for result in results)


def _left(calls: list[Any], results: list[Any]) -> list[Any]:
    """Return results that answer no call of their step."""
    if _unnamed(results):
        return results[len(calls) :]
    known = {_id(call.get("tool_call_id")) for call in calls}
    return [result for result in results if _id(result.get("source_call_id")) not in known]


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _results(step: Object) -> list[Object]:
    observation = step.get("observation")
    results = observation.get("results") if isinstance(observation, dict) else None
    items = results if isinstance(results, list) else []
    return [item for item in items if isinstance(item, dict)]


def _references(result: Object) -> list[str]:
    names = []
    for reference in _list(result, "subagent_trajectory_ref"):
        if isinstance(reference, dict):
            name = reference.get("trajectory_id") or reference.get("session_id")
            if isinstance(name, str):
                names.append(name)
    return names


def _subagents(item: Object) -> dict[str, Object]:
    """Return the embedded trajectories of sub-agents by what refers to them."""
    found: dict[str, Object] = {}
    for place, inner in enumerate(_list(item, "subagent_trajectories")):
        if isinstance(inner, dict) and isinstance(inner.get("steps"), list):
            name = _id(inner.get("trajectory_id")) or _id(inner.get("session_id"))
            found[f"#{place}" if name is None or name in found else name] = inner
    return found


def _content(value: Any) -> JsonValue:
    """Return a message or result: parts of texts alone are one text."""
    if not isinstance(value, list):
        return value
    texts = [part.get("text") for part in value if isinstance(part, dict)]
    words = [text for text in texts if isinstance(text, str)]
    return "\n".join(words) if len(words) == len(value) else value


def _list(item: Object, name: str) -> list[Any]:
    value = item.get(name)
    return value if isinstance(value, list) else []
