"""Which day does a text name?

1. `2026-12-01`, with or without a time behind it, `December 1, 2026`, `1st of Dec 2026`,
   `Tuesday, 1 December` name a day. One without a year is that day of any year.
2. `12/01/2026` and `01.12.2026` are read both ways.
3. A text that says more than a day names none; the days inside a longer text are looked for there
   (`days_in`): `May` with a capital, and seconds or milliseconds since 1970 as well, with the days
   beside, for nobody knows in which zone they are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
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


_INSIDE: Final = re.compile(
    "|".join(
        rf"(?<![\w.,/-])(?:{re.sub(r'[?]P<[a-z]+>', '?:', form)})(?![\w/]|[-.,]\d)"
        for form in (
            *(form.pattern for form in _NAMED),
            _ISO.pattern,
            r"\d{1,2}/\d{1,2}/\d{4}",
            r"\d{1,2}\.\d{1,2}\.\d{4}",
        )
    ),
    re.IGNORECASE,
)
_MODAL: Final = re.compile(r"\bmay\b")
_EPOCH: Final = re.compile(r"(?<![\w.])1\d{9}(?:\d{3})?(?![\w])")


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


def days_in(text: str) -> Iterator[tuple[re.Match[str], frozenset[Day]]]:
    """Days that a longer text names, each with its place."""
    for found in _INSIDE.finditer(text):
        named = days(found.group())
        if named and not _MODAL.search(found.group()):
            yield found, named


def days_recorded(text: str) -> frozenset[Day]:
    """Days that a recorded value may name, moments since 1970 too."""
    named = {day for _, some in days_in(text) for day in some}
    for moment in _EPOCH.findall(text):
        seconds = int(moment[:10])
        near = (datetime.fromtimestamp(seconds + hours * 3600, UTC) for hours in (-14, 0, 14))
        named |= {Day(day.year, day.month, day.day) for day in near}
    return frozenset(named)


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
