"""Messages of any provider or framework to one form.

    {"role": "assistant", "parts": [
        {"type": "text", "content": "..."},
        {"type": "tool_call", "id": "call_1", "name": "weather", "arguments": {"city": "Paris"}},
        {"type": "tool_call_response", "id": "call_1", "response": {"t": 14}}]}

1. Taken: GenAI parts, OpenAI chat messages and Responses items, Anthropic, Bedrock, Gemini and
   Vercel blocks, LangChain messages, choices and generations, each alone, in lists, or under
   `messages`.
2. Neighbours of the roles `assistant` or `tool` are one message: some write one for each call.
   Roles are `system`, `user`, `assistant`, `tool`, or what was written; a message of tool responses
   alone has the role `tool`.
3. `arguments` is an object where its text parses as one, else the text. A response is unwrapped
   like a tool's result; `name` and `is_error` are there where the message says them.
4. Empty texts are left out; parts of other types are kept as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from trackway_analyzer.dialects import tool_values
from trackway_analyzer.dialects.values import is_placeholder, json_of
from trackway_analyzer.json_text import compact
from trackway_analyzer.model import JsonValue

Message = dict[str, JsonValue]
Part = dict[str, JsonValue]

_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "AIMessageChunk": "assistant",
    "function": "tool",
    "developer": "system",
}
_LISTS: Final = (
    "messages",
    "message",
    "choices",
    "generations",
    "contents",
    "candidates",
    "output",
    "content",
    "new_message",
)
"""Keys under which a request or response keeps its messages, in the order they are tried."""
_MERGED: Final = ("assistant", "tool")
_MAX_NESTING: Final = 6


def canonical_messages(value: JsonValue, role: str) -> list[Message] | None:
    """Return messages in the one form; None where the value holds none.

    `role` is the role of what does not name one.
    """
    value = json_of(value)
    if isinstance(value, str):
        return [{"role": role, "parts": [_text_part(value)]}] if value else None
    found: list[Message] = []
    for message in _walk(value, role, 0):
        last = found[-1] if found else None
        if last is not None and last["role"] == message["role"] in _MERGED:
            last["parts"] += message["parts"]
        else:
            found.append(message)
    return found or None


def plain_text(value: JsonValue, role: str) -> str | None:
    """Return the last text of `role` that a value holds; else the value as text or JSON."""
    value = json_of(value)
    for name in ("output", "input", "inputs", "outputs"):
        if isinstance(value, dict) and isinstance(value.get(name), str | dict | list):
            value = value[name]
    if isinstance(value, str):
        return value
    texts = [text for message in _walk(value, role, 0) if (text := message_text(message, role))]
    return texts[-1] if texts else compact(value)


def message_text(message: Message, role: str) -> str | None:
    """Return the text of a message of this role; None where it has another role or no text."""
    if message["role"] != role:
        return None
    texts = [part["content"] for part in message["parts"] if part.get("type") == "text"]
    return "\n".join(texts) or None


def _walk(value: JsonValue, role: str, depth: int) -> Iterator[Message]:
    if depth > _MAX_NESTING:
        return
    if isinstance(value, list):
        for item in value:
            yield from _walk(item, role, depth + 1)
        return
    if not isinstance(value, dict):
        return
    message = _message(value, role)
    if message is not None:
        yield message
        return
    instruction = value.get("system") or _down(value, "config", "system_instruction")
    if isinstance(instruction, str) and instruction:
        yield _assembled("system", [_text_part(instruction)])
    if isinstance(value.get("prompt"), str):
        yield _assembled(role, [_text_part(value["prompt"])])
        return
    for name in _LISTS:
        inner = value.get(name)
        if isinstance(inner, list | dict):
            yield from _walk(inner, role, depth + 1)
            return


def _down(value: JsonValue, *names: str) -> JsonValue:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _message(item: dict[str, Any], role: str) -> Message | None:
    """Read one message of any form; None where the object is none."""
    inner = _langchain(item)
    if inner is not None:
        item = inner
    kind = item.get("type")
    if kind == "function_call":
        return _assembled("assistant", [_call(item.get("call_id") or item.get("id"), item)])
    if kind == "function_call_output":
        return _assembled("tool", [_response(item.get("call_id"), item.get("output"))])
    for name in ("prompt", "completion"):
        if isinstance(completion := item.get(name), dict) and "text" in completion:
            return _assembled(role, list(_parts([completion])))
    named = item.get("role") or (kind if inner is not None else None)
    parts = item.get("parts")
    if isinstance(parts, list):
        return _assembled(_role(named, role), list(_parts(parts)))
    if not isinstance(named, str):
        return None
    if item.keys().isdisjoint(_CHAT_KEYS):
        return None
    return _assembled(_role(named, role), list(_chat_parts(item)))


_CHAT_KEYS = frozenset(
    ["content", "contents", "tool_calls", "function_call", "tool_call_id", "function_call_name"]
)


def _langchain(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return the fields of a LangChain message, with its class as `type`."""
    for name in ("data", "kwargs"):
        inner = item.get(name)
        if isinstance(inner, dict) and "content" in inner and isinstance(item.get("type"), str):
            kind = inner.get("type") or inner.get("role") or item["type"]
            return {**inner, "type": kind}
    if item.get("type") in _LANGCHAIN_TYPES and "content" in item:
        return item
    return None


