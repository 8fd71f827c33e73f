"""Which of two values is less, and which texts are one number?

1. Numbers are compared as numbers, exactly, also where a text holds nothing but one (`"84.00"`):
   amounts are often kept as texts. A number in a text has no blanks, no separators of groups and no
   leading zeros: `"007"` is a name.
2. Two dates, two times of day, two moments with or two without an offset have an order, as ISO 8601
   writes them.
3. Any other two texts have none that anybody meant. A number and something that may name one
   (`"$84.00"`, `"1,084.00"`, `{"amount": 84, "currency": "USD"}`) have one that nobody knows.
   Values of other types have none at all.
4. Two texts are equal where both are numbers and equal as those: `"84.0"`, `"84.00"`. Whether a
   number is what such a thing names nobody knows (`may_be_equal`).
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.amounts import readings
from trackway_analyzer.rules.values import is_number, same

_NUMBER: Final = re.compile(r"[-+]?(?:0|[1-9]\d{0,99})(?:\.\d{1,99})?\Z", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d\Z", re.ASCII)
_TIME: Final = re.compile(r"\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?\Z", re.ASCII)
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*\Z", re.ASCII)

_WITH_EXPONENT: Final = re.compile(r"\s*[-+]?\d{1,30}(?:\.\d{1,30})?[eE][-+]?\d{1,2}\s*", re.ASCII)
_BESIDE: Final = re.compile(r"scale|exponent|decimals|precision|minor|id\Z", re.IGNORECASE)
"""In the name of what stands beside an amount and is none."""

_STAMPS: Final[tuple[tuple[re.Pattern[str], type[date] | type[time]], ...]] = (
    (_DATE, date),
    (_TIME, time),
    (_MOMENT, datetime),
)


def in_order(left: JsonValue, operator: str, right: JsonValue) -> bool | None:
    """Whether `<`, `<=`, `>` or `>=` holds; None: nobody knows how these texts are ordered."""
    numbers = _number(left), _number(right)
    if None not in numbers:
        return _holds(numbers[0], operator, numbers[1])
    if not isinstance(left, str) or not isinstance(right, str):
        known = any(number is not None for number in numbers)
        return None if known and (named_by(left) and named_by(right)) else False
    one, other = _stamp(left), _stamp(right)
    if one is None or other is None or one[0] != other[0]:
        return None
    return _holds(one[1], operator, other[1])


def equal(left: JsonValue, right: JsonValue) -> bool:
    """Whether two values are the same, or texts of one number."""
    if same(left, right):
        return True
    if not isinstance(left, str) or not isinstance(right, str):
        return False
    number = _number(left)
    return number is not None and number == _number(right)


def may_be_equal(left: JsonValue, right: JsonValue) -> bool:
    """Whether a number is what the other value may name, which is no plain number."""
    if is_number(left) is is_number(right) or None not in (_number(left), _number(right)):
        return False
    return not named_by(left).isdisjoint(named_by(right))


def named_by(value: JsonValue) -> frozenset[Decimal]:
    """Numbers that a value may name as a whole: a number, an amount in words, or as an object."""
    if isinstance(value, dict):
        inner = [item for name, item in value.items() if not _BESIDE.search(name)]
        amounts = [readings(item) for item in inner if readings(item)]
        return amounts[0] if len(amounts) == 1 else frozenset()
    if isinstance(value, str) and (number := _exponent(value)) is not None:
        return frozenset({number})
    return readings(value)


def _exponent(text: str) -> Decimal | None:
    return Decimal(text.strip()) if _WITH_EXPONENT.fullmatch(text) else None


def _holds(left: Any, operator: str, right: Any) -> bool:
    if operator == "<":
        return bool(left < right)
    if operator == "<=":
        return bool(left <= right)
    return bool(left > right) if operator == ">" else bool(left >= right)


def _number(value: JsonValue) -> Decimal | None:
    if is_number(value) or (isinstance(value, str) and _NUMBER.match(value)):
        return Decimal(str(value))
    return None


def _stamp(text: str) -> tuple[int, date | time | datetime] | None:
    """A date, a time of day or a moment, with its form: two of one form have an order."""
    for form, (shape, kind) in enumerate(_STAMPS):
        if shape.match(text):
            try:
                stamp = kind.fromisoformat(text)
            except ValueError:
                return None
            return form + (getattr(stamp, "tzinfo", None) is not None), stamp
    return None
