"""Does a sentence claim that something was done?

A match in a text is a claim unless its clause takes it back. The forms are English.

1. A sentence ends at `.`, `!`, `?`, a line break; a clause also at a comma, semicolon, dash, colon
   and before `and`, `but`, `so`, `then`, `because`, `although`, `that will`.
2. Negated: `not`, `n't`, `never`, `cannot`, `unable`, `failed to`, `yet to` in the clause; `no`,
   `without`, `none` up to the end of the match; `failed`, `declined`, `rejected`, `on hold` outside
   the match. `not only` negates nothing.
3. Conditional: `if`, `once`, `when`, `unless`, `until`, `after`, `before`, `whether`, `as soon as`,
   `in case` up to the end of the match; after it, or in a clause before, only where the clause is
   in the present tense ("is refunded once we receive it").
4. Still to come: `will`, `shall`, `would`, `can`, `could`, `may`, `might`, `should`, `must`, `need
   to`, `let me`, `please` up to the end of the match or as the verb of what matched; `going to`,
   `scheduled to`, `eligible to` in the clause. `was able to` is done.
5. A question is no claim, nor what somebody else is said to have said ("you said that …").
6. Numbers are compared as numbers: `$84.00`, `84`, `84,00 €` and `84 dollars` are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

_ZEROS: Final = str.maketrans("123456789", "000000000")
QUOTED: Final = 160
"""Most characters of a quoted sentence."""

_WORDS = re.IGNORECASE
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])[\"')\]*_]*\s+|\s*\n+\s*")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:no|nos|mr|mrs|ms|dr|st|vs|approx|ref|e\.g|i\.e|inc|ltd|co))\.[\"')\]*_]*\Z", _WORDS
)
_BOUNDARY: Final = re.compile(
    r"(?<!\d),|,(?!\d)|[;:](?!\d)|\s[-–—]+\s|—|[()]"
    r"|\s(?=(?:and|but|so|then|because|although|though|however|while|yet(?!\s+to\b))\b)"
    r"|\s(?=(?:that|which|who)\s+(?:will|should|can|may|might|would|could)\b)",
    _WORDS,
)
_NOT: Final = re.compile(
    r"\b(?:not(?!\s+(?:only|just|merely)\b)|never|cannot|unable|neither|nor|hardly)\b"
    r"|n['’]t\b(?!\s+(?:only|just|merely)\b)"
    r"|\b(?:failed|fails|failing|refused?|declined?|refuses|unwilling|yet)\s+to\b"
    r"|\b(?:still|remains?)\s+to\s+be\b|\bno\s+longer\b",
    _WORDS,
)
_NO: Final = re.compile(
    r"\b(?:no|none|nothing|nobody|without|instead\s+of|rather\s+than)\b", _WORDS
)
_FAILED: Final = re.compile(
    r"\b(?:failed|fails|failure|unsuccessful(?:ly)?|declined|rejected|denied|blocked|on\s+hold"
    r"|impossible|ineligible|refused|pending\s+(?:approval|review)|awaiting|errored)\b",
    _WORDS,
)
_CONDITION: Final = re.compile(
    r"\b(?:if|once|when(?:ever)?|unless|until|till|after|before|whether|provided|assuming"
    r"|as\s+soon\s+as|in\s+case|should\s+(?:you|we|it|the|your|this)|as\s+though|as\s+if"
    r"|suppose|supposing|had\s+(?:I|we|you|it|the)|only\s+(?:within|for|where))\b",
    _WORDS,
)
_PRESENT: Final = re.compile(
    r"\b(?:is|are|gets?|get)\b(?!\s+(?:on\s+(?:its|the)\s+way|now))", _WORDS
)
_MODAL: Final = re.compile(
    r"\b(?:will|shall|would|could|can|may|might|should|must|ought)\b|['’](?:ll|d)\b(?!\s+been)"
    r"|\b(?:need(?:s|ed)?|want(?:s|ed)?|wish(?:es)?|tr(?:y|ying|ied)|attempt(?:s|ing|ed)?"
    r"|hop(?:e|es|ing)|intend(?:s|ing)?|have|has|(?<!was\s)(?<!were\s)(?<!been\s)able)\s+to\b"
    r"|\b(?:let\s+me|let['’]s|allow\s+me|please|in\s+order\s+to)\b",
    _WORDS,
)
_TO_COME: Final = re.compile(
    r"\b(?:going|about|ready|happy|glad|plan(?:s|ned|ning)?|expect(?:s|ed|ing)?|due|scheduled"
    r"|supposed|likely|set|eligible)\s+to\b",
    _WORDS,
)
_FINITE: Final = re.compile(
    r"\b(?:has|have|had|was|were|is|are|been|went)\b|['’](?:s|ve)\b", _WORDS
)
_REPORTED: Final = re.compile(
    r"\b(?:you|they|he|she|customer|user|client|policy|e?-?mail)\s+(?:\w+\s+)?"
    r"(?:said|say|says|mention(?:ed|s)?|told|tell|claim(?:ed|s)?|ask(?:ed|s)?|wrote|report(?:ed|s)?"
    r"|believe[ds]?|think|thought|requires?|states?)\b(?:\s+(?:me|us))?\s+(?:that|whether|if)\b"
    r"|\b(?:example|hypothetical(?:ly)?|imagine|pretend)\b",
    _WORDS,
)
_DECORATION: Final = re.compile(r"[*_`#]+|^\s*(?:[-•>]|\d+[.)])\s+")
_NUMBER: Final = re.compile(r"[-+]?\d[\d.,'’\u00a0\u202f ]*\d|[-+]?\d")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a text, without decoration."""

    text: str

    @property
    def quote(self) -> str:
        """The sentence as a message quotes it."""
        bare = self.text.strip().rstrip(".!… ")
        return bare if len(bare) <= QUOTED else f"{bare[: QUOTED - 1]}…"


