"""Which messages does a record hold: what a model was told, and what it answered?

1. Told: `messages` (a list, or the text of one), Gemini's `contents`, a Responses API's `input`;
   before them `system`, `instructions` or `system_instruction`.
2. Answered: the messages of `choices`, `candidates` and `output`, or `message` alone.
3. A record without any of these is a wrapper: of a request, a response or both, as batches of
   OpenAI and Anthropic and logs of gateways are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trackway_analyzer.dialects.provider_calls import ITEMS
from trackway_analyzer.dialects.values import json_of
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.transcripts.message_shapes import is_of_framework

_ROLES: Final = frozenset(["system", "developer", "user", "assistant", "tool", "function", "model"])
_CONTENT: Final = ("content", "tool_calls", "toolCalls", "function_call", "parts", "refusal")
_TYPES: Final = frozenset(["human", "ai"])
"""Types that tell a LangChain message which has no role."""
_ITEMS: Final = frozenset(["function_call", "function_call_output", "reasoning"]) | ITEMS
_IDS: Final = ("call_id", "id", "approval_request_id")
_SYSTEM: Final = ("system", "instructions", "system_instruction", "systemInstruction")
_WRAPPERS: Final = ("body", "request", "response", "result")
_SESSION: Final = ("sessionId", "session_id")
"""What a line of a coding agent's session has beside its message: it is no record by itself."""
_MAX_DEPTH: Final = 3

READ: Final = (*_SYSTEM, "messages", "contents", "input", "output", "choices", "candidates")
"""Members of a record that hold nothing but messages."""


def is_message(item: Any) -> bool:
    """Tell whether an object is one message of a chat."""
    if not isinstance(item, dict):
        return False
    kind, role = item.get("type"), item.get("role")
    if isinstance(kind, str) and kind in _ITEMS:
        return not item.keys().isdisjoint(_IDS) or kind == "reasoning"
    if is_of_framework(item):
        return True
    if role is None:
        return isinstance(kind, str) and kind in _TYPES and "content" in item
    return isinstance(role, str) and role in _ROLES and not item.keys().isdisjoint(_CONTENT)


def messages_of(record: Mapping[str, Any], depth: int = 0) -> list[JsonValue]:
    """Return the messages of a record in their order; none where it holds none."""
    messages = [*_told(record), *_answered(record)]
    if messages:
        system = next((record[name] for name in _SYSTEM if record.get(name) is not None), None)
        if isinstance(system, dict) and isinstance(system.get("parts"), list):
            return [{"role": "system", "parts": system["parts"]}, *messages]
        return messages if system is None else [{"role": "system", "content": system}, *messages]
    if depth >= _MAX_DEPTH:
        return []
    inner = (record.get(name) for name in _WRAPPERS)
    return [m for each in inner if isinstance(each, dict) for m in messages_of(each, depth + 1)]


def model_of(record: Mapping[str, Any], depth: int = 0) -> str | None:
    """Return the model that a record names, or what it wraps."""
    name = record.get("model", record.get("modelVersion"))
    if isinstance(name, str) and name:
        return name
    inner = (record.get(name) for name in (*_WRAPPERS, "message") if depth < _MAX_DEPTH)
    found = (model_of(each, depth + 1) for each in inner if isinstance(each, dict))
    return next((each for each in found if each is not None), None)


def _told(record: Mapping[str, Any]) -> list[Any]:
    messages = json_of(record.get("messages"))
    if isinstance(messages, list):
        return messages
    contents = record.get("contents")
    if isinstance(contents, list) and any(map(_is_content, contents)):
        return [{"role": "user", **each} if _is_content(each) else each for each in contents]
    told = record.get("input")
    if isinstance(told, str) and isinstance(record.get("output"), list):
        return [{"role": "user", "content": told}]
    return told if isinstance(told, list) and any(map(is_message, told)) else []


def _is_content(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("parts"), list)


def _answered(record: Mapping[str, Any]) -> list[Any]:
    found: list[Any] = []
    for name, inner in (("choices", "message"), ("candidates", "content")):
        several = record.get(name)
        for each in several if isinstance(several, list) else ():
            if isinstance(each, dict) and isinstance(each.get(inner), dict):
                found.append({"role": "assistant", **each[inner]})
    output = record.get("output")
    if isinstance(output, list) and not isinstance(record.get("messages"), list):
        found += output
    elif isinstance(output, dict) and is_message(output.get("message")):
        found.append(output["message"])
    alone = record.get("message")
    if is_message(alone) and all(name not in record for name in _SESSION):
        found.append(alone)
    if not found and record.get("role") == "assistant" and is_message(record):
        return [record]
    return found
