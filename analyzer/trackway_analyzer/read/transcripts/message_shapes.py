"""Messages in the shapes of applications and frameworks, to the ones that are read everywhere.

1. LangChain's messages out of `dumpd` and `messages_to_dict`, pydantic-ai's ModelMessages and the
   AI SDK's UIMessages become messages with a role; one that holds several turns, or calls beside
   their answers, becomes several.
2. `tool_calls` that an export made a text, an object or a list of texts are a list of calls again;
   names in camelCase are the usual ones. Speech that was also written down is what was said.
3. What looks like a call and is in no form that is known is told of (`call_like`), whether it was
   taken for one or not: where its answer stands, nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trackway_analyzer.dialects.parts import looks_like_a_call
from trackway_analyzer.dialects.values import json_of
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.transcripts.beside_messages import USED
from trackway_analyzer.read.transcripts.unusual_roles import with_usual_role
from trackway_analyzer.read.unread_forms import names_calls, tells_of_a_call

Raw = dict[str, Any]

_CLASSES: Final = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
}
_LANGCHAIN_TYPES: Final = frozenset([*_CLASSES.values(), "chat", "AIMessageChunk"])
_UI_TOOL: Final = "tool-"
_UI_PARTS: Final = frozenset(["dynamic-tool", "tool-invocation", "step-start"])
_STEP: Final = "step-start"
_CAMEL: Final = {
    "toolCalls": "tool_calls",
    "functionCall": "function_call",
    "toolCallId": "tool_call_id",
}
_READ: Final = frozenset(
    [
        *("tool_calls", "function_call", "tool_call_id", "tool_use_id", "invalid_tool_calls"),
        *("tool_name", "toolName", "toolInvocations"),
    ]
)
"""Keys of calls that the readers of messages know."""
_ANSWER: Final = "tool_call_response"
PARTS: Final = ("text", "reasoning", "tool_call", _ANSWER)
"""Types of the parts that are read."""


def plain_messages(raw: Raw) -> list[Raw]:
    """Return the messages that an object is, in the usual shapes."""
    inner = _of_langchain(raw)
    if inner is not None:
        return [_usual(inner)]
    raw = with_usual_role(raw)
    if is_pydantic_ai(raw):
        return list(_of_pydantic_ai(raw))
    if _is_ui_message(raw):
        return list(_of_ui_message(raw))
    return [_usual(raw)]


def call_like(raw: Mapping[str, Any], parts: list[Any] | None) -> Iterator[str]:
    """Say what in a message looks like a call and was not read; `parts`: what was."""
    if parts is None:
        if tells_of_a_call(raw) or raw.get("type") == "not_implemented":
            yield f"a message {_named(raw)}that looks like a call and is not read"
        return
    for part in parts:
        unknown = isinstance(part, dict) and part.get("type") not in PARTS
        if unknown and tells_of_a_call(part):
            yield f"a part {_named(part)}that looks like a call and is not read"
    blocks = raw.get("parts", raw.get("content"))
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and looks_like_a_call(block):
            yield f"a part {_named(block)}that looks like a call, in no form that is known"
    answers = any(isinstance(part, dict) and part.get("type") == _ANSWER for part in parts)
    for key, value in () if answers else raw.items():  # an answer may repeat its call
        unread = isinstance(value, dict | list) and value and key not in _READ
        if unread and names_calls(key) and not USED.search(key):
            yield f"{key} of a message, which is not read"
    calls = raw.get("tool_calls")
    for call in calls if isinstance(calls, list) else (calls,):
        if call and not isinstance(call, dict):
            yield "a call in tool_calls that is no object"


def _named(item: Mapping[str, Any]) -> str:
    kind = item.get("type")
    return f"of the type {kind[:64]} " if isinstance(kind, str) else ""


def _usual(raw: Raw) -> Raw:
    """Return a message with the usual names, its calls in a list."""
    changed: Raw = {}
    for camel, usual in _CAMEL.items():
        if raw.get(camel) is not None and raw.get(usual) is None:
            changed[usual] = raw[camel]
    name = raw.get("toolName", raw.get("tool_name"))
    if isinstance(name, str) and raw.get("role") == "tool" and not raw.get("name"):
        changed["name"] = name
    calls = changed.get("tool_calls", raw.get("tool_calls"))
    listed = _listed(calls)
    if listed is not calls:
        changed["tool_calls"] = listed
    audio = raw.get("audio")
    said = audio.get("transcript") if isinstance(audio, dict) else None
    if isinstance(said, str) and said and not raw.get("content"):
        changed["content"] = said
    return {**raw, **changed} if changed else raw


def _listed(calls: Any) -> Any:
    """Return calls as a list of objects, what of them can be."""
    if not calls or (isinstance(calls, list) and all(isinstance(call, dict) for call in calls)):
        return calls
    found = json_of(calls)
    if isinstance(found, dict):
        whole = "function" in found or "name" in found or "toolName" in found
        found = [found] if whole else list(found.values())
    if not isinstance(found, list):
        return [calls]
    return [json_of(call) for call in found]


def _of_langchain(raw: Raw) -> Raw | None:
    kind, inner = raw.get("type"), raw.get("kwargs")
    names = raw.get("id")
    if kind == "constructor" and isinstance(inner, dict) and isinstance(names, list) and names:
        told = _CLASSES.get(str(names[-1]).removesuffix("Chunk"), inner.get("role"))
        return {**inner, "type": told} if isinstance(told, str) else None
    inner = raw.get("data")
    if (
        isinstance(kind, str)
        and kind in _LANGCHAIN_TYPES
        and isinstance(inner, dict)
        and "content" in inner
    ):
        return {**inner, "type": inner.get("role", kind) if kind == "chat" else kind}
    return None


def is_of_framework(raw: Raw) -> bool:
    """Tell whether an object is a message in the shape of a framework."""
    return _of_langchain(raw) is not None or is_pydantic_ai(raw) or _is_ui_message(raw)


def is_pydantic_ai(raw: Mapping[str, Any]) -> bool:
    """Tell whether an object is one of pydantic-ai's ModelMessages."""
    parts = raw.get("parts")
    return (
        raw.get("kind") in ("request", "response") and isinstance(parts, list) and "role" not in raw
    )


