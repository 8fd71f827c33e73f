"""Messages that are in the form of the GenAI conventions, decoded by type: the quick way.

1. Taken are lists of messages of a role and parts, each part a text, a call or the answer to one,
   and nothing else, out of which no recorder took anything. Any other list is left to
   `message_forms`, which reads these too and makes the same of them.
2. A text stays the JSON literal that it is.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec
import orjson
from msgspec import Raw, Struct

from trackway_analyzer.dialects.memory import Memory
from trackway_analyzer.dialects.message_forms import role_of
from trackway_analyzer.dialects.parts import Part, call_part, response_part
from trackway_analyzer.dialects.read_message import ReadMessage
from trackway_analyzer.json_text import compact_bytes
from trackway_analyzer.recorder_marks import may_be_taken_out

_NONE: Final = Raw(b"")


class _Part(Struct, forbid_unknown_fields=True, gc=False):
    type: str
    content: Raw = _NONE
    id: Any = None
    name: Any = None
    arguments: Any = None
    response: Any = msgspec.UNSET


class _Message(Struct, forbid_unknown_fields=True, gc=False):
    role: str
    parts: list[Raw]
    finish_reason: Any = None
    name: Any = None


class _Written(NamedTuple):
    """A part that was read."""

    json: bytes
    """Empty for an empty text, which is no part."""
    text: bytes | None
    """The literal of a text."""
    answers: bool


_decode: Final = msgspec.json.Decoder(list[_Message]).decode
_decode_part: Final = msgspec.json.Decoder(_Part).decode
_PARTS: Final = Memory[bytes, _Written](16 * 1024 * 1024)
_LONGEST_PART: Final = 8192


def typed_messages(text: str, role: str) -> list[ReadMessage] | None:
    """Return the messages of a JSON list; None where it must be read in another way.

    Raises UnencodableError.
    """
    try:
        messages = _decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
    read = []
    for message in messages:
        one = _read(message, role)
        if one is None:
            return None
        read.append(one)
    return read


def _read(message: _Message, role: str) -> ReadMessage | None:
    parts: list[bytes] = []
    texts: list[bytes] = []
    answers = True
    for item in message.parts:
        raw = bytes(item)
        part = _PARTS.get(raw)
        if part is None:
            part = _read_part(raw)
            if part is None:
                return None
            if len(raw) <= _LONGEST_PART:
                _PARTS.keep(raw, part, 3 * len(raw) + 256)
        if part.json:
            parts.append(part.json)
            if part.text is not None:
                texts.append(part.text)
            answers = answers and part.answers
    said_by = "tool" if parts and answers else role_of(message.role, role)
    return ReadMessage(said_by, b",".join(parts), tuple(texts))


def _read_part(raw: bytes) -> _Written | None:
    if may_be_taken_out(raw):
        return None
    try:
        part = _decode_part(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    kind, content = part.type, bytes(part.content)
    if kind == "text":
        if not content.startswith(b'"') or part.response is not msgspec.UNSET:
            return None
        if len(content) <= _EMPTY:
            return _Written(b"", None, answers=False)
        literal = _written(content)
        return _Written(b'{"type":"text","content":%b}' % literal, literal, answers=False)
    if content:
        return None
    made: Part
    if kind == "tool_call" and part.response is msgspec.UNSET:
        made = call_part(part.id, {"name": part.name, "arguments": part.arguments})
    elif kind == "tool_call_response" and part.response is not msgspec.UNSET:
        made = response_part(part.id, part.response, part.name)
    else:
        return None
    return _Written(compact_bytes(made), None, answers=kind == "tool_call_response")


_EMPTY: Final = len(b'""')


def _written(literal: bytes) -> bytes:
    """Return the literal of a text as `orjson` writes it."""
    if b"\\" in literal and (rb"\u" in literal or rb"\/" in literal):
        return orjson.dumps(orjson.loads(literal))
    return literal
