"""How large is a span in a message, and how many fit into one?

1. `size_of` is never less than what a span takes in an OTLP message, its resource and scope
   included: text is measured, the rest is counted at its most.
2. `pieces` keeps the order and fills each message up to the limit; a span that is larger by itself
   gets a message of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan

_SPAN_BYTES: Final = 200
"""Ids, times, kind, status, flags and counts of one span, with their tags and lengths."""
_MEMBER_BYTES: Final = 32
"""Tags and lengths around one attribute, event or list item, and a number in it."""


def size_of(span: ReadableSpan) -> int:
    """Return an upper bound of the bytes that a span adds to a message, its resource included."""
    named = [span.name, span.status.description, span.resource.schema_url]
    scope = span.instrumentation_scope
    if scope is not None:
        named += [scope.name, scope.version, scope.schema_url]
    return (
        _SPAN_BYTES
        + sum(_text_bytes(text) for text in named if text)
        + (_members_bytes(scope.attributes) if scope else 0)
        + (_text_bytes(span.context.trace_state.to_header()) if span.context else 0)
        + _members_bytes(span.attributes)
        + _members_bytes(span.resource.attributes)
        + sum(_item_bytes(event.name, event.attributes) for event in span.events)
        + sum(_item_bytes("", link.attributes) for link in span.links)
    )


def pieces(spans: Iterable[ReadableSpan], limit: int) -> Iterator[list[ReadableSpan]]:
    """Cut spans into messages of at most `limit` bytes."""
    piece: list[ReadableSpan] = []
    size = 0
    for span in spans:
        added = size_of(span)
        if piece and size + added > limit:
            yield piece
            piece, size = [], 0
        piece.append(span)
        size += added
    if piece:
        yield piece


def _item_bytes(name: str, attributes: Mapping[str, Any] | None) -> int:
    return 2 * _MEMBER_BYTES + _text_bytes(name) + _members_bytes(attributes)


def _members_bytes(attributes: Mapping[str, Any] | None) -> int:
    return sum(
        _MEMBER_BYTES + _text_bytes(str(key)) + _value_bytes(value)
        for key, value in (attributes or {}).items()
    )


def _value_bytes(value: Any) -> int:
    if isinstance(value, str):
        return _text_bytes(value)
    if isinstance(value, (bytes, bytearray)):
        return len(value)
    if isinstance(value, Mapping):
        return _members_bytes(value)
    if isinstance(value, Sequence):
        return sum(_MEMBER_BYTES + _value_bytes(item) for item in value)
    return 0  # within the bytes of its member


def _text_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
