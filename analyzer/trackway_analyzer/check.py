"""Do these runs keep to the policy? `CheckReport`: findings, one verdict, one exit code.

1. Any violation of a rule of severity `error` makes the verdict `violation`.
2. Otherwise, a run in which a rule of severity `error` cannot be decided makes it `insufficient`.
   So does a check of no run, or by no rule, or of a source of which something that may have held
   spans could not be read, or that names a tool of such a rule and is not read: no evidence is
   never a pass.
3. Otherwise it is `pass`. A rule of severity `warning` counts only in a strict report, and there as
   an `error` does.
4. A finding gets its sentence when somebody looks at it; the verdict needs none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.frames import frame
from trackway_analyzer.json_text import compact
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.quarantine import NamingLoss, losses_naming, lost
from trackway_analyzer.rules.finding import Finding, Layer, Severity, State
from trackway_analyzer.rules.policy import Policy
from trackway_analyzer.rules.rule import InsufficientEvidenceError, RuleViolationError
from trackway_analyzer.rules.tools import MUTATE, NOTIFY

if TYPE_CHECKING:
    import pandas as pd

FINDING_COLUMNS: Final = pa.schema(
    [
        ("run_id", pa.string()),
        ("task", pa.string()),
        ("rule", pa.string()),
        ("layer", pa.string()),
        ("severity", pa.string()),
        ("state", pa.string()),
        ("step", pa.int64()),
        ("span_id", pa.string()),
        ("sentence", pa.string()),
        ("expected", pa.string()),  # JSON
        ("got", pa.string()),  # JSON
        ("nearest", pa.string()),
    ]
)

_SHOWN: Final = 20
_AT_ONCE: Final = (64, 20_000)
"""Findings that are explained at once: the first ones, then more."""


class Verdict(StrEnum):
    """What a check of some runs says."""

    PASS = "pass"
    VIOLATION = "violation"
    INSUFFICIENT = "insufficient"

    @property
    def exit_code(self) -> int:
        """What a command that ends with this verdict exits with."""
        return {Verdict.PASS: 0, Verdict.VIOLATION: 1, Verdict.INSUFFICIENT: 2}[self]


class CheckViolationError(RuleViolationError):
    """Runs break a policy: the first finding in `finding`, everything in `report`."""

    def __init__(self, report: CheckReport, findings: list[Finding]) -> None:
        super().__init__(findings[0])
        lines = [f"{found.run_id}: {found.rule}: {found.sentence}" for found in findings]
        more = sum(count.violated for count in report.counts) - len(lines)
        self.args = ("\n".join([*lines, *([f"… and {more} more"] if more > 0 else [])]),)
        self.report = report


@dataclass(frozen=True, slots=True)
class RuleCount:
    """In how many runs a rule does not hold."""

    rule: str
    layer: Layer
    severity: Severity
    violated: int
    insufficient: int


class Checked(Protocol):
    """The runs that were checked, in memory or in files; numbered in the order of their starts."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    @property
    def batch(self) -> RunBatch:
        """All of them in memory."""
        ...

    def taken(self, runs: Sequence[int]) -> RunBatch:
        """Those with these numbers, in this order."""
        ...

    def notes(self, policy: Policy) -> list[str]:
        """What may be wrong with the policy itself (`Policy.notes`)."""
        ...


@dataclass(frozen=True)
class InMemory:
    """Checked runs that are a batch."""

    batch: RunBatch

    def __len__(self) -> int:
        return len(self.batch)

    def taken(self, runs: Sequence[int]) -> RunBatch:
        """Those with these numbers, in this order."""
        return self.batch.take(runs)

    def notes(self, policy: Policy) -> list[str]:
        """What may be wrong with the policy itself."""
        return policy.notes(self.batch)


