"""Parts of messages: text, reasoning, a call that the model asks for, its answer, and any other.

1. A block of any provider becomes one part, told by its `type` or, where it has none, by its keys.
2. A call's `arguments` are an object where their text parses as one. An answer is unwrapped like a
   tool's result, which may tell the call's id, the tool's name and that it failed.
3. A call that the provider carried out bears `by_provider`, and its answer stands beside it
   (`provider_calls`). An answer by which somebody refused the call bears `refused`.
4. A block of another type that looks like a call, or an answer to one, is one (`call_like`). An
   empty text is no part; anything else is kept as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from trackway_analyzer.dialects import tool_values
from trackway_analyzer.dialects.call_like import ARGUMENTS, IDS, exchange_like, first_of, name_of
from trackway_analyzer.dialects.provider_calls import Exchange, exchange_of
from trackway_analyzer.dialects.values import is_placeholder, json_of, says_it_failed
from trackway_analyzer.model import JsonValue

Part: TypeAlias = dict[str, JsonValue]


def parts_of(items: list[Any]) -> Iterator[Part]:
    """Return the parts of a list of blocks."""
    for item in items:
        if isinstance(item, str):
            if item:
                yield text_part(item)
            continue
        if not isinstance(item, dict):
            continue
        item = next((i for n in _ENVELOPES if isinstance(i := item.get(n), dict)), item)
        exchange = exchange_of(item)
        if exchange is not None:
            yield from parts_of_exchange(exchange)
            continue
        kind = item.get("type")
        reader = _PARTS.get(kind) if isinstance(kind, str) else None
        if reader is None:
            exchange = exchange_like(item)
            if exchange is not None:
                yield from parts_of_exchange(exchange)
                continue
            # A block of a type that nobody knows has a content which need not be what was said.
            known = _UNTYPED if kind is None else _STRUCTURED
            reader = next((read for key, read in known.items() if item.get(key) is not None), None)
        part = reader(item) if reader is not None else item
        if part is not None:
            yield part


_ENVELOPES = ("tool_call", "message_content")
"""Keys under which OpenInference keeps a block."""


def looks_like_a_call(item: Part) -> bool:
    """Tell whether a block is in no known form, and was taken for a call or an answer."""
    kind = item.get("type")
    known = kind in _PARTS if isinstance(kind, str) else not item.keys().isdisjoint(_UNTYPED)
    return not known and exchange_of(item) is None and exchange_like(item) is not None


def _text(item: Part) -> Part | None:
    content = item.get("content", item.get("text"))
    return text_part(content) if isinstance(content, str) and content else None


def text_part(content: str) -> Part:
    """Return a text as a part."""
    return {"type": "text", "content": content}


def parts_of_exchange(exchange: Exchange) -> Iterator[Part]:
    """Return a call and its answer, what of them is there."""
    asked, told = exchange
    if asked is not None:
        part: Part = {
            "type": "tool_call",
            "id": _id(asked.call_id),
            "name": _id(asked.name),
            "arguments": asked.arguments,
        }
        yield part | {"by_provider": True} if asked.by_provider else part
    if told is not None:
        part = response_part(told.call_id, told.response, told.name, failed=told.failed)
        yield part | {"refused": True} if told.refused else part


def call_part(call_id: JsonValue, item: dict[str, Any]) -> Part:
    """Return a call that the model asks for.

    `item` holds name and arguments, or `function` or `content` with them, or `custom` with an
    input of plain text.
    """
    function, custom = item.get("function"), item.get("custom")
    inside = (function, custom, None if name_of(item) else item.get("content"))
    source = next((inner for inner in inside if isinstance(inner, dict)), item)
    given = first_of(source, ARGUMENTS)
    if source is custom:
        arguments: JsonValue = given if given is None else {"input": given}
    else:
        arguments = {} if given == "" else json_of(given)
    return {
        "type": "tool_call",
        "id": _id(call_id),
        "name": name_of(source) or _id(function),
        "arguments": arguments,
    }


def _id(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value and not is_placeholder(value) else None


def response_part(
    call_id: JsonValue, content: JsonValue, name: JsonValue = None, *, failed: bool = False
) -> Part:
    """Return the answer to a call, out of its wrapper."""
    unwrapped = tool_values.result(content)
    part: Part = {
        "type": "tool_call_response",
        "id": _id(call_id) or unwrapped.call_id,
        "response": unwrapped.value,
    }
    tool = name if isinstance(name, str) and name else unwrapped.tool
    if tool:
        part["name"] = tool
    if failed or unwrapped.failed:
        part["is_error"] = True
    return part


def _genai_call(item: Part) -> Part:
    part = call_part(first_of(item, IDS), item)
    return part | {"by_provider": True} if item.get("by_provider") is True else part


def _genai_response(item: Part) -> Part:
    content = item["response"] if "response" in item else item.get("result")
    failed = says_it_failed(item)
    part = response_part(item.get("id"), content, item.get("name"), failed=failed)
    return part | {"refused": True} if item.get("refused") is True else part


def _anthropic_result(item: Part) -> Part:
    failed = says_it_failed(item)
    return response_part(item.get("tool_use_id"), item.get("content"), failed=failed)


def _bedrock_call(item: Part) -> Part:
    inner = item["toolUse"] if isinstance(item["toolUse"], dict) else {}
    return call_part(inner.get("toolUseId"), inner)


def _bedrock_result(item: Part) -> Part:
    return response_part(None, item)


def _gemini_call(item: Part) -> Part:
    inner = item.get("function_call") or item.get("functionCall")
    inner = inner if isinstance(inner, dict) else {}
    return call_part(inner.get("id"), inner)


def _gemini_result(item: Part) -> Part:
    inner = item.get("function_response") or item.get("functionResponse")
    inner = inner if isinstance(inner, dict) else {}
    return response_part(inner.get("id"), inner.get("response"), inner.get("name"))


def _haystack_result(item: Part) -> Part:
    inner = item["tool_call_result"] if isinstance(item["tool_call_result"], dict) else {}
    origin = inner["origin"] if isinstance(inner.get("origin"), dict) else {}
    failed = inner.get("error") is True
    name = name_of(origin)
    return response_part(origin.get("id"), inner.get("result"), name, failed=failed)


def _vercel_result(item: Part) -> Part | None:
    if item.get("preliminary") is True:
        return None  # more was to come
    output, name = item.get("output", item.get("result")), item.get("toolName")
    wrapper = output if isinstance(output, dict) else {}
    kind = wrapper.get("type")
    if kind == "execution-denied":
        reason = wrapper.get("reason") or kind
        part = response_part(item.get("toolCallId"), reason, name, failed=True)
        return part | {"refused": True}
    if isinstance(output, dict) and output.keys() == {"type", "value"}:
        output = output["value"]
    failed = kind in tool_values.VERCEL_ERRORS or says_it_failed(item)
    return response_part(item.get("toolCallId"), output, name, failed=failed)


def _refusal(item: Part) -> Part | None:
    """What a model says in place of an answer is what it said."""
    said = item.get("refusal")
    return text_part(said) if isinstance(said, str) and said else None


def _reasoning(item: Part) -> Part | None:
    """What a model thought is no word that it said."""
    content = item.get("content", item.get("thinking", item.get("reasoning", item.get("text"))))
    return {"type": "reasoning", "content": content} if isinstance(content, str) else item


_PARTS: Final[dict[str, Callable[[Part], Part | None]]] = {
    "reasoning": _reasoning,
    "thinking": _reasoning,
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "refusal": _refusal,
    "tool_call": _genai_call,
    "tool_use": lambda item: call_part(item.get("id"), item),
    "invalid_tool_call": lambda item: call_part(item.get("id"), item),
    "tool-call": lambda item: call_part(item.get("toolCallId"), item),
    "function_call": lambda item: call_part(item.get("call_id") or item.get("id"), item),
    "tool_call_response": _genai_response,
    "tool_result": _anthropic_result,
    "tool-result": _vercel_result,
}
BLOCKS: Final = frozenset(_PARTS) - {"reasoning", "thinking", "function_call", "refusal"}
"""Types of blocks that stand in the content of a message."""
_UNTYPED: Final[dict[str, Callable[[Part], Part | None]]] = {
    "arguments": _genai_call,
    "text": _text,
    "function": lambda item: call_part(item.get("id"), item),
    "toolUse": _bedrock_call,
    "toolResult": _bedrock_result,
    "function_call": _gemini_call,
    "functionCall": _gemini_call,
    "function_response": _gemini_result,
    "functionResponse": _gemini_result,
    "tool_call_result": _haystack_result,
    "response": _genai_response,
    "result": _genai_response,
    "content": _text,
}
_STRUCTURED: Final = {
    key: reader
    for key, reader in _UNTYPED.items()
    if key not in ("arguments", "response", "result", "content")
}


def holds_results(content: JsonValue) -> bool:
    """Tell whether a tool message's content is a list of results with ids of their own."""
    return isinstance(content, list) and any(
        isinstance(item, dict)
        and (
            not item.keys().isdisjoint(("toolResult", "tool_call_result"))
            or item.get("type") in ("tool_result", "tool-result")
        )
        for item in content
    )
