"""Does the final text say what it must, and nothing that the run did not show?

1. `contains`: each fact stands in the final text, as words of their own in any case. A number, or
   a number with a unit (`$84.00`, `5 days`), is compared as a number, with its unit if it has
   one. Markdown and the shape of quotes make no difference. What only stands right behind a
   negation ("not approved") is undecided.
2. `matches`: each regular expression is found in it.
3. `grounded`: each identifier, e-mail address, host, amount of money and number of three digits
   or more in the text stands in an earlier successful result, or in what the user said. Days are
   compared as days (`dates`), and may stand in the instructions too: today's does. What stands only
   in a result that reads like a failure is undecided; so is what may be written otherwise there or
   worked out of it, and what may be no value (`named_values`).
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
from trackway_analyzer.rules.claim_language import MARKDOWN, compiled_pattern
from trackway_analyzer.rules.dates import Day, days_recorded, may_be_one_day
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Layer, Result
from trackway_analyzer.rules.named_values import (
    is_certain,
    is_shown,
    may_be_made_of,
    named_values,
    times_shown,
)
from trackway_analyzer.rules.rule import RunRule, Said, insufficient, violated
from trackway_analyzer.rules.sentences import at_step, hidden_value
from trackway_analyzer.rules.source_path import source_path
from trackway_analyzer.rules.spoken_of import spoken_of
from trackway_analyzer.rules.terms import DENIED_GAP, OTHERWISE_GAP, Hidden
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


_SIGNS: Final = str.maketrans(
    {**dict.fromkeys("‘’ʼ′", "'"), **dict.fromkeys("“”", '"'), "‑": "-", "‐": "-"}
)
_DENIES: Final = r"(?:(?:\w+n't|not|never|no\s+longer)\s+(?:yet\s+|been\s+|be\s+|\w+ly\s+){0,2})"
"""What stands right before a word and says that it is not so."""


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
            states = _states(words_shown(text), fact)
            if states is None:
                yield Hidden(DENIED_GAP)
            elif not states:
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


def _states(text: str, fact: str | float) -> bool | None:
    """Whether a text says a fact; None: only behind a negation that stands right before it."""
    wanted = list(quantities(str(fact)))
    bare = re.sub(_QUANTITY, "", str(fact)).strip()
    if len(wanted) == 1 and not bare:
        number, unit = wanted[0]
        return any(
            q.number == number and (unit is None or q.unit == unit) for q in quantities(text)
        )
    text, words = _plain(text), _plain(str(fact))
    if not Text(text, "assistant").holds(words):
        return False
    denied = rf"(?<!\w){_DENIES}{re.escape(words)}(?!\w)"
    rest = re.sub(denied, " ", text, flags=re.IGNORECASE)
    return True if rest == text or Text(rest, "assistant").holds(words) else None


def _plain(text: str) -> str:
    """A text without marks of decoration, with plain quotes and hyphens."""
    return " ".join(re.sub(MARKDOWN, "", text).translate(_SIGNS).split())


def _made_up(evidence: Evidence, run: int, text: str) -> Iterator[Wrong | Hidden]:
    seen = [*_shown(evidence, run)]
    days, times = _days_shown(evidence, run), times_shown(seen)
    doubtful = _doubtful(evidence, run)
    for named in dict.fromkeys(named_values(words_shown(text), seen)):
        if may_be_one_day(named.days, days) or named.minutes & times or is_shown(named, seen):
            continue
        certain = is_certain(named, seen) and not may_be_made_of(named, seen)
        yield (
            next((why for item, why in doubtful if is_shown(named, [item])), None)
            or _hidden_result(evidence, run)
            or hidden_input(evidence, run)
            or evidence.hides_step(run)
            or (None if certain else Hidden(OTHERWISE_GAP))
            or Wrong(
                f"the final text names {shown(named.value)}, which stands in no successful result"
                " and not in the user's input",
                None,
                named.value,
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
