"""JSON texts: read whatever claims to be one, write one form.

1. `parsed` returns the value of a text that is JSON, and the text itself where it is none. It never
   raises. Integers of any length stay exact, NaN and the infinities become strings.
2. `canonical` writes keys sorted, no spaces, numbers as Python's `json` writes them, as the
   recorder does: two equal values are equal texts. `compact` keeps the order of keys and is
   quicker.
3. What cannot be written (too deep, no JSON type) raises `UnencodableError`; callers drop the value
   and say so.
"""

from __future__ import annotations

import ast
import json
import math
import re
from decimal import Decimal
from typing import Any, Final

import orjson

from trackway_analyzer.model import JsonValue

MAX_PARSED: Final = 64 * 1024 * 1024
"""Longest text that is looked into, in characters."""
MAX_LITERAL: Final = 64 * 1024
"""Longest text that is tried as a Python literal."""
MAX_DEPTH: Final = 250
"""Deepest nesting that is written, give or take the four levels more that orjson allows."""
_LONGEST_NUMBER: Final = 64
_EXACT: Final = 2.0**53
"""From here on, a float has no more place for every whole number."""

_OPENERS = frozenset('{["-0123456789tfnNI')
_DIGITS_TO_ZERO = bytes(0x30 if 0x30 <= code <= 0x39 else 0x20 for code in range(256))
_LONG_INTEGER = b"0" * 19
_OPERATOR_RUN = re.compile(r"[-+~]{9}")
_encode_sorted = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


class UnencodableError(ValueError):
    """A value that has no JSON text within the bounds."""


def parsed(text: str) -> JsonValue:
    """Return the value of a JSON text, or the text where it is no JSON."""
    start = text.lstrip()[:1]
    if start not in _OPENERS or not start or len(text) > MAX_PARSED:
        return text
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        return text
    if _LONG_INTEGER not in raw.translate(_DIGITS_TO_ZERO):
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            if start not in '{["NI-':
                return text
    return _parsed_slowly(text)


def _parsed_slowly(text: str) -> JsonValue:
    """As `parsed`, for what orjson refuses (NaN, lone surrogates) or rounds (long integers)."""
    try:
        return plain(json.loads(text, parse_constant=str))
    except (ValueError, RecursionError, UnencodableError):
        return text


def unwrapped(text: str) -> str:
    """Return the JSON object or list that a JSON string holds, canonical; else the text as it is.

    Tools that return `json.dumps(...)` are recorded so. Once only; other texts stay.
    """
    outer = parsed(text)
    inner = parsed(outer) if isinstance(outer, str) and outer != text else None
    if not isinstance(inner, dict | list):
        return text
    try:
        return canonical(inner)
    except UnencodableError:
        return text


def is_cut(text: str) -> bool:
    """Tell whether a text begins like a JSON object or list and stops before its end."""
    return text.startswith(('{"', '[{"', '["')) and text.rstrip()[-1:] not in ("}", "]")


def is_cut_literal(literal: bytes) -> bool:
    """As `is_cut`, for the JSON literal of a text."""
    if literal[-2:-1] in (b"}", b"]") or not literal.startswith((b'"{', b'"[')):
        return False
    return is_cut(orjson.loads(literal))


def parsed_literal(text: str) -> JsonValue:
    """Return the value of a Python literal (`{'city': 'Paris'}`), or the text where it is none."""
    start = text.lstrip()[:1]
    if not start or start not in "{[(" or len(text) > MAX_LITERAL or _OPERATOR_RUN.search(text):
        return text
    try:
        return plain(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError, UnencodableError):
        return text


def canonical(value: JsonValue) -> str:
    """Write a value with sorted keys and no spaces. Raises UnencodableError."""
    try:
        text = _encode_sorted(value)
    except (TypeError, ValueError, RecursionError):
        return _encode_sorted(plain(value))
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _refuse_deep(value)
    return text


def _refuse_deep(value: JsonValue) -> None:
    try:
        orjson.dumps(value)  # refuses what is nested deeper than 254
    except TypeError:
        plain(value)


def compact(value: JsonValue) -> str:
    """Write a value in its own key order. Raises UnencodableError."""
    return compact_bytes(value).decode()


def compact_bytes(value: JsonValue) -> bytes:
    """As `compact`, in UTF-8."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(plain(value), separators=(",", ":"), ensure_ascii=False).encode()


def plain(value: Any, depth: int = 0) -> JsonValue:
    """Return a value made of JSON types only. Raises UnencodableError beyond `MAX_DEPTH`."""
    if depth > MAX_DEPTH:
        raise UnencodableError(f"nested deeper than {MAX_DEPTH}")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {clean(str(key)): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Decimal):
        return _number(value)
    return clean(str(value))


def _number(value: Decimal) -> JsonValue:
    """A decimal number as the recorder writes it: a text where no float has the same value."""
    text = str(value)
    if len(text) > _LONGEST_NUMBER or not value.is_finite():
        return text
    number = float(value)
    if Decimal(repr(number)) != value:
        return text
    return int(number) if "." not in text and abs(number) < _EXACT else number


def clean(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
