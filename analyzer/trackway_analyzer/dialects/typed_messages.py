"""Messages that are in the form of the GenAI conventions, decoded by type: the quick way.

1. Taken are lists of messages of a role and parts, each part a text, a call or the answer to one,
   and nothing else. Any other list is left to `message_forms`, which reads these too and makes the
   same of them.
2. A text stays the JSON literal that it is.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
import orjson
from msgspec import Raw, Struct

from trackway_analyzer.dialects.message_forms import role_of
from trackway_analyzer.dialects.parts import Part, call_part, response_part
from trackway_analyzer.dialects.read_message import ReadMessage
from trackway_analyzer.json_text import compact_bytes

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
    parts: list[_Part]
    finish_reason: Any = None
    name: Any = None


_decode: Final = msgspec.json.Decoder(list[_Message]).decode


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
    parts, texts = [], []
    answers = True
    for part in message.parts:
        kind, content = part.type, bytes(part.content)
        if kind == "text":
            if not content.startswith(b'"') or part.response is not msgspec.UNSET:
                return None
            if len(content) > _EMPTY:
                literal = _written(content)
                texts.append(literal)
                parts.append(b'{"type":"text","content":%b}' % literal)
                answers = False
            continue
        if content:
            return None
        made: Part
        if kind == "tool_call" and part.response is msgspec.UNSET:
            made = call_part(part.id, {"name": part.name, "arguments": part.arguments})
            answers = False
        elif kind == "tool_call_response" and part.response is not msgspec.UNSET:
            made = response_part(part.id, part.response, part.name)
        else:
            return None
        parts.append(compact_bytes(made))
    said_by = "tool" if parts and answers else role_of(message.role, role)
    return ReadMessage(said_by, b",".join(parts), tuple(texts))


_EMPTY: Final = len(b'""')


def _written(literal: bytes) -> bytes:
    """Return the literal of a text as `orjson` writes it."""
    if b"\\" in literal and (rb"\u" in literal or rb"\/" in literal):
        return orjson.dumps(orjson.loads(literal))
    return literal
