"""What every rule is: a frozen value with a name, a layer, a severity and one meaning.

1. `check` looks at a batch and returns a result for each run that does not hold.
2. `explain` makes the sentence of one result; only what somebody prints pays for it.
3. `assert_holds` checks one trajectory, as a batch of one, and raises: `RuleViolationError` where
   the record contradicts the rule, `InsufficientEvidenceError` where a gap hides the answer.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import pyarrow as pa

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.model import JsonValue, Trajectory
from trackway_analyzer.records import Records, as_trajectory
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.field_kinds import check_kinds
from trackway_analyzer.rules.finding import (
    Finding,
    Layer,
    Result,
    Severity,
    State,
    findings_table,
)
from trackway_analyzer.rules.necessary import Fact
from trackway_analyzer.rules.tools import Tools, merged_tools


class RuleViolationError(AssertionError):
    """The record contradicts the rule; `finding` says how."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.sentence)
        self.finding = finding


class InsufficientEvidenceError(AssertionError):
    """A gap hides whether the rule holds; `finding` names it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.sentence)
        self.finding = finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A sentence and the values that it speaks of."""

    sentence: str
    expected: JsonValue = None
    got: JsonValue = None
    nearest: str | None = None


@dataclass(frozen=True, kw_only=True)
class Rule(ABC):
    """A requirement on one run."""

    severity: Severity = Severity.ERROR
    """Whether a violation fails the check."""

    layer: ClassVar[Layer] = Layer.TRAJECTORY
    declare: ClassVar[str | None] = None
    """Name of the Declare template that means the same, where one exists."""
    violation: ClassVar[type[RuleViolationError]] = RuleViolationError

    short: ClassVar[tuple[str, ...]] = ()
    """Fields that a list in a policy file fills; one field: the whole value fills it."""

    short_of_lists: ClassVar[tuple[str, ...]] = ()
    """Fields that a list fills instead whose first item is a list of lists."""

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Refuse values of another kind than their fields declare. Raises TypeError."""
        check_kinds(cls, args, kwargs)
        return super().__new__(cls)

    @property
    def key(self) -> str:
        """The rule's name in a policy file: its class in snake case."""
        return key_of(type(self).__name__)

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return self.key

    def declares(self) -> Tools:
        """What the rule itself declares of tools."""
        return {}

    def companions(self) -> tuple[Rule, ...]:
        """Further rules that a policy brings along with this one."""
        return ()

    def names_tools(self) -> frozenset[str]:
        """All tools that the rule names in full."""
        return self.speaks_of()

    def reads_names(self) -> frozenset[str]:
        """Names of tools or entity types of which the rule reads results."""
        return frozenset()

    def necessary(self, tools: Tools) -> Iterable[Fact]:  # rules look at it
        """What must be so of every run that keeps the rule, with what is declared of tools."""
        return ()

    def speaks_of(self) -> frozenset[str]:
        """Tools without any call of which the rule has nothing to judge."""
        return frozenset()

    def contradicts(self, other: Rule) -> str | None:
        """Why no run could keep both rules; None: some could."""
        return None

    def looks(self, tools: Tools) -> Looks | None:
        """What the rule looks at, with what is declared of tools; None: anything."""
        return None

    def means(self) -> frozenset[str]:
        """Names by which the rule means calls, beside those of entity types."""
        return self.names_tools() | self.speaks_of() | self.reads_names()

    def evidence(self, batch: RunBatch | Evidence) -> Evidence:
        """Settle a batch by what the rule declares, and name its tools as the rule does."""
        return Evidence.of(batch, self.declares()).named(self.means())

    @abstractmethod
    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run that does not hold."""

    def found(self, number: int, evidence: Evidence) -> pa.Table:
        """Return the same as rows of `finding.FINDING_SCHEMA`, under this number."""
        return findings_table(number, self.check(evidence))

    @abstractmethod
    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""

    def explain(self, batch: RunBatch | Evidence, result: Result) -> Finding:
        """Return the finding of one result of `check`."""
        evidence = self.evidence(batch)
        said = self.say(evidence, result)
        run_id = evidence.batch.runs.column("run_id")[result.run].as_py()
        return Finding(
            rule=self.title,
            layer=self.layer,
            severity=self.severity,
            state=result.state,
            run_id=str(run_id),
            sentence=said.sentence,
            step=None if result.position is None else result.position + 1,
            span_id=_span_id(evidence, result),
            expected=said.expected,
            got=said.got,
            nearest=said.nearest,
        )

    def assert_holds(self, trajectory: Trajectory | Records, *, tools: Tools | None = None) -> None:
        """Raise where the rule does not hold on one trajectory or plain list of records."""
        self.assert_holds_on(evidence_of(trajectory, merged_tools(self.declares(), tools or {})))

    def assert_holds_on(self, evidence: Evidence) -> None:
        """Raise where the rule does not hold on the one run of settled evidence."""
        for result in self.check(evidence):
            finding = self.explain(evidence, result)
            if result.state is State.VIOLATED:
                raise self.violation(finding)
            raise InsufficientEvidenceError(finding)


@dataclass(frozen=True)
class RunRule(Rule):
    """A rule that judges one run after the other."""

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run that does not hold."""
        evidence = self.evidence(batch)
        found = (self.judge(evidence, run) for run in range(len(evidence)))
        return [result for result in found if result is not None]

    @abstractmethod
    def judge(self, evidence: Evidence, run: int) -> Result | None:
        """Judge one run; None: it holds."""


