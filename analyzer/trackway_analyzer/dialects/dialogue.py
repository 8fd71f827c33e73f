"""Messages that were read before: a dialogue comes again with every turn, longer by what was said.

1. A JSON list of messages is known by the literal of its text. One that begins as a list that was
   read before is read from there on only; the rest is taken over, as it was written.
2. A single message that was read before is not read again.
3. What is kept is bounded; a memory that is full forgets the older half.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import orjson

from trackway_analyzer.dialects.read_message import ReadMessage
from trackway_analyzer.dialects.typed_messages import typed_messages
from trackway_analyzer.dialects.values import json_of
from trackway_analyzer.json_text import compact_bytes
from trackway_analyzer.model import JsonValue

_MERGED: Final = ("assistant", "tool")
_K = TypeVar("_K")
_V = TypeVar("_V")


class Memory(Generic[_K, _V]):
    """A mapping of bounded weight."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._new: dict[_K, tuple[_V, int]] = {}
        self._old: dict[_K, tuple[_V, int]] = {}

    def get(self, key: _K) -> _V | None:
        """Return what is kept under a key."""
        found = self._new.get(key)
        if found is None:
            found = self._old.get(key)
            if found is None:
                return None
            self.keep(key, *found)
        return found[0]

    def keep(self, key: _K, value: _V, weight: int) -> None:
        """Keep a value; `weight` is what it takes, roughly, in bytes."""
        self._weight += weight
        if self._weight > self._most // 2:
            self._old, self._new, self._weight = self._new, {}, weight
        self._new[key] = value, weight


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
    if not literal.endswith(_END):
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
