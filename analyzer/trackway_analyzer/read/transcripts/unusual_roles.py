"""Messages whose role says what a call or an answer is, and content that a database made a text.

1. `tool_call`, `function_call` and the like are the assistant's: the content is the call, as JSON,
   a Python literal, or either behind a line of words. `tool_response`, `observation` and the like
   are answers.
2. Content that is the text of a list of blocks is that list.
3. Any other role that nobody knows is a hole: nobody can tell who spoke, and of what. `OTHERS` are
   known to say nothing of calls.
"""

from __future__ import annotations

import re
from typing import Any, Final

from trackway_analyzer.dialects.values import json_of
from trackway_analyzer.json_text import parsed_literal

Raw = dict[str, Any]

_CALLS: Final = frozenset(
    ["tool_call", "tool_calls", "function_call", "function_calls", "tool_use", "tool_request"]
)
_ANSWERS: Final = frozenset(
    [
        *("tool_response", "tool_responses", "function_response", "tool_result", "tool_results"),
        *("observation", "function_result", "tool_output", "ipython", "tool_execution"),
    ]
)
_KNOWN: Final = frozenset(["system", "user", "assistant", "tool"])
OTHERS: Final = frozenset(["exit", "info", "meta", "error", "session_meta", "title", "summary"])
_PLAIN: Final = re.compile(r"[^a-z]+")
_BLOCKS: Final = frozenset(
    [
        *("text", "tool_use", "tool_result", "tool_call", "tool_call_response", "thinking"),
        *("reasoning", "image", "image_url", "input_text", "output_text", "tool-call"),
        *("tool-result", "server_tool_use", "mcp_tool_use", "mcp_tool_result", "document"),
    ]
)


def with_usual_role(raw: Raw) -> Raw:
    """Return a message whose role is one that all readers know, where it can be told."""
    role = _plain(raw.get("role"))
    if role in _ANSWERS:
        return {**raw, "role": "tool"}
    if role in _CALLS and not raw.get("tool_calls"):
        calls = [call for call in map(_call, _objects(raw.get("content"))) if call is not None]
        if calls:
            return {**raw, "role": "assistant", "content": None, "tool_calls": calls}
    content = raw.get("content")
    if isinstance(content, str) and content[:2] == "[{":
        blocks = json_of(content)
        if isinstance(blocks, list) and all(map(_is_block, blocks)):
            return {**raw, "content": blocks}
    return raw


def is_unknown_role(role: str) -> bool:
    """Tell whether nobody knows who speaks under a role, in the conventions' names."""
    return role not in _KNOWN and _plain(role) not in OTHERS


def _plain(role: Any) -> str:
    return _PLAIN.sub("_", role.lower()) if isinstance(role, str) else ""


def _is_block(item: Any) -> bool:
    kind = item.get("type") if isinstance(item, dict) else None
    return isinstance(kind, str) and kind in _BLOCKS


def _objects(content: Any) -> list[Any]:
    if isinstance(content, list):
        texts = [each.get("text") for each in content if isinstance(each, dict)]
        content = "".join(text for text in texts if isinstance(text, str)) or content
    if isinstance(content, str):
        begins = re.search(r"[\[{]", content)
        content = _object(content[begins.start() :].strip()) if begins else None
    return content if isinstance(content, list) else [content]


def _object(text: str) -> Any:
    found = json_of(text)
    return parsed_literal(text) if isinstance(found, str) else found


def _call(item: Any) -> Raw | None:
    inner = item.get("function") if isinstance(item, dict) else None
    call = inner if isinstance(inner, dict) else item
    if not isinstance(call, dict):
        return None
    name = call.get("name", call.get("tool"))
    given = next((call[key] for key in _GIVEN if key in call), None)
    if not isinstance(name, str):
        return None
    return {"id": item.get("id"), "function": {"name": name, "arguments": given}}


_GIVEN: Final = ("arguments", "args", "parameters", "input", "tool_input")
