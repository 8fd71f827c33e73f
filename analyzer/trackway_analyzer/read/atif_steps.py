"""What a step of an ATIF trajectory holds: a turn of the model, its calls, their results.

1. Calls or results that are one object alone are a list of it; a list that is JSON in a text is
   that list. A call bears `function_name`, or a name as other formats write it.
2. A result answers the call that its `source_call_id` names; without ids, calls in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trackway.schema import GenAI, Trackway
from trackway_analyzer.dialects.values import json_of, text
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.atif_evidence import EXTRA
from trackway_analyzer.read.call_shapes import tells_of_a_call
from trackway_analyzer.read.session_spans import Answer
from trackway_analyzer.spans import Attributes

Object = dict[str, Any]

_OF_STEP: Final = ("reasoning_effort", "is_copied_context", "extra")
_FAILED: Final = ("is_error", "failed")
_KNOWN: Final = frozenset(
    [
        *("step_id", "timestamp", "source", "model_name", "reasoning_effort", "message"),
        *("reasoning_content", "tool_calls", "observation", "metrics", "is_copied_context"),
        *("llm_call_count", "extra"),
    ]
)


def turn_of_step(step: Object, agent: Object, message: JsonValue, calls: list[Any]) -> Attributes:
    """Return the attributes of the model's turn in a step."""
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


def answer(call: Object, result: Object) -> Answer:
    """Return what a call came to."""
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
        call_id=id_of(result.get("source_call_id")),
        tool=text(call.get("function_name")) or "",
        arguments=json_of(call.get("arguments")),
        value=content(result.get("content")),
        failed=failed or "error_type" in ours,
        error_type=ours.get("error_type"),
        error_message=ours.get("error_message"),
        attributes=beside,
    )


def paired(calls: list[Any], results: list[Any]) -> Iterator[tuple[Object, Object | None]]:
    """Return each call with its result: by call id, else in order where no result has one."""
    if _unnamed(results):
        for place, call in enumerate(calls):
            yield call, results[place] if place < len(results) else None
        return
    by_id = {id_of(result.get("source_call_id")): result for result in reversed(results)}
    for call in calls:
        yield call, by_id.get(id_of(call.get("tool_call_id")) or "")


def _unnamed(results: list[Any]) -> bool:
    return all(result.get("source_call_id") is None for result in results)


def left(calls: list[Any], results: list[Any]) -> list[Any]:
    """Return results that answer no call of their step."""
    if _unnamed(results):
        return results[len(calls) :]
    known = {id_of(call.get("tool_call_id")) for call in calls}
    return [result for result in results if id_of(result.get("source_call_id")) not in known]


def id_of(value: Any) -> str | None:
    """Return an id; None for what is none."""
    return value if isinstance(value, str) and value else None


def calls_of_step(step: Object) -> tuple[list[Object], int]:
    """Return the calls of a step, and how many of them are none that can be read."""
    value = json_of(step.get("tool_calls"))
    items = value if isinstance(value, list) else [] if value is None else [value]
    calls = [_named(item) for item in items if isinstance(item, dict)]
    return calls, len(items) - len(calls)


def _named(call: Object) -> Object:
    """Return a call with its name, id and arguments under the names that ATIF gives them."""
    if isinstance(call.get("function_name"), str):
        return call
    inner = call.get("function")
    inner = inner if isinstance(inner, dict) else call
    given = next((inner[key] for key in ("arguments", "input", "args") if key in inner), None)
    called = call.get("tool_call_id") or call.get("id")
    found = {"function_name": inner.get("name"), "arguments": given, "tool_call_id": called}
    return {**call, **found}


def results_of_step(step: Object) -> tuple[list[Object], int]:
    """Return the results of a step, and how many of them are none that can be read."""
    observation = json_of(step.get("observation"))
    if isinstance(observation, dict):
        observation = observation.get("results")
    items = observation if isinstance(observation, list) else [observation]
    items = [item for item in items if item is not None]
    results = [item for item in items if isinstance(item, dict)]
    return results, len(items) - len(results)


def holds_calls_elsewhere(step: Object) -> bool:
    """Tell whether something of a step that ATIF does not know, or its message, tells of calls."""
    unknown = [value for key, value in step.items() if key not in _KNOWN]
    message = step.get("message")
    return tells_of_a_call(unknown) or (not isinstance(message, str) and tells_of_a_call(message))


def content(value: Any) -> JsonValue:
    """Return a message or result: parts of texts alone are one text."""
    if not isinstance(value, list):
        return value
    texts = [part.get("text") for part in value if isinstance(part, dict)]
    words = [text for text in texts if isinstance(text, str)]
    return "\n".join(words) if len(words) == len(value) else value


def list_of(item: Object, name: str) -> list[Any]:
    """Return the list under a name; what is no list is an empty one."""
    value = item.get(name)
    return value if isinstance(value, list) else []
