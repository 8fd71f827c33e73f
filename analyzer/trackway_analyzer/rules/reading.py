"""One run, read against one pattern: which call fits which step, what does an extra cost?

The meaning of a sequence stands in `sequence`; this module answers its single questions for one
run.
"""

from __future__ import annotations

from functools import cached_property

from trackway_analyzer.rules.alignment import (
    Placement,
    Problem,
    place,
)
from trackway_analyzer.rules.entities import Ground, ground, looked_up
from trackway_analyzer.rules.expression import Expression
from trackway_analyzer.rules.extra_calls import ExtraCalls
from trackway_analyzer.rules.finding import Result
from trackway_analyzer.rules.gaps import NO_TRACE
from trackway_analyzer.rules.pattern import StepSpec
from trackway_analyzer.rules.rule import insufficient, violated
from trackway_analyzer.rules.scope import StepScope
from trackway_analyzer.rules.terms import Hidden, NoSource, Source, Truth
from trackway_analyzer.rules.tools import LOOKUP, MUTATE
from trackway_analyzer.rules.values import ABSENT


class Reading(ExtraCalls):
    """One run, read against one pattern."""

    @property
    def no_trace(self) -> bool:
        """Whether nothing at all was recorded."""
        return any(gap.name == NO_TRACE for gap in self.evidence.gaps.get(self.run, ()))

    @cached_property
    def placement(self) -> Placement:
        """The best way to lay the pattern over the run."""
        return place(self.problem)

    @cached_property
    def groups(self) -> list[list[int]]:
        """Calls in order, those of one model turn together."""
        found: dict[int, list[int]] = {}
        for row in self.calls:
            found.setdefault(self.evidence.group[row], []).append(row)
        return list(found.values())

    @cached_property
    def problem(self) -> Problem:
        """What the search needs to know."""
        fits = {
            (index, row): self.fit(spec, row)
            for index, spec in enumerate(self.specs)
            for row in self.calls
            if self.means(spec, row)
        }
        return Problem(
            optional=[spec.optional for spec in self.specs],
            reads=[self.kind_of(spec) == LOOKUP for spec in self.specs],
            groups=self.groups,
            fits=fits,
            extras={row: cost for row in self.calls if (cost := self.extra_cost(row))},
            gap_before=self._gap_before(),
            hidden=self._hidden_steps(),
        )

    @cached_property
    def tools(self) -> frozenset[str] | None:
        """Tools of which a hidden call could fulfil a spec; None: of any."""
        if any(spec.tool is None for spec in self.specs):
            return None
        return frozenset(spec.tool for spec in self.specs if spec.tool is not None)

    def _gap_before(self) -> list[bool]:
        if not self.evidence.absence(self.run, self.tools):
            return [False] * (len(self.groups) + 1)
        edges = [-1.0]
        for group in self.groups:
            edges.append(self.evidence.position(group[-1]))
        starts = [self.evidence.position(group[0]) for group in self.groups]
        ends = [*starts, float("inf")]
        return [
            self.evidence.hides_step(self.run, after, before, self.tools) is not None
            for after, before in zip(edges, ends, strict=True)
        ]

    def _hidden_steps(self) -> int:
        gaps = self.evidence.absence(self.run, self.tools)
        counted = sum(gap.count for gap in gaps if gap.name == "missing_steps")
        unbounded = any(gap.name != "missing_steps" for gap in gaps)
        return len(self.specs) if unbounded else min(counted, len(self.specs))

    def means(self, spec: StepSpec, row: int) -> bool:
        """Whether a spec speaks of a call at all."""
        if spec.tool is not None:
            return spec.tool == self.evidence.tool[row]
        return spec.kind == self.evidence.kind[row]

    def kind_of(self, spec: StepSpec) -> str | None:
        """Kind of a spec: its own word, else the settled kind of its tool's first call."""
        if spec.kind is not None:
            return spec.kind
        return next((self.evidence.kind[r] for r in self.calls if self.means(spec, r)), None)

    def fit(self, spec: StepSpec, row: int) -> bool | None:
        """Whether a call fulfils a spec; None: a gap hides it."""
        truths = [self.effect(spec, row), *self.conditions(spec, row)]
        if any(truth is False or isinstance(truth, NoSource) for truth in truths):
            return False
        return None if any(isinstance(truth, Hidden) for truth in truths) else True

    def effect(self, spec: StepSpec, row: int) -> bool | Hidden:
        """Whether the call took effect."""
        evidence = self.evidence
        settled = spec.success_expression == evidence.spec_of(row).success
        if spec.success_expression is not None and not settled and evidence.ok[row] is not False:
            truth = spec.success_expression.truth(self.scope(spec, row))
            return truth if isinstance(truth, (bool, Hidden)) else False
        succeeded = evidence.succeeded(row)
        return evidence.why_unknown(row) if succeeded is None else succeeded

    def conditions(self, spec: StepSpec, row: int) -> list[Truth]:
        """Ground, guards and `where` of a call."""
        truths: list[Truth] = []
        if self.kind_of(spec) == MUTATE:
            truths.append(self.ground(spec, row).holds)
            truths.extend(truth for _, _, truth in self.forbidding(row, self.entity_of(spec, row)))
            if spec.guard_expression is not None:
                truths.append(spec.guard_expression.truth(self.scope(spec, row)))
        if spec.where_expression is not None:
            truths.append(spec.where_expression.truth(self.scope(spec, row)))
        return truths

    def ground(self, spec: StepSpec, row: int) -> Ground:
        """The lookup that a mutation rests on."""
        argument = self.entity_of(spec, row)
        if argument is None:
            return Ground(looked_up(self.evidence, row), ABSENT)
        declared = self.evidence.spec_of(row).entity.type
        return ground(self.evidence, row, argument, spec.entity_type or declared)

    def entity_of(self, spec: StepSpec, row: int) -> str | None:
        """The argument in which a call names the entity that a spec asks for."""
        return spec.entity_arg or self.evidence.spec_of(row).entity.argument

    def forbidding(self, row: int, entity: str | None) -> list[tuple[StepSpec, int | None, Truth]]:
        """Guards that stand on other steps: (spec, row of its nearest earlier result, truth).

        The nearest is about the same thing as the call, which names it in the argument `entity`.
        """
        return [
            (spec, *self._guarded_by(spec, spec.guard_expression, row, entity))
            for spec in self.specs
            if spec.guard_expression is not None
            and spec.tool is not None
            and self.kind_of(spec) != MUTATE
        ]

    def _guarded_by(
        self, spec: StepSpec, guard: Expression, row: int, entity: str | None
    ) -> tuple[int | None, Truth]:
        assert spec.tool is not None
        source = StepScope(self.evidence, row, entity).earlier(spec.tool)
        if isinstance(source, Source) and source.row is not None:
            return source.row, guard.truth(self.scope(spec, source.row))
        if isinstance(source, NoSource) and source.of_another is not None:
            return source.of_another, source
        return None, source if isinstance(source, Hidden) else True

    def scope(self, spec: StepSpec, row: int) -> StepScope:
        """What the expressions of a spec see."""
        return StepScope(self.evidence, row, spec.entity_arg)

    def first_violating(self) -> int:
        """The extra that comes first; of two effects on one entity, the second."""
        row = min(self.placement.violating)
        return max(row, *self.twins(row)) if self.twins(row) else row

    def incomplete(self) -> Result:
        """The result of a run in which a spec found no step."""
        if self._order_unknown() and self._fits_in_any_order():
            return insufficient(self.run, "clock_skew", what="order")
        index = self.placement.reached
        row = self.culprit(self.specs[index])
        position = None if row is None else self.evidence.position(row)
        return violated(self.run, position, what="spec", spec=index)

    def culprit(self, spec: StepSpec) -> int | None:
        """The call that should have fulfilled a spec: one after its place before one too early."""
        meant = [row for row in self.calls if self.means(spec, row)]
        free = [r for r in meant if r not in {t for _, t in self.placement.taken}]
        later = [row for row in free if self.after(row)]
        took_effect = [row for row in later if self.effect(spec, row) is not False]
        for rows in (took_effect, later, free):
            if rows:
                return rows[0]
        return None

    def after(self, row: int) -> bool:
        """Whether a call stands after the last taken one, in another turn."""
        last = max((taken for _, taken in self.placement.taken), default=None)
        return last is None or (
            row > last and self.evidence.group[row] != self.evidence.group[last]
        )

    def _order_unknown(self) -> bool:
        pairs = zip(self.calls, self.calls[1:], strict=False)
        return any(isinstance(self.evidence.earlier(a, b), Hidden) for a, b in pairs)

    def _fits_in_any_order(self) -> bool:
        taken: dict[int, int] = {}
        needed = [i for i, spec in enumerate(self.specs) if not spec.optional]
        return all(self._assign(index, taken, set()) for index in needed)

    def _assign(self, index: int, taken: dict[int, int], seen: set[int]) -> bool:
        for row in self.calls:
            if row in seen or self.problem.fits.get((index, row), False) is False:
                continue
            seen.add(row)
            if row not in taken or self._assign(taken[row], taken, seen):
                taken[row] = index
                return True
        return False

    def unknown(self) -> Result | None:
        """The result of a run that follows the pattern as far as anybody can see."""
        placement, evidence = self.placement, self.evidence
        if placement.unknown:
            row = placement.unknown[0]
            return insufficient(
                self.run,
                self.hidden(row).gap,
                evidence.position(row),
                what="value",
                row=row - self.first,
            )
        unseen = evidence.hides_step(self.run, tools=self.tools)
        if placement.hidden and unseen is not None:
            return insufficient(self.run, unseen.gap, what="hidden", spec=placement.hidden[0])
        if self._order_unknown() and len(placement.taken) > 1:
            return insufficient(self.run, "clock_skew", what="order")
        acts = self.extra == "allow" and not any(
            self.kind_of(spec) == MUTATE for spec in self.specs
        )
        absence = evidence.hides_step(self.run)
        if absence is not None and not acts:
            return insufficient(self.run, absence.gap, what="extra_hidden")
        return None

    def hidden(self, row: int) -> Hidden:
        """What hides whether a call fits."""
        for index, taken in self.placement.taken:
            if taken == row:
                spec = self.specs[index]
                truths = [self.effect(spec, row), *self.conditions(spec, row)]
                return next(t for t in truths if isinstance(t, Hidden))
        twin = self._may_be_twin(row) if self.extra == "allow" and self.evidence.ok[row] else None
        return twin or self.evidence.why_unknown(row)
