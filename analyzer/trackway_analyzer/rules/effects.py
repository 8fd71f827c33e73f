"""What is true at the end, whatever was said on the way?

1. `Outcome`: the task's oracle said success (or not), a label, and `where` holds of the final
   state that it recorded (`$` is the state). Nobody judged: insufficient.
2. `Effects`: an attempt is no effect. Per operation id at most one effect took place; with `ids`,
   each mutation carries an id. Effects are the `trackway.effect` events of a step where it has
   some, else the mutation itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from trackway.schema import REDACTION_MARKER, GapName
from trackway_analyzer.json_text import parsed
from trackway_analyzer.rules.evidence import OPERATION_ARGUMENTS, Evidence
from trackway_analyzer.rules.expression import Expression, compiled
from trackway_analyzer.rules.finding import Layer, Result
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP, REDACTED_GAP
from trackway_analyzer.rules.rule import (
    Rule,
    RunRule,
    Said,
    insufficient,
    may_hide_a_call,
    violated,
)
from trackway_analyzer.rules.sentences import because, hidden_value, number, step
from trackway_analyzer.rules.terms import Hidden, NoSource, Source
from trackway_analyzer.rules.tools import MUTATE
from trackway_analyzer.rules.values import shown, shows_a_cut


@dataclass(frozen=True)
class Outcome(RunRule):
    """The task's oracle said what it should."""

    success: bool | None = True
    label: str | None = None
    where: str | None = None

    layer = Layer.OUTCOME
    short = ("success",)

    def __post_init__(self) -> None:
        if self.where is not None:
            compiled(self.where)

    @cached_property
    def _where(self) -> Expression | None:
        return None if self.where is None else compiled(self.where)

    def contradicts(self, other: Rule) -> str | None:
        """Two outcomes at once."""
        if not isinstance(other, Outcome):
            return None
        for name in ("success", "label"):
            wanted = [getattr(self, name), getattr(other, name)]
            if None not in wanted and wanted[0] != wanted[1]:
                return f"{name} must be {shown(wanted[0])} and {shown(wanted[1])}"
        return None

    def judge(self, evidence: Evidence, run: int) -> Result | None:
        """Judge one run."""
        wanted = {"outcome_success": self.success, "outcome_label": self.label}
        unseen = False
        for column, value in wanted.items():
            got = evidence.batch.runs.column(column)[run].as_py()
            if value is not None and got is None:
                unseen = True
            elif value is not None and got != value:
                return violated(run, what=column)
        if self._where is not None:
            truth = self._where.truth(_State(evidence, run))
            if isinstance(truth, Hidden):
                unseen = True
            elif truth is not True:
                return violated(run, what="state")
        return insufficient(run, NOT_RECORDED_GAP) if unseen else None

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if "gap" in result.detail:
            return Said(sentence="the outcome of the run was not recorded: nobody judged it")
        run, what = result.run, result.detail["what"]
        if what == "state" and self._where is not None:
            reason = self._where.because(_State(evidence, run))
            return Said(sentence=f"final state: {because(evidence, reason)}")
        got = evidence.batch.runs.column(what)[run].as_py()
        name = what.removeprefix("outcome_")
        wanted = self.success if name == "success" else self.label
        mode = evidence.batch.runs.column("outcome_failure_mode")[run].as_py()
        why = f" ({mode})" if mode else ""
        return Said(
            sentence=f"outcome: {name} {shown(got)}{why}, expected {shown(wanted)}",
            expected=wanted,
            got=got,
        )


