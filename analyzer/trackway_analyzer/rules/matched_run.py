"""One run, held against the calls that are expected of it: what holds, and the sentence if not.

The meaning of the rules stands in `matching`; this module answers for one run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from trackway_analyzer.model import NOT_RECORDED
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expected import ExpectedCall, Group, How, first_difference, fit
from trackway_analyzer.rules.finding import Result
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP
from trackway_analyzer.rules.laying import (
    FREE,
    UNKNOWN,
    VIOLATES,
    Answer,
    Question,
    ordered,
    unordered,
)
from trackway_analyzer.rules.rule import Said, insufficient, violated
from trackway_analyzer.rules.sentences import at_step, cannot_judge, step
from trackway_analyzer.rules.terms import Source
from trackway_analyzer.rules.tools import LOOKUP, MUTATE, NOTIFY
from trackway_analyzer.rules.tried_again import tried_again
from trackway_analyzer.rules.values import ABSENT, shown, shown_apart

NO_TRACE: Final = "no_trace"

Extra: TypeAlias = Literal["forbid", "reads", "allow"]


@dataclass(frozen=True, slots=True)
class Terms:
    """What a matching rule asks for."""

    arguments: How
    extra: Extra
    in_order: bool
    missing: int
    """Cost of an expected call that was not made."""


class MatchedRun:
    """One run, read against the calls that are expected of it."""

    def __init__(
        self, terms: Terms, evidence: Evidence, run: int, expected: Sequence[Group]
    ) -> None:
        self.terms = terms
        self.evidence = evidence
        self.run = run
        self.calls = [call for group in expected for call in group]
        numbers = iter(range(len(self.calls)))
        self.expected = [[next(numbers) for _ in group] for group in expected]
        self.rows = evidence.calls(run)

    @cached_property
    def question(self) -> Question:
        """What the search needs to know."""
        evidence, terms = self.evidence, self.terms
        actual: dict[int, list[int]] = {}
        for row in self.rows:
            actual.setdefault(evidence.group[row], []).append(row)
        fits = {
            (number, row): found
            for number, call in enumerate(self.calls)
            for row in self.rows
            if (found := fit(evidence, row, call, terms.arguments)) is not False
        }
        wanted = {call.tool for call in self.calls}
        hidden = evidence.hides_step(self.run, tools=wanted) is not None
        missing = min(terms.missing, UNKNOWN) if hidden else terms.missing
        return Question(
            expected=self.expected,
            actual=list(actual.values()),
            fits=fits,
            missing=missing,
            extras={row: self.extra_cost(row) for row in self.rows},
            reads=frozenset(row for row in self.rows if evidence.kind[row] == LOOKUP),
        )

    @cached_property
    def hidden(self) -> str | None:
        """The gap that may hide a call."""
        gap = self.evidence.hides_step(self.run)
        return None if gap is None else gap.gap

    @cached_property
    def answer(self) -> Answer:
        """The cheapest way to lay the expected calls over the run."""
        return ordered(self.question) if self.terms.in_order else unordered(self.question)

    def extra_cost(self, row: int) -> int:
        """What a call costs that nobody expected."""
        ok, kind = self.evidence.ok[row], self.evidence.kind[row]
        if self.terms.extra == "allow":
            return FREE
        if self.terms.extra == "forbid":
            again = False if ok else tried_again(self.evidence, self.rows, row)
            if again is False:
                return VIOLATES
            return FREE if again and ok is False else UNKNOWN
        if kind not in (MUTATE, NOTIFY) or ok is False:
            return FREE
        return UNKNOWN if ok is None else VIOLATES

    def result(self) -> Result | None:
        """What the rule says of the run; None: it holds."""
        question, answer = self.question, self.answer
        if self._no_trace:
            return insufficient(self.run, NO_TRACE)
        for row in answer.extra:
            if question.extras[row] == VIOLATES and not self._explains_missing(row):
                return self._violated(row, "extra")
        if answer.missing and question.missing == VIOLATES:
            return violated(self.run, self._place(answer.missing[0]), what="missing")
        for row in answer.extra:
            if question.extras[row] == VIOLATES:
                return self._violated(row, "extra")
        return self._unknown()

    @property
    def _no_trace(self) -> bool:
        """Whether nothing at all was recorded of the run."""
        spans = self.evidence.batch.runs.column("spans")[self.run].as_py()
        said = self.evidence.text(self.run, "final_text") is not None
        return not (self.rows or spans or said or self.evidence.gaps.get(self.run))

    def _explains_missing(self, row: int) -> bool:
        """Whether an extra call is what was recorded instead of a missing one."""
        missing = self.answer.missing if self.question.missing == VIOLATES else ()
        return any(self.calls[number].tool == self.evidence.tool[row] for number in missing)

    def _violated(self, row: int, what: str) -> Result:
        return violated(self.run, self.evidence.position(row), what=what)

    def _place(self, number: int) -> int | None:
        """Position of what was recorded instead of a missing call."""
        row = self._nearest(self.calls[number])
        return None if row is None else self.evidence.position(row)

    def _nearest(self, call: ExpectedCall) -> int | None:
        same_tool = (row for row in self.answer.extra if self.evidence.tool[row] == call.tool)
        return next(same_tool, None)

    def _unknown(self) -> Result | None:
        question, evidence = self.question, self.evidence
        unsure = [row for number, row in self.answer.taken if question.fits[number, row] is None]
        unsure += [row for row in self.answer.extra if question.extras[row] == UNKNOWN]
        if unsure:
            row = min(unsure)
            source = evidence.arguments(row)
            gap = (source.cut or source.redacted) if isinstance(source, Source) else source
            name = NOT_RECORDED_GAP if gap is None else gap.gap
            return insufficient(self.run, name, evidence.position(row))
        matters = self.answer.missing and question.missing == UNKNOWN
        if self.hidden is not None and (matters or self.terms.extra != "allow"):
            return insufficient(self.run, self.hidden)
        return None

    def say(self, result: Result) -> Said:
        """Make the sentence of a result of this run."""
        if result.detail.get("gap") == NO_TRACE:
            return Said(sentence="nothing was recorded of this run")
        if "gap" in result.detail:
            return Said(sentence=cannot_judge(self.evidence, result))
        if result.detail["what"] == "extra":
            row = int(self.evidence.batch.offsets[self.run]) + (result.position or 0)
            sentence = f"{step(self.evidence, row)}{self._given(row)} is not expected"
            return Said(sentence=sentence, got=self.evidence.tool[row])
        return self._missing(self.calls[self.answer.missing[0]])

    def _missing(self, call: ExpectedCall) -> Said:
        evidence, row = self.evidence, self._nearest(call)
        text = _call_text(call)
        if row is None:
            return Said(sentence=f"{text} was never recorded", expected=call.tool)
        near = at_step(evidence, row)
        if fit(evidence, row, call, self.terms.arguments) is not False:
            sentence = (
                f"{text} was not recorded at its place, but at step {evidence.position(row) + 1}"
            )
            return Said(sentence=sentence, expected=call.tool, nearest=near)
        source = evidence.arguments(row)
        if isinstance(source, Source) and call.arguments is not NOT_RECORDED:
            found = first_difference(source.value, call.arguments, self.terms.arguments)
            if found is not None:
                name, actual, wanted = found
                got, expected = (
                    (shown(actual), "a value that fits")
                    if callable(wanted)
                    else shown_apart(actual, wanted)
                )
                sentence = f"{step(evidence, row)}: {name} {got}, expected {expected}"
                return Said(
                    sentence=sentence,
                    expected=None if callable(wanted) or wanted is ABSENT else wanted,
                    got=None if actual is ABSENT else actual,
                    nearest=near,
                )
        took = "took effect" if call.ok is False else "did not take effect"
        return Said(sentence=f"{step(evidence, row)} {took}, expected {text}", nearest=near)

    def _given(self, row: int) -> str:
        source = self.evidence.arguments(row)
        return f" with {shown(source.value)}" if isinstance(source, Source) else ""


def _call_text(call: ExpectedCall) -> str:
    return call.tool if call.text is None else f"{call.tool} with {shown(call.arguments)}"
