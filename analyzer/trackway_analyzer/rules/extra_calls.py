"""What does a call cost that no step of a pattern takes, and which others are about the same thing?

1. A call that only reads, and one that took no effect, costs nothing; with `forbid` only an attempt
   that was made again does.
2. With `allow` a change costs something where another call of the tool acted on the same entity, or
   with the same arguments where nothing names one.
3. A change of which nobody knows whether it took effect may cost something, unless another attempt
   of the same operation did.
"""

from __future__ import annotations

from trackway_analyzer.rules.alignment import EXTRA_FREE, EXTRA_UNKNOWN, EXTRA_VIOLATES
from trackway_analyzer.rules.entities import subjects, things
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.pattern import StepSpec
from trackway_analyzer.rules.terms import Hidden
from trackway_analyzer.rules.tools import MUTATE, NOTIFY
from trackway_analyzer.rules.tried_again import same_arguments, tried_again
from trackway_analyzer.rules.values import frozen


class ExtraCalls:
    """The calls of one run beside a pattern."""

    def __init__(
        self, specs: tuple[StepSpec, ...], extra: str, evidence: Evidence, run: int
    ) -> None:
        self.specs = specs
        self.extra = extra
        self.evidence = evidence
        self.run = run
        self.first = int(evidence.batch.offsets[run])
        self.calls = evidence.calls(run)

    def extra_cost(self, row: int) -> int:
        """Cost of a call that no spec takes."""
        evidence, policy = self.evidence, self.extra
        if policy == "forbid":
            return self._cost_of_any(row)
        if evidence.kind[row] not in (MUTATE, NOTIFY) or evidence.ok[row] is False:
            return EXTRA_FREE
        if policy == "allow" and not self.twins(row):
            return EXTRA_FREE if self._may_be_twin(row) is None else EXTRA_UNKNOWN
        if evidence.ok[row] is None:
            return EXTRA_FREE if self._resolved(row) else EXTRA_UNKNOWN
        return EXTRA_VIOLATES

    def _cost_of_any(self, row: int) -> int:
        """Cost of a call where only a failed attempt that was made again may be an extra."""
        ok = self.evidence.ok[row]
        again = False if ok else tried_again(self.evidence, self.calls, row)
        if again is False:
            return EXTRA_VIOLATES
        return EXTRA_FREE if again and ok is False else EXTRA_UNKNOWN

    def _resolved(self, row: int) -> bool:
        """Whether another attempt of the same operation is known to have taken effect."""
        evidence, operation = self.evidence, self.evidence.operation(row)
        return operation is not None and any(
            evidence.ok[other] and evidence.operation(other) == operation
            for other in self.calls
            if other != row and evidence.tool[other] == evidence.tool[row]
        )

    def twins(self, row: int) -> list[int]:
        """Other calls of the same tool that acted on the same entity."""
        return [other for other in self._others(row) if self.same_entity(row, other) is True]

    def _others(self, row: int) -> list[int]:
        """Other mutations of the same tool that may have taken effect."""
        evidence = self.evidence
        return [
            other
            for other in self.calls
            if other != row
            and evidence.kind[row] == MUTATE
            and evidence.tool[other] == evidence.tool[row]
            and evidence.ok[other] is not False
        ]

    def _may_be_twin(self, row: int) -> Hidden | None:
        """What hides whether another call acted on the same entity; None: nothing does."""
        same = (self.same_entity(row, other) for other in self._others(row))
        return next((truth for truth in same if isinstance(truth, Hidden)), None)

    def same_entity(self, row: int, other: int) -> bool | Hidden:
        """Whether two calls of one tool acted on the same thing, or on one in common."""
        argument, evidence = self.entity_argument(row), self.evidence
        if argument is None:
            return same_arguments(evidence.arguments(row), evidence.arguments(other))
        named = [subjects(evidence, call, argument) for call in (row, other)]
        for values in named:
            if isinstance(values, Hidden):
                return values
        first, second = (set(map(frozen, things(v))) for v in named if isinstance(v, list))
        return bool(first & second)

    def entity_argument(self, row: int) -> str | None:
        """The argument in which a call names its entity."""
        tool = self.evidence.tool[row]
        said = (spec.entity_arg for spec in self.specs if spec.tool == tool)
        return next((a for a in said if a), self.evidence.spec(tool).entity.argument)