@dataclass(frozen=True, slots=True)
class _State:
    """The scope of `Outcome.where`: the final state."""

    evidence: Evidence
    run: int

    def arguments(self) -> Source | Hidden:
        """A final state has no arguments."""
        return Source({})

    def result(self) -> Source | Hidden:
        """The final state."""
        text = self.evidence.text(self.run, "outcome_state")
        if text is None:
            return Hidden(NOT_RECORDED_GAP)
        redacted = REDACTION_MARKER.search(text) is not None
        value = parsed(text)
        return Source(
            value,
            cut=Hidden(GapName.TRUNCATED_VALUE) if shows_a_cut(text, value) else None,
            redacted=Hidden(REDACTED_GAP) if redacted else None,
        )

    def earlier(self, name: str) -> Source | Hidden | NoSource | None:
        """Nothing: the state is read for itself."""
        return None


@dataclass(frozen=True)
class Effects(RunRule):
    """Each operation takes effect once at most."""

    tool: str | None = None
    ids: bool = False
    """Each mutation must carry an operation id."""

    layer = Layer.OUTCOME
    short = ("tool",)

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return self.key if self.tool is None else f"{self.key}: {self.tool}"

    def judge(self, evidence: Evidence, run: int) -> Result | None:
        """Judge one run."""
        sure: dict[str, list[int]] = {}
        maybe: dict[str, list[int]] = {}
        hidden: Hidden | None = None
        for row in self._mutations(evidence, run):
            for operation, applied in self._operations(evidence, row):
                if operation is None:
                    unseen = _hidden_id(evidence, row)
                    if self.ids and unseen is None:
                        return violated(run, evidence.position(row), what="no_id")
                    hidden = hidden or (unseen if self.ids else None)
                    continue
                if applied is not False:
                    (sure if applied else maybe).setdefault(operation, []).append(row)
        for operation, rows in sure.items():
            if len(rows) > 1:
                return violated(
                    run,
                    evidence.position(rows[1]),
                    operation=operation,
                    first=number(evidence, rows[0]),
                )
        for operation, rows in maybe.items():
            if len(rows) + len(sure.get(operation, ())) > 1:
                hidden = hidden or Hidden(NOT_RECORDED_GAP, evidence.position(rows[0]))
        if hidden is not None:
            return insufficient(run, hidden.gap, at=hidden.position)
        return may_hide_a_call(evidence, run)

    def _mutations(self, evidence: Evidence, run: int) -> Iterator[int]:
        for row in evidence.calls(run):
            wanted = self.tool in (None, evidence.tool[row])
            if wanted and (evidence.kind[row] == MUTATE or self.tool or evidence.effects(row)):
                yield row

    @staticmethod
    def _operations(evidence: Evidence, row: int) -> list[tuple[str | None, bool | None]]:
        recorded = evidence.effects(row)
        own = evidence.operation(row)
        if recorded:
            return [(effect.operation_id or own, effect.applied) for effect in recorded]
        return [(own, evidence.ok[row])]

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        detail = result.detail
        if "gap" in detail:
            if detail["gap"] in (GapName.TRUNCATED_VALUE, REDACTED_GAP):
                what = f"the operation id of step {detail['at'] + 1}"
                why = hidden_value(Hidden(detail["gap"]), what)
            elif detail.get("at") is not None:
                why = f"whether step {detail['at'] + 1} took effect was not recorded"
            else:
                why = f"{detail['gap']} may hide an effect"
            return Said(sentence=f"no operation was seen to take effect twice, but {why}")
        assert result.position is not None
        row = int(evidence.batch.offsets[result.run]) + result.position
        if detail.get("what") == "no_id":
            return Said(sentence=f"{step(evidence, row)} carries no operation id")
        return Said(
            sentence=f"operation {detail['operation']} took effect twice, at steps"
            f" {detail['first']} and {number(evidence, row)} {evidence.tool[row]}",
            expected=1,
            got=2,
        )


def _hidden_id(evidence: Evidence, row: int) -> Hidden | None:
    """What hides the operation id in the arguments of a call."""
    source = evidence.arguments(row)
    if isinstance(source, Hidden) or not isinstance(source.value, dict):
        return None
    values = [source.value[name] for name in OPERATION_ARGUMENTS if name in source.value]
    return source.hides(*values) or source.lost
