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
from trackway_analyzer.rules.terms import Hidden, Source
from trackway_analyzer.rules.tools import MUTATE, NOTIFY
from trackway_analyzer.rules.values import frozen, same


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
            return EXTRA_FREE if self._repeated(row) else EXTRA_VIOLATES
        if evidence.kind[row] not in (MUTATE, NOTIFY) or evidence.ok[row] is False:
            return EXTRA_FREE
        if policy == "allow" and not self.twins(row):
            return EXTRA_FREE if self._may_be_twin(row) is None else EXTRA_UNKNOWN
        if evidence.ok[row] is None:
            return EXTRA_FREE if self._resolved(row) else EXTRA_UNKNOWN
        return EXTRA_VIOLATES

    def _resolved(self, row: int) -> bool:
        """Whether another attempt of the same operation is known to have taken effect."""
        evidence, operation = self.evidence, self.evidence.operation(row)
        return operation is not None and any(
            evidence.ok[other] and evidence.operation(other) == operation
            for other in self.calls
            if other != row and evidence.tool[other] == evidence.tool[row]
        )

    def _repeated(self, row: int) -> bool:
        """Whether a failed attempt was made again."""
        evidence = self.evidence
        return evidence.ok[row] is False and any(
            later > row and evidence.tool[later] == evidence.tool[row] and self._again(row, later)
            for later in self.calls
        )

    def _again(self, row: int, later: int) -> bool:
        first, second = self.evidence.operation(row), self.evidence.operation(later)
        if first is not None or second is not None:
            return first == second
        return self.evidence.arguments(row) == self.evidence.arguments(later)

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
            return _same_arguments(evidence.arguments(row), evidence.arguments(other))
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


def _same_arguments(one: Source | Hidden, other: Source | Hidden) -> bool | Hidden:
    """Whether two calls have the same arguments; what is hidden of them may be the same."""
    if isinstance(one, Hidden):
        return one
    if isinstance(other, Hidden):
        return other
    if same(one.value, other.value):
        return one.cut or one.hides(one.value) or True
    left, right = one.value, other.value
    if not isinstance(left, dict) or not isinstance(right, dict):
        return False
    differing = (
        (left[name], right[name])
        for name in left
        if name in right
        if not same(left[name], right[name])
    )
    if any(not one.hides(mine) and not other.hides(its) for mine, its in differing):
        return False
    lost = (left.keys() ^ right.keys()) and not (one.lost or other.lost)
    return False if lost else one.cut or other.cut or one.redacted or other.redacted or False
