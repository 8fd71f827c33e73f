"""A message that was read, as it is written into the span table."""

from __future__ import annotations

from typing import NamedTuple

import orjson

from trackway_analyzer.dialects.message_forms import Message
from trackway_analyzer.json_text import compact_bytes


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
    """Write the parts of a message."""
    texts = [part["content"] for part in message.parts if part.get("type") == "text"]
    return ReadMessage(message.role, compact_bytes(message.parts)[1:-1], tuple(filter(None, texts)))
