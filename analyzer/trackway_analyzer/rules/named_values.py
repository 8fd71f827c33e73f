"""Which values does a text name that somebody must have shown, and what may each of them be?

1. Days (`dates`), times of day, money and numbers of three digits or more, e-mail addresses, hosts,
   and words with a digit. Quotes, brackets and dashes of any shape stand around words; `A-1001’s`
   names `A-1001`, and so does JSON that holds it.
2. Nothing names a value: numbers under three digits, also with a unit or a word behind (`24/7`,
   `3-5 days`, `1st`, `30-day`, `9am`), and words without a digit.
3. A value is `certain` unless it may be a word of the language (`GPT-4`, `MP3`, `section 4.2.1`) or
   a time of day, which differs between zones. Versions are certain where another was shown.
4. What was shown may be written otherwise (`A1001` for `A-1001`), rounded, added
   up or counted in another unit (`may_be_made_of`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Final

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.amounts import CURRENCY, as_number, readings
from trackway_analyzer.rules.dates import Day, days_in
from trackway_analyzer.rules.identifiers import words_of_prose
from trackway_analyzer.rules.told import Text

_PLAIN: Final = str.maketrans({**dict.fromkeys("‐‑−–", "-"), **dict.fromkeys("“”„«»‹›‘•→—…|", " ")})
_POSSESSIVE: Final = re.compile(r"['’]s\b|’")
_SCALE: Final = r"(?:\s?(?:k|mn?|mio|bn|thousand|million|billion)\b)?"
_AMOUNT: Final = r"\d(?:[\d.,'’]*\d)?"
_MONEY: Final = re.compile(
    rf"(?:{CURRENCY})\s?{_AMOUNT}{_SCALE}|{_AMOUNT}{_SCALE}\s?(?:{CURRENCY}|(?:usd|eur|gbp|chf)\b)",
    re.IGNORECASE,
)
_GROUPED: Final = re.compile(r"(?<![\w.,])\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?(?![\w,])")
_EMAIL: Final = re.compile(r"[^\s@<>()\"',;:]+@[^\s@<>()\"',;:!?]+")
_HOST: Final = re.compile(
    r"(?:https?://|www\.)[^\s)\"'>]+"
    r"|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|co|gov|edu|info|app|uk|de|fr|eu)\b",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"(?<![\w.:])(\d{1,2}):(\d{2})(?::\d{2}(?:\.\d+)?)?\s?([ap])?(?:\.?m\b\.?)?(?![\d:])"
    r"|(?<=\dT)(\d{2}):(\d{2})",
    re.IGNORECASE,
)
_PHONE: Final = re.compile(r"(?<![\w-])\+?[\d(][\d ()./-]{5,20}\d(?![\w-])")
_SMALL: Final = re.compile(
    r"\d{1,2}(?:\.\d+)?(?:(?:[-/x×:+]|st|nd|rd|th|h|hrs?|hours?|d|days?|w|weeks?|mins?|m|s|secs?|am|pm"
    r"|kg|g|km|cm|mm|mb|gb|tb|kb|ms|px|pt|ft|in|oz|lb|lbs|yrs?|years?|months?|stars?|%|°c|°f|°)"
    r"(?:\d{1,2}(?:\.\d+)?)?)*|\d{1,2}(?:-\d{1,2})?-[a-z]{3,}(?:-[a-z]+)*",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(r"[:=/&~]")
_DOTTED: Final = re.compile(r"v?(\d+(?:\.\d+){2,})", re.IGNORECASE)
_ADDRESS: Final = 4
_NUMBER_ALONE: Final = re.compile(r"(?<![\w.,-])-?\d+(?:\.\d+)?(?![\w-])")
_DIGITS: Final = 3
_UNITS: Final = tuple(map(Decimal, (24, 60, 100, 1000, 1024, 3600, 1024**2, 10**6)))
_MOST: Final = 200
"""Numbers of results that are put together, pair by pair."""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value that a text names."""

    value: JsonValue
    days: frozenset[Day] = frozenset()
    """What it may be as a day."""
    minutes: frozenset[int] = frozenset()
    """What it may be as a time of day."""
    numbers: frozenset[Decimal] = frozenset()
    """What it may be as a number."""


