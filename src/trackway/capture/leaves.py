"""Strings, numbers and bytes, within a budget and without secrets.

1. A string is redacted before it is cut. Where only its beginning was searched, the last 1,024
   characters of that are dropped: half a secret there would not be recognised.
2. Strings that a quick look clears, up to 128 K characters each, are taken whole; of others 128 K
   characters in all are searched, each string counting 320 besides.
3. Integers beyond 64 bits become strings of digits; NaN and infinities `"NaN"`, `"Infinity"`,
   `"-Infinity"`; a number that may be a card's is redacted as its text would be.
4. Bytes become type, length and SHA-256; no hash where they are at most 4,096 and hold a secret. In
   a base64 `data:` URL of more than 1,024 characters length and SHA-256 of the URL stand in place
   of the content. Beyond the budget for hashes it is `sha256_ends`, of both ends of 4,096 bytes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Final

from trackway.capture.limits import ELLIPSIS, Limits, chars_marker
from trackway.capture.parts import Blob, Opaque
from trackway.capture.plain import INTEGER_BOUND
from trackway.capture.redact import CARD_MARKER, Redactor
from trackway.capture.screen import SEARCHED
from trackway.capture.secret_patterns import is_card_number
from trackway.capture.text import Json, encodable
from trackway.schema import redaction_marker

SECRET_TYPE_MARKER: Final = redaction_marker("secret_type")
SECRET_BYTES_MARKER: Final = redaction_marker("bytes")
SHORTEST_MEDIA: Final = 1024
"""Characters up to which a `data:` URL is a string like any other."""
TAIL: Final = 4096
TAILS_KEPT: Final = 8
"""So many ends of strings and lists go into a digest."""

_BASE64: Final = ";base64,"
_MARGIN: Final = 1024
_SEARCH_COST: Final = 320
_LONGEST_KEY: Final = 256
_SEARCHED_BYTES: Final = 4096
"""Nobody guesses more bytes than these from their hash, whatever secret is in them."""
_FEWEST_CARD_DIGITS: Final = 10**12
_LONGEST_DIGITS: Final = 1e16
"""Floats below are written digit by digit, others with an exponent."""
_LONGEST_INTEGER_BITS: Final = 13_000
"""Python refuses to write integers of more than 4300 digits (14,284 bits)."""


class Leaves:
    """The budget of one capture, and what was met so far."""

    def __init__(self, limits: Limits, redactor: Redactor | None, exempt: frozenset[str]) -> None:
        self.redactor = redactor
        self.exempt = exempt
        self.room = limits.work
        """Characters and members that may still be looked at."""
        self.scan = max(SEARCHED, limits.value_bytes + _MARGIN)
        """Characters that may still be searched."""
        self.window = limits.value_bytes + _MARGIN
        self.hashed_bytes = limits.hash_bytes
        self.unrecorded: list[Json] = []
        self.cut = False
        self.redacted = False

    def string(self, text: str) -> str:
        """Return a string, redacted and within the budget."""
        length = len(text)
        if length > self.room:
            return self.beginning(text, min(self.window, self.room, self.scan))
        if (
            length > SHORTEST_MEDIA
            and text.startswith("data:")
            and _BASE64 in text[:SHORTEST_MEDIA]
        ):
            return self.media(text)
        self.room -= length
        text = encodable(text)
        return text if text in self.exempt else self.without_secrets(text)

    def key(self, text: str) -> str:
        """Return the key of an object: a string of at most 256 characters and a marker."""
        if len(text) <= _LONGEST_KEY:
            return self.without_secrets(encodable(text))
        self.cut = True
        window = self.without_secrets(encodable(text[: _LONGEST_KEY + _MARGIN]))
        if len(text) > _LONGEST_KEY + _MARGIN:
            window = window[:-_MARGIN]
        return window[:_LONGEST_KEY] + chars_marker(len(text) - _LONGEST_KEY)

    def without_secrets(self, text: str) -> str:
        """Return a text without its secrets, whole where the search is affordable."""
        redactor = self.redactor
        if redactor is None:
            return text
        if len(text) > SEARCHED:
            return self.beginning(text, min(self.window, self.scan))
        suspects = redactor.suspects(text)
        if not suspects:
            return text
        self.room -= _SEARCH_COST
        cost = len(text) + _SEARCH_COST
        if cost > self.scan:
            return self.beginning(text, min(self.window, self.scan))
        self.scan -= cost
        clean, changed = redactor.search(text, suspects)
        if changed:
            self.redacted = True
        return clean

    def beginning(self, text: str, window: int) -> str:
        """Return what may be kept of a string that is too long to be searched whole."""
        self.cut = True
        if window <= _MARGIN:
            return chars_marker(len(text))
        self.room -= window
        self.scan -= window
        kept = self.searched(encodable(text[:window]))[:-_MARGIN]
        if len(self.unrecorded) < TAILS_KEPT:
            self.unrecorded.append(self.searched(encodable(text[-TAIL:])))
        return kept + chars_marker(len(text) - window + _MARGIN)

    def media(self, text: str) -> str:
        """Return a `data:` URL with its length and hash in place of its content."""
        head = text[:SHORTEST_MEDIA].partition(_BASE64)[0] + _BASE64[:-1]
        record = self.hashed(head, len(text), lambda part: text[part].encode("utf-8", "replace"))
        (name, digest) = next(item for item in record.items() if item[0].startswith("sha256"))
        return self.searched(f"{encodable(head)},{ELLIPSIS}[{len(text)} chars, {name} {digest}]")

    def searched(self, text: str) -> str:
        """Return a text without its secrets, whatever that costs."""
        if self.redactor is None:
            return text
        clean, changed = self.redactor.text(text)
        if changed:
            self.redacted = True
        return clean

    def integer(self, value: int) -> int | str:
        """Return an integer of 64 bits, or the text that stands for another."""
        if -_FEWEST_CARD_DIGITS < value < _FEWEST_CARD_DIGITS:
            return value
        if -INTEGER_BOUND <= value < INTEGER_BOUND:
            digits = str(abs(value))
            if self.redactor is None or not is_card_number(digits) or digits in self.exempt:
                return value
            self.redacted = True
            return CARD_MARKER
        bits = value.bit_length()
        if bits <= _LONGEST_INTEGER_BITS:
            return str(value)
        self.cut = True
        return f"{ELLIPSIS}[truncated integer of {bits} bits]"

    def real(self, value: float) -> float | str:
        """Return a float, or the text that stands for it."""
        if -_FEWEST_CARD_DIGITS < value < _FEWEST_CARD_DIGITS:
            return value
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        if value.is_integer() and abs(value) < _LONGEST_DIGITS:
            return value if self.integer(int(value)) != CARD_MARKER else CARD_MARKER
        return value

    def opaque(self, parts: Opaque) -> str:
        """Return the text of a value that has no other form."""
        if not parts.secret or self.redactor is None:
            return self.searched(encodable(parts.text))[:_LONGEST_KEY]
        self.redacted = True
        return SECRET_TYPE_MARKER

    def blob(self, parts: Blob) -> Json:
        """Return type, length and hash of bytes; no hash where they are few and hold a secret."""
        redactor = self.redactor
        if redactor is not None and parts.length <= _SEARCHED_BYTES:
            self.room -= parts.length
            text = parts.cut(slice(0, parts.length)).decode("latin-1")
            if redactor.search(text, redactor.built_in_suspects(text))[1]:
                self.redacted = True
                return {"type": parts.kind, "length": parts.length, "sha256": SECRET_BYTES_MARKER}
        return self.hashed(parts.kind, parts.length, parts.cut)

    def hashed(self, kind: str, length: int, cut: Callable[[slice], bytes]) -> dict[str, Json]:
        """Return the record of something whose content is kept as a hash only."""
        if length <= self.hashed_bytes:
            digest = hashlib.sha256(cut(slice(0, length))).hexdigest()
            self.hashed_bytes -= length
            return {"type": kind, "length": length, "sha256": digest}
        self.cut = True
        ends = cut(slice(0, TAIL)) + cut(slice(max(0, length - TAIL), length))
        return {"type": kind, "length": length, "sha256_ends": hashlib.sha256(ends).hexdigest()}
