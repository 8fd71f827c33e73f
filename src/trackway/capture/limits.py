"""How much of a value is kept, and how the rest is cut off inside the JSON.

1. `cut(tree, room)` returns a copy of a tree whose JSON is at most `room` bytes of UTF-8.
2. A container shares its room among its members: small members stay whole, large ones are cut to
   one common size. Members are dropped from the end when not even a small share is left for each.
3. What was cut is named in place, and the text stays valid JSON:
   a string ends in `…[truncated 120 chars]`; a list ends with the element
   `"…[truncated 7 items]"`; an object has the key `…` with `"[truncated 3 keys]"`; a value that
   has no room at all is `"…"`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trackway.capture.text import Json, json_size

ELLIPSIS: Final = "…"
LEAST_VALUE_BYTES: Final = 128
"""Room for the markers of what was cut."""
_CHARS_MISSING: Final = re.compile(rf"{ELLIPSIS}\[truncated ([0-9]{{1,18}}) chars\]\Z")
_ITEMS_MISSING: Final = re.compile(rf"\A{ELLIPSIS}\[truncated ([0-9]{{1,18}}) items\]\Z")
_KEYS_MISSING: Final = re.compile(r"\A\[truncated ([0-9]{1,18}) keys\]\Z")
_LONGEST_MARKER: Final = 48
_SMALL_SHARE: Final = 256
_DROPPED_ENTRY: Final = 48
"""Bytes kept free for the entry that names how many members were dropped."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of what is recorded; ValueError where a bound is too small to hold a marker."""

    value_bytes: int = 65536
    """UTF-8 bytes of the JSON of one value."""
    depth: int = 20
    """Nesting of containers; deeper ones are replaced by a marker."""
    span_bytes: int = 1 << 20
    """Bytes of all values of one span together; kept by whoever writes the span."""
    hash_bytes: int = 640 * 1024
    """Characters up to which a digest covers the whole value; what is looked at in one capture."""

    def __post_init__(self) -> None:
        for name, least in (("value_bytes", LEAST_VALUE_BYTES), ("depth", 1), ("hash_bytes", 0)):
            found = getattr(self, name)
            if found < least:
                raise ValueError(f"Limits.{name}: expected at least {least}, found {found}")

    @property
    def work(self) -> int:
        """How much of a value is looked at: never less than what may be recorded."""
        return max(self.hash_bytes, self.value_bytes)


def chars_marker(count: int) -> str:
    """Name how many characters of a string were cut off."""
    return f"{ELLIPSIS}[truncated {count} chars]"


def items_marker(count: int) -> str:
    """Name how many elements of a list were cut off."""
    return f"{ELLIPSIS}[truncated {count} items]"


def keys_marker(count: int) -> str:
    """Name how many entries of an object were cut off; the value of the key `…`."""
    return f"[truncated {count} keys]"


def cut(tree: Json, room: int) -> Json:
    """Return a tree that is known to be too large, cut to about `room` bytes of UTF-8 as JSON."""
    return _Cut().cut(tree, room)


class _Cut:
    """One cut; remembers the sizes of the nodes it has measured."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}

    def size(self, node: Json) -> int:
        """Return the bytes of the JSON of a node."""
        # By concrete type: a tree holds no others, and asking an abstract class is slow.
        kind = type(node)
        if kind is int or kind is float:
            return len(repr(node))
        if not isinstance(node, str | dict | list | tuple):
            return json_size(node)
        known = self._sizes.get(id(node))
        if known is not None:
            return known
        if isinstance(node, str):
            size = _text_size(node)
        elif isinstance(node, dict):
            size = 1 + max(1, sum(_text_size(k) + self.size(v) + 2 for k, v in node.items()))
        else:
            size = 1 + max(1, sum(self.size(item) + 1 for item in node))
        self._sizes[id(node)] = size
        return size

    def fit(self, node: Json, room: int) -> Json:
        return node if self.size(node) <= room else self.cut(node, room)

    def cut(self, node: Json, room: int) -> Json:
        if isinstance(node, str):
            return _cut_text(node, room)
        if isinstance(node, Mapping):
            return self._fit_object(node, room)
        if isinstance(node, Sequence):
            return self._fit_list(node, room)
        return ELLIPSIS

    def _fit_object(self, node: Mapping[str, Json], room: int) -> Json:
        if room < _DROPPED_ENTRY:
            return ELLIPSIS
        missing = _missing(node.get(ELLIPSIS), _KEYS_MISSING)
        keys = sorted(key for key in node if not (missing and key == ELLIPSIS))
        costs = [_text_size(key) + 2 for key in keys]
        shares = self._shares([node[key] for key in keys], costs, room)
        kept: dict[str, Json] = {
            key: self.fit(node[key], share) for key, share in zip(keys, shares, strict=False)
        }
        if missing or len(kept) < len(keys):
            kept.pop(ELLIPSIS, None)
            kept[ELLIPSIS] = keys_marker(len(keys) - len(kept) + missing)
        return kept

    def _fit_list(self, node: Sequence[Json], room: int) -> Json:
        if room < _DROPPED_ENTRY:
            return ELLIPSIS
        missing = _missing(node[-1], _ITEMS_MISSING) if node else 0
        items = node[:-1] if missing else node
        shares = self._shares(items, [1] * len(items), room)
        kept = [self.fit(item, share) for item, share in zip(items, shares, strict=False)]
        if missing or len(kept) < len(items):
            kept.append(items_marker(len(items) - len(kept) + missing))
        return kept

    def _shares(self, members: Sequence[Json], costs: Sequence[int], room: int) -> list[int]:
        """Return the room of each member that is kept, first members first.

        `costs` are the bytes that a member takes besides its value: key, colon, comma.
        """
        room -= 2 + _DROPPED_ENTRY
        share = min(_SMALL_SHARE, room // 4)
        sizes: list[int] = []
        least = spent = 0
        for member, cost in zip(members, costs, strict=True):
            size = self.size(member)
            least += cost + min(size, share)
            if least > room:
                break
            spent += cost
            sizes.append(size)
        level = _water_level(sizes, room - spent)
        return [min(size, level) for size in sizes]


def _text_size(text: str) -> int:
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return len(text) + 2
    return json_size(text)


def _water_level(sizes: Sequence[int], room: int) -> int:
    """Return the largest size to which all may be cut so that together they fit into `room`."""
    left = len(sizes)
    level = 0
    for size in sorted(sizes):
        level = room // left
        if size > level:
            return level
        room -= size
        left -= 1
    return max(sizes, default=0)


def _cut_text(text: str, room: int) -> str:
    """Cut a string so that its JSON with the marker is at most `room` bytes."""
    missing = _missing(text, _CHARS_MISSING)
    if missing:
        text = text[: text.rindex(ELLIPSIS)]
    marker_size = json_size(chars_marker(len(text) + missing))
    keep = room - marker_size
    while keep > 0:
        head = text[:keep]
        size = json_size(head) + marker_size - 2
        if size <= room:
            return head + chars_marker(len(text) - keep + missing)
        keep = min(keep - 1, keep * room // size)
    return ELLIPSIS


def _missing(value: Json, marker: re.Pattern[str]) -> int:
    """Return how much an earlier cut left out, which a second one must add to its own."""
    match = marker.search(value[-_LONGEST_MARKER:]) if isinstance(value, str) else None
    return int(match[1]) if match else 0