def _of_pydantic_ai(raw: Raw) -> Iterator[Raw]:
    time = {"timestamp": raw["timestamp"]} if "timestamp" in raw else {}
    if raw["kind"] == "response":
        yield {"role": "assistant", "parts": [*map(_said, raw["parts"])], **time}
        return
    if isinstance(raw.get("instructions"), str):
        yield {"role": "system", "content": raw["instructions"]}
    for part in raw["parts"]:
        kind = part.get("part_kind") if isinstance(part, dict) else None
        content = part.get("content") if isinstance(part, dict) else None
        if kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name")):
            outcome = part.get("outcome")
            failed = kind == "retry-prompt" or outcome in ("failed", "denied")
            yield {"role": "tool", "parts": [_answer(part, content, failed, outcome == "denied")]}
        elif kind in ("system-prompt", "user-prompt", "retry-prompt"):
            role = "system" if kind == "system-prompt" else "user"
            yield {"role": role, "content": content}
        else:
            yield part if isinstance(part, dict) else {}


def _said(part: Any) -> Any:
    kind = part.get("part_kind") if isinstance(part, dict) else None
    if kind in ("tool-call", "builtin-tool-call"):
        call = {
            "type": "tool_call",
            "id": part.get("tool_call_id"),
            "name": part.get("tool_name"),
            "arguments": part.get("args"),
        }
        return call | {"by_provider": True} if kind == "builtin-tool-call" else call
    if kind == "builtin-tool-return":
        return _answer(part, part.get("content"), False, False)
    if kind in ("text", "thinking"):
        return {"type": kind, "content": part.get("content")}
    return part


def _answer(part: Raw, content: JsonValue, failed: bool, refused: bool) -> Raw:
    name = part.get("tool_name", part.get("toolName"))
    call_id = part.get("tool_call_id", part.get("toolCallId"))
    answer: Raw = {"type": _ANSWER, "id": call_id, "name": name, "response": content}
    if failed:
        answer["is_error"] = True
    if refused:
        answer["refused"] = True
    return answer


def _is_ui_message(raw: Mapping[str, Any]) -> bool:
    parts = raw.get("parts")
    if "role" not in raw:
        return False
    if isinstance(raw.get("toolInvocations"), list) and raw["toolInvocations"]:
        return True
    return isinstance(parts, list) and any(map(_is_ui_part, parts))


def _is_ui_part(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str):
        return False
    return kind in _UI_PARTS or (kind.startswith(_UI_TOOL) and "state" in part)


def _of_ui_message(raw: Raw) -> Iterator[Raw]:
    parts = raw.get("parts")
    if not isinstance(parts, list) or not any(map(_is_ui_part, parts)):
        told = [{"type": "tool-invocation", "toolInvocation": i} for i in raw["toolInvocations"]]
        content = raw.get("content")
        parts = [*told, {"type": "text", "text": content}] if content else told
    said: list[Any] = []
    answers: list[Any] = []
    for part in parts:
        ends = not _is_ui_part(part) or part["type"] == _STEP
        if ends and (answers or (part.get("type") == _STEP if isinstance(part, dict) else False)):
            yield from _turn(raw["role"], said, answers)
            said, answers = [], []
        if ends:
            said += [] if isinstance(part, dict) and part.get("type") == _STEP else [part]
            continue
        inner = part.get("toolInvocation") if part["type"] == "tool-invocation" else part
        inner = inner if isinstance(inner, dict) else {}
        named = {"toolName": part["type"].removeprefix(_UI_TOOL), **inner}
        said.append(
            {
                "type": "tool_call",
                "id": named.get("toolCallId"),
                "name": named["toolName"],
                "arguments": named.get("input", named.get("args", named.get("rawInput"))),
            }
        )
        answers += _ui_answer(named)
    yield from _turn(raw["role"], said, answers)


def _turn(role: str, said: list[Any], answers: list[Any]) -> Iterator[Raw]:
    if said:
        yield {"role": role, "parts": said}
    if answers:
        yield {"role": "tool", "parts": answers}


def _ui_answer(tool: Raw) -> Iterator[Raw]:
    state = tool.get("state")
    if tool.get("preliminary") is True:
        return  # more was to come
    if state in ("output-available", "result"):
        yield _answer(tool, tool.get("output", tool.get("result")), False, False)
    elif state == "output-error":
        yield _answer(tool, tool.get("errorText"), True, False)
    elif state == "output-denied":
        approval = tool.get("approval")
        reason = approval.get("reason") if isinstance(approval, dict) else None
        yield _answer(tool, reason or "denied", True, True)
