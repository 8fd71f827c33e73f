"""Which thing is a call about, and did an earlier lookup return it?

1. A lookup establishes the values at its declared result path (a plain name, else `id`); a list
   there is one id and also each of its elements. With content off, its recorded `type:id` refs.
2. A mutation is about the value at its declared argument; about each element of a list.
3. It is grounded by an earlier call that answered, is no mutation or notification, and established
   the same value under a type that fits. A call of the same model turn is not earlier.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP
from trackway_analyzer.rules.terms import Hidden, Source
from trackway_analyzer.rules.tools import DEFAULT_KEY, MUTATE, NOTIFY
from trackway_analyzer.rules.values import ABSENT, Absent, frozen, reader


@dataclass(frozen=True, slots=True)
class Established:
    """Ids that a call returned."""

    values: tuple[JsonValue, ...]
    keys: frozenset[Hashable]
    hidden: Hidden | None = None
    """There may be more than these."""

    def has(self, value: JsonValue) -> bool:
        """Whether the id is among them."""
        return frozen(value) in self.keys


@dataclass(frozen=True, slots=True)
class Ground:
    """Where the thing that a mutation is about comes from."""

    holds: bool | Hidden
    value: JsonValue | Absent
    """The value in question."""
    source: int | None = None
    """Row of the call that established it, or would have, had it been earlier and successful."""


def established(evidence: Evidence, row: int) -> Established:
    """Ids that a call returned, whether or not it is a lookup."""
    source = evidence.result(row)
    if isinstance(source, Hidden):
        refs = tuple(ref.partition(":")[2] for ref in evidence.entity_refs[row])
        return Established(refs, frozenset(refs), None if refs else source)
    path = evidence.spec_of(row).entity.result or DEFAULT_KEY
    values = [value for value in spread(reader(path)(source.value)) if value is not None]
    return Established(
        tuple(values), frozenset(map(frozen, values)), source.cut or source.hides(*values)
    )


def spread(values: list[JsonValue]) -> Iterator[JsonValue]:
    """Each value, and the elements of those that are lists."""
    for value in values:
        yield value
        if isinstance(value, list):
            yield from value


def things(values: list[JsonValue]) -> Iterator[JsonValue]:
    """What a call with these values is about: each element of a list, and what is no list."""
    for value in values:
        if isinstance(value, list) and value:
            yield from things(value)
        else:
            yield value


def subjects(evidence: Evidence, row: int, argument: str) -> list[JsonValue] | Hidden:
    """Values that a call names in an argument; empty: it names none."""
    source = evidence.arguments(row)
    if isinstance(source, Source):
        values = reader(argument)(source.value)
        return source.hides(*values) or values or source.unnamed or source.cut or []
    refs = [ref.partition(":")[2] for ref in evidence.entity_refs[row]]
    return refs or source


def sources(evidence: Evidence, row: int, kind_of_thing: str | None) -> list[int]:
    """Rows of the run's other calls that may establish a thing of this type, in order."""
    calls = evidence.calls(evidence.run[row])
    return [
        call
        for call in calls
        if call != row
        and evidence.kind[call] not in (MUTATE, NOTIFY)
        and fits(kind_of_thing, evidence.spec_of(call).entity.type)
    ]


def fits(left: str | None, right: str | None) -> bool:
    """Whether two entity types may be the same; nobody's word fits everything."""
    return left is None or right is None or left == right


def ground(evidence: Evidence, row: int, argument: str, kind_of_thing: str | None) -> Ground:
    """Find the earlier call that established what a mutation is about."""
    named = subjects(evidence, row, argument)
    if isinstance(named, Hidden):
        return Ground(named, ABSENT)
    if not named:
        return Ground(False, ABSENT)
    candidates = sources(evidence, row, kind_of_thing)
    results = [_ground_value(evidence, row, value, candidates) for value in named]
    return min(results, key=lambda result: (result.holds is True, result.holds is not False))


def _ground_value(evidence: Evidence, row: int, value: JsonValue, candidates: list[int]) -> Ground:
    whole = _established_by(evidence, row, value, candidates)
    if whole.holds is True or not isinstance(value, list) or not value:
        return whole
    parts = [_established_by(evidence, row, part, candidates) for part in value]
    return min(parts, key=lambda part: (part.holds is True, part.holds is not False))


def _established_by(
    evidence: Evidence, row: int, value: JsonValue, candidates: list[int]
) -> Ground:
    hidden: Hidden | None = None
    miss: int | None = None
    for call in sorted(candidates, key=lambda c: (c > row, abs(c - row))):
        ids = established(evidence, call)
        if not ids.has(value) and ids.hidden is None:
            continue
        in_order, answered = evidence.earlier(call, row), evidence.found(call)
        if in_order is False or answered is False:
            miss = call if miss is None and ids.has(value) else miss
        elif ids.has(value) and in_order is True and answered is True:
            return Ground(True, value, call)
        else:
            unknown = in_order if isinstance(in_order, Hidden) else ids.hidden
            hidden = hidden or unknown or Hidden(NOT_RECORDED_GAP, evidence.position(call))
    hidden = hidden or evidence.hides_step(evidence.run[row], before=evidence.position(row))
    return Ground(hidden or False, value, miss)


def looked_up(evidence: Evidence, row: int) -> bool | Hidden:
    """Whether any earlier lookup answered, for a mutation that names no entity."""
    hidden: Hidden | None = None
    for call in sources(evidence, row, None):
        in_order, answered = evidence.earlier(call, row), evidence.found(call)
        if in_order is True and answered is True:
            return True
        if isinstance(in_order, Hidden):
            hidden = hidden or in_order
        elif in_order and answered is None:
            hidden = hidden or Hidden(NOT_RECORDED_GAP, evidence.position(call))
    return hidden or evidence.hides_step(evidence.run[row], before=evidence.position(row)) or False
