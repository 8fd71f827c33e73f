"""Turn any Python value into a tree of plain JSON values, bounded and without secrets.

1. No repr, str, iteration, property, attribute access, hash or comparison of a user's class runs:
   what a value holds is read as `convert.py` says. So nothing here raises in the user's name,
   queries a database or never ends.
2. Strings, booleans, None and integers of up to 64 bits stay; longer integers become strings of
   digits; NaN and infinities become `"NaN"`, `"Infinity"`, `"-Infinity"`; lone surrogates are
   spelled out; bytes become type, length and SHA-256; in a base64 `data:` URL of more than
   1,024 characters, length and SHA-256 of the URL stand in place of the content.
3. Objects have string keys: a key that is no string is written as its JSON text. Where two keys get
   the same text, later ones get ` (2)`, ` (3)`; string keys come first.
4. A container inside itself is `"…[circular]"`; one below `Limits.depth` is
   `"…[truncated: too deep]"`.
5. The budget is `Limits.hash_bytes`: a string costs its characters, each member of a container 64
   besides. Where the value is not plain throughout, which is slower, a string costs 384 besides and
   any other but a number 512, a key 128. Members of an object share the budget, so that a huge one
   does not push out its neighbours; lists are cut from the end; a string that does not fit keeps
   its beginning. Markers name what was left out (`limits.py`).
6. A denied key costs its value (`redact.py`). A string is redacted before it is cut, and where only
   its beginning was searched the last 1,024 characters of that are dropped: half a secret there
   would not be recognised. Strings that a quick look clears, up to 128 K characters, are taken
   whole; others are searched up to 128 K characters in all, each string counting 320 besides.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from types import NoneType
from typing import Any, Final

from trackway.capture.convert import (
    Blob,
    Elements,
    Inner,
    Members,
    Opaque,
    Parts,
    parts_of,
)
from trackway.capture.errors import record_capture_error
from trackway.capture.limits import ELLIPSIS, Limits, chars_marker, items_marker, keys_marker
from trackway.capture.redact import (
    CARD_MARKER,
    KEY_NAME_MARKER,
    SEARCHED,
    Redactor,
)
from trackway.capture.secret_patterns import is_card_number
from trackway.capture.text import Json, encodable, json_text

CIRCULAR_MARKER: Final = f"{ELLIPSIS}[circular]"
DEPTH_MARKER: Final = f"{ELLIPSIS}[truncated: too deep]"
FAILED_MARKER: Final = "[capture failed]"
SECRET_TYPE_MARKER: Final = "[redacted:secret_type]"
SECRET_BYTES_MARKER: Final = "[redacted:bytes]"

_PLAIN_COST: Final = 64
_NEW_KEY_COST: Final = 128
_CAREFUL_COST: Final = 512
_KEY_COST: Final = 128
_STRING_COST: Final = 384
_CHEAPEST: Final = 64
_SEARCH_COST: Final = 320
_MARGIN: Final = 1024
_TAIL: Final = 4096
_TAILS_KEPT: Final = 8
_LAST_ITEMS: Final = 4
_LONGEST_KEY: Final = 256
_SNAPSHOT_TRIES: Final = 3
SHORTEST_MEDIA: Final = 1024
_BASE64: Final = ";base64,"
_SEARCHED_BYTES: Final = 65536
_FEWEST_CARD_DIGITS: Final = 10**12
_INTEGER_BOUND: Final = 1 << 63
_LONGEST_INTEGER_BITS: Final = 13_000
"""Python refuses to write integers of more than 4300 digits (14,284 bits)."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A value as plain JSON values."""

    root: Json
    cut: bool
    """Something was left out."""
    redacted: bool
    unrecorded: list[Json]
    """Ends of long strings and lists: not recorded, but part of the digest."""


class EveryKeySafe:
    """Stands for a redactor where there is none: no key is denied."""

    safe_keys: Final = frozenset[str]()

    def learn(self, _key: str) -> bool:
        """Return True."""
        return True


EVERY_KEY_SAFE: Final = EveryKeySafe()


def is_plain(value: Any, room: int, depth: int, keys: Redactor | EveryKeySafe) -> bool:
    """Whether JSON knows a value as it is, within room and depth, and no key of it is denied.

    True for exact dict (str keys), list, tuple, str, int of 64 bits, float, bool and None. Strings
    are not looked into; floats may be NaN.
    """
    kind = type(value)
    if kind is dict or kind is list or kind is tuple:
        return _plain_room(value, room, depth, keys) >= 0
    if kind is str:
        return len(value) <= room
    if kind is int:
        return bool(-_INTEGER_BOUND <= value < _INTEGER_BOUND)
    return kind is float or kind is bool or value is None


