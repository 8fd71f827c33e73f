"""Which numbers and which money does a text name?

1. `$84.00`, `84`, `84,00 €`, `84 dollars` are the same number; `84 cents` is 0.84, `$84k` 84000,
   `$84m` 84 million, `$84 and 50 cents` 84.50, `-$84` -84.
2. A separator that may group or part (`1.234`, `1,234`), and a blank between groups of three
   (`1 234,50`), is read both ways: two numbers agree if one reading of each does.
3. Currencies agree by their code (`€`, `EUR`, `euros`); `$` is the dollar of any country. A number
   without a currency agrees with any.
4. Digits that are glued to letters (`A1`, `re_1101`) are no number but part of a name. Names agree
   if they are the same but for case, quotes and signs around them. Days agree however they are
   written (`dates`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Final

from trackway_analyzer.rules.dates import days, may_be_one_day

_CODES: Final = (
    "usd|eur|gbp|chf|jpy|cad|aud|nzd|sek|nok|dkk|pln|czk|huf|inr|cny|brl|mxn|sgd|hkd|zar|krw|try"
)
_DOLLARS: Final = frozenset({"usd", "cad", "aud", "nzd", "sgd", "hkd", "mxn"})
_DOLLAR: Final = "$"
_NAMES: Final = {
    "$": _DOLLAR,
    "dollar": _DOLLAR,
    "dollars": _DOLLAR,
    "€": "eur",
    "euro": "eur",
    "euros": "eur",
    "£": "gbp",
    "pound": "gbp",
    "pounds": "gbp",
    "us$": "usd",
    **{code: code for code in _CODES.split("|")},
}
CURRENCY: Final = rf"us\$|[$€£]|\b(?:{_CODES}|dollars?|euros?|pounds?)\b"
_FIND_CURRENCY: Final = re.compile(
    rf"us\$|[$€£]|(?<![a-z])(?:{_CODES}|dollars?|euros?|pounds?)"
    r"(?![a-z])",
    re.IGNORECASE,
)
_SCALES: Final = {
    "k": Decimal(1000),
    "thousand": Decimal(1000),
    **dict.fromkeys(("m", "mn", "mio", "million"), Decimal(1_000_000)),
    **dict.fromkeys(("bn", "billion"), Decimal(1_000_000_000)),
    "cent": Decimal("0.01"),
    "cents": Decimal("0.01"),
    "¢": Decimal("0.01"),
}
_SCALE: Final = re.compile(r"(?<=\d)\s?(k|thousand|million|cents?|¢)(?![a-z])", re.IGNORECASE)
_LARGE: Final = re.compile(r"(?<=\d)\s?(mn?|mio|bn|billion)\.?(?![a-z])", re.IGNORECASE)
"""Of money alone: `84 m` may be metres."""
_AND_CENTS: Final = r"\s+and\s+(?P<cents>\d{1,2})\s?(?:cents?\b|¢)"
_WITH_CENTS: Final = re.compile(
    rf"(?P<whole>(?:{CURRENCY})?\s?[\d.,]*\d\s?(?:{CURRENCY})?){_AND_CENTS}", re.IGNORECASE
)
_NEGATIVE: Final = re.compile(rf"\A\s*[-−]\s?({CURRENCY})\s?(?=\d)", re.IGNORECASE)
BEFORE: Final = re.compile(rf"(?:(?<![\w-])[-−])?(?:{CURRENCY})\s?\Z", re.IGNORECASE)
"""What stands before a number and belongs to it."""
AFTER: Final = re.compile(
    r"(?:\s?(?:k\b|mn?\b|mio\b|bn\b|thousand\b|million\b|billion\b|cents?\b|¢))?"
    rf"(?:\s?(?:{CURRENCY}))?(?:{_AND_CENTS.replace('?P<cents>', '')})?",
    re.IGNORECASE,
)
"""What stands behind a number and belongs to it."""
_NUMBER: Final = re.compile(r"[-+]?\d[\d.,'’\u00a0\u202f ]*\d|[-+]?\d")
_GLUED: Final = re.compile(r"[^\W\d][-./:#]?\d|\d[-./:#]?[^\W\d]|_\d|\d_")
_EITHER: Final = re.compile(r"[-+]?(?!0)\d{1,3}[.,]\d{3}")


def as_number(text: object) -> Decimal | None:
    """Read the one number of a text or value, without currency and separators; None: no number."""
    if isinstance(text, bool):
        return None
    if isinstance(text, (int, float)):
        return Decimal(str(text))
    found = _NUMBER.findall(text) if isinstance(text, str) else []
    if len(found) != 1:
        return None
    try:
        return Decimal(_normal(found[0]))
    except InvalidOperation:
        return None


def numbers_in(text: str) -> list[Decimal]:
    """All numbers of a text; what blanks may group or part is read both ways."""
    found = [d for digits in _NUMBER.findall(text) for d in {digits, *digits.split(" ")}]
    return [n for digits in found if (n := as_number(digits)) is not None]


def _normal(digits: str) -> str:
    """Drop thousands separators and write the decimal separator as a point."""
    bare = re.sub(r"['’\u00a0\u202f ]", "", digits)
    decimal = max(bare.rfind("."), bare.rfind(","))
    if decimal < 0:
        return bare
    separator, fraction = bare[decimal], bare[decimal + 1 :]
    other = "," if separator == "." else "."
    groups = bare.count(separator) > 1 or (
        len(fraction) == 3 and separator == "," and other not in bare
    )
    if groups:
        return bare.replace(separator, "").replace(other, ".")
    return bare[:decimal].replace(other, "").replace(separator, "") + "." + fraction


def readings(value: object) -> frozenset[Decimal]:
    """All numbers that a text or value may name as a whole; none: it names no number."""
    if not isinstance(value, str):
        number = as_number(value)
        return frozenset() if number is None else frozenset({number})
    if both := _WITH_CENTS.fullmatch(value.strip()):
        cents = Decimal(both["cents"]) / 100
        return frozenset(number + cents for number in readings(both["whole"]))
    text = _FIND_CURRENCY.sub(" ", _NEGATIVE.sub(r"\1-", value))
    scale = _SCALE.search(text) or (_LARGE.search(text) if currency_of(value) else None)
    if scale is not None:
        text = f"{text[: scale.start()]} {text[scale.end() :]}"
    text = text.strip()
    number = as_number(text)
    if number is None or _GLUED.search(text):
        return frozenset()
    times = _SCALES[scale[1].lower()] if scale else Decimal(1)
    return frozenset(reading * times for reading in _ways(text, number))


def _ways(text: str, number: Decimal) -> Iterator[Decimal]:
    yield number
    digits = _NUMBER.findall(text)[0]
    if _EITHER.fullmatch(digits):
        yield Decimal(re.sub("[.,]", "", digits))
        yield Decimal(digits.replace(",", "."))


def currency_of(value: object) -> str | None:
    """Return the one currency that a text names, as `eur` or `$`; None: none, or several."""
    if not isinstance(value, str):
        return None
    found = {_NAMES[name.lower()] for name in _FIND_CURRENCY.findall(value)}
    return found.pop() if len(found) == 1 else None


def may_be_same(one: str | None, other: str | None) -> bool:
    """Whether two currencies may be one; None: any."""
    if one is None or other is None or one == other:
        return True
    return _DOLLAR in (one, other) and bool({one, other} & _DOLLARS)


def agrees(said: str, value: object, *, minor: bool = False) -> bool:
    """Whether words of a text name a recorded value; `minor`: which counts in cents."""
    spoken, actual = readings(said), readings(value)
    if spoken and actual:
        if minor:
            actual |= {number / 100 for number in actual}
        return bool(spoken & actual) and may_be_same(currency_of(said), currency_of(value))
    if _is_currency(said) and _is_currency(value):
        return may_be_same(currency_of(said), currency_of(value))
    return _plain(said) == _plain(str(value)) or may_be_one_day(days(said), days(value))


def _is_currency(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in _NAMES


def _plain(text: str) -> str:
    bare = re.sub(r"['’]s(?=\W*\Z)", "", text.strip())
    return re.sub(r"[\s#\"'`.,;:!?…“”„‚‘’«»‹›()\[\]{}<>]+", " ", bare).strip().casefold()
