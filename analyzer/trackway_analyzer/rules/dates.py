"""Which day does a text name?

1. `2026-12-01`, with or without a time behind it, `December 1, 2026`, `1st of Dec 2026`,
   `Tuesday, 1 December` name a day. One without a year is that day of any year.
2. `12/01/2026` and `01.12.2026` are read both ways.
3. A text that says more than a day names none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final, NamedTuple

_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905 - a word list reads better as one
_MONTH: Final = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,?\s+(?P<year>\d{4}))?"
_WEEKDAY: Final = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
_NAMED: Final = (
    re.compile(rf"{_WEEKDAY}(?:the\s+)?{_DAY}\s+(?:of\s+)?{_MONTH}{_YEAR}", re.IGNORECASE),
    re.compile(rf"{_WEEKDAY}{_MONTH}\s+(?:the\s+)?{_DAY}{_YEAR}", re.IGNORECASE),
)
_ISO: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}\S*)?")
_NUMBERS: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})")


class Day(NamedTuple):
    """A day; without a year, of any."""

    year: int | None
    month: int
    day: int


def days(text: object) -> frozenset[Day]:
    """Return what a text may name as a day; none: it names no day."""
    if not isinstance(text, str):
        return frozenset()
    said = " ".join(text.split()).strip(" .,;:!?\"'")
    return frozenset(day for day in _read(said) if _is_day(day))


def _read(said: str) -> Iterator[Day]:
    if found := _ISO.fullmatch(said):
        year, month, day = map(int, found.groups())
        yield Day(year, month, day)
    elif found := _NUMBERS.fullmatch(said):
        one, two, year = int(found[1]), int(found[3]), int(found[4])
        yield from (Day(year, one, two), Day(year, two, one))
    for form in _NAMED:
        if found := form.fullmatch(said):
            month = _MONTHS.index(found["name"][:3].lower()) + 1
            yield Day(int(found["year"]) if found["year"] else None, month, int(found["day"]))


def _is_day(day: Day) -> bool:
    try:
        date(day.year or 2000, day.month, day.day)
    except ValueError:
        return False
    return True


def may_be_one_day(some: frozenset[Day], others: frozenset[Day]) -> bool:
    """Whether two texts may name the same day."""
    return any(
        one[1:] == other[1:] and (None in (one.year, other.year) or one.year == other.year)
        for one in some
        for other in others
    )
