"""One message of any provider or framework, told by its keys.

Taken: GenAI parts, OpenAI chat messages and Responses items, Anthropic, Bedrock, Gemini and
Vercel messages, LangChain messages in all serialisations, bare completions, the
`function_call` of 2023 and its answers, whose role is `function`; and without a role, blocks of a
message's content and objects that hold calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from trackway_analyzer.dialects.call_like import (
    ARGUMENTS,
    IDS,
    exchange_like,
    first_of,
    is_surely_a_call,
    name_of,
)
from trackway_analyzer.dialects.parts import (
    BLOCKS,
    Part,
    call_part,
    holds_results,
    parts_of,
    parts_of_exchange,
    response_part,
    text_part,
)
from trackway_analyzer.dialects.provider_calls import exchange_of, is_item
from trackway_analyzer.dialects.values import says_it_failed, text
from trackway_analyzer.model import JsonValue

_ROLES: Final = {
    **{role: role for role in ("user", "assistant", "tool", "system")},
    "human": "user",
    **dict.fromkeys(("ai", "model", "bot", "chatbot", "agent", "gpt", "llm"), "assistant"),
    "function": "tool",
    "developer": "system",
}
_OF_A_CLASS: Final = re.compile(r"(message)?(chunk)?$")
"""What follows the role in the name of a class of messages."""


class Message(NamedTuple):
    """Who said something, and the parts of it."""

    role: str
    parts: list[Part]


def read_message(item: dict[str, Any], role: str) -> Message | None:
    """Return the message that an object is; None where it is none.

    `role` is the role of what does not name one.
    """
    inner = _langchain(item)
    if inner is not None:
        item = inner
    kind = item.get("type")
    if kind == "function_call":
        return assembled("assistant", [call_part(item.get("call_id") or item.get("id"), item)])
    if kind == "function_call_output":
        return assembled("tool", [response_part(item.get("call_id"), item.get("output"))])
    exchange = exchange_of(item) if is_item(item) else None
    if exchange is not None:
        by_agent = exchange.asked is not None
        told = list(parts_of_exchange(exchange))
        return assembled("assistant" if by_agent else "tool", told)
    bare = next((v for n in ("prompt", "completion") if isinstance(v := item.get(n), dict)), item)
    if isinstance(bare.get("text"), str) and (bare is not item or _is_completion(bare)):
        return assembled(role, list(parts_of([{"text": bare["text"]}])))
    named = item.get("role") or (kind if inner is not None else None)
    parts = item.get("parts")
    if isinstance(parts, list):
        return assembled(role_of(named, role), list(parts_of(parts)))
    if not isinstance(named, str):
        return _without_role(item, role)
    told = [] if item.keys().isdisjoint(_CHAT_KEYS) else list(_chat_parts(item))
    if not any(part.get("type") in _OF_CALLS for part in told):
        told += _calls_of_any_name(item)
    if not told and item.keys().isdisjoint(_CHAT_KEYS):
        return None
    return assembled(role_of(named, role), told)


_OF_CALLS: Final = ("tool_call", "tool_call_response")


def _without_role(item: dict[str, Any], role: str) -> Message | None:
    """Return the message that a block of one is, or an object that holds calls."""
    function, kind = item.get("function"), item.get("type")
    is_call = isinstance(function, dict) and "arguments" in function
    if is_call or (isinstance(kind, str) and kind in BLOCKS):
        told = list(parts_of([item]))
    elif item.keys().isdisjoint(_CALL_KEYS):
        return None
    else:
        told = list(_chat_parts(item))
    asks = any(part.get("type") == "tool_call" for part in told)
    return assembled("assistant" if asks else role, told) if told else None


_CALL_KEYS = frozenset(["tool_calls", "toolCalls", "function_call", "additional_kwargs"])


def _is_completion(item: dict[str, Any]) -> bool:
    """Tell whether an object is a bare text that a model wrote, not a message."""
    return "message" not in item and not item.keys().isdisjoint(["generation_info", "logprobs"])


_CHAT_KEYS = frozenset(
    [
        *("content", "contents", "tool_calls", "function_call", "tool_call_id"),
        *("function_call_name", "refusal"),
    ]
)


def _langchain(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return the fields of a LangChain message, with its class as `type`."""
    for name in ("data", "kwargs"):
        inner = item.get(name)
        if isinstance(inner, dict) and "content" in inner and isinstance(item.get("type"), str):
            kind = inner.get("type") or inner.get("role") or _class_of(item) or item["type"]
            return {**inner, "type": kind}
    if "content" in item and text(item.get("type")) in _LANGCHAIN_TYPES:
        return item
    return None


def _class_of(item: dict[str, Any]) -> str | None:
    """Return the type that a serialised object's class tells: `[..., "AIMessage"]`."""
    path = item.get("id")
    last = path[-1] if isinstance(path, list) and path else None
    if not isinstance(last, str):
        return None
    return last.removesuffix("Chunk").removesuffix("Message").lower()


_LANGCHAIN_TYPES = frozenset(["human", "ai", "tool", "system", "AIMessageChunk"])


