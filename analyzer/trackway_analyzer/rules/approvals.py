"""Was somebody asked first?

1. Each attempted call of `tool` has an earlier successful call of `by`. Two calls of one model turn
   are unordered: an approval of the same turn is none.
2. With `argument`, the approval is of the same thing: its arguments or its result hold the value of
   the call's argument, at that name or anywhere; where only a text holds it as a word ("Deploy
   api?"), that is open. Without, one that names another thing under the argument that is declared
   to name the tool's entity is of another thing; one that lists what it grants and does not list
   the call's, or has another value under the name of another argument, leaves it open.
3. `granted` must be true of the approval: an expression over its own arguments and result. Without,
   the result must say yes (`granting`), unless the policy declares the `success` of `by`; one that
   says neither yes nor no leaves it open. A later approval of the same thing that did not grant it
   takes the earlier ones back; without `argument`, one that was asked for with the same arguments.
4. With `once`, each approval is good for one call; the earliest call takes the earliest approval
   that fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.entities import subjects, things
from trackway_analyzer.rules.evidence import Evidence, OwnValues
from trackway_analyzer.rules.expression import Expression, compiled
from trackway_analyzer.rules.finding import Layer, Result
from trackway_analyzer.rules.granting import decisive, granted_things, grants
from trackway_analyzer.rules.necessary import Fact, Follows, only
from trackway_analyzer.rules.rule import (
    Said,
    ToolRule,
    another_call,
    insufficient,
    may_hide_a_call,
    violated,
)
from trackway_analyzer.rules.sentences import at_step, because, cannot_judge, step
from trackway_analyzer.rules.terms import ABOUT_GAP, NEITHER_GAP, Hidden, Source
from trackway_analyzer.rules.told import Text
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.rules.values import Absent, frozen, is_number, members, reader, same, shown

_OF_ITS_OWN: Final = frozenset(
    """
    id type kind status state ok success name title role user by reason note message comment text
    question answer description date time timestamp created_at updated_at request_id trace_id
    """.split()  # noqa: SIM905 - a word list reads better as one
)
"""Names of what every call has a value of its own for."""


@dataclass(frozen=True)
class Approved(ToolRule):
    """Each attempt of `tool` has an earlier approval by `by`."""

    by: str
    argument: str | None = None
    granted: str | None = None
    once: bool = False

    layer = Layer.SAFETY
    short = ("tool", "by")

    def __post_init__(self) -> None:
        if self.argument is not None:
            reader(self.argument)
        if self.granted is not None:
            compiled(self.granted)

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return f"{self.key}: {self.tool} by {self.by}"

    def speaks_of(self) -> frozenset[str]:
        """The tool and the one that approves it."""
        return frozenset({self.tool, self.by})

    def reads_names(self) -> frozenset[str]:
        """What `granted` reads."""
        return self._granted.names if self._granted is not None else frozenset()

    @cached_property
    def _granted(self) -> Expression | None:
        return None if self.granted is None else compiled(self.granted, permission=True)

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """The tool follows the one that approves it."""
        yield Follows(only(self.tool), self.by)

    def judge(self, evidence: Evidence, run: int, rows: list[int]) -> Result | None:
        """Judge whether the calls of one run were approved."""
        approvals = evidence.rows(self.by).get(run, [])
        spent: set[int] = set()
        unknown: Result | None = None
        for row in rows:
            truths = {a: self._approves(evidence, a, row) for a in approvals if a not in spent}
            for approval in [a for a, truth in truths.items() if truth is True]:
                truths[approval] = self._stands(evidence, approval, row, approvals)
            approving = next((a for a, truth in truths.items() if truth is True), None)
            position = evidence.position(row)
            if approving is not None:
                spent |= {approving} if self.once else set()
                continue
            hidden = next((t for t in truths.values() if isinstance(t, Hidden)), None)
            hidden = hidden or evidence.hides_step(run, before=position, tools=(self.by,))
            if hidden is None:
                return violated(run, position)
            unknown = unknown or insufficient(run, hidden.gap, position, at=hidden.position)
        return unknown or may_hide_a_call(evidence, run, self.tool)

    def _approves(self, evidence: Evidence, approval: int, row: int) -> bool | Hidden:
        in_order, succeeded = evidence.earlier(approval, row), evidence.succeeded(approval)
        if in_order is False or succeeded is False:
            return False
        about, granted = (
            self._is_about(evidence, approval, row),
            self._is_granted(evidence, approval),
        )
        if about is False or granted is False:
            return False
        unknown = next((t for t in (in_order, about, granted) if isinstance(t, Hidden)), None)
        if unknown is None and succeeded is None:
            unknown = evidence.why_unknown(approval)
        return unknown or True

    def _stands(
        self, evidence: Evidence, approval: int, row: int, approvals: list[int]
    ) -> bool | Hidden:
        """Whether nothing took an approval back before the call."""
        later = [a for a in approvals if a > approval]
        taken_back = [self._takes_back(evidence, other, approval, row) for other in later]
        if True in taken_back:
            return False
        unknown = next((t for t in taken_back if isinstance(t, Hidden)), None)
        if unknown is None:
            between = evidence.position(approval), evidence.position(row)
            unknown = evidence.hides_step(evidence.run[row], *between, tools=(self.by,))
        return unknown or True

    def _takes_back(self, evidence: Evidence, other: int, approval: int, row: int) -> bool | Hidden:
        """Whether a later answer is a refusal of the same thing, before the call."""
        if evidence.group[other] == evidence.group[row]:
            return False
        in_order = evidence.earlier(approval, other), evidence.earlier(other, row)
        succeeded, refused = evidence.succeeded(other), self._is_refused(evidence, other)
        about = (
            self._is_about(evidence, other, row)
            if self.argument
            else _same_question(evidence, approval, other)
        )
        if False in (in_order[1], succeeded, refused, about):
            return False
        unknown = next((t for t in (*in_order, refused, about) if isinstance(t, Hidden)), None)
        if unknown is None and succeeded is None:
            unknown = evidence.why_unknown(other)
        if unknown is None and in_order[0] is False:  # asked in one turn, with two answers
            unknown = Hidden(NEITHER_GAP, evidence.position(other))
        return unknown or True

    def _is_refused(self, evidence: Evidence, approval: int) -> bool | Hidden:
        if self._granted is None:
            granted = _says_yes(evidence, approval)
            return granted if isinstance(granted, Hidden) else not granted
        scope = OwnValues(evidence, approval)
        truth = self._granted.truth(scope)
        if truth is not False:
            return truth if isinstance(truth, Hidden) else False
        return not isinstance(self._granted.because(scope).left.value, Absent)

    def _is_granted(self, evidence: Evidence, approval: int) -> bool | Hidden:
        if self._granted is None:
            return _says_yes(evidence, approval)
        truth = self._granted.truth(OwnValues(evidence, approval))
        return truth if isinstance(truth, (bool, Hidden)) else False

    def _is_about(self, evidence: Evidence, approval: int, row: int) -> bool | Hidden:
        if self.argument is None:
            return _may_be_about(evidence, approval, row)
        wanted = subjects(evidence, row, self.argument)
        if isinstance(wanted, Hidden):
            return wanted
        keys = set(map(frozen, wanted))
        hidden: Hidden | None = None
        for source in (evidence.arguments(approval), evidence.result(approval)):
            if isinstance(source, Hidden):
                hidden = hidden or source
                continue
            found = [value for _, _, value in members(source.value)]
            if any(frozen(value) in keys for value in found):
                return True
            hidden = hidden or source.cut or source.hides(source.value)
            said = [Text(value, "tool") for value in found if isinstance(value, str)]
            if not reader(self.argument)(source.value) and any(
                text.holds(value) for text in said for value in things(wanted)
            ):
                hidden = hidden or Hidden(ABOUT_GAP, evidence.position(approval))
        return hidden or False

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if result.position is None:
            return another_call(self.tool, result)
        if "gap" in result.detail:
            return Said(sentence=cannot_judge(evidence, result, f"approval by {self.by}"))
        row = int(evidence.batch.offsets[result.run]) + result.position
        about = ""
        if self.argument is not None:
            wanted = subjects(evidence, row, self.argument)
            if isinstance(wanted, list) and wanted:
                about = f" of {self.argument} {shown(wanted[0])}"
        return Said(
            sentence=f"{step(evidence, row)} ran without an earlier approval{about} by {self.by}"
            f"{self._instead(evidence, row)}",
            expected=self.by,
        )

    def _instead(self, evidence: Evidence, row: int) -> str:
        for approval in evidence.rows(self.by).get(evidence.run[row], []):
            place = at_step(evidence, approval)
            if evidence.group[approval] == evidence.group[row]:
                return f": {place} is of the same model turn"
            if approval > row:
                return f": {place} came only afterwards"
            if evidence.succeeded(approval) is False:
                return f": {place} did not succeed"
            if self._is_about(evidence, approval, row) is False:
                return f": {place} is about something else"
            refusing = self._refusing(evidence, approval, row)
            if refusing is not None:
                reason = self._why_refused(evidence, refusing)
                return f": {place} was taken back by {at_step(evidence, refusing)}: {reason}"
            if self._is_granted(evidence, approval) is False:
                return f": {place} did not grant it: {self._why_refused(evidence, approval)}"
            return f": {place} was good for one call"
        return ""

    def _why_refused(self, evidence: Evidence, approval: int) -> str:
        if self._granted is not None:
            return because(evidence, self._granted.because(OwnValues(evidence, approval)))
        result = evidence.result(approval)
        value = result.value if isinstance(result, Source) else None
        said = next((m for m in decisive(value) if not m.yes), None)
        return (
            f"its result is {shown(value)}" if said is None else f"{said.name} {shown(said.value)}"
        )

    def _refusing(self, evidence: Evidence, approval: int, row: int) -> int | None:
        """The later answer that takes an approval back."""
        if self._approves(evidence, approval, row) is not True:
            return None
        later = [a for a in evidence.rows(self.by)[evidence.run[row]] if a > approval]
        return next(
            (a for a in later if self._takes_back(evidence, a, approval, row) is True), None
        )


def _says_yes(evidence: Evidence, approval: int) -> bool | Hidden:
    """Whether an approval granted what it was asked for, by its result alone."""
    if evidence.spec_of(approval).success is not None:
        return True
    result = evidence.result(approval)
    if isinstance(result, Hidden):
        return result
    granted = grants(result.value)
    if granted is False:
        return False
    return result.lost or (granted or Hidden(NEITHER_GAP, evidence.position(approval)))


def _may_be_about(evidence: Evidence, approval: int, row: int) -> bool | Hidden:
    """Whether an approval names nothing else than the call, under the names that it has there."""
    argument = evidence.spec_of(row).entity.argument
    about = True if argument is None else _is_of_entity(evidence, approval, row, argument)
    if about is not True or not _names_others(evidence, approval, row):
        return about
    return Hidden(ABOUT_GAP, evidence.position(approval))


def _is_of_entity(evidence: Evidence, approval: int, row: int, argument: str) -> bool | Hidden:
    """Whether an approval names no other thing than the call in this argument."""
    named, wanted = subjects(evidence, approval, argument), subjects(evidence, row, argument)
    if isinstance(named, Hidden):
        return named
    answer = evidence.result(approval)
    if isinstance(answer, Source) and answer.hides(answer.value) is None:
        named = named or reader(argument)(answer.value)
    if not named:
        return True
    if isinstance(wanted, Hidden):
        return wanted
    return not wanted or not set(map(frozen, things(wanted))).isdisjoint(map(frozen, things(named)))


def _names_others(evidence: Evidence, approval: int, row: int) -> bool:
    """Whether an approval holds other values than the call, or grants a list of other things."""
    call = evidence.arguments(row)
    if not isinstance(call, Source) or not isinstance(call.value, dict):
        return False
    for source in (evidence.arguments(approval), evidence.result(approval)):
        if not isinstance(source, Source) or not isinstance(source.value, dict):
            continue
        for name, value in source.value.items():
            own = call.value.get(name)
            if name not in _OF_ITS_OWN and _are_names(value, own) and not same(value, own):
                return True
    answer = evidence.result(approval)
    granted = granted_things(answer.value) if isinstance(answer, Source) else []
    mine = {frozen(value) for _, _, value in members(call.value)}
    return bool(granted) and mine.isdisjoint(map(frozen, granted))


def _are_names(*values: JsonValue) -> bool:
    """Whether values are numbers or single words: prose about one thing differs."""
    return all(
        is_number(value) or (isinstance(value, str) and value and " " not in value.strip())
        for value in values
    )


def _same_question(evidence: Evidence, one: int, other: int) -> bool | Hidden:
    """Whether two calls were made with the same arguments."""
    asked = evidence.arguments(one), evidence.arguments(other)
    for source in asked:
        if isinstance(source, Hidden):
            return source
    first, second = (source for source in asked if isinstance(source, Source))
    hidden = first.hides(first.value) or second.hides(second.value)
    return hidden or same(first.value, second.value)
