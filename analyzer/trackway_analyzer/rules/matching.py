"""Did the run make the expected calls, and no others that matter?

| rule | expected calls | order | other calls |
|---|---|---|---|
| `Exact` | all | as given | forbidden |
| `InOrder` | all | as given | allowed |
| `AnyOrder` | all | any | forbidden |
| `AtLeast` | all | any | allowed |
| `AtMost` | none has to be made | any | forbidden |

1. Each expected call takes one call of its own, a call that fits it (`expected`); the search is
   complete (`laying`). Executed calls count, attempts that failed too.
2. `extra` says what other calls may be: `forbid`, `reads` (no mutation or notification that may
   have taken effect) or `allow`. A failed attempt that was repeated is never an extra.
3. The calls are given for all runs, or as `references`: then each run is held against the run
   that has the same value of a column, task_id unless `by` says otherwise. A run without such a
   reference is insufficient.
4. Calls of one model turn are unordered, in the reference too.
5. A gap that may hide a call makes a missing one insufficient, and where extras matter, the rest.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Final

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expected import HOW, Expectation, Group, How, groups_of
from trackway_analyzer.rules.finding import Result
from trackway_analyzer.rules.laying import FREE, VIOLATES
from trackway_analyzer.rules.matched_run import Extra, MatchedRun, Terms
from trackway_analyzer.rules.necessary import (
    Fact,
    Moment,
    Occurs,
    Order,
    chosen,
    counted,
    no_others,
)
from trackway_analyzer.rules.pattern import one_of
from trackway_analyzer.rules.references import CallText, CallTexts, References
from trackway_analyzer.rules.rule import Rule, Said, insufficient
from trackway_analyzer.rules.tools import Tools

EXTRAS: Final = ("forbid", "reads", "allow")
NO_REFERENCE: Final = "no_reference"


@dataclass(frozen=True)
class _Matching(Rule):
    """Calls that are expected of a run."""

    calls: Iterable[Expectation | Iterable[Expectation]] = ()
    references: References | None = field(default=None, kw_only=True)
    arguments: How = field(default="exact", kw_only=True)
    extra: Extra | None = field(default=None, kw_only=True)

    short = ("calls",)
    in_order: ClassVar[bool] = False
    missing: ClassVar[int] = VIOLATES
    default_extra: ClassVar[Extra] = "forbid"

    def __post_init__(self) -> None:
        one_of(self.arguments, HOW, "arguments")
        extra = self.default_extra if self.extra is None else self.extra
        object.__setattr__(self, "extra", extra)
        one_of(self.extra, EXTRAS, "extra")
        object.__setattr__(self, "calls", groups_of(self.calls))
        if bool(self.groups) == (self.references is not None):
            raise ValueError(f"{self.key} needs expected calls, or references, and not both")

    @property
    def groups(self) -> tuple[Group, ...]:
        """The expected calls, in groups; empty where references give them."""
        return self.calls  # type: ignore[return-value]  # so made on creation

    @property
    def terms(self) -> Terms:
        """What the rule asks for, beside the calls."""
        return Terms(self.arguments, self.extra or "forbid", self.in_order, self.missing)

    def names_tools(self) -> frozenset[str]:
        """Tools of the expected calls."""
        return frozenset(call.tool for group in self.groups for call in group)

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """The expected calls, their order, and no others where others matter."""
        calls = [call for group in self.groups for call in group]
        wanted = [Occurs(call.tool, call.ok is not False) for call in calls]
        if self.missing != FREE:
            yield from counted(wanted)
        if self.groups and self.extra != "allow":
            yield from no_others(wanted, tools, only_changes=self.extra == "reads")
        if self.in_order and self.missing != FREE:
            yield from self._orders()

    def _orders(self) -> Iterator[Fact]:
        earlier: list[Moment] = []
        numbers = itertools.count()
        for group in self.groups:
            now: list[Moment] = []
            for call in group:
                moment, ends = chosen(self, next(numbers), call.tool, call.ok is not False)
                yield from ends
                now.append(moment)
            yield from (Order(before, moment) for before in earlier for moment in now)
            earlier = now

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run that does not make the expected calls."""
        evidence = self.evidence(batch)
        texts = CallTexts.of(evidence)
        runs = (run for run in range(len(evidence)) if not self._plainly_holds(texts, run))
        results = (self._judge(evidence, run) for run in runs)
        return [result for result in results if result is not None]

    def _plainly_holds(self, texts: CallTexts, run: int) -> bool:
        """Whether equal texts alone tell that a run holds; most runs are settled here."""
        if self.arguments == "ignore" or not texts.plain[run]:
            return False
        wanted = self._expected_texts(texts.evidence, run)
        if wanted is None:
            return False
        found = texts.of_run(run)
        if found == wanted:
            return True
        if self.in_order:
            return self.extra == "allow" and _is_subsequence(wanted, found)
        if len(found) == len(wanted):
            return sorted(found) == sorted(wanted)
        if self.missing == FREE:
            return not Counter(found) - Counter(wanted)
        return self.extra == "allow" and not Counter(wanted) - Counter(found)

    def _expected_texts(self, evidence: Evidence, run: int) -> list[CallText] | None:
        if self.references is None:
            return self._texts
        reference = self.references.ordinal(evidence, run)
        texts = CallTexts.of(self.references.evidence)
        if reference is None or not texts.plain[reference]:
            return None
        return texts.of_run(reference)

    @cached_property
    def _texts(self) -> list[CallText] | None:
        """Texts of the calls that are expected of every run; None: more than texts decides."""
        calls = [call for group in self.groups for call in group]
        unordered_group = self.in_order and any(len(group) > 1 for group in self.groups)
        if unordered_group or any(call.ok is False for call in calls):
            return None
        texts = [(call.tool, call.text) for call in calls if call.text is not None]
        return texts if len(texts) == len(calls) else None

    def expected(self, evidence: Evidence, run: int) -> Sequence[Group] | None:
        """The calls that are expected of a run; None: it has no reference."""
        if self.references is None:
            return self.groups
        reference = self.references.ordinal(evidence, run)
        return None if reference is None else self.references.groups(reference)

    def _judge(self, evidence: Evidence, run: int) -> Result | None:
        expected = self.expected(evidence, run)
        if expected is None:
            return insufficient(run, NO_REFERENCE)
        return MatchedRun(self.terms, evidence, run, expected).result()

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        expected = self.expected(evidence, result.run)
        if expected is None:
            assert self.references is not None
            return Said(sentence=f"no reference run has this run's {self.references.by}")
        return MatchedRun(self.terms, evidence, result.run, expected).say(result)


def _is_subsequence(some: Sequence[CallText], whole: Sequence[CallText]) -> bool:
    rest = iter(whole)
    return all(item in rest for item in some)


@dataclass(frozen=True)
class Exact(_Matching):
    """The run makes exactly these calls, in this order."""

    in_order = True


@dataclass(frozen=True)
class InOrder(_Matching):
    """The run makes these calls in this order; others may stand between them."""

    in_order = True
    default_extra = "allow"


@dataclass(frozen=True)
class AnyOrder(_Matching):
    """The run makes exactly these calls, in any order."""


@dataclass(frozen=True)
class AtLeast(_Matching):
    """The run makes these calls, in any order; others are allowed. Called "superset" elsewhere."""

    default_extra = "allow"


@dataclass(frozen=True)
class AtMost(_Matching):
    """The run makes no other calls than these; none has to be made. "Subset" elsewhere."""

    missing = FREE
