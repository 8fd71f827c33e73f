"""Did the run do these steps, in this order, on the right things, and nothing else that matters?

1. Each spec of the pattern that is not optional takes one executed call of its tool, in order;
   the search is complete (`alignment`). Calls of one model turn are unordered: only reads may
   share one.
2. A taken call took effect (`tools`, rule 3). A mutation that did not happen fulfils nothing.
3. A taken mutation has an earlier successful lookup of the entity that its `entity_arg` names;
   without `entity_arg` any earlier successful lookup will do.
4. `where` holds of the taken call; the mutation's own `guard` holds when it runs; the `guard` of
   any other step held of its nearest earlier result.
5. A call that no spec takes is an extra. `extra="reads"`: an extra mutation or notification that
   took effect violates. `"forbid"`: every extra does, but a failed attempt that was repeated.
   `"allow"`: only a second effect of one tool on one entity does.
6. A call with no known kind is allowed as an extra, with a warning.
7. An effect is recorded once an operation: an attempt that failed, or that an effect event calls
   not applied, is none. An attempt that may have taken effect makes the answer insufficient.
8. No step at all and no final text is no trace, and no trace is insufficient.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine.looks import Looks, Value
from trackway_analyzer.model import Trajectory
from trackway_analyzer.records import Records
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Result, Severity
from trackway_analyzer.rules.looked_at import SHAPE, compared, entities_returned, value_at
from trackway_analyzer.rules.necessary import (
    Fact,
    Moment,
    Occurs,
    Order,
    chosen,
    counted,
    no_others,
)
from trackway_analyzer.rules.outline import deciding_values, plainly_following
from trackway_analyzer.rules.pattern import (
    EXTRAS,
    Extra,
    Spec,
    StepSpec,
    declared,
    one_of,
    steps_of,
)
from trackway_analyzer.rules.reading import Reading
from trackway_analyzer.rules.rule import (
    Rule,
    RuleViolationError,
    RunRule,
    Said,
    evidence_of,
    insufficient,
    violated,
)
from trackway_analyzer.rules.sentences import step
from trackway_analyzer.rules.telling import Telling
from trackway_analyzer.rules.tools import MUTATE, NOTIFY, Tools, merged_tools


class StepSequenceError(RuleViolationError):
    """The run does not follow the pattern; `finding` says where and how."""


class UnknownKindWarning(UserWarning):
    """An extra call was allowed although nobody says what its tool does."""


def assert_step_sequence(
    trajectory: Trajectory | Records,
    pattern: Iterable[Spec],
    *,
    extra: Extra = "reads",
    tools: Tools | None = None,
) -> None:
    """Assert that a run followed a pattern of steps.

    `pattern` lists steps as dicts, `StepSpec`s or tool names. Raises StepSequenceError where the
    record contradicts it, InsufficientEvidenceError where a gap hides the answer, ValueError where
    the pattern is wrong.
    """
    rule = Sequence(steps_of(pattern), extra)
    evidence = evidence_of(trajectory, merged_tools(rule.declares(), tools or {}))
    rule.assert_holds_on(evidence)
    for row in rule.unknown_kinds(evidence, 0):
        warnings.warn(unknown_kind(evidence, row), UnknownKindWarning, stacklevel=2)


@dataclass(frozen=True)
class Sequence(RunRule):
    """The run does the steps of a pattern in order, and no extra step that matters.

    A failed, ungrounded or forbidden mutation fulfils no step.
    """

    steps: tuple[Spec, ...]
    extra: Extra = "reads"

    declare = "chain of Precedence and Response"
    violation = StepSequenceError
    short = ("steps",)

    def __post_init__(self) -> None:
        one_of(self.extra, EXTRAS, "extra")
        object.__setattr__(self, "steps", steps_of(self.steps))
        if not self.specs:
            raise ValueError("a sequence needs at least one step")
        declared(self.specs)

    @cached_property
    def specs(self) -> tuple[StepSpec, ...]:
        """The steps of the pattern."""
        return steps_of(self.steps)

    def declares(self) -> Tools:
        """What the pattern declares."""
        return declared(self.specs)

    def speaks_of(self) -> frozenset[str]:
        """Tools of the steps."""
        return frozenset(spec.tool for spec in self.specs if spec.tool is not None)

    def reads_names(self) -> frozenset[str]:
        """What guards and `where` read."""
        found = [e for s in self.specs for e in (s.guard_expression, s.where_expression) if e]
        return frozenset(name for expression in found for name in expression.names)

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """The steps that are not optional, their order, and no others where others matter."""
        named = [s for s in self.specs if s.tool is not None]
        required = [spec for spec in self.specs if not spec.optional]
        yield from counted(_occurs(s, tools) for s in required if s.tool is not None)
        wanted = [_occurs(spec, tools) for spec in named]
        plain = len(named) == len(self.specs) and all(call.took_effect for call in wanted)
        if plain and self.extra != "allow":
            yield from no_others(wanted, tools, only_changes=self.extra == "reads")
        earlier: tuple[StepSpec, Moment] | None = None
        for number, spec in enumerate(required):
            if spec.tool is None:
                continue
            moment, ends = chosen(self, number, spec.tool, _occurs(spec, tools).took_effect)
            yield from ends
            if earlier is not None:
                apart = any(_changes(s, tools) for s in (earlier[0], spec))
                yield Order(earlier[1], moment, strictly=apart)
            earlier = spec, moment

    def companions(self) -> tuple[Rule, ...]:
        """A warning for extras of unknown kind, where extra reads are allowed."""
        return (UnknownKind(self),) if self.extra == "reads" else ()

    def looks(self, tools: Tools) -> Looks | None:
        """The shape, and which entities mutations name and earlier results hold."""
        if any(spec.guard or spec.where for spec in self.specs):
            return None
        values: list[Value | None] = []
        for spec in self.specs:
            known = spec.tool is not None and spec.tool in tools
            declared_success = tools[spec.tool].success if spec.tool and known else None
            if spec.success_expression not in (None, declared_success):
                return None
            if spec.entity_arg is not None:
                values.append(value_at(spec.tool, "arguments", spec.entity_arg))
        values += [
            value_at(name, "arguments", declared_tool.entity.argument)
            for name, declared_tool in tools.items()
            if declared_tool.entity.argument is not None
        ]
        return compared([*values, *entities_returned(tools)]) if values else SHAPE

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run that does not follow the pattern."""
        evidence = self.evidence(batch)
        plain = plainly_following(self.specs, self.extra, evidence)
        runs = (run for run in range(len(evidence)) if run not in plain)
        found = (self._judged_once(evidence, run) for run in runs)
        return [result for result in found if result is not None]

    def _judged_once(self, evidence: Evidence, run: int) -> Result | None:
        """Judge a run; runs of one sequence whose values fit alike are judged once."""
        deciding = deciding_values(self.specs, self.extra, evidence, run)
        if deciding is None:
            return self.judge(evidence, run)
        fits = deciding.of(self._reading(evidence, run))
        key = ("sequence", self.specs, self.extra, deciding.shape, fits)
        like = evidence.memo(key, lambda: self.judge(evidence, run))
        if like is None or like.run == run:
            return like
        return self._moved(evidence, like, run)

    @staticmethod
    def _moved(evidence: Evidence, like: Result, run: int) -> Result:
        """The result of another run of the same sequence, with the places of this one."""
        theirs, ours = evidence.calls(like.run), evidence.calls(run)

        def moved(place: int) -> int:
            index = theirs.index(evidence.first_row(like.run) + place)
            return evidence.position(ours[index])

        detail = dict(like.detail)
        if "row" in detail:
            detail["row"] = moved(detail["row"])
        position = None if like.position is None else moved(like.position)
        return replace(like, run=run, position=position, detail=detail)

    def judge(self, evidence: Evidence, run: int) -> Result | None:
        """Judge one run; None: it follows the pattern."""
        reading = self._reading(evidence, run)
        placement = reading.placement
        if reading.no_trace:
            return insufficient(run, "no_trace", what="no_trace")
        if not placement.complete(reading.problem):
            return reading.incomplete()
        if placement.violating:
            row = reading.first_violating()
            return violated(run, evidence.position(row), what="extra", row=row - reading.first)
        return reading.unknown()

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        return Telling(self._reading(evidence, result.run), result).say()

    def unknown_kinds(self, evidence: Evidence, run: int) -> list[int]:
        """Rows of extra calls that were allowed although their kind is unknown."""
        if self.extra != "reads":
            return []
        listed = {spec.tool for spec in self.specs}
        calls = evidence.calls(run)
        return [r for r in calls if evidence.kind[r] is None and evidence.tool[r] not in listed]

    def _reading(self, evidence: Evidence, run: int) -> Reading:
        return Reading(self.specs, self.extra, evidence, run)