_LANGCHAIN_TYPES = frozenset(["human", "ai", "tool", "system", "AIMessageChunk"])


def _chat_parts(item: dict[str, Any]) -> Iterator[Part]:
    content, call_id = item.get("content", item.get("contents")), item.get("tool_call_id")
    is_response = call_id is not None or "tool" in (item.get("role"), item.get("type"))
    if is_response and not _holds_results(content):
        failed = item.get("status") == "error" or item.get("is_error") is True
        yield _response(call_id or item.get("id"), content, item.get("name"), failed=failed)
        return
    if isinstance(content, list):
        yield from _parts(content)
    elif isinstance(content, dict):
        yield from _parts([content])
    elif isinstance(content, str) and content:
        yield _text_part(content)
    calls = item.get("tool_calls")
    if isinstance(calls, list):
        known = _call_ids(content) if isinstance(content, list) else set()
        for call in calls:
            call = call.get("tool_call", call) if isinstance(call, dict) else None
            if isinstance(call, dict) and call.get("id") not in known:
                yield _call(call.get("id") or call.get("toolCallId"), call)
    legacy = item.get("function_call")
    if isinstance(legacy, dict):
        yield _call(None, legacy)


def _holds_results(content: JsonValue) -> bool:
    """Tell whether a tool message's content is a list of results with ids of their own."""
    return isinstance(content, list) and any(
        isinstance(item, dict)
        and ("toolResult" in item or item.get("type") in ("tool_result", "tool-result"))
        for item in content
    )


def _call_ids(content: list[Any]) -> set[Any]:
    """Ids of the calls that a content list already holds (Anthropic through LangChain)."""
    calls = [part for part in _parts(content) if part.get("type") == "tool_call"]
    return {part["id"] for part in calls if part["id"] is not None}


def _parts(items: list[Any]) -> Iterator[Part]:
    for item in items:
        if isinstance(item, str):
            if item:
                yield _text_part(item)
            continue
        if not isinstance(item, dict):
            continue
        item = next((i for n in _ENVELOPES if isinstance(i := item.get(n), dict)), item)
        reader = _PARTS.get(str(item.get("type")))
        if reader is None:
            reader = next((read for key, read in _UNTYPED.items() if key in item), None)
        part = reader(item) if reader is not None else item
        if part is not None:
            yield part


_ENVELOPES = ("tool_call", "message_content")
"""Keys under which OpenInference keeps a block."""


