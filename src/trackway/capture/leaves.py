"""Strings, numbers and bytes, within a budget and without secrets.

1. A string is redacted before it is cut. Where only its beginning was searched, the last 1,024
   characters of that are dropped: half a secret there would not be recognised.
2. Strings that a quick look clears, up to 128 K characters each, are taken whole; of others twice
   what may be recorded is searched in all, each string counting 512 besides, and each place that
   may be a secret 128. Where that is spent, a string ends. What quick looks look at closely is
   bounded too (`screen.py`); beyond that nothing is cleared.
3. Integers beyond 64 bits become strings of digits, those beyond 4,096 bits their size; NaN and
   infinities `"NaN"`, `"Infinity"`, `"-Infinity"`; a number that may be a card's is redacted as its
   text would be.
4. Bytes become type, length and SHA-256; no hash where they are at most 4,096 and hold a secret, or
   could not be searched for one. In a base64 `data:` URL of more than 1,024 characters length and
   SHA-256 of the URL stand in place of the content. Beyond the budget for hashes it is
   `sha256_ends`, of both ends of 4,096 bytes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Final

from trackway.capture.integers import LONGEST_BITS, whole
from trackway.capture.limits import ELLIPSIS, Limits, chars_marker
from trackway.capture.parts import Blob, Digest, Opaque
from trackway.capture.plain import INTEGER_BOUND
from trackway.capture.redact import CARD_MARKER, Redactor, is_paired
from trackway.capture.screen import QUICK_LOOK, SEARCHED
from trackway.capture.search import MARGIN, Work
from trackway.capture.secret_patterns import is_card_number
from trackway.capture.text import Json, encodable, json_length
from trackway.schema import redaction_marker

SECRET_TYPE_MARKER: Final = redaction_marker("secret_type")
SECRET_BYTES_MARKER: Final = redaction_marker("bytes")
SHORTEST_MEDIA: Final = 1024
"""Characters up to which a `data:` URL is a string like any other."""
TAIL: Final = 4096
TAILS_KEPT: Final = 8
"""So many ends of strings and lists go into a digest."""

_BASE64: Final = ";base64,"
_SEARCH_COST: Final = 512
_MARKER_COST: Final = 512
_BLOB_COST: Final = 2048
_LONGEST_KEY: Final = 256
_LONGEST_NAME: Final = 64
_SEARCHED_BYTES: Final = 4096
"""Nobody guesses more bytes than these from their hash, whatever secret is in them."""
_FEWEST_CARD_DIGITS: Final = 10**12
_LONGEST_DIGITS: Final = 1e16
"""Floats below are written digit by digit, others with an exponent."""
_LONG: Final = 512
_MOST_ESCAPED: Final = 6
"""Characters of JSON that one character takes at most."""


def _cost_of(text: str) -> int:
    """Return how often a long text is gone through, in ways of one character each."""
    if ":" in text or "=" in text or ("<" in text and "</" in text) or is_paired(text):
        return 11  # names are looked for in it
    return 2 if " " in text else 5  # in a long word keys are looked for


class Leaves:
    """The budget of one capture, and what was met so far."""

    def __init__(self, limits: Limits, redactor: Redactor | None, exempt: frozenset[str]) -> None:
        self.redactor = redactor
        self.exempt = exempt
        self.room = limits.work
        """Characters and members that may still be looked at."""
        self.scan = 2 * (limits.value_bytes + MARGIN)
        """Characters that may still be searched."""
        self.look = Work(QUICK_LOOK)
        """What looks at places that may be secrets may still cost."""
        self.window = limits.value_bytes + MARGIN
        self.hashed_bytes = limits.hash_bytes
        self.names: dict[int, tuple[object, str]] = {}
        """What short bytes say, by the id of their record; the record, so that the id stays its."""
        self.unrecorded: list[Json] = []
        self.cut = False
        self.redacted = False

    def string(self, text: str) -> str:
        """Return a string, redacted and within the budget."""
        length = len(text)
        if length > (self.room if text.isascii() else self.room // 2):
            return self.beginning(text, min(self.window, self.room, self.scan))
        if (
            length > SHORTEST_MEDIA
            and text.startswith("data:")
            and _BASE64 in text[:SHORTEST_MEDIA]
        ):
            return self.media(text)
        if length > _LONG:
            length = json_length(text)
            if length > self.room:
                return self.beginning(text, min(self.window, self.room // _MOST_ESCAPED, self.scan))
            length *= _cost_of(text)
        self.room -= length
        text = encodable(text)
        exempt = self.exempt
        return text if exempt and text in exempt else self.without_secrets(text)

    def key(self, text: str) -> str:
        """Return the key of an object: a string of at most 256 characters and a marker."""
        if len(text) <= _LONGEST_KEY:
            return self.without_secrets(encodable(text))
        self.cut = True
        window = self.without_secrets(encodable(text[: _LONGEST_KEY + MARGIN]))
        if len(text) > _LONGEST_KEY + MARGIN:
            window = window[:-MARGIN]
        return window[:_LONGEST_KEY] + chars_marker(len(text) - _LONGEST_KEY)

    def without_secrets(self, text: str) -> str:
        """Return a text without its secrets, whole where the search is affordable."""
        redactor = self.redactor
        if redactor is None:
            return text
        if len(text) > SEARCHED:
            return self.beginning(text, min(self.window, self.scan))
        suspects = redactor.suspects(text, self.look)
        if not suspects:
            return text
        self.room -= 3 * (len(text) + _SEARCH_COST)
        if len(text) + _SEARCH_COST > self.scan:
            return self.beginning(text, min(self.window, self.scan))
        clean, whole = self.searched(text, suspects)
        return clean if whole else self.ended(clean, text)

    def beginning(self, text: str, window: int) -> str:
        """Return what may be kept of a string that is too long to be searched whole."""
        self.cut = True
        if window <= MARGIN:
            return chars_marker(len(text))
        self.room -= window
        clean, whole = self.searched(encodable(text[:window]))
        return self.ended(clean[:-MARGIN] if whole else clean, text)

    def ended(self, clean: str, text: str) -> str:
        """Return the clean beginning of a text, with a marker; its end goes into the digest."""
        self.cut = True
        if len(self.unrecorded) < TAILS_KEPT and self.scan >= TAIL:
            self.unrecorded.append(self.searched(encodable(text[-TAIL:]))[0])
        return clean + chars_marker(max(1, len(text) - len(clean)))

    def media(self, text: str) -> str:
        """Return a `data:` URL with its length and hash in place of its content."""
        head = text[:SHORTEST_MEDIA].partition(_BASE64)[0] + _BASE64[:-1]
        record = self.hashed(head, len(text), lambda part: text[part].encode("utf-8", "replace"))
        (name, digest) = next(item for item in record.items() if item[0].startswith("sha256"))
        shown = f"{encodable(head)},{ELLIPSIS}[{len(text)} chars, {name} {digest}]"
        return self.searched(shown)[0]

    def searched(self, text: str, suspects: int | None = None) -> tuple[str, bool]:
        """Return a text without its secrets, and whether the search came to its end."""
        redactor = self.redactor
        if redactor is None:
            return text, True
        found = redactor.suspects(text) if suspects is None else suspects
        clean, changed, whole = self.search(redactor, text, found)
        self.redacted = self.redacted or changed
        return clean, whole

    def search(self, redactor: Redactor, text: str, suspects: int) -> tuple[str, bool, bool]:
        """Search a text; whether it changed, and whether what is left to be searched was enough."""
        self.scan = max(0, self.scan - len(text) - _SEARCH_COST)
        work = Work(self.scan)
        clean, changed = redactor.search(text, suspects, work)
        self.scan = work.left
        return clean, changed, not work.stopped

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
        if bits <= LONGEST_BITS:
            self.room -= bits + (bits * bits >> 15)  # Python writes them in quadratic time
        else:
            self.cut = True
            self.room -= _MARKER_COST
        return whole(value)

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
        self.room -= _MARKER_COST
        if not parts.secret or self.redactor is None:
            return self.searched(encodable(parts.text))[0][:_LONGEST_KEY]
        self.redacted = True
        return SECRET_TYPE_MARKER

    def blob(self, parts: Blob) -> Json:
        """Return the record of bytes, and keep in mind what it says where it may be a name."""
        record = self.bytes_record(parts)
        if parts.length <= _LONGEST_NAME and self.redactor is not None:
            text = parts.cut(slice(0, parts.length)).decode("latin-1")
            self.names[id(record)] = (record, text)
        return record

    def bytes_record(self, parts: Blob) -> Json:
        """Return type, length and hash of bytes; no hash where they are few and hold a secret."""
        redactor = self.redactor
        if redactor is not None and parts.length <= _SEARCHED_BYTES:
            self.room -= parts.length + _BLOB_COST
            text = parts.cut(slice(0, parts.length)).decode("latin-1")
            suspects = redactor.built_in_suspects(text, self.look)
            if suspects and parts.length + _SEARCH_COST > self.scan:
                self.cut = True
                return {"type": parts.kind, "length": parts.length}
            _, changed, whole = self.search(redactor, text, suspects)
            if changed or not whole:
                self.redacted = True
                return {"type": parts.kind, "length": parts.length, "sha256": SECRET_BYTES_MARKER}
        return self.hashed(parts.kind, parts.length, parts.cut)

    def digest(self, parts: Digest) -> str:
        """Return a SHA-256; the ellipsis where the budget for hashes is spent."""
        if parts.length > self.hashed_bytes:
            self.cut = True
            return ELLIPSIS if parts.of_ends is None else f"ends:{parts.of_ends()}"
        self.hashed_bytes -= parts.length
        return parts.make()

    def hashed(self, kind: str, length: int, cut: Callable[[slice], bytes]) -> dict[str, Json]:
        """Return the record of something whose content is kept as a hash only."""
        if length <= self.hashed_bytes:
            digest = hashlib.sha256(cut(slice(0, length))).hexdigest()
            self.hashed_bytes -= length
            return {"type": kind, "length": length, "sha256": digest}
        self.cut = True
        ends = cut(slice(0, TAIL)) + cut(slice(max(0, length - TAIL), length))
        return {"type": kind, "length": length, "sha256_ends": hashlib.sha256(ends).hexdigest()}
