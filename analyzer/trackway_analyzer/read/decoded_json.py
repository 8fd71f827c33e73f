"""One JSON text to its value, also where it is not quite JSON.

1. A document of OTLP in its usual form is a `UsualDocument`, any other the JSON value.
2. What a strict parser refuses and others write is taken: lone surrogates, NaN and Infinity (as
   texts), control characters inside of texts, and numbers beyond 64 bits (as their digits).
3. Bytes that are no UTF-8 cost their character: it is replaced, and the value is told of.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, NamedTuple

import orjson

from trackway_analyzer.json_text import UnencodableError, plain
from trackway_analyzer.read.otlp_usual import usual_document

_DIGITS: Final = 18
_FORGIVEN: Final = ("surrogate", "infinity", "control character")


class NotJson:
    """Why a text is no JSON."""

    def __init__(self, why: str) -> None:
        self.why = why
        self.too_deep = "depth" in why or "ecursion" in why or "nested" in why
        self.ends_early = "unexpected end" in why or "EOF" in why or "nterminated" in why


class Decoded(NamedTuple):
    """A value, and whether bytes in it were no text."""

    document: Any
    replaced: bool


def decoded(text: bytes, *, usual: bool = True) -> Any:
    """Return the value of a text, a `NotJson` where it is none; `usual`: see rule 1."""
    document = usual_document(text) if usual else None
    if document is not None:
        return document
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        why = str(error)
    if "depth" in why or "allocate memory" in why:
        return NotJson("depth limit" if "depth" in why else "unexpected end of data")
    forgiven = any(word in why for word in _FORGIVEN) or b"NaN" in text or b"Infinity" in text
    return _forgiving(text, why) if forgiven else NotJson(why)


def decoded_with_replacement(text: bytes, *, usual: bool = True) -> Decoded:
    """As `decoded`, with a replacement character for bytes that are no UTF-8."""
    document = decoded(text, usual=usual)
    if not isinstance(document, NotJson) or "UTF-8" not in document.why:
        return Decoded(document, False)
    return Decoded(decoded(text.decode("utf-8", "replace").encode(), usual=usual), True)


def _forgiving(text: bytes, why: str) -> Any:
    try:
        document = json.loads(
            text, parse_constant=str, parse_int=_integer, parse_float=_finite, strict=False
        )
        return plain(document)
    except (ValueError, RecursionError, UnencodableError):
        return NotJson(why)


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _DIGITS else _within_64_bits(digits)


def _within_64_bits(digits: str) -> int | str:
    if len(digits) > _DIGITS + 2:
        return digits
    number = int(digits)
    return number if -(2**63) <= number < 2**64 else digits


def _finite(number: str) -> float | str:
    value = float(number)
    return value if math.isfinite(value) else number