def _plain_room(value: Any, room: int, depth: int, keys: Redactor | EveryKeySafe) -> int:
    """Return what is left of `room` after a container, or -1 where it is not plain."""
    kind = type(value)
    if kind is dict:
        room -= _PLAIN_COST * len(value)
        if room < 0:
            return -1
        safe = keys.safe_keys
        for key in value:
            if type(key) is not str:
                return -1
            if key not in safe:
                if not keys.learn(key):
                    return -1
                room -= _NEW_KEY_COST
        members = value.values()
    elif kind is list or kind is tuple:
        room -= _PLAIN_COST * len(value)
        members = value
    else:
        return -1
    if room < 0 or depth == 0:
        return -1
    for member in members:
        kind = type(member)
        if kind is str:
            room -= len(member)
        elif kind is int:
            if not -_INTEGER_BOUND <= member < _INTEGER_BOUND:
                return -1
        elif kind is not float and kind is not bool and member is not None:
            room = _plain_room(member, room, depth - 1, keys)
            if room < 0:
                return -1
    return room


def tree_of(value: Any, limits: Limits, redactor: Redactor | None, exempt: frozenset[str]) -> Tree:
    """Return any value as a bounded tree without secrets.

    `exempt` are texts of identifiers: a string or integer that is one of them is not searched for
    secrets.
    """
    walk = _Walk(limits, redactor, exempt)
    root = walk.value(value, 1)
    return Tree(root, walk.cut, walk.redacted, walk.unrecorded)


