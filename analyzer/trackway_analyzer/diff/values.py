"""Where and how two JSON values differ, and which of their parts can tie two steps together.

1. Types are strict: true is not 1, null is not absent. 1 and 1.0 are the same number.
2. Objects are compared key by key, lists of one length item by item. Lists of different lengths are
   one difference, at the list: with positions shifted, item by item would say nothing.
3. An identifier is a text or integer under a name such as `id`, `order_id` or `email`, or a text
   that is one word with a digit or an `@` in it. Numbers inside texts count as numbers. Dates and
   times tie no steps together: they are everywhere.
4. A value with a marker in it (`[redacted:card]`, `…[truncated 9 chars]`) is hidden: whether it is
   the same as another, equal markers too, nobody knows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.values import ABSENT, Absent, is_cut, is_redacted, member_path

Location: TypeAlias = tuple[str | int, ...]
"""Keys and indexes from the root of a JSON value."""

Leaf: TypeAlias = tuple[str, str | float | bool | None]
"""Type and value of a scalar, or the type of an empty container."""


_IDENTIFYING_NAME: Final = re.compile(
    r"(?:^|_)(?:ids?|uuids?|guid|key|code|number|no|ref|refs|reference|account|iban|sku|isbn|"
    r"email|phone|username|url|path)$"
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD: Final = re.compile(r"[A-Za-z0-9](?:[\w\-.@+/#]*[A-Za-z0-9])?")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?\Z")
_DATE: Final = re.compile(r"\d{4}-\d\d(?:-\d\d(?:T[\d:.]+.*)?)?\Z|\d\d?:\d\d(?::\d\d)?\Z")
_SMALL: Final = 10


@dataclass(frozen=True, slots=True)
class Change:
    """One place at which two values differ."""

    at: Location
    reference: JsonValue | Absent
    candidate: JsonValue | Absent

    @property
    def path(self) -> str:
        """The place as a JSONPath."""
        return path_text(self.at)


def path_text(location: Location) -> str:
    """Write a location as an RFC 9535 path."""
    parts = (f"[{part}]" if isinstance(part, int) else member_path(part) for part in location)
    return "$" + "".join(parts)


def changes(
    reference: JsonValue, candidate: JsonValue, masked: Collection[Location] = ()
) -> Iterator[Change]:
    """Yield the places at which two values differ, leaving out what is at or below `masked`."""
    pending: list[Change] = [Change((), reference, candidate)]
    while pending:
        here = pending.pop()
        if here.at in masked:
            continue
        below = list(_pairs_below(here))
        if below:
            pending.extend(reversed(below))
        elif not _same(here.reference, here.candidate):
            yield here


def _pairs_below(here: Change) -> Iterator[Change]:
    reference, candidate = here.reference, here.candidate
    if isinstance(reference, Mapping) and isinstance(candidate, Mapping):
        for key in [*reference, *(key for key in candidate if key not in reference)]:
            yield Change((*here.at, key), reference.get(key, ABSENT), candidate.get(key, ABSENT))
    elif isinstance(reference, list) and isinstance(candidate, list):
        yield from _items_below(here.at, reference, candidate)


def _items_below(
    at: Location, reference: list[JsonValue], candidate: list[JsonValue]
) -> Iterator[Change]:
    if len(reference) == len(candidate):
        for index, pair in enumerate(zip(reference, candidate, strict=True)):
            yield Change((*at, index), *pair)


def _same(reference: JsonValue | Absent, candidate: JsonValue | Absent) -> bool:
    if reference is ABSENT or candidate is ABSENT:
        return False
    return leaves(reference) == leaves(candidate)


def leaves(value: JsonValue, masked: Collection[Location] = ()) -> dict[Location, Leaf]:
    """Every scalar and empty container of a value by its location, without what is masked."""
    found: dict[Location, Leaf] = {}
    pending: list[tuple[Location, JsonValue]] = [((), value)]
    while pending:
        at, here = pending.pop()
        if at in masked:
            continue
        if isinstance(here, Mapping) and here:
            pending.extend(((*at, key), item) for key, item in here.items())
        elif isinstance(here, list) and here:
            pending.extend(((*at, index), item) for index, item in enumerate(here))
        else:
            found[at] = _leaf(here)
    return found


def _leaf(value: JsonValue) -> Leaf:
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, (int, float)):
        return "number", value
    if isinstance(value, str):
        return "text", value
    return ("null", None) if value is None else (type(value).__name__, None)


def is_hidden(value: JsonValue | Absent) -> bool:
    """Whether a marker of a redaction or of a cut stands for a part of the value."""
    return value is not ABSENT and (is_redacted(value) or is_cut(value))


def is_amount(value: JsonValue | Absent) -> bool:
    """Whether a value is an amount: a number, or a text that is nothing but a number."""
    if isinstance(value, str):
        return bool(_NUMBER.match(value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_identifier(location: Location, value: JsonValue | Absent) -> bool:
    """Whether a value names one thing; rule 3."""
    if isinstance(value, str):
        return bool(value) and (_names_a_thing(location) or _is_identifying_word(value))
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return is_int and _names_a_thing(location)


def _names_a_thing(location: Location) -> bool:
    name = next((part for part in reversed(location) if isinstance(part, str)), "")
    return bool(_IDENTIFYING_NAME.search(_CAMEL.sub("_", name).lower()))


def _is_identifying_word(text: str) -> bool:
    marked = any(c.isdigit() or c == "@" for c in text)
    return marked and len(text) >= 2 and not any(c.isspace() for c in text)


@dataclass(frozen=True, slots=True)
class Mentions:
    """The parts of a value that can tie one step to another."""

    identifiers: frozenset[str]
    numbers: frozenset[float]
    """Without those below 10, which turn up everywhere."""

    def shared(self, other: Mentions) -> list[str | float]:
        """What both mention, in a fixed order."""
        numbers = sorted(self.numbers & other.numbers)
        return [*sorted(self.identifiers & other.identifiers), *numbers]


NOTHING: Final = Mentions(frozenset(), frozenset())


def mentions(value: JsonValue) -> Mentions:
    """Collect identifiers and numbers of a value, those inside longer texts too."""
    identifiers: set[str] = set()
    numbers: set[float] = set()
    for at, (kind, leaf) in leaves(value).items():
        if is_identifier(at, leaf) and not _DATE.match(str(leaf)):
            identifiers.add(str(leaf))
        if kind == "number" and isinstance(leaf, (int, float)):
            numbers.add(float(leaf))
        elif isinstance(leaf, str):
            for word in _WORD.findall(leaf):
                if _NUMBER.match(word):
                    numbers.add(float(word))
                elif _is_identifying_word(word) and len(word) > 2 and not _DATE.match(word):
                    identifiers.add(word)
    return Mentions(frozenset(identifiers), frozenset(n for n in numbers if _tells(n)))


def _tells(number: float) -> bool:
    return abs(number) >= _SMALL or number != int(number)
