"""What is true at the end, whatever was said on the way?

1. `Outcome`: the task's oracle said success (or not), a label, and `where` holds of the final
   state that it recorded (`$` is the state). Nobody judged: insufficient.
2. `Effects`: an attempt is no effect. Per operation id at most one effect took place; with `ids`,
   each mutation carries an id. Effects are the `trackway.effect` events of a step where it has
   some, else the mutation itself, and the events of the run outside of any step; one of these tells
   of a mutation with its id that has no event of its own.
3. An id that cannot be seen may be that of any other effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from trackway.schema import REDACTION_MARKER, GapName, Trackway
from trackway_analyzer.json_text import parsed
from trackway_analyzer.rules.evidence import OPERATION_ARGUMENTS, Evidence
from trackway_analyzer.rules.expression import Expression, compiled
from trackway_analyzer.rules.finding import Layer, Result
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP, REDACTED_GAP
from trackway_analyzer.rules.recorded_events import Effect
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
from trackway_analyzer.rules.values import is_cut, is_redacted, shown, shows_a_cut


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

    def speaks_of(self) -> frozenset[str]:
        """The tool."""
        return frozenset() if self.tool is None else frozenset({self.tool})

    def judge(self, evidence: Evidence, run: int) -> Result | None:
        """Judge one run."""
        found = [e for e in self._effects(evidence, run) if e.applied is not False]
        nameless = [e for e in found if e.operation is None]
        if self.ids:
            lacking = [e for e in nameless if e.hidden is None and e.number is not None]
            for effect in lacking:
                if effect.applied:
                    return violated(run, effect.position, what="no_id")
        by_id: dict[str, list[_Effect]] = {}
        for effect in found:
            if effect.operation is not None:
                by_id.setdefault(effect.operation, []).append(effect)
        for operation, effects in by_id.items():
            sure = [effect for effect in effects if effect.applied]
            if len(sure) > 1:
                first, second = sure[:2]
                return violated(
                    run,
                    second.position,
                    operation=operation,
                    first=first.number,
                    second=second.number,
                )
        hidden = next((e.hidden for e in nameless if e.hidden is not None), None)
        if hidden is not None and not self.ids:
            unseen = sum(effect.hidden is not None for effect in nameless)
            hidden = hidden if unseen + sum(map(len, by_id.values())) > 1 else None
        if hidden is not None:
            return insufficient(run, hidden.gap, at=hidden.position, what="id")
        doubtful = [effects[0] for effects in by_id.values() if len(effects) > 1]
        doubtful = [*lacking, *doubtful] if self.ids else doubtful
        if doubtful:
            return insufficient(run, NOT_RECORDED_GAP, at=doubtful[0].position)
        return may_hide_a_call(evidence, run)

    def _effects(self, evidence: Evidence, run: int) -> Iterator[_Effect]:
        """All that took effect or may have, in order of the steps."""
        told: dict[str, int] = {}
        beside: list[_Effect] = []
        first = evidence.first_row(run)
        for row, said in evidence.run_events(run, Trackway.EVENT_EFFECT):
            event = Effect.of(said)
            if self.tool in (None, event.operation):
                position = row - first if row >= first else None
                effect = _Effect.named(event.operation_id, event.applied, position, None)
                beside.append(effect)
                if effect.operation is not None and event.applied is not False:
                    told[effect.operation] = told.get(effect.operation, 0) + 1
        for row in self._mutations(evidence, run):
            number_, position = number(evidence, row), evidence.position(row)
            own, hidden = evidence.operation(row), _hidden_id(evidence, row)
            recorded = evidence.effects(row)
            for event in recorded:
                name = event.operation_id or own
                effect = _Effect.named(name, event.applied, position, number_)
                yield effect if name is not None else replace(effect, hidden=hidden)
            if recorded:
                continue
            if own is not None and evidence.ok[row] is not False and told.get(own):
                told[own] -= 1  # an event of the run is about this call
                continue
            effect = _Effect.named(own, evidence.ok[row], position, number_)
            yield effect if own is not None else replace(effect, hidden=hidden)
        yield from beside

    def _mutations(self, evidence: Evidence, run: int) -> Iterator[int]:
        for row in evidence.calls(run):
            wanted = self.tool in (None, evidence.tool[row])
            if wanted and (evidence.kind[row] == MUTATE or self.tool or evidence.effects(row)):
                yield row

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        detail = result.detail
        if "gap" in detail:
            if detail.get("what") == "id":
                where = "" if detail["at"] is None else f" of step {detail['at'] + 1}"
                why = hidden_value(Hidden(detail["gap"]), f"the operation id{where}")
            elif detail.get("at") is not None:
                why = f"whether step {detail['at'] + 1} took effect was not recorded"
            else:
                why = f"{detail['gap']} may hide an effect"
            return Said(sentence=f"no operation was seen to take effect twice, but {why}")
        if detail.get("what") == "no_id":
            name = step(evidence, self._row(evidence, result))
            return Said(sentence=f"{name} carries no operation id")
        places = self._places(evidence, result)
        return Said(
            sentence=f"operation {detail['operation']} took effect twice, {places}",
            expected=1,
            got=2,
        )

    def _row(self, evidence: Evidence, result: Result) -> int:
        return evidence.first_row(result.run) + (result.position or 0)

    def _places(self, evidence: Evidence, result: Result) -> str:
        """Where both effects were recorded."""
        first, second = result.detail["first"], result.detail["second"]
        if first is None and second is None:
            return "outside of any step"
        row = self._row(evidence, result)
        if first is not None and second is not None:
            return f"at steps {first} and {second} {evidence.tool[row]}"
        return f"at step {first or second} and outside of any step"


@dataclass(frozen=True, slots=True)
class _Effect:
    """One effect of a run."""

    operation: str | None
    applied: bool | None
    position: int | None
    number: int | None
    """Of its step; None: it was recorded outside of any."""
    hidden: Hidden | None = None
    """What hides its operation id."""

    @classmethod
    def named(
        cls, operation: str | None, applied: bool | None, position: int | None, number: int | None
    ) -> _Effect:
        """An effect under an id, unless the recorder took something out of it or cut it."""
        gap = None
        if operation is not None and is_redacted(operation):
            gap = REDACTED_GAP
        elif operation is not None and is_cut(operation):
            gap = GapName.TRUNCATED_VALUE
        if gap is None:
            return cls(operation, applied, position, number)
        return cls(None, applied, position, number, Hidden(gap, position))


def _hidden_id(evidence: Evidence, row: int) -> Hidden | None:
    """What hides the operation id in the arguments of a call."""
    source = evidence.arguments(row)
    if isinstance(source, Hidden):
        return source
    if not isinstance(source.value, dict):
        return source.lost
    values = [source.value[name] for name in OPERATION_ARGUMENTS if name in source.value]
    return source.hides(*values) or source.lost