@dataclass(frozen=True)
class ToolRule(Rule):
    """A rule about the executed calls of one tool."""

    tool: str

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return f"{self.key}: {self.tool}"

    def speaks_of(self) -> frozenset[str]:
        """The tool."""
        return frozenset({self.tool})

    @property
    def needs_a_call(self) -> bool:
        """Whether a run without any call of the tool is judged, too."""
        return False

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run that does not hold."""
        evidence = self.evidence(batch)
        rows = evidence.rows(self.tool)
        some = sorted(rows.keys() | evidence.gaps.keys())
        runs = range(len(evidence)) if self.needs_a_call else some
        cleared = self.cleared(evidence)
        doubtful = (
            run
            for run in runs
            if not cleared
            or run in evidence.blurred
            or not cleared.issuperset(rows.get(run, (-1,)))
        )
        found = (self.judge(evidence, run, rows.get(run, [])) for run in doubtful)
        return [result for result in found if result is not None]

    def cleared(self, evidence: Evidence) -> frozenset[int]:
        """Rows that a quick look over the whole batch finds in order."""
        return frozenset()

    @abstractmethod
    def judge(self, evidence: Evidence, run: int, rows: list[int]) -> Result | None:
        """Judge the calls of one run; None: it holds."""


def evidence_of(trajectory: Trajectory | Records, tools: Tools | None = None) -> Evidence:
    """Evidence of one trajectory, as a batch of one."""
    view = as_trajectory(trajectory)
    return Evidence.of(view.batch.take([view.ordinal]), tools)


def key_of(name: str) -> str:
    """Name of a rule in a policy file: the name of its class in snake case."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _span_id(evidence: Evidence, result: Result) -> str | None:
    if result.position is None:
        return None
    first, last = evidence.batch.bounds(result.run)
    if result.position >= last - first:  # a gap behind the last step
        return None
    value: Any = evidence.batch.steps.column("span_id")[first + result.position].as_py()
    return None if value is None else str(value)


def violated(run: int, position: int | None = None, **detail: JsonValue) -> Result:
    """The record of a run contradicts the rule, first at this position."""
    return Result(run, State.VIOLATED, position, detail)


def insufficient(run: int, gap: str, position: int | None = None, **detail: JsonValue) -> Result:
    """A gap hides whether a run holds."""
    return Result(run, State.INSUFFICIENT, position, {"gap": gap, **detail})


def may_hide_a_call(evidence: Evidence, run: int, tool: str | None = None) -> Result | None:
    """The result of a rule about every call (of a tool), where those that were seen keep it."""
    gap = evidence.hides_step(run, tools=None if tool is None else (tool,))
    return None if gap is None else insufficient(run, gap.gap)


def another_call(tool: str, result: Result) -> Said:
    """Say that every call that was seen keeps a rule, but that there may be another."""
    gap = result.detail["gap"]
    return Said(sentence=f"no call of {tool} was seen to break the rule, but {gap} may hide one")


def worst(results: Sequence[Result]) -> Result | None:
    """The result that decides: a violation before a gap, an earlier step before a later one."""
    order = {State.VIOLATED: 0, State.INSUFFICIENT: 1, State.HOLDS: 2}
    ranked = sorted(
        results,
        key=lambda r: (order[r.state], r.position is None, r.position or 0),
    )
    return ranked[0] if ranked else None
