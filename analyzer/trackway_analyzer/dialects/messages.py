"""Messages of any provider or framework to one form.

    {"role": "assistant", "parts": [
        {"type": "text", "content": "..."},
        {"type": "tool_call", "id": "call_1", "name": "weather", "arguments": {"city": "Paris"}},
        {"type": "tool_call_response", "id": "call_1", "response": {"t": 14}}]}

1. Messages stand alone, in lists of any depth, or under `messages`, `choices`, `generations` and
   the like; `message_forms` reads the single one.
2. Neighbours of the roles `assistant` or `tool` are one message: some write one for each call.
3. A dialogue comes again with every turn, longer by what was said since: only that is read, and a
   message that was read before is not read again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import orjson

from trackway_analyzer.dialects.message_forms import Message, assembled, read_message
from trackway_analyzer.dialects.parts import Part, parts_of, text_part
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
_MERGED: Final = ("assistant", "tool")
_MAX_NESTING: Final = 6


class _Read(NamedTuple):
    """A message that was read, with its parts as JSON, comma-separated."""

    role: str
    parts: list[Part]
    text: str


class _Dialogue(NamedTuple):
    """Messages in the one form, so that more can be put after them."""

    source: str
    """The JSON list that was read."""
    closed: tuple[str, ...]
    """JSON of each message but the last."""
    open: tuple[_Read, ...]
    """What the last message is made of."""

    @property
    def text(self) -> str:
        return f"[{','.join((*self.closed, _text_of(self.open)))}]"


def messages_text(value: JsonValue, role: str) -> str | None:
    """Return messages in the one form as a JSON list; None where the value holds none.

    `role` is the role of what does not name one. Raises UnencodableError.
    """
    if isinstance(value, str) and value.startswith("["):
        dialogue = _dialogue(value, role)
        return None if dialogue is None else dialogue.text
    read = list(_messages(value, role))
    return _continued(_Dialogue("", (), ()), "", read).text if read else None


_DIALOGUES: Final[dict[tuple[str, str], deque[_Dialogue]]] = {}
_MAX_DIALOGUES: Final = 256
_MAX_SOURCE: Final = 1_000_000
_HEAD: Final = 256


def _dialogue(source: str, role: str) -> _Dialogue | None:
    """Read a JSON list of messages, from where one that it continues was read to."""
    key = (role, source[:_HEAD])
    earlier = _DIALOGUES.get(key)
    if earlier is None:
        if len(_DIALOGUES) >= _MAX_DIALOGUES:
            _DIALOGUES.clear()
        earlier = _DIALOGUES[key] = deque(maxlen=8)
    found = None
    for known in reversed(earlier):
        if known.source == source:
            return known
        end = len(known.source) - 1
        if source.startswith(known.source[:end]) and source[end : end + 1] == ",":
            read = list(_messages(f"[{source[end + 1 :]}", role))
            found = _continued(known, source, read)
            break
    if found is None:
        read = list(_messages(source, role))
        found = _continued(_Dialogue("", (), ()), source, read) if read else None
    if found is not None and source.endswith("]") and len(source) <= _MAX_SOURCE:
        earlier.append(found)
    return found


def _continued(known: _Dialogue, source: str, read: list[_Read]) -> _Dialogue:
    closed, last = list(known.closed), list(known.open)
    for message in read:
        if last and not (last[0].role == message.role in _MERGED):
            closed.append(_text_of(last))
            last = []
        last.append(message)
    return _Dialogue(source, tuple(closed), tuple(last))


def canonical_messages(value: JsonValue, role: str) -> list[dict[str, JsonValue]] | None:
    """Return what `messages_text` writes, as a value."""
    text = messages_text(value, role)
    return None if text is None else orjson.loads(text)


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
    texts = [_said(message) for message in messages if message.role == role]
    return next((text for text in reversed(texts) if text), None)


def _said(message: _Read) -> str:
    return "\n".join(part["content"] for part in message.parts if part.get("type") == "text")


def _messages(value: JsonValue, role: str) -> Iterator[_Read]:
    value = json_of(value)
    if isinstance(value, str):
        if value:
            yield _rendered(Message(role, [text_part(value)]))
        return
    if isinstance(value, dict) and isinstance(value.get("prompts"), list):
        value = value["prompts"]
    if isinstance(value, list) and all(item and isinstance(item, str) for item in value):
        value = [{"role": role, "content": item} for item in value]
    yield from _walk(value, role, 0)


def _text_of(group: Sequence[_Read]) -> str:
    parts = ",".join(message.text for message in group if message.text)
    return f'{{"role":{compact(group[0].role)},"parts":[{parts}]}}'


def _rendered(message: Message) -> _Read:
    return _Read(message.role, message.parts, compact(message.parts)[1:-1])


def _walk(value: JsonValue, role: str, depth: int) -> Iterator[_Read]:
    if depth > _MAX_NESTING:
        return
    if isinstance(value, dict):
        yield from _of_object(value, role, depth)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from _known(item, role, depth)
            else:
                yield from _walk(item, role, depth + 1)


_KNOWN: Final[dict[tuple[str, bytes], tuple[_Read, ...]]] = {}
_MAX_KNOWN: Final = 4096
_MAX_KEY: Final = 8192


def _known(item: dict[str, Any], role: str, depth: int) -> Iterable[_Read]:
    """As `_walk`, for an object that is likely to come again."""
    try:
        key = (role, orjson.dumps(item))
    except TypeError:
        return _of_object(item, role, depth)
    found = _KNOWN.get(key)
    if found is None:
        found = tuple(_of_object(item, role, depth))
        if len(key[1]) <= _MAX_KEY:
            if len(_KNOWN) >= _MAX_KNOWN:
                _KNOWN.clear()
            _KNOWN[key] = found
    return found


def _of_object(value: dict[str, Any], role: str, depth: int) -> Iterator[_Read]:
    message = read_message(value, role)
    if message is not None:
        yield _rendered(message)
        return
    instruction = value.get("system") or _down(value, "config", "system_instruction")
    if isinstance(instruction, str) and instruction:
        yield _rendered(assembled("system", [text_part(instruction)]))
    if isinstance(value.get("prompt"), str):
        yield _rendered(assembled(role, list(parts_of([value["prompt"]]))))
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
