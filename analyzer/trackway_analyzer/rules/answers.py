"""Does the final text say what it must, and nothing that the run did not show?

1. `contains`: each fact stands in the final text, as words of their own in any case. A number, or
   a number with a unit (`$84.00`, `5 days`), is compared as a number, with its unit if it has
   one.
2. `matches`: each regular expression is found in it.
3. `grounded`: each identifier, e-mail address, host, amount of money and number of three digits
   or more in the text stands in an earlier successful result, or in what the user said. Days are
   compared as days (`dates`), and may stand in the instructions too: today's does. What stands only
   in a result that reads like a failure is undecided.
4. `agrees`: where the regular expression is found, its group (the first, or the one called
   `value`) is the value that the tool returned last: `{'total of (\\S+)': lookup_order.total}`.
   Where it was asked of several things (other ids or arguments), what it returned last of one of
   them; of those that the sentence names, if it names any.
5. A final text that was not recorded is insufficient. One that leaves something out (`unread`) says
   what it still shows: what it lacks, it may have said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from trackway_analyzer.model import JsonValue
from trackway_analyzer.reads_as_failure import reads_as_failure
from trackway_analyzer.rules.amounts import agrees, as_number
from trackway_analyzer.rules.claim_language import compiled_pattern
from trackway_analyzer.rules.dates import Day, days_in, days_recorded, may_be_one_day
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Layer, Result
from trackway_analyzer.rules.identifiers import words
from trackway_analyzer.rules.rule import RunRule, Said, insufficient, violated
from trackway_analyzer.rules.sentences import at_step, hidden_value
from trackway_analyzer.rules.source_path import source_path
from trackway_analyzer.rules.spoken_of import spoken_of
from trackway_analyzer.rules.terms import Hidden
from trackway_analyzer.rules.told import INSTRUCTIONS, Text, hidden_input, told
from trackway_analyzer.rules.unread import is_mark, left_out, marked, words_shown
from trackway_analyzer.rules.values import reader, shown

_UNITS: Final = {
    "$": "usd",
    "usd": "usd",
    "dollar": "usd",
    "dollars": "usd",
    "€": "eur",
    "eur": "eur",
    "euro": "eur",
    "euros": "eur",
    "£": "gbp",
    "gbp": "gbp",
    "pound": "gbp",
    "pounds": "gbp",
    "%": "%",
    "percent": "%",
}
_QUANTITY: Final = re.compile(
    r"(?P<before>[$€£])?\s?(?P<number>[-+]?\d[\d.,'’]*\d|[-+]?\d)\s?(?P<after>%|€|£|\$|[^\W\d_]+)?"
)
_MONEY: Final = re.compile(r"[$€£]\s?\d[\d.,]*|\d[\d.,]*\s?(?:€|£|\$|USD|EUR|GBP|dollars|euros)\b")
_GROUPED: Final = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,])")
_EMAIL: Final = re.compile(r"[^\s@<>()\"',;:]+@[^\s@<>()\"',;:!?]+")
_HOST: Final = re.compile(
    r"(?:https?://|www\.)[^\s)\"'>]+"
    r"|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|co|gov|edu|info|app|uk|de|fr|eu)\b",
    re.IGNORECASE,
)


class Quantity(NamedTuple):
    """A number of a text, with its unit."""

    number: Any
    unit: str | None


class Wrong(NamedTuple):
    """What is wrong with a final text."""

    sentence: str
    expected: JsonValue = None
    got: JsonValue = None


@dataclass(frozen=True)
class Answer(RunRule):
    """The final text holds required facts and agrees with what the run showed."""

    contains: str | float | Iterable[str | float] = ()
    matches: str | Iterable[str] = ()
    grounded: bool = False
    agrees: Mapping[str, str] = field(default_factory=dict)

    layer = Layer.OUTCOME
    short = ("contains",)

    def __post_init__(self) -> None:
        for name in ("contains", "matches"):
            value = getattr(self, name)
            many = not isinstance(value, (str, int, float)) and isinstance(value, Iterable)
            object.__setattr__(self, name, tuple(value) if many else (value,))
        if not (self.facts or self.patterns or self.grounded or self.agrees):
            raise ValueError("say what the answer must be: contains, matches, grounded or agrees")
        for text in (*self.facts, *self.patterns):
            if isinstance(text, str) and not text.strip():
                raise ValueError(f"what the answer must hold cannot be empty, found {text!r}")
        for pattern in (*self.patterns, *self.agrees):
            compiled_pattern(pattern)
        for pattern, source in self.agrees.items():
            source_path(source)
            if not compiled_pattern(pattern).groups:
                raise ValueError(f"{pattern!r} needs a group that holds the value")

    @cached_property
    def facts(self) -> tuple[str | float, ...]:
        """What the text must contain."""
        return self.contains  # type: ignore[return-value]  # so made on creation

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """What the text must match."""
        return self.matches  # type: ignore[return-value]  # so made on creation

    def reads_names(self) -> frozenset[str]:
        """What it must agree with."""
        return frozenset(self.agrees.values())

    def judge(self, evidence: Evidence, run: int) -> Result | None:
        """Judge the final text of one run."""
        text = evidence.text(run, "final_text")
        if text is None:
            return insufficient(run, evidence.why_not_recorded(run).gap, what="text")
        hidden: Hidden | None = None
        for number, wrong in enumerate(self._wrongs(evidence, run, text)):
            if isinstance(wrong, Wrong):
                return violated(run, number=number)
            hidden = hidden or wrong
        if hidden is not None:
            return insufficient(run, hidden.gap, at=hidden.position)
        return None

    def _wrongs(self, evidence: Evidence, run: int, text: str) -> Iterator[Wrong | Hidden]:
        gap = left_out(text)
        cut = None if gap is None else Hidden(gap)
        for fact in self.facts:
            if not _states(words_shown(text), fact):
                yield cut or Wrong(f"the final text does not say {shown(fact)}", fact)
        for pattern in self.patterns:
            found = compiled_pattern(pattern).finditer(text)
            if all(is_mark(text, *match.span()) for match in found):
                yield cut or Wrong(f"the final text has nothing like {pattern}", pattern)
        for pattern, source in self.agrees.items():
            yield from self._disagreements(evidence, run, text, pattern, source)
            if cut is not None and not compiled_pattern(pattern).search(text):
                yield cut
        if self.grounded:
            yield from _made_up(evidence, run, text)
            if cut is not None:
                yield cut

    def _disagreements(
        self, evidence: Evidence, run: int, text: str, pattern: str, source: str
    ) -> Iterator[Wrong | Hidden]:
        tool, path = source_path(source)
        for match in compiled_pattern(pattern).finditer(text):
            said = match.groupdict().get("value") or match.group(1)
            group = "value" if match.groupdict().get("value") else 1
            if (unsaid := marked(text, *match.span(group))) is not None:
                yield Hidden(unsaid)
                continue
            rows = [r for r in evidence.rows(tool).get(run, []) if evidence.answered(r)]
            if not rows:
                yield evidence.hides_step(run) or Wrong(
                    f"the final text says {shown(said)}, but {source} was never returned",
                    None,
                    said,
                )
                continue
            about = spoken_of(evidence, rows, text, match.span())
            yield from _against(evidence, about, path, said, source)

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if result.detail.get("what") == "text":
            gap = hidden_value(Hidden(result.detail["gap"]), "the final text")
            return Said(sentence=f"{gap}: nobody knows what it says")
        if "gap" in result.detail:
            why = hidden_value(Hidden(result.detail["gap"]), "a value that it rests on")
            return Said(sentence=f"the final text cannot be judged: {why}")
        text = evidence.text(result.run, "final_text") or ""
        wrongs = list(self._wrongs(evidence, result.run, text))
        wrong = wrongs[result.detail["number"]]
        assert isinstance(wrong, Wrong)
        return Said(sentence=wrong.sentence, expected=wrong.expected, got=wrong.got)


def _against(
    evidence: Evidence, rows: list[int], path: str, said: str, source: str
) -> Iterator[Wrong | Hidden]:
    """Hold what a text says against results, one of which it may name."""
    unseen: Hidden | None = None
    wrong: list[tuple[int, JsonValue]] = []
    for row in rows:
        result = evidence.result(row)
        if isinstance(result, Hidden):
            unseen = unseen or result
            continue
        values = reader(path)(result.value)
        hidden = result.hides(*values) if values else result.cut
        if hidden is not None:
            unseen = unseen or hidden
        elif any(agrees(said, value) for value in values):
            return
        else:
            wrong.append((row, values[0] if values else None))
    if unseen is not None:
        yield unseen
        return
    row, value = wrong[-1]
    yield Wrong(
        f"the final text says {shown(said)}, expected {shown(value)}"
        f" ({source} from {at_step(evidence, row)})",
        value,
        said,
    )


def quantities(text: str) -> Iterator[Quantity]:
    """Numbers of a text with their units."""
    for match in _QUANTITY.finditer(text):
        unit = match["before"] or match["after"] or ""
        number = as_number(match["number"])
        if number is not None:
            yield Quantity(number, _UNITS.get(unit.lower(), unit.lower().rstrip("s") or None))


def _states(text: str, fact: str | float) -> bool:
    wanted = list(quantities(str(fact)))
    bare = re.sub(_QUANTITY, "", str(fact)).strip()
    if len(wanted) == 1 and not bare:
        number, unit = wanted[0]
        return any(
            q.number == number and (unit is None or q.unit == unit) for q in quantities(text)
        )
    return Text(" ".join(text.split()), "assistant").holds(" ".join(str(fact).split()))


def _made_up(evidence: Evidence, run: int, text: str) -> Iterator[Wrong | Hidden]:
    seen = [*_shown(evidence, run)]
    shown_days = _days_shown(evidence, run)
    doubtful = _doubtful(evidence, run)
    for value in dict.fromkeys(_named(text)):
        if isinstance(value, _Named):
            if may_be_one_day(value.days, shown_days):
                continue
            value = value.words
        elif any(item.holds(value) for item in seen):
            continue
        yield (
            next((why for item, why in doubtful if item.holds(value)), None)
            or _hidden_result(evidence, run)
            or hidden_input(evidence, run)
            or evidence.hides_step(run)
            or Wrong(
                f"the final text names {shown(value)}, which stands in no successful result and"
                " not in the user's input",
                None,
                value,
            )
        )


def _hidden_result(evidence: Evidence, run: int) -> Hidden | None:
    """Why a result may hold more than was recorded of it; None: all were recorded whole."""
    for row in evidence.calls(run):
        if evidence.ok[row] is not False:
            result = evidence.result(row)
            if isinstance(result, Hidden):
                return result
            if hidden := result.cut or result.redacted:
                return hidden
    return None


def _shown(evidence: Evidence, run: int) -> Iterator[Text]:
    """What the run showed: successful results, and what the user said."""
    for row in evidence.calls(run):
        result = evidence.result_text(row)
        refused = evidence.answered(row) is False or _reads_as_failure(evidence, row)
        if result is not None and not refused:
            yield Text(result, "tool")
    yield from told(evidence, run, evidence.batch.bounds(run)[1])


def _reads_as_failure(evidence: Evidence, row: int) -> bool:
    """Whether nobody can tell a result from an error: what it names, it may not know."""
    result = evidence.result(row)
    if evidence.answered(row) is not None or isinstance(result, Hidden):
        return False
    return reads_as_failure(result.value)


def _doubtful(evidence: Evidence, run: int) -> list[tuple[Text, Hidden]]:
    """Results that read like a failure, and why nobody knows."""
    return [
        (Text(evidence.result_text(row) or "", "tool"), evidence.why_unknown(row))
        for row in evidence.calls(run)
        if _reads_as_failure(evidence, row)
    ]


def _days_shown(evidence: Evidence, run: int) -> frozenset[Day]:
    texts = [
        *_shown(evidence, run),
        *told(evidence, run, evidence.batch.bounds(run)[1], INSTRUCTIONS),
    ]
    return frozenset(day for item in texts for day in days_recorded(item.text))


class _Named(NamedTuple):
    """A day that a text names."""

    words: str
    days: frozenset[Day]


def _named(text: str) -> Iterator[JsonValue | _Named]:
    """Days, identifiers, e-mail addresses, hosts and amounts that a text names."""
    text = words_shown(text)
    for place, some in list(days_in(text)):
        yield _Named(place.group(), some)
        text = text[: place.start()] + " " * len(place.group()) + text[place.end() :]
    for match in _MONEY.finditer(text):
        amount = as_number(match.group())
        if amount is not None:
            yield float(amount)
    text = _MONEY.sub(" ", text)
    for match in _GROUPED.finditer(text):
        yield float(match.group().replace(",", ""))
    text = _GROUPED.sub(" ", text)
    yield from (address.rstrip(".") for address in _EMAIL.findall(text))
    text = _EMAIL.sub(" ", text)
    yield from (host.rstrip(".,") for host in _HOST.findall(text))
    for word in words(f"{_HOST.sub(' ', text)} "):
        number = as_number(word) if re.fullmatch(r"[\d.,]+", word) else None
        yield word if number is None else float(number)
