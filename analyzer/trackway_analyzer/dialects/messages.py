"""Messages of any provider or framework to one form.

    {"role": "assistant", "parts": [
        {"type": "text", "content": "..."},
        {"type": "tool_call", "id": "call_1", "name": "weather", "arguments": {"city": "Paris"}},
        {"type": "tool_call_response", "id": "call_1", "response": {"t": 14}}]}

1. Messages stand alone, in lists of any depth, or under `messages`, `choices`, `generations` and
   the like; `message_forms` reads the single one.
2. Neighbours of the roles `assistant` or `tool` are one message: some write one for each call.
3. A dialogue comes again with every turn, longer by what was said since: only that is read
   (`dialogue`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple

import orjson

from trackway_analyzer.dialects.cut_messages import MARK, Cut, json_or_cut
from trackway_analyzer.dialects.dialogue import (
    Dialogue,
    dialogue_of,
    flat_dialogue_of,
    read_once,
)
from trackway_analyzer.dialects.flat_list import FlatList
from trackway_analyzer.dialects.memory import Memory
from trackway_analyzer.dialects.message_forms import Message, assembled, read_message
from trackway_analyzer.dialects.parts import parts_of, text_part
from trackway_analyzer.dialects.printed import printed
from trackway_analyzer.dialects.read_message import ReadMessage, rendered
from trackway_analyzer.dialects.values import json_of
from trackway_analyzer.json_text import compact
from trackway_analyzer.model import JsonValue

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
_MAX_NESTING: Final = 6
_ANSWERING: Final = "assistant"
_LISTS_OF_OBJECTS: Final = (b'"[{', b'"[[')
"""How the literal of a dialogue begins. A list of bare texts is one by another rule."""


class AfterSystem(NamedTuple):
    """Messages and the system instructions that were recorded beside them."""

    system: Any
    messages: Any


class Holed(NamedTuple):
    """Messages of which some are missing, before others or between them."""

    messages: Any


Content = Any
"""A JSON value, the literal of a text (bytes), a flattened list, messages after system
instructions, or messages with holes."""


class Written(NamedTuple):
    """Messages in the one form."""

    json: bytes | None
    """A JSON list; None where there is none."""
    cut: bool
    """They end in the middle, or some are missing."""


def written_messages(content: Content, role: str) -> Written:
    """Return messages in the one form; of those that end in the middle, what is whole.

    `role` is the role of what does not name one. Raises UnencodableError.
    """
    if content.__class__ is Holed:
        return written_messages(content.messages, role)._replace(cut=True)
    dialogue = _dialogue(content, role)
    cut = False
    if dialogue is None:
        value, cut = _uncut(content)
        dialogue = Dialogue().followed_by(_messages(value, role))
        if cut and role == _ANSWERING:
            dialogue = dialogue.followed_by([rendered(assembled(role, [text_part(MARK)]))])
    return Written(dialogue.listed if dialogue.open else None, cut)


def messages_json(content: Content, role: str) -> bytes | None:
    """As `written_messages`, the JSON list alone."""
    return written_messages(content, role).json


def _uncut(content: Content) -> tuple[JsonValue, bool]:
    """Return a content as one JSON value, and whether it ends in the middle."""
    if content.__class__ is Cut:
        return content.value, True
    if content.__class__ is AfterSystem:
        following, cut = _uncut(content.messages)
        return value_of(AfterSystem(content.system, following)), cut
    value = value_of(content)
    found = json_or_cut(value) if isinstance(value, str) else value
    return (found.value, True) if found.__class__ is Cut else (value, False)


def messages_text(content: Content, role: str) -> str | None:
    """As `messages_json`, as a text."""
    json = messages_json(content, role)
    return None if json is None else json.decode()


def _dialogue(content: Content, role: str) -> Dialogue | None:
    """Return the dialogue that a content holds, if it holds one as a JSON list in a text."""
    if content.__class__ is AfterSystem:
        system, following = _system(content.system), _dialogue(content.messages, role)
        if system is None or following is None or system.role != "system":
            return None
        first = Dialogue(open=(system,))
        return following._replace(closed=b",".join(filter(None, (first.text, following.closed))))
    if isinstance(content, str) and content.startswith("["):
        try:
            content = orjson.dumps(content)
        except TypeError:
            return None
    if content.__class__ is bytes and content.startswith(_LISTS_OF_OBJECTS):
        return dialogue_of(content, role, _messages)
    if content.__class__ is FlatList:
        return flat_dialogue_of(content, role, _messages)
    return None


_SYSTEMS: Final = Memory[bytes, ReadMessage](1024 * 1024)


def _system(content: Content) -> ReadMessage | None:
    """Read system instructions; None where they are none."""
    if content.__class__ is not bytes:
        return _read_system(content)
    known = _SYSTEMS.get(content)
    if known is None:
        known = _read_system(orjson.loads(content))
        if known is not None:
            _SYSTEMS.keep(content, known, 2 * len(content))
    return known


def _read_system(value: JsonValue) -> ReadMessage | None:
    message = _system_message(value)
    return None if message is None else next(_messages([message], "system"), None)


def _system_message(value: JsonValue) -> JsonValue:
    parts = json_of(value)
    if parts is None:
        return None
    parts = parts if isinstance(parts, list) else [{"type": "text", "content": parts}]
    return {"role": "system", "parts": parts}


def value_of(content: Content) -> JsonValue:
    """Return a content as one JSON value."""
    if content.__class__ is bytes:
        return orjson.loads(content)
    if content.__class__ is FlatList:
        return content.value()
    if content.__class__ is Holed:
        return value_of(content.messages)
    if content.__class__ is not AfterSystem:
        return content
    system, messages = _system_message(value_of(content.system)), value_of(content.messages)
    if system is None:
        return messages
    following = json_of(messages)
    return [system, *(following if isinstance(following, list) else [following])]


def canonical_messages(value: JsonValue, role: str) -> list[dict[str, JsonValue]] | None:
    """Return what `messages_text` writes, as a value."""
    text = messages_text(value, role)
    return None if text is None else orjson.loads(text)


def plain_text(content: Content, role: str) -> str | None:
    """Return the last text of `role` among messages; of what holds none, its text or JSON."""
    dialogue = _dialogue(content, role)
    if dialogue is not None:
        last = dialogue.said.get(role)
        return None if last is None else last.said
    value, cut = _uncut(content)
    if cut:
        return _cut_text(value, content, role)
    value = json_of(value)
    for name in ("output", "input", "inputs", "outputs", "task"):
        if isinstance(value, dict) and isinstance(value.get(name), str | dict | list):
            value = value[name]
    if isinstance(value, dict) and value.keys() <= {"args", "kwargs"} and not value.get("kwargs"):
        positional = value.get("args")
        value = positional[0] if isinstance(positional, list) and len(positional) == 1 else value
    if isinstance(value, str):
        return value
    backwards = _walk(value, role, 0, backwards=True)
    last = next(backwards, None)
    if last is None:
        return compact(value)
    return next((m.said for m in chain([last], backwards) if m.role == role and m.texts), None)


def _cut_text(whole: JsonValue, content: Content, role: str) -> str:
    """Return the last text of `role` among what is whole of some messages, and that it is cut."""
    backwards = _walk(whole, role, 0, backwards=True)
    last = next((m.said for m in backwards if m.role == role and m.texts), None)
    if last is None and whole is None:
        last = str(value_of(content))
    return f"{last or ''}{MARK}"


def _messages(value: JsonValue, role: str) -> Iterator[ReadMessage]:
    value = json_of(value)
    if isinstance(value, str):
        # A program may have recorded what its client returned as Python prints it.
        read = list(_walk(printed(value), role, 0)) if role == _ANSWERING else []
        yield from read or ([rendered(Message(role, [text_part(value)]))] if value else [])
        return
    if isinstance(value, dict) and isinstance(value.get("prompts"), list):
        value = value["prompts"]
    if isinstance(value, list) and all(item and isinstance(item, str) for item in value):
        value = [_of_a_text(item, role) for item in value]
    yield from _walk(value, role, 0)


def _of_a_text(text: str, role: str) -> dict[str, Any]:
    """Return the message whose JSON a text is, or the one that says the text."""
    value = json_of(text)
    is_message = isinstance(value, dict) and read_message(value, role) is not None
    return value if is_message else {"role": role, "content": text}


def _walk(
    value: JsonValue, role: str, depth: int, *, backwards: bool = False
) -> Iterator[ReadMessage]:
    if depth > _MAX_NESTING:
        return
    if isinstance(value, dict):
        yield from _of_object(value, role, depth, backwards=backwards)
    elif isinstance(value, list):
        for item in reversed(value) if backwards else value:
            if isinstance(item, dict):
                read = read_once(item, role, partial(_of_object, item, role, depth))
                yield from reversed(tuple(read)) if backwards else read
            else:
                yield from _walk(item, role, depth + 1, backwards=backwards)


def _of_object(
    value: dict[str, Any], role: str, depth: int, *, backwards: bool = False
) -> Iterator[ReadMessage]:
    message = read_message(value, role)
    if message is not None:
        yield rendered(message)
        return
    instruction = value.get("system") or _down(value, "config", "system_instruction")
    first = _instruction(instruction) if isinstance(instruction, str) and instruction else ()
    if backwards:
        yield from _within(value, role, depth, backwards=True)
        yield from first
    else:
        yield from first
        yield from _within(value, role, depth, backwards=False)


def _instruction(text: str) -> Iterator[ReadMessage]:
    yield rendered(assembled("system", [text_part(text)]))


def _within(
    value: dict[str, Any], role: str, depth: int, *, backwards: bool
) -> Iterator[ReadMessage]:
    if isinstance(value.get("prompt"), str):
        yield rendered(assembled(role, list(parts_of([value["prompt"]]))))
        return
    for name in _LISTS:
        inner = value.get(name)
        if isinstance(inner, list | dict):
            yield from _walk(inner, role, depth + 1, backwards=backwards)
            return


def _down(value: JsonValue, *names: str) -> JsonValue:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