def _text(item: Part) -> Part | None:
    content = item.get("content", item.get("text"))
    return _text_part(content) if isinstance(content, str) and content else None


def _text_part(content: str) -> Part:
    return {"type": "text", "content": content}


def _call(call_id: JsonValue, item: dict[str, Any]) -> Part:
    function = item.get("function")
    source = function if isinstance(function, dict) else item
    given = next((source[name] for name in _ARGUMENTS if source.get(name) is not None), None)
    arguments = json_of(given)
    return {
        "type": "tool_call",
        "id": call_id if isinstance(call_id, str) and not is_placeholder(call_id) else None,
        "name": source.get("name") or source.get("toolName"),
        "arguments": arguments,
    }


_ARGUMENTS = ("arguments", "args", "input")


def _response(
    call_id: JsonValue, content: JsonValue, name: JsonValue = None, *, failed: bool = False
) -> Part:
    unwrapped = tool_values.result(content)
    known = call_id if isinstance(call_id, str) and not is_placeholder(call_id) else None
    part: Part = {
        "type": "tool_call_response",
        "id": known or unwrapped.call_id,
        "response": unwrapped.value,
    }
    tool = name if isinstance(name, str) and name else unwrapped.tool
    if tool:
        part["name"] = tool
    if failed or unwrapped.failed:
        part["is_error"] = True
    return part


def _genai_response(item: Part) -> Part:
    content = item["response"] if "response" in item else item.get("result")
    return _response(item.get("id"), content, item.get("name"))


def _anthropic_result(item: Part) -> Part:
    failed = item.get("is_error") is True
    return _response(item.get("tool_use_id"), item.get("content"), failed=failed)


def _bedrock_call(item: Part) -> Part:
    inner = item["toolUse"] if isinstance(item["toolUse"], dict) else {}
    return _call(inner.get("toolUseId"), inner)


def _bedrock_result(item: Part) -> Part:
    return _response(None, item)


def _gemini_call(item: Part) -> Part:
    inner = item.get("function_call") or item.get("functionCall")
    inner = inner if isinstance(inner, dict) else {}
    return _call(inner.get("id"), inner)


def _gemini_result(item: Part) -> Part:
    inner = item.get("function_response") or item.get("functionResponse")
    inner = inner if isinstance(inner, dict) else {}
    return _response(inner.get("id"), inner.get("response"), inner.get("name"))


def _vercel_result(item: Part) -> Part:
    output = item.get("output", item.get("result"))
    if isinstance(output, dict) and output.keys() == {"type", "value"}:
        output = output["value"]
    return _response(item.get("toolCallId"), output, item.get("toolName"))


_PARTS: Final[dict[str, Callable[[Part], Part | None]]] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "tool_call": lambda item: _call(item.get("id"), item),
    "tool_use": lambda item: _call(item.get("id"), item),
    "tool-call": lambda item: _call(item.get("toolCallId"), item),
    "function_call": lambda item: _call(item.get("call_id") or item.get("id"), item),
    "tool_call_response": _genai_response,
    "tool_result": _anthropic_result,
    "tool-result": _vercel_result,
}
_UNTYPED: Final[dict[str, Callable[[Part], Part | None]]] = {
    "text": _text,
    "function": lambda item: _call(item.get("id"), item),
    "toolUse": _bedrock_call,
    "toolResult": _bedrock_result,
    "function_call": _gemini_call,
    "functionCall": _gemini_call,
    "function_response": _gemini_result,
    "functionResponse": _gemini_result,
    "content": _text,
}


def _role(named: JsonValue, role: str) -> str:
    return _ROLES.get(named, named) if isinstance(named, str) and named else role


def _assembled(role: str, parts: list[Part]) -> Message:
    if parts and all(part.get("type") == "tool_call_response" for part in parts):
        role = "tool"
    return {"role": role, "parts": parts}
