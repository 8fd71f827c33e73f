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

from collections.abc import Iterator
from typing import Any, Final

from trackway_analyzer.dialects.parts import (
    Part,
    call_ids,
    call_part,
    holds_results,
    parts_of,
    response_part,
    text_part,
)
from trackway_analyzer.dialects.values import json_of
from trackway_analyzer.json_text import compact
from trackway_analyzer.model import JsonValue

Message = dict[str, JsonValue]

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
        return [{"role": role, "parts": [text_part(value)]}] if value else None
    if isinstance(value, dict) and isinstance(value.get("prompts"), list):
        value = value["prompts"]
    if isinstance(value, list) and all(item and isinstance(item, str) for item in value):
        value = [{"role": role, "content": item} for item in value]
    found: list[Message] = []
    for message in _walk(value, role, 0):
        last = found[-1] if found else None
        if last is not None and last["role"] == message["role"] in _MERGED:
            last["parts"] += message["parts"]
        else:
            found.append(message)
    return found or None


def plain_text(value: JsonValue, role: str) -> str | None:
    """Return the last text of `role` among messages; of what holds none, its text or JSON."""
    value = json_of(value)
    for name in ("output", "input", "inputs", "outputs", "task"):
        if isinstance(value, dict) and isinstance(value.get(name), str | dict | list):
            value = value[name]
    if isinstance(value, dict) and value.keys() <= {"args", "kwargs"} and not value.get("kwargs"):
        positional = value.get("args")
        value = positional[0] if isinstance(positional, list) and len(positional) == 1 else value
    if isinstance(value, str):
        return value
    messages = list(_walk(value, role, 0))
    if not messages:
        return compact(value)
    texts = [text for message in messages if (text := message_text(message, role))]
    return texts[-1] if texts else None


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
        yield _assembled("system", [text_part(instruction)])
    if isinstance(value.get("prompt"), str):
        yield _assembled(role, list(parts_of([value["prompt"]])))
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
        return _assembled("assistant", [call_part(item.get("call_id") or item.get("id"), item)])
    if kind == "function_call_output":
        return _assembled("tool", [response_part(item.get("call_id"), item.get("output"))])
    bare = next((v for n in ("prompt", "completion") if isinstance(v := item.get(n), dict)), item)
    if isinstance(bare.get("text"), str) and (bare is not item or _is_completion(bare)):
        return _assembled(role, list(parts_of([{"text": bare["text"]}])))
    named = item.get("role") or (kind if inner is not None else None)
    parts = item.get("parts")
    if isinstance(parts, list):
        return _assembled(_role(named, role), list(parts_of(parts)))
    if not isinstance(named, str):
        return None
    if item.keys().isdisjoint(_CHAT_KEYS):
        return None
    return _assembled(_role(named, role), list(_chat_parts(item)))


def _is_completion(item: dict[str, Any]) -> bool:
    """Tell whether an object is a bare text that a model wrote, not a message."""
    return "message" not in item and not item.keys().isdisjoint(["generation_info", "logprobs"])


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
    if "content" in item and str(item.get("type")) in _LANGCHAIN_TYPES:
        return item
    return None


_LANGCHAIN_TYPES = frozenset(["human", "ai", "tool", "system", "AIMessageChunk"])


def _chat_parts(item: dict[str, Any]) -> Iterator[Part]:
    content, call_id = item.get("content", item.get("contents")), item.get("tool_call_id")
    is_response = call_id is not None or "tool" in (item.get("role"), item.get("type"))
    if is_response and not holds_results(content):
        failed = item.get("status") == "error" or item.get("is_error") is True
        yield response_part(call_id or item.get("id"), content, item.get("name"), failed=failed)
        return
    if isinstance(content, list):
        yield from parts_of(content)
    elif isinstance(content, dict):
        yield from parts_of([content])
    elif isinstance(content, str) and content:
        yield text_part(content)
    known = call_ids(content) if isinstance(content, list) else set()
    for part in _calls(item):
        if part["id"] is None or part["id"] not in known:
            yield part


def _calls(item: dict[str, Any]) -> Iterator[Part]:
    """The calls that stand beside a message's content, in today's form or that of 2023."""
    former = item.get("additional_kwargs")
    former = former if isinstance(former, dict) else {}
    calls = item.get("tool_calls") or former.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            inner = call.get("tool_call")
            inner = inner if isinstance(inner, dict) else call
            yield call_part(inner.get("id") or inner.get("toolCallId"), inner)
    legacy = item.get("function_call") or former.get("function_call")
    if isinstance(legacy, dict):
        yield call_part(None, legacy)
    elif isinstance(item.get("function_call_name"), str):
        arguments = item.get("function_call_arguments_json")
        yield call_part(None, {"name": item["function_call_name"], "arguments": arguments})


def _role(named: JsonValue, role: str) -> str:
    if not isinstance(named, str) or named in ("", "unknown"):
        return role
    return _ROLES.get(named, named)


def _assembled(role: str, parts: list[Part]) -> Message:
    if parts and all(part.get("type") == "tool_call_response" for part in parts):
        role = "tool"
    return {"role": role, "parts": parts}