def _occurs(spec: StepSpec, tools: Tools) -> Occurs:
    """What a step demands: a success, where the step does not say otherwise what one is."""
    tool = spec.tool or ""
    declared_success = tools[tool].success if tool in tools else None
    return Occurs(tool, spec.success_expression in (None, declared_success))


def _changes(spec: StepSpec, tools: Tools) -> bool:
    """Whether a step is declared to change or to tell something: it shares no turn."""
    tool = spec.tool or ""
    declared_kind = tools[tool].kind if tool in tools else None
    return (spec.kind or declared_kind) in (MUTATE, NOTIFY)


@dataclass(frozen=True)
class UnknownKind(Rule):
    """Every call that a sequence allowed as an extra read has a known kind."""

    sequence: Sequence
    severity: Severity = field(default=Severity.WARNING, kw_only=True)

    def looks(self, tools: Tools) -> Looks | None:
        """The shape alone."""
        return SHAPE

    def means(self) -> frozenset[str]:
        """What the sequence does."""
        return self.sequence.means()

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run with an extra call of unknown kind."""
        evidence = self.evidence(batch)
        rows = evidence.call_rows
        unknown = rows[evidence.codes("kind").codes[rows] < 0].tolist()
        found = []
        for run in dict.fromkeys(evidence.run[row] for row in unknown):
            extras = self.sequence.unknown_kinds(evidence, run)
            found += [violated(run, evidence.position(extras[0]))] if extras else []
        return found

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        assert result.position is not None
        row = int(evidence.batch.offsets[result.run]) + result.position
        return Said(sentence=unknown_kind(evidence, row), got=evidence.tool[row])


def unknown_kind(evidence: Evidence, row: int) -> str:
    """Say that an extra call was allowed although nobody says what it does."""
    return (
        f"{step(evidence, row)} is no step of the pattern and its kind is unknown: allowed as if"
        " it read, declare its kind"
    )
