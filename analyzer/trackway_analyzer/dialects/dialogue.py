"""Messages that were read before: a dialogue comes again with every turn, longer by what was said.

1. A JSON list of messages is known by the literal of its text. One that begins as a list that was
   read before is read from there on only; the rest is taken over, as it was written.
2. A single message that was read before is not read again.
3. What is kept is bounded; a memory that is full forgets the older half.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from trackway_analyzer.dialects.flat_list import FlatList
from trackway_analyzer.dialects.memory import Memory
from trackway_analyzer.dialects.read_message import ReadMessage
from trackway_analyzer.dialects.typed_messages import typed_messages
from trackway_analyzer.dialects.values import json_of
from trackway_analyzer.json_text import compact_bytes
from trackway_analyzer.model import JsonValue

_MERGED: Final = ("assistant", "tool")


class Dialogue(NamedTuple):
    """Messages in the one form, so that more can be put after them."""

    closed: bytes = b""
    """JSON of each message but the last, comma-separated."""
    open: tuple[ReadMessage, ...] = ()
    """What the last message is made of: neighbours of one role that are one message."""
    said: Mapping[str, ReadMessage] = {}
    """The last message of each role that holds a text."""

    @property
    def text(self) -> bytes:
        """JSON of all messages, comma-separated."""
        last = _text_of(self.open)
        return b"%b,%b" % (self.closed, last) if self.closed else last

    @property
    def listed(self) -> bytes:
        """JSON of all messages."""
        last = _text_of(self.open)
        return b"[%b,%b]" % (self.closed, last) if self.closed else b"[%b]" % last

    def followed_by(self, messages: Iterable[ReadMessage]) -> Dialogue:
        """Return the dialogue with more messages after it."""
        closed, last, said = [self.closed] if self.closed else [], list(self.open), {**self.said}
        for message in messages:
            if last and not (last[0].role == message.role in _MERGED):
                closed.append(_text_of(last))
                last = []
            last.append(message)
            if message.texts:
                said[message.role] = message
        return Dialogue(b",".join(closed), tuple(last), said)


def _text_of(group: Sequence[ReadMessage]) -> bytes:
    parts = b",".join([message.text for message in group if message.text])
    return b'{"role":%b,"parts":[%b]}' % (compact_bytes(group[0].role), parts)


Reader = Callable[[JsonValue, str], Iterator[ReadMessage]]
"""Reads the messages that a value holds; the text is the role of what does not name one."""

_HEAD: Final = 256
_MOST: Final = 32 * 1024 * 1024
_OF_A_HEAD: Final = 32
_TAIL: Final = 64
_SHORT: Final = 1024
"""A dialogue below this is read sooner than it is found: answers of models, mostly."""
_LONGEST: Final = 1_000_000


class _Known(NamedTuple):
    start: bytes
    """The literal without the end of the list and the quote."""
    tail: bytes
    """The end of `start`: dialogues of one agent begin alike, and seldom agree here."""
    dialogue: Dialogue


_DIALOGUES: Final = Memory[tuple[str, bytes], deque[_Known]](_MOST)


def dialogue_of(literal: bytes, role: str, read: Reader) -> Dialogue | None:
    """Return the dialogue that the JSON literal of a text holds; None where it holds no messages.

    The literal must begin a list of objects. Raises UnencodableError.
    """
    if len(literal) < _SHORT or not literal.endswith(_END):
        return _begun(literal, role, read)
    key = (role, literal[:_HEAD])
    earlier = _DIALOGUES.get(key) or deque(maxlen=_OF_A_HEAD)
    found = None
    for start, tail, dialogue in reversed(earlier):
        end = len(start)
        if literal.startswith(tail, end - len(tail)) and literal.startswith(start):
            if len(literal) == end + len(_END):
                return dialogue
            if literal[end : end + 1] == b",":
                more = _read(b'"[' + literal[end + 1 :], role, read)
                if more is not None:
                    found = dialogue.followed_by(more)
                    break
    if found is None:
        found = _begun(literal, role, read)
    if found is not None and len(literal) <= _LONGEST:
        start = literal[: -len(_END)]
        earlier.append(_Known(start, start[-_TAIL:], found))
        _DIALOGUES.keep(key, earlier, 2 * len(literal) * len(earlier))
    return found


_END: Final = b']"'


def _begun(literal: bytes, role: str, read: Reader) -> Dialogue | None:
    messages = _read(literal, role, read)
    return Dialogue().followed_by(messages) if messages else None


def _read(literal: bytes, role: str, read: Reader) -> list[ReadMessage] | None:
    """Read a text that should be a list of objects; None where it is none."""
    text = orjson.loads(literal)
    messages = typed_messages(text, role)
    if messages:
        return messages
    value = json_of(text)
    if isinstance(value, list) and value and isinstance(value[0], dict | list):
        return list(read(value, role))
    return None


class _KnownFlat(NamedTuple):
    below: tuple[str, ...]
    values: tuple[Any, ...]
    dialogue: Dialogue


_FLAT: Final = Memory[tuple[str, str, Any], deque[_KnownFlat]](_MOST)


def flat_dialogue_of(flat: FlatList, role: str, read: Reader) -> Dialogue | None:
    """Return the dialogue of a flattened list; None where it must be read in another way.

    Raises UnencodableError.
    """
    below, values = flat.paths.below, flat.values
    if not flat.texts_only:
        return None
    begins = next((value[:_HEAD] for value in values if len(value) >= _TAIL), values[0][:_HEAD])
    key = role, below[0], begins
    earlier: deque[_KnownFlat] = _FLAT.get(key) or deque(maxlen=_OF_A_HEAD)
    begun, taken = Dialogue(), 0
    for known in reversed(earlier):
        whole: Dialogue = known.dialogue
        end = len(known.values)
        if (
            end <= len(values)
            and values[end - 1] == known.values[-1]
            and values[:end] == known.values
            and below[:end] == known.below
        ):
            if end == len(values):
                return whole
            place = next((n for n, (first, _) in enumerate(flat.paths.items) if first == end), 0)
            if place:
                begun, taken = whole, place
                break
    found = begun.followed_by(_flat_messages(flat, taken, role, read))
    if not found.open:
        return None
    length = sum(map(len, values))
    if length <= _LONGEST:
        earlier.append(_KnownFlat(below, values, found))
        _FLAT.keep(key, earlier, 2 * length * len(earlier))
    return found


_ITEMS: Final = Memory[tuple[Any, ...], tuple[ReadMessage, ...]](8 * 1024 * 1024)


def _flat_messages(flat: FlatList, first: int, role: str, read: Reader) -> Iterator[ReadMessage]:
    """Read the items from `first` on; one that was read before is not read again."""
    for place in range(first, len(flat.paths.items)):
        key = role, *flat.entry(place)
        found = _ITEMS.get(key)
        if found is None:
            found = tuple(read([flat.item(place)], role))
            length = sum(map(len, key[2]))
            if length <= _LONGEST_MESSAGE:
                _ITEMS.keep(key, found, 3 * length + 256)
        yield from found


_MESSAGES: Final = Memory[tuple[str, bytes], tuple[ReadMessage, ...]](16 * 1024 * 1024)
_LONGEST_MESSAGE: Final = 8192


def read_once(
    item: dict[str, Any], role: str, read: Callable[[], Iterator[ReadMessage]]
) -> Iterable[ReadMessage]:
    """Return the messages of an object, read unless they were read before."""
    try:
        key = (role, orjson.dumps(item))
    except TypeError:
        return read()
    found = _MESSAGES.get(key)
    if found is None:
        found = tuple(read())
        if len(key[1]) <= _LONGEST_MESSAGE:
            _MESSAGES.keep(key, found, 3 * len(key[1]) + 256)
    return found