def _chat_parts(item: dict[str, Any]) -> Iterator[Part]:
    content = next((item[name] for name in _CONTENTS if item.get(name) is not None), None)
    call_id = item.get("tool_call_id")
    several = item.get("tool_responses")
    if isinstance(several, list) and several:
        yield from (
            response_part(each.get("tool_call_id"), each.get("content"))
            for each in several
            if isinstance(each, dict)
        )
        return
    asked: list[Part] = []
    beside = list(_calls(item))
    by_tool = _TOOL in map(role_of, (item.get("role"), item.get("type")))
    is_response = call_id is not None or (by_tool and not beside)
    if is_response and not holds_results(content):
        failed = item.get("status") == "error" or says_it_failed(item)
        yield response_part(call_id or item.get("id"), content, item.get("name"), failed=failed)
        return
    if isinstance(content, list):
        own = _told_beside(parts_of(content), beside)
        asked = [part for part in own if part.get("type") == "tool_call"]
        yield from own
    elif isinstance(content, dict):
        yield from parts_of([content])
    elif isinstance(content, str) and content:
        yield text_part(content)
    refusal = item.get("refusal")
    if isinstance(refusal, str) and refusal:
        yield text_part(refusal)
    ids = {part["id"] for part in asked} - {None}
    for part in beside:
        twin = next((each for each in asked if _is_same_call(each, part)), None)
        if twin is not None:
            asked.remove(twin)
        elif part["id"] not in ids:
            yield part


def own_call(item: dict[str, Any]) -> Part | None:
    """Return the call that a message is itself, by the members beside what it says."""
    given = first_of(item, ARGUMENTS)
    if item.get("type") not in (None, "message") or given is None or not is_surely_a_call(item):
        return None
    named = name_of(item)
    return call_part(first_of(item, IDS[1:]), {"name": named, "arguments": given})


def _calls_of_any_name(item: dict[str, Any]) -> Iterator[Part]:
    """The calls of a message that has none where calls stand: the message, or any member."""
    own = own_call(item)
    if own is not None:
        yield own
    for name, value in item.items():
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, dict) and name not in _READ and is_surely_a_call(each):
                found = exchange_like(each)
                if found is not None and found.asked is not None:
                    yield from parts_of_exchange(found)


_READ: Final = frozenset(
    [
        *("content", "contents", "text", "completion"),
        *("additional_kwargs", "response_metadata", "usage", "metadata", "tools", "functions"),
    ]
)
"""Members of a message that hold what was said, or facts about it."""


_CONTENTS = ("content", "contents", "text", "completion")


def _is_same_call(one: Part, other: Part) -> bool:
    """Tell whether two parts of a message are one call: where one has no id, by their content."""
    if one["id"] is not None and other["id"] is not None:
        return bool(one["id"] == other["id"])
    return all(one[key] == other[key] for key in ("name", "arguments"))


def _told_beside(content: Iterable[Part], beside: list[Part]) -> list[Part]:
    """Return parts without calls that have no name where the calls beside them tell more."""
    told = {part["id"] for part in beside if part["name"] is not None}
    return [
        part
        for part in content
        if not told
        or part.get("type") != "tool_call"
        or part["name"] is not None
        or part["id"] not in {None, *told}
    ]


def _calls(item: dict[str, Any]) -> Iterator[Part]:
    """The calls that stand beside a message's content, in today's form or that of 2023."""
    former = item.get("additional_kwargs")
    former = former if isinstance(former, dict) else {}
    calls = item.get("tool_calls") or item.get("toolCalls") or former.get("tool_calls")
    calls = calls if isinstance(calls, list) else []
    for call in calls:
        if isinstance(call, dict):
            inner = call.get("tool_call")
            inner = inner if isinstance(inner, dict) else call
            yield call_part(inner.get("id") or inner.get("toolCallId"), inner)
    named = [call.get("id") for call in calls if isinstance(call, dict)]
    broken = item.get("invalid_tool_calls")
    for call in broken if isinstance(broken, list) else ():
        if isinstance(call, dict) and not (call.get("id") and call["id"] in named):
            yield call_part(call.get("id"), call)
    legacy = item.get("function_call") or former.get("function_call")
    if isinstance(legacy, dict):
        yield call_part(None, legacy)
    elif isinstance(item.get("function_call_name"), str):
        arguments = item.get("function_call_arguments_json")
        yield call_part(None, {"name": item["function_call_name"], "arguments": arguments})


def role_of(named: JsonValue, role: str = "") -> str:
    """Return a role by its name in the conventions; `role` where none is named.

    The name may be that of a class, or of a member of an enumeration. In what a model said, any
    other (of an agent, mostly) is the model's.
    """
    if not isinstance(named, str) or named in ("", "unknown"):
        return role
    plain = named.rpartition(".")[2].lower()
    known = _ROLES.get(plain) or _ROLES.get(_OF_A_CLASS.sub("", plain, count=1))
    return known or (role if role == _ASSISTANT else named)


_ASSISTANT: Final = "assistant"
_TOOL: Final = "tool"


def assembled(role: str, parts: list[Part]) -> Message:
    """Return a message of these parts; one of answers alone has the role `tool`."""
    if parts and all(part.get("type") == "tool_call_response" for part in parts):
        role = "tool"
    return Message(role, parts)
