"""Does a claim name several things at once? "I refunded A1 and A2" is two claims.

1. What a group caught may stand in a list: `A1, A2 and A3`, `A1 as well as A2`, `A1 + A2`, `A1/A2`,
   `A1 (and A2)`, `order A1 and order A2`, `A1 and order A2`.
2. Another item of the list looks like it (letters and digits in the same order; a bare number needs
   the same currency beside it), and the pattern catches it in the place of the first.
3. An item that begins something of its own ("A1, and A2 is still open") is none of the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trackway_analyzer.rules.amounts import AFTER, BEFORE

_ITEM: Final = r"[^\s,;()]*[^\s,;().!?]"
_ITEM_OF_SIGNS: Final = r"[^\s,;()+/&]*[^\s,;().!?+/&]"
"""An item where signs part the items of a list."""
_AND: Final = r"(?:and|&|plus|then|also|as\s+well\s+as|along\s+with|together\s+with)"
_WITH: Final = rf"(?:\s*,\s*(?:{_AND}\s+)*|\s+(?:{_AND}\s+)+|\s*\(\s*(?:{_AND}\s+)+|\s*[+/&]\s*)"
_LEAD: Final = (
    r"(?:(?:the|your)\s+)?(?:orders?|items?|bookings?|reservations?|invoices?|tickets?|payments?"
    r"|purchases?|transactions?|products?|number|amount|id|no\.?)\s+(?:of\s+)?[#]?"
)
"""What may stand before any item, though not before the first."""
_OWN: Final = re.compile(
    r"\s+(?:is|are|was|were|has|have|had|will|would|can|cannot|could|may|might|must|should|do|does"
    r"|did|needs?|remains?|stays?|still|not)\b|['’]s\b",
    re.IGNORECASE,
)
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_DIGITS: Final = re.compile(r"\d+(?:[.,]\d+)*[.,]?")

Span = tuple[int, int]


def listed_beside(
    sentence: str, match: re.Match[str], expression: re.Pattern[str], group: str
) -> Iterator[Span]:
    """Places of the other items of the list in which a group's words stand."""
    start, end = match.span(group)
    if not any(map(str.isdigit, sentence[start:end])):
        return
    before = BEFORE.search(sentence, 0, start)
    word = re.search(r"([^\W\d_]+\s+[#]?)\Z", sentence[: before.start() if before else start])
    own = rf"|{re.escape(word[1])}" if word and not _joins(word[1]) else ""
    lead = rf"(?:{_LEAD}{own})?"
    item = _ITEM if re.search(r"[+/&]", sentence[start:end]) else _ITEM_OF_SIGNS
    ahead = re.compile(rf"{_WITH}{lead}({item})", re.IGNORECASE)
    at = end
    while (found := ahead.match(sentence, _behind(sentence, at))) is not None:
        span = _alike(sentence, match, expression, group, found.span(1))
        if span is None or _OWN.match(sentence, _behind(sentence, span[1])):
            break
        yield span
        at = span[1]
    back = re.compile(rf"({item}){_WITH}{lead}\Z", re.IGNORECASE)
    at = before.start() if before else start
    while (found := back.search(sentence[:at])) is not None:
        span = _alike(sentence, match, expression, group, found.span(1))
        if span is None:
            break
        yield span
        at = found.start()


def _joins(word: str) -> bool:
    return re.fullmatch(_AND, word.strip(), re.IGNORECASE) is not None


def _behind(sentence: str, at: int) -> int:
    after = AFTER.match(sentence, at)
    return after.end() if after else at


def _alike(
    sentence: str, match: re.Match[str], expression: re.Pattern[str], group: str, item: Span
) -> Span | None:
    """Where in an item stands what the group would catch in the place of its own words."""
    start, end = match.span(group)
    first = BEFORE.search(sentence[item[0] : item[0] + 1])
    span = (item[0] + (first.end() if first else 0), item[1])
    said = sentence[slice(*span)]
    if _shape(sentence, *span) != _shape(sentence, start, end):
        return None
    swapped = expression.match(sentence[:start] + said + sentence[end:], match.start())
    return span if swapped and swapped[group].rstrip(".,") == said.rstrip(".,") else None


def _shape(sentence: str, start: int, end: int) -> str | None:
    """How words look; a bare number with what stands beside it. None: like nothing else."""
    text = _LETTERS.sub("a", _DIGITS.sub("0", sentence[start:end].rstrip(".,")))
    if text != "0":
        return text
    before, after = BEFORE.search(sentence, 0, start), AFTER.match(sentence, end)
    beside = (before.group() if before else "", after.group() if after else "")
    return "|".join(beside).lower() if any(beside) else None
