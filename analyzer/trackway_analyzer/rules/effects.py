"""What is true at the end, whatever was said on the way?

1. `Outcome`: the task's oracle said success (or not), a label, and `where` holds of the final
   state that it recorded (`$` is the state). Nobody judged: insufficient.
2. `Effects`: an attempt is no effect. Per operation id at most one effect took place; with `ids`,
   each mutation carries an id. Effects are the `trackway.effect` events of a step where it has
   some, else the mutation itself.
3. `Continuity`: what a step needs of earlier decisions it still sees; each id in `required` was
   present in the last such record.
4. `Routed`: each wait names who it waits for, until when, and how it is taken up again; with
   `resumed`, it was taken up.
5. `Deadline`: the run ended by its deadline.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from trackway.schema import Trackway
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expression import Expression, compiled
from trackway_analyzer.rules.finding import Layer, Result
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP
from trackway_analyzer.rules.rule import (
    Rule,
    RunRule,
    Said,
    insufficient,
    may_hide_a_call,
    violated,
)
from trackway_analyzer.rules.sentences import because, number, step
from trackway_analyzer.rules.terms import Hidden, NoSource, Source
from trackway_analyzer.rules.tools import MUTATE
from trackway_analyzer.rules.values import shown

WAIT_FIELDS: Final = ("owner", "deadline", "resume_token")


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
        return Hidden(NOT_RECORDED_GAP) if text is None else Source(parsed(text))

    def earlier(self, name: str) -> Source | Hidden | NoSource | None:  # noqa: ARG002
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
                    if self.ids:
                        return violated(run, evidence.position(row), what="no_id")
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
            if detail.get("at") is not None:
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


@dataclass(frozen=True)
class _EventRule(RunRule):
    """A rule about events that hang on steps."""

    layer = Layer.OUTCOME

    def _events(
        self, evidence: Evidence, run: int, name: str
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        for row in range(*evidence.batch.bounds(run)):
            for said in evidence.events(row, name):
                yield row, said if isinstance(said, dict) else {}


@dataclass(frozen=True)
class Continuity(_EventRule):
    """A step that needs earlier decisions still sees them."""

    required: str | Iterable[str] = ()
    """Ids that must be present in the last record; those that a step names itself always are."""

    short = ("required",)

    def __post_init__(self) -> None:
        ids = (self.required,) if isinstance(self.required, str) else tuple(self.required)
        object.__setattr__(self, "required", ids)

    def judge(self, evidence: Evidence, run: int) -> Result | None:
        """Judge one run."""
        events = list(self._events(evidence, run, Trackway.EVENT_CONTINUITY))
        if not events:
            return insufficient(run, NOT_RECORDED_GAP)
        for row, said in events:
            last = row == events[-1][0]
            wanted = [*_names(said.get("required")), *(self.required if last else ())]
            lost = [name for name in wanted if name not in _names(said.get("present"))]
            if lost:
                return violated(run, evidence.position(row), lost=lost)
        return None

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if "gap" in result.detail:
            return Said(sentence="no record of continuity: nobody knows which decisions were seen")
        assert result.position is not None
        row = int(evidence.batch.offsets[result.run]) + result.position
        lost = result.detail["lost"]
        listed = ", ".join(lost)
        return Said(sentence=f"{step(evidence, row)} no longer saw {listed}", expected=lost)


@dataclass(frozen=True)
class Routed(_EventRule):
    """Each wait says who it waits for, until when, and how it is taken up again."""

    resumed: bool = False
    """Each wait must have been taken up."""

    def judge(self, evidence: Evidence, run: int) -> Result | None:
        """Judge one run."""
        taken_up = [
            (row, said.get("resume_token"))
            for row, said in self._events(evidence, run, Trackway.EVENT_RESUME)
        ]
        for row, said in self._events(evidence, run, Trackway.EVENT_WAIT):
            missing = [name for name in WAIT_FIELDS if not said.get(name)]
            position = evidence.position(row)
            if missing:
                return violated(run, position, missing=missing)
            token = said["resume_token"]
            if self.resumed and not any(t == token and r >= row for r, t in taken_up):
                gap = evidence.hides_step(run, after=position)
                return (
                    violated(run, position, token=token)
                    if gap is None
                    else insufficient(run, gap.gap)
                )
        return may_hide_a_call(evidence, run)

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if "gap" in result.detail:
            return Said(
                sentence=f"no unrouted wait was seen, but {result.detail['gap']} may hide one"
            )
        assert result.position is not None
        row = int(evidence.batch.offsets[result.run]) + result.position
        name = f"step {number(evidence, row)} {evidence.tool[row] or evidence.operation_of[row]}"
        if "token" in result.detail:
            return Said(sentence=f"{name} waits and was never taken up again")
        return Said(
            sentence=f"{name} waits without {' and '.join(result.detail['missing'])}",
            expected=result.detail["missing"],
        )


@dataclass(frozen=True)
class Deadline(Rule):
    """The run ended by its deadline."""

    layer = Layer.OUTCOME

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run that ended too late, or nobody knows when."""
        evidence = self.evidence(batch)
        ends = evidence.batch.runs.column("end").to_pylist()
        deadlines = evidence.batch.runs.column("deadline").to_pylist()
        results = []
        for run, (end, text) in enumerate(zip(ends, deadlines, strict=True)):
            deadline = _time(text)
            if end is None or deadline is None:
                what = "end" if end is None else "deadline"
                results.append(insufficient(run, NOT_RECORDED_GAP, what=what))
            elif end > deadline:
                late = (end - deadline).total_seconds()
                results.append(violated(run, seconds=round(late, 3)))
        return results

    def say(self, evidence: Evidence, result: Result) -> Said:  # noqa: ARG002
        """Make the sentence of one result."""
        if "gap" in result.detail:
            return Said(sentence=f"the {result.detail['what']} of the run was not recorded")
        late = result.detail["seconds"]
        return Said(sentence=f"the run ended {late:g} seconds after its deadline", got=late)


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _names(value: JsonValue) -> list[str]:
    """A list of names that may have been recorded as JSON text."""
    if isinstance(value, str):
        read = parsed(value)
        value = read if isinstance(read, list) else [value]
    return [str(item) for item in value] if isinstance(value, list) else []
