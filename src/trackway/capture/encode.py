"""Turn any Python value into a tree of plain JSON values, bounded and without secrets.

1. No repr, str, iteration, property, attribute access, hash or comparison of a user's class runs:
   what a value holds is read as `convert.py` says. So nothing here raises in the user's name,
   queries a database or never ends.
2. Objects have string keys: a key that is no string is written as its JSON text. Where two keys get
   the same text, later ones get ` (2)`, ` (3)`; string keys come first. Sets are sorted.
3. A container inside itself is `"…[circular]"`; one below `Limits.depth` is
   `"…[truncated: too deep]"`; a value that cannot be read is `"[capture failed]"`.
4. The budget is `Limits.hash_bytes`: a string costs its characters (a longer one twice as many,
   five times where it is one word, eleven times where something may be set to a name in it),
   and each member of a container 80 (integers), 200 (floats), 240 (strings), 440 (dates) or
   704, a key 160 and twenty times its length: about what it takes to look at one.
   Members of an object share what is left, so that a huge one does not push out its neighbours;
   lists are cut from the end; a string that does not fit keeps its beginning. Markers name what
   was left out (`limits.py`).
5. A denied key costs its value (`redact.py`), one of bytes as its text would, a member of an enum
   by its name too. Strings, numbers and bytes: `leaves.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import EnumType
from itertools import islice
from types import NoneType
from typing import Any, Final

from trackway.capture.convert import member_name, parts_of
from trackway.capture.errors import record_capture_error
from trackway.capture.leaves import TAIL, TAILS_KEPT, Leaves
from trackway.capture.limits import ELLIPSIS, Limits, items_marker, keys_marker
from trackway.capture.parts import (
    Blob,
    Digest,
    Elements,
    Inner,
    Members,
    Missing,
    Opaque,
    Parts,
    Under,
)
from trackway.capture.parts import Json as JsonText
from trackway.capture.redact import KEY_NAME_MARKER, Redactor
from trackway.capture.secret_names import is_stand_in, is_wording
from trackway.capture.text import Json, json_text
from trackway.faults import goes_on

CIRCULAR_MARKER: Final = f"{ELLIPSIS}[circular]"
DEPTH_MARKER: Final = f"{ELLIPSIS}[truncated: too deep]"
FAILED_MARKER: Final = "[capture failed]"

_OTHER_COST: Final = 704
_DATE_COST: Final = 440
_STRING_COST: Final = 240
_FLOAT_COST: Final = 200
_INTEGER_COST: Final = 80
_KEY_COST: Final = 160
_CONVERTED_COST: Final = 16
_READ_COST: Final = 2
_CHEAPEST: Final = 40
_SNAPSHOT_TRIES: Final = 3


_NOTHING: Final = frozenset[str]()
_NO_SCOPES: Final[Mapping[str, frozenset[str]]] = {}


@dataclass(frozen=True, slots=True)
class Tree:
    """A value as plain JSON values."""

    root: Json
    cut: bool
    """Something was left out."""
    redacted: bool
    unrecorded: list[Json]
    """Ends of long strings and lists: not recorded, but part of the digest."""


def tree_of(
    value: Any,
    limits: Limits,
    redactor: Redactor | None,
    exempt: Mapping[str, frozenset[str]] = _NO_SCOPES,
) -> Tree:
    """Return any value as a bounded tree without secrets.

    `exempt` are texts of identifiers by the member of the value that holds them: a string or
    integer there that is one of them is not searched for secrets. Of a value without members all
    of them count.
    """
    walk = _Walk(limits, redactor, exempt)
    root = walk.value(value, 1)
    return Tree(root, walk.cut, walk.redacted, walk.unrecorded)


class _Walk(Leaves):
    """One walk over a value."""

    def __init__(
        self, limits: Limits, redactor: Redactor | None, scopes: Mapping[str, frozenset[str]]
    ) -> None:
        super().__init__(limits, redactor, _NOTHING.union(*scopes.values()))
        self.scopes = scopes
        self.depth = limits.depth
        self.inside: set[int] = set()
        """Ids of the containers around the value at hand."""

    def value(self, value: Any, depth: int) -> Json:
        """Return a value as JSON values; containers in it are at `depth`."""
        kind = type(value)
        if kind is str:
            return self.string(value)
        if value is None or kind is bool:
            return bool(value) if kind is bool else None
        if kind is int:
            return self.integer(value)
        if kind is float:
            return self.real(value)
        try:
            parts = parts_of(value)
            name = member_name(value) if issubclass(type(kind), EnumType) else None
            if name is not None and self.denies(name) and _is_no_word(parts):
                return self.withheld(name, parts, depth)
            return self.parts(value, parts, depth)
        except Exception as error:  # one odd value must not cost the others
            if goes_on(error):
                raise
            record_capture_error("capture.value", error)
            self.cut = True
            return FAILED_MARKER

    def parts(self, value: Any, parts: Parts, depth: int) -> Json:
        if isinstance(parts, Opaque):
            return self.opaque(parts)
        if isinstance(parts, Blob):
            return self.blob(parts)
        if isinstance(parts, Digest):
            return self.digest(parts)
        if isinstance(parts, JsonText):
            return self.value(self.read(parts.text), depth)
        if isinstance(parts, Under):
            return self.under(parts, depth)
        if isinstance(parts, Missing):
            self.cut = True
            return items_marker(parts.count)
        if not isinstance(parts, Members | Elements | Inner):
            if type(parts) is str:
                self.room -= _CONVERTED_COST * len(parts)
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

    def under(self, parts: Under, depth: int) -> Json:
        """Return a value whose names stand elsewhere."""
        for key in parts.names:
            plain = self.value(key, depth)
            name = self.name_of(plain)
            if self.denies(name):
                return self.withheld(name, parts.value, depth - 1)
        return self.value(parts.value, depth)

    def name_of(self, plain: Json) -> str:
        """Return the text by which a key is denied or not."""
        if isinstance(plain, str):
            return plain
        known = self.names.get(id(plain))
        return json_text(plain) if known is None else known[1]

    def read(self, text: str) -> Any:
        """Return what a text holds as JSON, or the text."""
        cost = _READ_COST * len(text)
        if cost > self.room:
            return text
        try:
            value = json.loads(text)
        except ValueError:
            return text
        self.room -= cost
        return value

    def members(self, parts: Members, depth: int) -> Json:
        self.room -= parts.cost
        entries = self.affordable(parts.pairs)
        if any(type(key) is not str for key, _ in entries):
            entries.sort(key=lambda entry: type(entry[0]) is not str)
        result: dict[str, Json] = {}
        taken: dict[str, int] = {}
        large: list[tuple[str, Any]] = []
        scoped = depth == 1 and self.scopes
        for key, member in entries:
            if scoped:
                self.exempt = self.scopes.get(key, _NOTHING) if type(key) is str else _NOTHING
            plain = key if type(key) is str else self.value(key, depth + 1)
            whole = plain if isinstance(plain, str) else json_text(plain)
            name = base = self.key(whole)
            while name in result:
                taken[base] = taken.get(base, 1) + 1
                name = f"{base} ({taken[base]})"
            denial = self.name_of(plain)
            if type(key) is not str and not self.denies(denial):
                denial = member_name(key) or denial
            if self.denies(denial) and not _is_nothing(member):
                result[name] = self.withheld(denial, member, depth)
            elif _is_scalar(type(member)):
                result[name] = self.value(member, depth + 1)
            else:
                result[name] = None
                large.append((name, member))
        for place, (name, member) in enumerate(large):
            if scoped:
                self.exempt = self.scopes.get(name, _NOTHING)
            share = max(0, self.room) // (len(large) - place)
            kept_back = self.room - share
            self.room = share
            result[name] = self.value(member, depth + 1)
            self.room += kept_back
        if self.redactor is not None and self.redactor.pairs.hide_in_object(result, self.names):
            self.redacted = True
        if parts.partial:
            self.cut = True
        if parts.count > len(entries):
            self.cut = True
            result.pop(ELLIPSIS, None)
            result[ELLIPSIS] = keys_marker(parts.count - len(result))
        return result

    def affordable(self, pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Return the members that the budget allows, paid for."""
        entries = snapshot(pairs, max(0, self.room) // _CHEAPEST)
        room = self.room
        for place, (key, member) in enumerate(entries):
            cost = _KEY_COST + _cost_of(id(type(member)), _OTHER_COST)
            if type(key) is str:
                cost += min(20 * len(key), 8 * _OTHER_COST)
            if cost > room:
                del entries[place:]
                break
            room -= cost
        self.room = room
        return entries

    def elements(self, parts: Elements, depth: int) -> Json:
        result: list[Json] = []
        if parts.unordered:
            self.room -= _OTHER_COST
        for item in snapshot(parts.items, max(0, self.room) // _CHEAPEST):
            cost = _cost_of(id(type(item)), _OTHER_COST)
            if cost > self.room:
                break
            self.room -= cost
            result.append(self.value(item, depth + 1))
        if self.redactor is not None and self.redactor.pairs.hide_in_list(result, self.names):
            self.redacted = True
        if parts.unordered:
            result.sort(key=json_text)
        dropped = parts.count - len(result)
        if dropped > 0:
            self.cut = True
            last = [] if parts.last is None else parts.last()
            if last and type(last[-1]) is Missing:
                dropped += last.pop().count - 1
            result.append(items_marker(dropped))
            if last and len(self.unrecorded) < TAILS_KEPT:
                self.unrecorded.append([self.aside(item, depth + 1) for item in last])
        return result

    def aside(self, item: Any, depth: int) -> Json:
        """Return a value that only goes into the digest, on a small budget of its own."""
        kept_back = self.room
        self.room = TAIL
        try:
            return self.value(item, depth)
        finally:
            self.room = kept_back

    def denies(self, name: str) -> bool:
        redactor = self.redactor
        return not (redactor is None or name in redactor.safe_keys or redactor.learn(name))

    def withheld(self, name: str, member: Any, depth: int) -> Json:
        """Return the marker that stands under a denied name, or what is no secret there."""
        if type(member) is str and is_stand_in(member, name):
            return self.value(member, depth + 1)
        if self.redactor is not None and self.redactor.counts(name):
            known = len(self.unrecorded)
            plain = self.value(member, depth + 1)
            if not self.redactor.withholds(name, plain):
                return plain
            del self.unrecorded[known:]
        self.redacted = True
        return KEY_NAME_MARKER


def _is_nothing(value: Any) -> bool:
    kind = type(value)
    return value is None or kind is bool or (kind is str and not value)


def _is_no_word(parts: Parts) -> bool:
    """Whether what a member of an enum stands for is a text, and no plain words."""
    stands_for = parts.value if isinstance(parts, Inner) else parts
    return type(stands_for) is str and not is_wording(stands_for)


def _is_scalar(kind: type) -> bool:
    return kind is str or kind is int or kind is float or kind is bool or kind is NoneType


# By id: a table of types would call the hash and the comparison of a metaclass.
_COSTS: Final = {
    id(str): _STRING_COST,
    id(float): _FLOAT_COST,
    id(int): _INTEGER_COST,
    id(bool): _CHEAPEST,
    id(NoneType): _CHEAPEST,
    id(date): _DATE_COST,
    id(datetime): _DATE_COST,
}
_cost_of: Final = _COSTS.get


def snapshot(items: Iterable[Any], most: int) -> list[Any]:
    """Return the first members of a container that another thread may be changing."""
    for _ in range(_SNAPSHOT_TRIES - 1):
        try:
            return list(islice(items, most))
        except RuntimeError:
            continue
    return list(islice(items, most))
