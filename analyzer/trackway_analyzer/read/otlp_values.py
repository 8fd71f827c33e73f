"""Ids, times, enums and counts as OTLP JSON writes them, however sloppily.

1. Ids are hex of any case; 24 or 12 characters of base64 (Tempo) are turned into hex.
2. Enums are integers or names, 64-bit integers texts or numbers, field names lowerCamelCase or
   snake_case.
3. What is none of these is None.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
CODES: Final = ("UNSET", "OK", "ERROR")
_MAX_TIME: Final = 2**63 - 1


def span_hex(value: Any, length: int) -> str | None:
    """Return an id as lower-case hex of `length` digits; None where it is empty or no id."""
    if not isinstance(value, str) or not value:
        return None
    if len(value) == length:
        text = value.lower()
        if _is_hex(text):
            return None if text == "0" * length else text
    return _hex_of_base64(value, length)


def trace_hex(value: Any) -> str | None:
    """As `span_hex`, for the id of a trace, which comes again on each of its spans."""
    return _known_hex(value, 32) if value.__class__ is str else None


def known_span_hex(value: Any) -> str | None:
    """As `span_hex`, for the id of a span, which comes again on its children."""
    return _known_hex(value, 16) if value.__class__ is str else None


_known_hex: Final = lru_cache(maxsize=8192)(span_hex)
"""Ids come again: a trace's on each of its spans, a span's on its children."""


def _hex_of_base64(value: str, length: int) -> str | None:
    try:
        raw = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw.hex() if len(raw) * 2 == length and any(raw) else None


def _is_hex(text: str) -> bool:
    try:
        int(text, 16)
    except ValueError:
        return False
    return text.isalnum()


def nanoseconds(value: Any) -> int | None:
    """Return a time in ns; None where it is absent, zero or out of range."""
    if value.__class__ not in _NUMBERS:
        return None
    try:
        time = int(value)
    except (ValueError, OverflowError):
        return None
    return time if 0 < time <= _MAX_TIME else None


_NUMBERS: Final = (str, int, float)


def enum(value: Any, names: tuple[str, ...], prefix: str) -> str | None:
    """Return a member by its number or name."""
    if isinstance(value, int) and not isinstance(value, bool):
        return names[value] if 0 <= value < len(names) else None
    if isinstance(value, str):
        name = value.upper().removeprefix(prefix)
        if name in names:
            return name
        small = len(value) < 10 and value.isascii() and value.isdigit()
        return enum(int(value), names, prefix) if small else None
    return None


def kind_of(value: Any) -> str | None:
    """Return a kind by name; the default of protobuf, which writers leave out, is none."""
    name = enum(value, KINDS, "SPAN_KIND_")
    return None if name == KINDS[0] else name


def count_of(value: Any) -> int | None:
    """Return a count above zero that fits 32 bits."""
    try:
        count = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return count if 0 < count < 2**31 else None


def text_of(value: Any) -> str | None:
    """Return a text."""
    return value if isinstance(value, str) else None


def field_of(item: dict[str, Any], camel: str, snake: str) -> Any:
    """Return a field by either of its names."""
    value = item.get(camel)
    return item.get(snake) if value is None else value


def objects_of(items: Any) -> Iterator[dict[str, Any]]:
    """Return the objects of a list."""
    if isinstance(items, list):
        for item in items:
            if isinstance(item, dict):
                yield item
