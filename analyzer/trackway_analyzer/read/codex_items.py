"""What an item of a Codex session says: a call, its answer, or words.

1. Calls and answers are told by their type. An item of a type that nobody knows is a call if it has
   a name and arguments, or if its type says so (`…_call`); it is an answer if it has the id of a
   call and an output.
2. An output is text out of its parts, or out of `content`.
"""

from __future__ import annotations

from typing import Any, Final

from trackway_analyzer.dialects.provider_calls import Asked, Exchange, Told, exchange_of
from trackway_analyzer.dialects.values import json_of

Item = dict[str, Any]

_CALL: Final = "function_call"
_ANSWER: Final = "function_call_output"
_NO_CALLS: Final = frozenset(
    [
        *("message", "reasoning", "ghost_snapshot", "compaction", "compaction_summary"),
        *("context_compaction", "compaction_trigger", "agent_message", "other"),
    ]
)
_ARGUMENTS: Final = ("arguments", "input", "args", "action", "parameters")
_OUTPUTS: Final = ("output", "result", "response", "content")
_ANSWERED: Final = ("call_id", "tool_call_id", "tool_use_id")


def exchange_in(payload: Item) -> Exchange | None:
    """Return what an item tells of a call; None where it tells of none."""
    kind, call_id = payload.get("type"), payload.get("call_id") or payload.get("id")
    if kind == _CALL:
        arguments = json_of(payload.get("arguments"))
        return Exchange(Asked(call_id, payload.get("name"), {} if arguments == "" else arguments))
    if kind == _ANSWER:
        return Exchange(told=_told(Told(call_id, None, payload.get("output"))))
    exchange = exchange_of(payload)
    if exchange is None and is_of_unknown_type(payload):
        return _unknown(payload)
    if exchange is None or exchange.told is None:
        return exchange
    return exchange._replace(told=_told(exchange.told))


def is_of_unknown_type(payload: Item) -> bool:
    """Tell whether an item is of a type that nobody knows."""
    kind = payload.get("type")
    known = kind in (_CALL, _ANSWER) or kind in _NO_CALLS if isinstance(kind, str) else False
    return not known and exchange_of(payload) is None


def _unknown(payload: Item) -> Exchange | None:
    kind, name = payload.get("type"), payload.get("name")
    call_id = next((payload[key] for key in _ANSWERED if payload.get(key)), None)
    given = next((payload[key] for key in _ARGUMENTS if key in payload), None)
    if isinstance(name, str) and given is not None:
        return Exchange(Asked(call_id or payload.get("id"), name, json_of(given)))
    output = next((payload[key] for key in _OUTPUTS if payload.get(key) is not None), None)
    if isinstance(call_id, str) and output is not None:
        return Exchange(told=_told(Told(call_id, None, output)))
    if isinstance(kind, str) and kind.endswith("_call"):
        called = name if isinstance(name, str) else kind.removesuffix("_call")
        return Exchange(Asked(call_id or payload.get("id"), called, json_of(given)))
    return None


def _told(told: Told) -> Told:
    output = told.response
    failed = isinstance(output, dict) and output.get("success") is False
    return told._replace(failed=told.failed or failed)


def output_of(output: Any) -> Any:
    """Return what a call came to: text out of its parts, or out of `content`."""
    if isinstance(output, dict) and "content" in output:
        output = output["content"]
    if isinstance(output, list):
        texts = [part.get("text") for part in output if isinstance(part, dict)]
        words = [text for text in texts if isinstance(text, str)]
        if words and len(words) == len(output):
            return "\n".join(words)
    return output


def said_in(kind: str, payload: Item) -> Item:
    """Return the message that an item of this kind says; an empty one says nothing."""
    if kind == "message":
        return {"role": "assistant", "content": payload.get("content")}
    if kind == "reasoning":
        parts = [*_list(payload.get("summary")), *_list(payload.get("content"))]
        words = [part["text"] for part in parts if isinstance(part.get("text"), str)]
        part = {"type": "reasoning", "content": "\n".join(words)}
        return {"role": "assistant", "parts": [part]} if words else {}
    return {"role": "assistant", "parts": [payload]}


def _list(value: Any) -> list[Item]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
