"""Tool arguments and results out of the wrappers that instrumentors put around them.

Arguments:
1. Text that is JSON is decoded, once more if it is JSON again, then as a Python literal.
2. `{"args": [...], "kwargs": {...}}` becomes the keyword arguments, positional ones as `arg0`, ...;
   LangChain's `{"input_str": ...}` becomes its payload, a `tool_call` its `args`.
3. What is no object then becomes `{"input": value}`; an empty text, which some write for a call
   without arguments, `{}`.

Results:
4. A LangChain ToolMessage, a Bedrock or MCP block list, a llama-index ToolOutput, a Gemini
   function response, a failed result of the Vercel AI SDK become their content; the call id, the
   tool's name and an error flag are taken from the wrapper.
5. The content is decoded as in rule 1; text that is no JSON stays text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from trackway_analyzer.dialects.values import is_placeholder, json_of
from trackway_analyzer.json_text import parsed_literal
from trackway_analyzer.model import JsonValue

_MAX_UNWRAPPED: Final = 4
VERCEL_ERRORS: Final = ("error-text", "error-json")
"""Types of the results of the Vercel AI SDK that say that a call failed."""


def output_of(value: JsonValue) -> JsonValue:
    """Return the value under `output`: LangChain's callbacks wrap a result so."""
    value = json_of(value)
    if isinstance(value, dict) and "output" in value and value.keys() <= {"output", "kwargs"}:
        return value["output"]
    return value


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a tool was called with."""

    value: JsonValue
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool returned."""

    value: JsonValue
    call_id: str | None = None
    tool: str | None = None
    failed: bool = False


def decoded(value: JsonValue) -> JsonValue:
    """Decode a text by rule 1."""
    value = json_of(value)
    return parsed_literal(value) if isinstance(value, str) else value


def arguments(value: JsonValue) -> Arguments:
    """Unwrap arguments to an object (rules 1-3)."""
    value, call_id = decoded(value), None
    if isinstance(value, dict):
        if value.get("type") == "tool_call" and isinstance(value.get("args"), dict):
            call_id = _text(value.get("id"))
            value = value["args"]
        elif "input_str" in value and not value.keys().isdisjoint(_CALLBACK_KEYS):
            value = decoded(value["input_str"])
        elif "kwargs" in value and value.keys() <= _CALL_KEYS:
            value = _keywords(value)
    if value == "":
        value = {}
    elif not isinstance(value, dict):
        value = {"input": value}
    return Arguments(value, call_id)


_CALLBACK_KEYS = frozenset(["tags", "metadata", "inputs", "kwargs"])
_CALL_KEYS = frozenset(["args", "kwargs", "sanitize_inputs_outputs"])


def _keywords(call: dict[str, JsonValue]) -> JsonValue:
    keywords, positional = call.get("kwargs") or {}, call.get("args") or []
    if not isinstance(keywords, dict) or not isinstance(positional, list):
        return call
    return {f"arg{index}": item for index, item in enumerate(positional)} | keywords


def result(value: JsonValue, depth: int = 0) -> Result:
    """Unwrap a result (rules 4 and 5)."""
    value = decoded(value)
    if isinstance(value, str):
        return _of_message_repr(value) or Result(value)
    if depth > _MAX_UNWRAPPED:
        return Result(value)
    if isinstance(value, list):
        return Result(_content(value))
    if isinstance(value, dict):
        return _of_object(value, depth)
    return Result(value)


def _of_object(value: dict[str, JsonValue], depth: int) -> Result:
    message = tool_message(value)
    if message is not None:
        return Result(
            _content(message.get("content")),
            _text(message.get("tool_call_id")),
            _text(message.get("name")),
            message.get("status") == "error",
        )
    inner = value.get("toolResult")
    if isinstance(inner, dict):
        return result(inner, depth + 1)
    if "toolUseId" in value and "content" in value:
        failed = value.get("status") == "error"
        return Result(_content(value["content"]), _text(value["toolUseId"]), None, failed)
    if value.keys() == {"type", "value"} and value["type"] in VERCEL_ERRORS:
        return Result(value["value"], failed=True)
    if value.keys() >= {"tool_name", "raw_output"}:
        content = value["raw_output"]
        return Result(
            decoded(content), None, _text(value["tool_name"]), bool(value.get("is_error"))
        )
    if value.keys() >= {"id", "name", "response"} and value.keys() <= _FUNCTION_RESPONSE_KEYS:
        content, call_id = value["response"], _text(value["id"])
        return Result(decoded(content), call_id, _text(value["name"]))
    if isinstance(value.get("isError"), bool) and "content" in value:
        structured = value.get("structuredContent")
        content = structured if structured is not None else _content(value["content"])
        return Result(content, failed=value["isError"])
    return Result(value)


_FUNCTION_RESPONSE_KEYS = frozenset(
    ["id", "name", "response", "will_continue", "scheduling", "parts"]
)


def tool_message(value: JsonValue) -> dict[str, JsonValue] | None:
    """Return the fields of a LangChain ToolMessage, however it was serialised."""
    if not isinstance(value, dict):
        return None
    inner = value.get("data")
    if value.get("type") == "tool" and isinstance(inner, dict):
        return inner
    inner = value.get("kwargs")
    if value.get("lc") is not None and isinstance(inner, dict) and "tool_call_id" in inner:
        return inner
    if value.get("type") == "tool" and "content" in value and "tool_call_id" in value:
        return value
    update = value.get("update")
    if isinstance(update, dict) and isinstance(update.get("messages"), list):
        found = [message for item in update["messages"] if (message := tool_message(item))]
        return found[0] if len(found) == 1 else None
    return None


def _content(content: JsonValue) -> JsonValue:
    """Return the value of a content: text, or a list of blocks."""
    if isinstance(content, list) and content and all(map(_is_block, content)):
        values = [_block(block) for block in content]
        return values[0] if len(values) == 1 else values
    return decoded(content)


def _is_block(block: JsonValue) -> bool:
    if not isinstance(block, dict):
        return False
    is_text = block.keys() <= _TEXT_BLOCK_KEYS and isinstance(block.get("text"), str)
    return is_text or block.keys() == {"json"}


_TEXT_BLOCK_KEYS = frozenset(["text", "type", "annotations", "_meta", "meta"])


def _block(block: dict[str, JsonValue]) -> JsonValue:
    return block["json"] if "json" in block else decoded(block["text"])


_MESSAGE_REPR = re.compile(
    r"content=(?P<content>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"(?: name='(?P<name>[^']*)')?(?: id='[^']*')? tool_call_id='(?P<id>[^']*)'"
    r"(?P<failed> status='error')?",
    re.DOTALL,
)


def _of_message_repr(value: str) -> Result | None:
    """Read `content='14C' name='get_weather' tool_call_id='call_1'`, a printed ToolMessage."""
    match = _MESSAGE_REPR.match(value) if value.startswith("content=") else None
    if match is None:
        return None
    content = parsed_literal(f"({match['content']},)")
    inner = content[0] if isinstance(content, list) and content else match["content"]
    return Result(decoded(inner), match["id"] or None, match["name"], bool(match["failed"]))


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value and not is_placeholder(value) else None
