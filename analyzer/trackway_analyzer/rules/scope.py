"""What an expression can see from one step of a run.

`order.total` is read from the nearest earlier successful result of the tool `order`, or where no
tool has that name, of a tool that returns entities of the type `order`. "Nearest" passes over
results of another entity than the step's own: a call whose argument of the same name differs is
never read, one that hides which entity it names may be another's or its own, and one that
established the step's entity goes before one that did not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from trackway.schema import GapName
from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.entities import established, spread, subjects
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP
from trackway_analyzer.rules.terms import Hidden, NoSource, Source
from trackway_analyzer.rules.tools import MUTATE, NOTIFY
from trackway_analyzer.rules.values import frozen, reader

_OF_VALUES: Final = frozenset(
    {GapName.MISSING_VALUE, GapName.CONTENT_OFF, GapName.TRUNCATED_VALUE, GapName.UNFINISHED_SPAN}
)
"""Gaps of a call whose arguments may be among what is lost."""


@dataclass(frozen=True, slots=True)
class StepScope:
    """The scope of `guard` and `where`: the step, and results of earlier steps."""

    evidence: Evidence
    row: int
    entity: str | None = None
    """The argument that names the step's entity; None: what is declared of its tool."""

    def arguments(self) -> Source | Hidden:
        """The step's own arguments."""
        return self.evidence.arguments(self.row)

    def result(self) -> Source | Hidden:
        """The step's own result."""
        return self.evidence.result(self.row)

    def earlier(self, name: str) -> Source | Hidden | NoSource | None:
        """Nearest earlier result of a tool or entity type; None: there is no such name."""
        calls = self._calls(name)
        if calls or name in self.evidence.tools:
            return self._nearest(name, calls)
        if name in self.evidence.entity_types:
            return self._nearest(name, [c for c in self._calls(None) if self._returns(c, name)])
        return None if self._has_argument(name) else self._unseen()

    def _has_argument(self, name: str) -> bool:
        own = self.arguments()
        return isinstance(own, Source) and isinstance(own.value, dict) and name in own.value

    def _unseen(self) -> Hidden | None:
        """What may hide an earlier call."""
        run, position = self.evidence.run[self.row], self.evidence.position(self.row)
        return self.evidence.hides_step(run, before=position)

    def _calls(self, tool: str | None) -> list[int]:
        calls = self.evidence.calls(self.evidence.run[self.row])
        return [
            call
            for call in calls
            if call != self.row and (tool is None or self.evidence.tool[call] == tool)
        ]

    def _returns(self, row: int, kind_of_thing: str) -> bool:
        declared = self.evidence.spec_of(row).entity.type
        return declared == kind_of_thing and self.evidence.kind[row] not in (MUTATE, NOTIFY)

    def _nearest(self, name: str, calls: list[int]) -> Source | Hidden | NoSource:
        evidence = self.evidence
        hidden: Hidden | None = None
        unsure: Hidden | None = None
        of_another: int | None = None
        about: list[int] = []
        other: list[int] = []
        for call in reversed(calls):
            in_order, answered = evidence.earlier(call, self.row), evidence.answered(call)
            another = self._about_another(call)
            if another is True and in_order is True and answered is True:
                of_another = call if of_another is None else of_another
            if in_order is False or answered is False or another is True:
                continue
            if isinstance(another, Hidden):
                unsure = unsure or (None if about else another)
                continue
            if isinstance(in_order, Hidden) or answered is None:
                hidden = hidden or (
                    in_order
                    if isinstance(in_order, Hidden)
                    else Hidden(NOT_RECORDED_GAP, evidence.position(call))
                )
                continue
            (about if self._about_same(call) else other).append(call)
        hidden = hidden or unsure
        if hidden is not None:
            return hidden
        if about or other:
            return _from(evidence, (about or other)[0])
        return self._unseen() or NoSource(name, of_another)

    def _argument(self) -> str | None:
        return self.entity or self.evidence.spec_of(self.row).entity.argument

    def _about_another(self, call: int) -> bool | Hidden:
        """Whether the call names another entity where this step names its own."""
        argument = self._argument()
        if argument is None:
            return False
        own, its = subjects(self.evidence, self.row, argument), self._named(call, argument)
        if not its or not own:
            return False
        if isinstance(own, Hidden):
            return own
        if isinstance(its, Hidden):
            return its
        return not set(map(frozen, spread(own))) & set(map(frozen, spread(its)))

    def _named(self, call: int, argument: str) -> list[JsonValue] | Hidden:
        source = self.evidence.arguments(call)
        if isinstance(source, Hidden):
            return source if self._is_lost(call) else []
        values = reader(argument)(source.value)
        return source.hides(*values) or values

    def _is_lost(self, call: int) -> bool:
        """Whether arguments were there; a plain record without any, and no gap, names nothing."""
        if self.evidence.arguments_text(call) is not None:
            return True
        position = self.evidence.position(call)
        gaps = self.evidence.gaps.get(self.evidence.run[call], ())
        return any(g.name in _OF_VALUES and g.position in (None, position) for g in gaps)

    def _about_same(self, call: int) -> bool:
        argument = self._argument()
        if argument is None:
            return False
        own = subjects(self.evidence, self.row, argument)
        if isinstance(own, Hidden):
            return False
        ids = established(self.evidence, call)
        return any(ids.has(value) for value in own)


def _from(evidence: Evidence, row: int) -> Source | Hidden:
    result = evidence.result(row)
    return result if isinstance(result, Hidden) else replace(result, row=row)
