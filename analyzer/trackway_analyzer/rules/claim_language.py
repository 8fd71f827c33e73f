"""Does a sentence claim that something was done?

A match in a text is a claim unless its clause takes it back. The forms are English.

1. Signs that nobody sees (zero width, soft hyphens), tags of HTML and what stands between `<think>`
   and `</think>` are taken out; hyphens and apostrophes of other shapes are the plain ones. A
   sentence ends at `.`, `!`, `?`, a line break that no small letter follows.
2. Whether a sentence says of a match that it is so stands in `claim_clauses`.
3. A group that caught the beginning of a number stands for the whole number, with the currency and
   unit beside it (`amounts`), one that caught the beginning of a name (the `A1` of `A1-2`) for that
   name. Each item of a list is a claim of its own (`listed_values`), also of one in lines of its
   own. What is said to be done several times ("$84 twice", "2 x $84") needs as many calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from trackway_analyzer.rules.amounts import AFTER, BEFORE
from trackway_analyzer.rules.claim_clauses import is_claim, is_implied
from trackway_analyzer.rules.claim_forms import ABBREVIATION, SENTENCE_END
from trackway_analyzer.rules.listed_values import listed_beside
from trackway_analyzer.rules.unread import is_mark, marked

_ZEROS: Final = str.maketrans("123456789", "000000000")
QUOTED: Final = 160
"""Most characters of a quoted sentence."""

UNSEEN: Final = (
    r"[\x{AD}\x{200B}-\x{200F}\x{2060}-\x{2064}\x{FEFF}\x{180E}]"
    r"|(?i:</?(?:b|i|em|strong|u|s|a|span|font|small|sub|sup|code|mark)(?:\s[^<>]*)?>)"
)
"""Signs that nobody sees, and tags inside a line, for RE2."""
BREAKS: Final = r"(?i:</?(?:p|br|hr|div|ul|ol|li|table|tbody|thead|tr|td|th|pre|h[1-6])\b[^<>]*>)"
"""Tags between lines."""
_UNSEEN: Final = re.compile(re.sub(r"\\x\{(\w+)\}", lambda sign: chr(int(sign[1], 16)), UNSEEN))
_BREAKS: Final = re.compile(BREAKS)
HYPHENS: Final = "\u2010\u2011"
APOSTROPHES: Final = "\u02bc\u2032"
"""Signs that stand for `-` and for the apostrophe `’`."""
_PLAIN: Final = str.maketrans({**dict.fromkeys(HYPHENS, "-"), **dict.fromkeys(APOSTROPHES, "’")})
_THOUGHT: Final = re.compile(r"<(think(?:ing)?)>.*?</\1>", re.IGNORECASE | re.DOTALL)
"""What a model says to itself."""
BULLET: Final = r"[ \t]*:?[ \t]*\n\s*(?:[-•*]|\d+[.)])[ \t]+"
"""How an item of a list in lines of its own begins, for `re` and RE2 alike."""
_BULLET: Final = re.compile(r"\n[ \t]*(?:[-•*]|\d+[.)])[ \t]+")
_LISTED: Final = re.compile(
    rf"(?<=\w)(?P<colon>[ \t]*:)?[ \t]*"
    rf"(?P<items>(?:{_BULLET.pattern}(?:[^\W\d]+[ \t]+){{0,2}}"
    r"[^\s\w]?\w*\d[\w.,-]*[ \t]*(?=\n|\Z))+)"
)
"""A sentence that goes on in lines that hold a name or number each."""
MARKDOWN: Final = r"[*`]+|\b_+|_+\b|(?m:^\s*#{1,6}\s+)"
"""Signs of Markdown, for `re` and RE2 alike. `re_1101` and `#W77` are names, no decoration."""
_DECORATION: Final = re.compile(rf"{MARKDOWN}|^\s*(?:[-•>]|\d+[.)])\s+")
_WHOLE_NUMBER: Final = re.compile(
    r"(?<![\w.,])(?:\d{1,3}(?:[,.'’\u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)(?![.,]?\d)"
)
_WHOLE_NAME: Final = re.compile(r"\w+(?:[-_](?=\w*\d)\w+)*")
_TIMES: Final = {"twice": 2, "two": 2, "three": 3, "four": 4, "five": 5}
_COUNTED: Final = re.compile(
    r"\s+(?:each\s+)?(?:(?P<word>twice)|(?P<number>\d|two|three|four|five)\s+times)\b"
    r"|\s*[x×]\s*(?P<sign>\d)\b(?![.,]?\d)",
    re.IGNORECASE,
)
_COUNT_BEFORE: Final = re.compile(
    r"(?<![\w.,])(\d|two|three|four|five)\s?(?:[x×*]|times)\s?\Z", re.IGNORECASE
)
_DASH: Final = re.compile(r"[—…]")
"""It parts words that no blank parts."""
_BARE_NUMBER: Final = re.compile(r"[-+]?\d[\d.,'’]*")
_BLANKS_IN_NUMBER: Final = re.compile(r"\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?![\d])")
_YES: Final = re.compile(r"yes\b", re.IGNORECASE)
_ASKS_TO_GO_ON: Final = re.compile(
    r"\b(?:confirm|proceed|go\s+ahead|would\s+you\s+like|do\s+you\s+want|shall\s+I|agree)\b",
    re.IGNORECASE,
)


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
        spans = self.place.groups
        return {name: _without_stop(text[slice(*_whole(text, spans, name))]) for name in spans}

    def ways(self, group: str) -> tuple[str, ...]:
        """What a group may stand for: with the unit beside it; in groups of three with it too."""
        text = self.sentence.text
        start, end = _whole(text, self.place.groups, group)
        if not _BARE_NUMBER.fullmatch(text, start, end):
            return (text[start:end],)
        blanks = _BLANKS_IN_NUMBER.match(text, start)
        ends = {end, blanks.end() if blanks and blanks.end() > end else end}
        return tuple(_with_unit(text, start, at) for at in sorted(ends))

    @property
    def times(self) -> int:
        """How often the text says that it was done."""
        text = self.sentence.text
        for name in self.place.groups:
            whole = _whole(text, self.place.groups, name)
            start, end = _beside(text, *whole) if _BARE_NUMBER.fullmatch(text, *whole) else whole
            behind, before = _COUNTED.match(text, end), _COUNT_BEFORE.search(text, 0, start)
            said = behind[behind.lastgroup or 0] if behind else before[1] if before else "1"
            times = _TIMES.get(said.lower()) or int(said)
            if times > 1:
                return times
        return 1

    @property
    def hidden(self) -> dict[str, str]:
        """Groups that caught a mark of something that was left out, with the gap that names it."""
        text, spans = self.sentence.text, self.place.groups
        gaps = {name: marked(text, *span) for name, span in spans.items()}
        return {name: gap for name, gap in gaps.items() if gap is not None}


def sentences(text: str) -> Iterator[Sentence]:
    """Split a text into sentences."""
    text = _UNSEEN.sub("", _THOUGHT.sub("\n\n", text.translate(_PLAIN)))
    text = _LISTED.sub(_joined, _BREAKS.sub("\n", text))
    start = 0
    for end in SENTENCE_END.finditer(text):
        if ABBREVIATION.search(text[start : end.start()]) and "\n" not in end.group():
            continue
        yield from _sentence(text[start : end.end()])
        start = end.end()
    yield from _sentence(text[start:])


def _joined(lines: re.Match[str]) -> str:
    items = _BULLET.split(lines["items"])[1:]
    return ("" if lines["colon"] else ",") + " " + ", ".join(item.strip() for item in items)


def _sentence(raw: str) -> Iterator[Sentence]:
    text = " ".join(_DECORATION.sub("", raw).split())
    if text:
        yield Sentence(text)


def claims(text: str, pattern: str) -> list[Claimed]:
    """Claims of a text: matches of a pattern, in any case, that their clause does not take back.

    Raises ValueError on a pattern that is none.
    """
    expression = compiled_pattern(pattern)
    found = _claims_like(text.translate(_ZEROS), pattern) if digit_blind(pattern) else None
    if found is None:
        found = _found(text, expression)
    return [Claimed(text, place) for place in found]


@lru_cache(maxsize=16384)
def _claims_like(text: str, pattern: str) -> list[Found]:
    """Claims of a text whose digits are zeros: many texts differ in their digits alone."""
    return _found(text, compiled_pattern(pattern))


def _found(text: str, expression: re.Pattern[str]) -> list[Found]:
    found: list[Found] = []
    for number, sentence in enumerate(sentences(text)):
        matches = [
            match
            for match in expression.finditer(sentence.text)
            if match.group()
            and not is_mark(sentence.text, *match.span())
            and is_claim(sentence.text, *match.span(), places(match).values())
        ]
        caught = [places(match) for match in matches]
        for match, own in zip(matches, caught, strict=True):
            found.append(Found(number, own))
            for name in own:
                for span in listed_beside(sentence.text, match, expression, name):
                    if all(other.get(name) != span for other in caught):
                        found.append(Found(number, {**own, name: span}))
    return found


def implied(text: str, pattern: str) -> Sentence | None:
    """Return the first sentence that speaks of a match as of what was done; None: none does.

    Where a later sentence asks whether to go on, nothing was done yet. A question does that the
    next sentence answers with yes.
    """
    expression = compiled_pattern(pattern)
    found = list(sentences(text))
    for place, sentence in enumerate(found):
        if any(_ASKS_TO_GO_ON.search(later.text) for later in found[place:]):
            continue
        yes = sentence.text.endswith("?") and _YES.match(
            "".join(s.text for s in found[place + 1 :])
        )
        for match in expression.finditer(sentence.text):
            if match.group() and yes:
                return sentence
            if match.group() and is_implied(sentence.text, *match.span(), places(match).values()):
                return sentence
    return None


def places(match: re.Match[str]) -> dict[str, tuple[int, int]]:
    """Where the named groups of a match stand that caught something."""
    return {name: match.span(name) for name, said in match.groupdict().items() if said is not None}


@lru_cache(maxsize=512)
def digit_blind(pattern: str) -> bool:
    """Whether a pattern treats all digits alike."""
    return not re.search(r"\d", re.sub(r"\{[\d,]*\}|0-9", "", pattern))


@lru_cache(maxsize=512)
def compiled_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that ignores case. Raises ValueError."""
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error