def named_values(text: str, shown: Iterable[Text]) -> Iterator[NamedValue]:
    """Find the values that a text names; telephone numbers that were shown are left out."""
    text = _POSSESSIVE.sub(lambda found: " " * len(found[0]), text.translate(_PLAIN))
    for place, some in list(days_in(text)):
        yield NamedValue(place.group(), days=some)
        text = _without(text, place)
    for place in _PHONE.finditer(text):
        if any(item.holds(place.group()) for item in shown):
            text = _without(text, place)
    for place in _TIME.finditer(text):
        yield NamedValue(place.group().strip(), minutes=frozenset(_minutes(place)))
        text = _without(text, place)
    for form in (_MONEY, _GROUPED):
        for place in form.finditer(text):
            if numbers := readings(place.group()):
                yield _number(min(numbers), numbers)
            text = _without(text, place)
    for form in (_EMAIL, _HOST):
        for place in form.finditer(text):
            yield NamedValue(place.group().rstrip(".,"))
            text = _without(text, place)
    for word in words_of_prose(text):
        number = as_number(word) if re.fullmatch(r"[\d,]+(?:\.\d+)?", word) else None
        yield NamedValue(word) if number is None else _number(number, frozenset({number}))


def is_shown(named: NamedValue, shown: list[Text]) -> bool:
    """Whether a word or number stands in what was shown, as a whole or part by part."""
    value = named.value
    if named.days or named.minutes:
        return False
    if any(item.holds(float(number)) for item in shown for number in named.numbers):
        return True
    if not isinstance(value, str):
        return False
    parts = _PARTS.split(value) if not value.lower().startswith("http") else [value]
    version = value[1:] if re.match(r"v\d", value) else value
    return any(item.holds(word) for item in shown for word in (value, version)) or (
        bool(_SMALL.fullmatch(value))
        or (len(parts) > 1 and all(_is_small(p) or _stands(p, shown) for p in parts))
    )


def is_certain(named: NamedValue, shown: Iterable[Text]) -> bool:
    """Whether a value that was not shown is made up, and no word of the language."""
    value = named.value
    if named.minutes:
        return False
    if named.days or not isinstance(value, str) or "@" in value:
        return True
    if dotted := _DOTTED.fullmatch(value):
        count = dotted[1].count(".") + 1
        return count == _ADDRESS or any(
            other[1].count(".") + 1 == count
            for item in shown
            for other in _DOTTED.finditer(item.text)
        )
    host = "." in value and not any(map(str.isdigit, value))
    return host or value.lower().startswith(("http", "www.")) or _has_long_number(value)


def may_be_made_of(named: NamedValue, shown: list[Text]) -> bool:
    """Whether a value may be what was shown, written otherwise or worked out of it."""
    if named.numbers:
        seen = dict.fromkeys(n for item in shown for n in _numbers(item.text))
        return any(_is_made(number, list(islice(seen, _MOST))) for number in named.numbers)
    bare = _bare(str(named.value))
    return bool(bare) and any(
        bare == _bare(word) for item in shown for word in words_of_prose(item.text)
    )


def times_shown(shown: Iterable[Text]) -> frozenset[int]:
    """Times of day that stand in what was shown, as minutes."""
    return frozenset(
        minutes
        for item in shown
        for place in _TIME.finditer(item.text)
        for minutes in _minutes(place)
    )


def _number(value: Decimal, numbers: frozenset[Decimal]) -> NamedValue:
    return NamedValue(float(value), numbers=numbers)


def _without(text: str, place: re.Match[str]) -> str:
    return text[: place.start()] + " " * len(place.group()) + text[place.end() :]


def _minutes(place: re.Match[str]) -> Iterator[int]:
    hours, minutes = (int(place[1] or place[4]), int(place[2] or place[5]))
    half = (place[3] or "").lower()
    if half:
        yield (hours % 12 + (12 if half == "p" else 0)) * 60 + minutes
    else:
        yield hours * 60 + minutes


def _is_small(word: str) -> bool:
    return (
        not any(map(str.isdigit, word)) or _SMALL.fullmatch(word) is not None or len(word) < _DIGITS
    )


def _stands(word: str, shown: list[Text]) -> bool:
    number = as_number(word) if re.fullmatch(r"[\d.,]+", word) else None
    return any(item.holds(word if number is None else float(number)) for item in shown)


def _has_long_number(word: str) -> bool:
    return sum(map(str.isdigit, word)) >= _DIGITS


def _bare(word: str) -> str:
    return "".join(filter(str.isalnum, word)).casefold()


def _numbers(text: str) -> Iterator[Decimal]:
    yield from (Decimal(found) for found in _NUMBER_ALONE.findall(text))


def _is_made(number: Decimal, seen: list[Decimal]) -> bool:
    near = _tolerance(number)
    if any(abs(abs(one) - number) <= near for one in seen):
        return True
    if any(number in (one * unit, one / unit) for one in seen for unit in _UNITS):
        return True
    known = set(seen)
    return any(
        number - one in known or one - number in known or (one > 1 and number / one in known)
        for one in seen
        if one
    )


def _tolerance(number: Decimal) -> Decimal:
    """Half of the last place that a number is told to."""
    place = number.normalize().as_tuple().exponent
    return Decimal(5).scaleb(int(place) - 1) if isinstance(place, int) else Decimal(0)
