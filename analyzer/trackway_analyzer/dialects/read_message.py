"""A message that was read, as it is written into the span table."""

from __future__ import annotations

from typing import NamedTuple

import orjson

from trackway_analyzer.dialects.message_forms import Message
from trackway_analyzer.json_text import compact_bytes
from trackway_analyzer.recorder_marks import in_our_marks, may_be_taken_out


class ReadMessage(NamedTuple):
    """Who said something, and what."""

    role: str
    text: bytes
    """JSON of the parts, comma-separated."""
    texts: tuple[str | bytes, ...] = ()
    """The texts among the parts, none of them empty, as such or as JSON literals."""

    @property
    def said(self) -> str:
        """The texts, a line each."""
        return "\n".join(t if isinstance(t, str) else orjson.loads(t) for t in self.texts)


def rendered(message: Message) -> ReadMessage:
    """Write the parts of a message, what another recorder took out by our mark."""
    parts, written = message.parts, compact_bytes(message.parts)
    if may_be_taken_out(written):
        written = in_our_marks(written.decode()).encode()
        parts = orjson.loads(written)
    texts = [part["content"] for part in parts if part.get("type") == "text"]
    return ReadMessage(message.role, written[1:-1], tuple(filter(None, texts)))