@dataclass(frozen=True)
class CheckReport:
    """Every finding of a policy over some runs."""

    checked: Checked
    policy: Policy
    table: pa.Table
    """Rows of `rules.finding.FINDING_SCHEMA`."""
    strict: bool = False
    """Whether rules of severity `warning` count."""
    unread: int = 0
    """Things of the source that could not be read and may have held spans."""
    naming: tuple[NamingLoss, ...] = ()
    """What is not read and names a tool of the policy."""

    @property
    def batch(self) -> RunBatch:
        """All runs; of files, this reads them into memory."""
        return self.checked.batch

    @cached_property
    def counts(self) -> tuple[RuleCount, ...]:
        """Each rule of the policy, in its order."""
        rule, state = self.table.column("rule"), self.table.column("state")
        found = Counter(
            {
                (count["values"], word): count["counts"]
                for word in pc.unique(state).to_pylist()
                for count in pc.value_counts(rule.filter(pc.equal(state, word))).to_pylist()
            }
        )
        return tuple(
            RuleCount(
                rule.title,
                rule.layer,
                rule.severity,
                found[index, State.VIOLATED.value],
                found[index, State.INSUFFICIENT.value],
            )
            for index, rule in enumerate(self.policy.rules)
        )

    @property
    def verdict(self) -> Verdict:
        """The answer to the whole check."""
        counting = [c for c in self.counts if self.strict or c.severity is Severity.ERROR]
        if any(count.violated for count in counting):
            return Verdict.VIOLATION
        undecided = any(count.insufficient for count in counting)
        unread = self.unread or self.naming
        if undecided or unread or not len(self.checked) or not self.counts:
            return Verdict.INSUFFICIENT
        return Verdict.PASS

    @property
    def exit_code(self) -> int:
        """0 pass, 1 violation, 2 insufficient."""
        return self.verdict.exit_code

    @property
    def runs_kept(self) -> int:
        """Runs without any finding."""
        return len(self.checked) - len(self.table.column("run").unique())

    def explained(
        self, *, rule: int | None = None, state: State | None = None
    ) -> Iterator[Finding]:
        """Make sentences of the findings, in the order of the runs: of one rule, of one state."""
        return (finding for finding, _ in self.told(rule=rule, state=state))

    def told(
        self, *, rule: int | None = None, state: State | None = None
    ) -> Iterator[tuple[Finding, str | None]]:
        """Make the sentences, each with the task of its run."""
        table = self.table
        for column, wanted in (("rule", rule), ("state", state)):
            if wanted is not None:
                texts = table.column(column).cast(pa.string())
                table = table.filter(pc.equal(texts, str(wanted)))
        first, size = 0, _AT_ONCE[0]
        while first < len(table):
            yield from self._told(table.slice(first, size).to_pylist())
            first, size = first + size, _AT_ONCE[1]

    def _told(self, rows: list[dict[str, Any]]) -> Iterator[tuple[Finding, str | None]]:
        runs = list(dict.fromkeys(row["run"] for row in rows))
        batch = self.checked.taken(runs)
        place = {run: ordinal for ordinal, run in enumerate(runs)}
        tasks = batch.runs.column("task_id").to_pylist()
        for row in rows:
            ordinal = place[row["run"]]
            yield self.policy.explain(batch, row | {"run": ordinal}), tasks[ordinal]

    def findings(self) -> pd.DataFrame:
        """One row a finding; `expected` and `got` are JSON texts."""
        rows = [finding_row(*found) for found in self.told()]
        for row in rows:
            row |= {name: _text(row[name]) for name in ("expected", "got")}
        return frame(pa.Table.from_pylist(rows, schema=FINDING_COLUMNS))

    def raise_for_violations(self) -> None:
        """Raise unless the verdict is `pass`.

        Raises CheckViolationError where a rule that counts is violated, InsufficientEvidenceError
        where one cannot be decided, there was nothing to check, or something could not be read.
        """
        if self.verdict is Verdict.VIOLATION:
            raise CheckViolationError(self, list(islice(self._counting(State.VIOLATED), _SHOWN)))
        if self.verdict is Verdict.INSUFFICIENT:
            undecided = next(self._counting(State.INSUFFICIENT), None)
            raise InsufficientEvidenceError(undecided or _nothing_checked(self))

    def _counting(self, state: State) -> Iterator[Finding]:
        found = self.explained(state=state)
        return (one for one in found if self.strict or one.severity is Severity.ERROR)

    def __repr__(self) -> str:
        return (
            f"CheckReport({self.verdict.value}, {len(self.checked)} runs,"
            f" {len(self.table)} findings)"
        )


def check(
    batch: RunBatch, policy: Policy, *, strict: bool = False, quarantine: pa.Table | None = None
) -> CheckReport:
    """Check every run of a batch against a policy; `quarantine`: what was not read of its source.

    Raises TypeError where the policy is none.
    """
    require_policy(policy)
    report = CheckReport(InMemory(batch), policy, policy.check(batch), strict)
    return report if quarantine is None else with_losses(report, quarantine)


def with_losses(report: CheckReport, quarantine: pa.Table) -> CheckReport:
    """Judge what was not read of a source by what the policy asks."""
    tools = named_tools(report.policy, strict=report.strict)
    naming = losses_naming(quarantine, tools)
    return replace(report, unread=report.unread + lost(quarantine), naming=naming)


def named_tools(policy: Policy, *, strict: bool = False) -> frozenset[str]:
    """Return the tools of which a call could change the verdict: those that its rules name.

    Where a rule names none, those that are declared to change something.
    """
    counting = [rule for rule in policy.rules if strict or rule.severity is Severity.ERROR]
    named = [rule.names_tools() | rule.speaks_of() for rule in counting]
    changing = {name for name, spec in policy.tools.items() if spec.kind in (MUTATE, NOTIFY)}
    return frozenset().union(*named, *(changing for names in named if not names))


def require_policy(policy: object) -> None:
    """Raise TypeError where the policy is none."""
    if not isinstance(policy, Policy):
        raise TypeError(
            f"expected a Policy, found {type(policy).__name__}: "
            "read a policy file with Policy.from_yaml(path)"
        )


def unread_text(count: int) -> str:
    """Say how many things may be missing from a check."""
    return f"{count:,} thing{'' if count == 1 else 's'} that may have held spans could not be read"


def finding_row(finding: Finding, task: str | None) -> dict[str, Any]:
    """One finding and the task of its run as plain values, with the keys of `FINDING_COLUMNS`."""
    values = {"task": task}
    return {n: values[n] if n in values else getattr(finding, n) for n in FINDING_COLUMNS.names}


def _text(value: JsonValue) -> str | None:
    return None if value is None else compact(value)


def _nothing_checked(report: CheckReport) -> Finding:
    if report.counts and len(report.checked):
        missing = unread_text(report.unread) if report.unread else str(report.naming[0])
    else:
        lacks = "no run" if not len(report.checked) else "no rule"
        missing = f"there was {lacks} to check"
    return Finding(
        rule="policy",
        layer=Layer.TRAJECTORY,
        severity=Severity.ERROR,
        state=State.INSUFFICIENT,
        run_id="",
        sentence=f"{missing}: no evidence is no pass",
    )