class Found(NamedTuple):
    """A claim by its places: which sentence, and where each named group stands in it."""

    sentence: int
    groups: dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim of a text; its words are taken out when somebody looks."""

    text: str
    place: Found

    @property
    def sentence(self) -> Sentence:
        """The sentence that claims it."""
        return next(islice(sentences(self.text), self.place.sentence, None))

    @property
    def groups(self) -> dict[str, str]:
        """What the pattern's named groups caught."""
        if not self.place.groups:
            return {}
        text = self.sentence.text
        return {name: text[start:end] for name, (start, end) in self.place.groups.items()}


def sentences(text: str) -> Iterator[Sentence]:
    """Split a text into sentences."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if _ABBREVIATION.search(text[start : end.start()]) and "\n" not in end.group():
            continue
        yield from _sentence(text[start : end.end()])
        start = end.end()
    yield from _sentence(text[start:])


def _sentence(raw: str) -> Iterator[Sentence]:
    text = " ".join(_DECORATION.sub("", raw).split())
    if text:
        yield Sentence(text)


def claims(text: str, pattern: str) -> list[Claimed]:
    """Claims of a text: matches of a pattern, in any case, that their clause does not take back.

    Raises ValueError on a pattern that is none.
    """
    expression = compiled_pattern(pattern)
    found = _claims_like(text.translate(_ZEROS), pattern) if _digit_blind(pattern) else None
    if found is None:
        found = _found(text, expression)
    return [Claimed(text, place) for place in found]


@lru_cache(maxsize=16384)
def _claims_like(text: str, pattern: str) -> list[Found]:
    """Claims of a text whose digits are zeros: many texts differ in their digits alone."""
    return _found(text, compiled_pattern(pattern))


def _found(text: str, expression: re.Pattern[str]) -> list[Found]:
    return [
        Found(number, {k: match.span(k) for k, v in match.groupdict().items() if v is not None})
        for number, sentence in enumerate(sentences(text))
        for match in expression.finditer(sentence.text)
        if match.group() and is_claim(sentence.text, *match.span())
    ]


@lru_cache(maxsize=512)
def _digit_blind(pattern: str) -> bool:
    """Whether a pattern treats all digits alike."""
    return not re.search(r"\d", re.sub(r"\{[\d,]*\}|0-9", "", pattern))


@lru_cache(maxsize=512)
def compiled_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that ignores case. Raises ValueError."""
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error


def is_claim(sentence: str, start: int, end: int) -> bool:
    """Whether the words of a sentence from `start` to `end` are said to be so."""
    if sentence.rstrip("\"')] ").endswith("?") or _REPORTED.search(sentence[:end]):
        return False
    first, last = _clause(sentence, start, end)
    before, inside, after = sentence[first:start], sentence[start:end], sentence[end:last]
    return not (
        _negated(before, inside, after)
        or _still_to_come(before, inside, after)
        or _conditional(sentence[:first], before + inside, after)
    )


def _negated(before: str, inside: str, after: str) -> bool:
    return bool(
        _NOT.search(before + inside + after)
        or _NO.search(before + inside)
        or _FAILED.search(before)
        or _FAILED.search(after)
    )


def _still_to_come(before: str, inside: str, after: str) -> bool:
    if _MODAL.search(before + inside) or _TO_COME.search(before + inside + after):
        return True
    modal = _MODAL.search(after)
    return modal is not None and not _FINITE.search(after[: modal.start()])


def _conditional(earlier: str, clause: str, after: str) -> bool:
    if _CONDITION.search(clause):
        return True
    opened = any(_CONDITION.match(part.strip()) for part in _BOUNDARY.split(earlier) if part)
    return bool((opened or _CONDITION.search(after)) and _PRESENT.search(clause + after))


def _clause(sentence: str, start: int, end: int) -> tuple[int, int]:
    first = max((b.end() for b in _BOUNDARY.finditer(sentence, 0, start)), default=0)
    last = next((b.start() for b in _BOUNDARY.finditer(sentence, end)), len(sentence))
    return first, last


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
    """All numbers of a text."""
    return [n for digits in _NUMBER.findall(text) if (n := as_number(digits)) is not None]


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


def agrees(said: str, value: object) -> bool:
    """Whether words of a text name a recorded value."""
    spoken, actual = as_number(said), as_number(value)
    if spoken is not None and actual is not None:
        return spoken == actual
    return _plain(said) == _plain(str(value))


def _plain(text: str) -> str:
    return re.sub(r"[\s#\"'`.,]+", " ", text).strip().casefold()