class _Walk:
    """One walk over a value; holds its budget and what it has met."""

    __slots__ = (
        "cut",
        "depth",
        "exempt",
        "hashed_bytes",
        "inside",
        "redacted",
        "redactor",
        "room",
        "scan",
        "unrecorded",
        "window",
    )

    def __init__(self, limits: Limits, redactor: Redactor | None, exempt: frozenset[str]) -> None:
        self.redactor = redactor
        self.exempt = exempt
        self.depth = limits.depth
        self.room = limits.work
        self.scan = max(SEARCHED, limits.value_bytes + _MARGIN)
        self.window = limits.value_bytes + _MARGIN
        self.hashed_bytes = limits.hash_bytes
        self.inside: set[int] = set()
        self.unrecorded: list[Json] = []
        self.cut = False
        self.redacted = False

    def value(self, value: Any, depth: int) -> Json:
        """Return a value as JSON values; containers in it are at `depth`."""
        kind = type(value)
        if kind is str:
            return self.string(value)
        if value is None or kind is bool:
            return value  # type: ignore[no-any-return]
        if kind is int:
            return self.integer(value)
        if kind is float:
            return self.real(value)
        try:
            return self.parts(value, parts_of(value), depth)
        except Exception as error:  # noqa: BLE001 - one odd value must not cost the others
            record_capture_error("capture.value", error)
            self.cut = True
            return FAILED_MARKER

    def parts(self, value: Any, parts: Parts, depth: int) -> Json:
        if isinstance(parts, Opaque):
            return self.opaque(parts)
        if isinstance(parts, Blob):
            return self.blob(parts)
        if not isinstance(parts, Members | Elements | Inner):
            return self.value(parts, depth)
        if id(value) in self.inside:
            return CIRCULAR_MARKER
        if depth > self.depth:
            self.cut = True
            return DEPTH_MARKER
        self.inside.add(id(value))
        try:
            if isinstance(parts, Members):
                return self.members(parts, depth)
            if isinstance(parts, Elements):
                return self.elements(parts, depth)
            # Another value in its place; counted as a level, for it may lead back to this one.
            return self.value(parts.value, depth + 1)
        finally:
            self.inside.discard(id(value))

    def members(self, parts: Members, depth: int) -> Json:
        entries = self.affordable(parts.pairs)
        if any(type(key) is not str for key, _ in entries):
            entries.sort(key=lambda entry: type(entry[0]) is not str)
        result: dict[str, Json] = {}
        taken: dict[str, int] = {}
        large: list[tuple[str, Any]] = []
        for key, member in entries:
            name = self.key(key, depth)
            if name in result:
                taken[name] = taken.get(name, 1) + 1
                name = f"{name} ({taken[name]})"
            if self.denied(name, member):
                result[name] = KEY_NAME_MARKER
            elif _is_scalar(type(member)):
                result[name] = self.value(member, depth + 1)
            else:
                result[name] = None
                large.append((name, member))
        for place, (name, member) in enumerate(large):
            share = max(0, self.room) // (len(large) - place)
            kept_back = self.room - share
            self.room = share
            result[name] = self.value(member, depth + 1)
            self.room += kept_back
        if parts.partial:
            self.cut = True
        if parts.count > len(entries):
            self.cut = True
            result[ELLIPSIS] = keys_marker(parts.count - len(entries))
        return result

    def affordable(self, pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Return the members that the budget allows, paid for."""
        entries = _snapshot(pairs, max(0, self.room) // _CHEAPEST)
        room = self.room
        for place, (_, member) in enumerate(entries):
            cost = _KEY_COST + _cost(type(member))
            if cost > room:
                del entries[place:]
                break
            room -= cost
        self.room = room
        return entries

    def elements(self, parts: Elements, depth: int) -> Json:
        result: list[Json] = []
        for item in _snapshot(parts.items, max(0, self.room) // _CHEAPEST):
            cost = _cost(type(item))
            if cost > self.room:
                break
            self.room -= cost
            result.append(self.value(item, depth + 1))
        if parts.unordered:
            result.sort(key=json_text)
        dropped = parts.count - len(result)
        if dropped > 0:
            self.cut = True
            result.append(items_marker(dropped))
            if parts.last is not None and len(self.unrecorded) < _TAILS_KEPT:
                self.unrecorded.append([self.aside(item, depth + 1) for item in parts.last()])
        return result

    def aside(self, item: Any, depth: int) -> Json:
        """Return a value that only goes into the digest, on a small budget of its own."""
        kept_back = self.room
        self.room = _TAIL
        try:
            return self.value(item, depth)
        finally:
            self.room = kept_back

    def key(self, key: Any, depth: int) -> str:
        text = key
        if type(key) is not str:
            plain = self.value(key, depth + 1)
            text = plain if isinstance(plain, str) else json_text(plain)
        if len(text) <= _LONGEST_KEY:
            return self.without_secrets(encodable(text))
        self.cut = True
        window = text[: _LONGEST_KEY + _MARGIN]
        return self.without_secrets(encodable(window))[:_LONGEST_KEY] + chars_marker(
            len(text) - _LONGEST_KEY
        )

    def denied(self, name: str, member: Any) -> bool:
        redactor = self.redactor
        if redactor is None or name in redactor.safe_keys or redactor.learn(name):
            return False
        if member is None or type(member) is bool or (type(member) is str and not member):
            return False
        self.redacted = True
        return True

    def string(self, text: str) -> Json:
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
        if len(self.unrecorded) < _TAILS_KEPT:
            self.unrecorded.append(self.searched(encodable(text[-_TAIL:])))
        return kept + chars_marker(len(text) - window + _MARGIN)

    def media(self, text: str) -> str:
        """Return a `data:` URL with its length and hash in place of its content."""
        head = text[:SHORTEST_MEDIA].partition(_BASE64)[0] + _BASE64[:-1]
        record = self.hashed(head, len(text), lambda part: text[part].encode("utf-8", "replace"))
        (name, digest) = next(item for item in record.items() if item[0].startswith("sha256"))
        return self.searched(f"{encodable(head)},{ELLIPSIS}[{len(text)} chars, {name} {digest}]")

    def searched(self, text: str) -> str:
        if self.redactor is None:
            return text
        clean, changed = self.redactor.text(text)
        if changed:
            self.redacted = True
        return clean

    def integer(self, value: int) -> Json:
        if -_FEWEST_CARD_DIGITS < value < _FEWEST_CARD_DIGITS:
            return value
        if -_INTEGER_BOUND <= value < _INTEGER_BOUND:
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

    def real(self, value: float) -> Json:
        if -_FEWEST_CARD_DIGITS < value < _FEWEST_CARD_DIGITS:
            return value
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        if value.is_integer() and abs(value) < _INTEGER_BOUND:
            return value if self.integer(int(value)) != CARD_MARKER else CARD_MARKER
        return value

    def opaque(self, parts: Opaque) -> Json:
        if not parts.secret or self.redactor is None:
            return self.searched(encodable(parts.text[:_LONGEST_KEY]))
        self.redacted = True
        return SECRET_TYPE_MARKER

    def blob(self, parts: Blob) -> Json:
        text = parts.cut(slice(0, _SEARCHED_BYTES)).decode("latin-1")
        if self.redactor is not None and self.redactor.text(text)[1]:
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
        ends = cut(slice(0, _TAIL)) + cut(slice(max(0, length - _TAIL), length))
        return {"type": kind, "length": length, "sha256_ends": hashlib.sha256(ends).hexdigest()}


def _is_scalar(kind: type) -> bool:
    # By identity: a set of types would call the hash and the comparison of a metaclass.
    return kind is str or kind is int or kind is float or kind is bool or kind is NoneType


def _cost(kind: type) -> int:
    if kind is str:
        return _STRING_COST
    return _CHEAPEST if _is_scalar(kind) else _CAREFUL_COST


def _snapshot(items: Iterable[Any], most: int) -> list[Any]:
    """Return the first members of a container that another thread may be changing."""
    for _ in range(_SNAPSHOT_TRIES - 1):
        try:
            return list(islice(items, most))
        except RuntimeError:
            continue
    return list(islice(items, most))