def _whole(text: str, spans: dict[str, tuple[int, int]], name: str) -> tuple[int, int]:
    """Where a group stands: up to the end of its number, unless other groups share that number."""
    start, end = spans[name]
    dash = _DASH.search(text, start + 1, end) if end > start else None
    end = end if dash is None else dash.start()
    number = _WHOLE_NUMBER.match(text, start)
    if number is None or not start < end < number.end():
        return start, _end_of_name(text, spans, start, end)
    shared = any(end <= other < number.end() for other, _ in spans.values())
    return start, end if shared else number.end()


def _end_of_name(text: str, spans: dict[str, tuple[int, int]], start: int, end: int) -> int:
    """Where a name ends of which a group caught the beginning; it has letters and digits."""
    name = _WHOLE_NAME.match(text, start)
    caught = text[start:end]
    if name is None or name.end() <= end or not re.search(r"\d", caught):
        return end
    shared = any(end <= other < name.end() for other, _ in spans.values())
    return end if shared or not re.search(r"[^\W\d_]", caught) else name.end()


def _beside(text: str, start: int, end: int) -> tuple[int, int]:
    """The place of a number with the currency and unit beside it."""
    before, after = BEFORE.search(text, 0, start), AFTER.match(text, end)
    return before.start() if before else start, after.end() if after else end


def _with_unit(text: str, start: int, end: int) -> str:
    """A number with the currency and unit beside it."""
    return text[slice(*_beside(text, start, end))]


def _without_stop(words: str) -> str:
    """Words without the stop of their sentence."""
    return words.rstrip(".,;:!?") or words
