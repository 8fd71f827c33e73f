"""Runs that surely follow a pattern, found once per distinct sequence of calls.

1. Extra lookups are free: sequences that differ in them alone are one, unless a step takes any
   lookup for its license.
2. A sequence is laid over the pattern as if every value were right. Where that leaves no doubt, the
   runs that have the sequence need only their values looked at, and only those of the calls that
   the pattern took.
3. A run whose values are surely right follows the pattern. Every other run is judged by itself.
4. Sequences with gaps, with calls of which nobody knows whether they took effect, or whose extras
   depend on values, are always judged by themselves.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from trackway_analyzer.rules.calls import Call, Symbol
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.pattern import StepSpec
from trackway_analyzer.rules.reading import Reading
from trackway_analyzer.rules.shapes import shapes_of
from trackway_analyzer.rules.surely import surely_grounded
from trackway_analyzer.rules.terms import Truth
from trackway_analyzer.rules.tools import LOOKUP, MUTATE, NOTIFY


@dataclass(frozen=True, slots=True)
class _Look:
    """A call of which values must be looked at."""

    spec: StepSpec
    index: int
    """Among the calls that the pattern sees."""
    surely: frozenset[int] | None
    """Rows whose entity is surely grounded; None: there is more to look at than that."""


def plainly_following(
    specs: tuple[StepSpec, ...], extra: str, evidence: Evidence
) -> frozenset[int]:
    """Runs that surely follow a pattern."""
    shapes = shapes_of(evidence)
    seen = shapes.seen(partial(_letter, specs, extra, _needs_any_lookup(specs, evidence)))
    found: list[int] = []
    of_run = seen.of_word[shapes.of_run]
    order = np.argsort(of_run, kind="stable")
    cuts = np.searchsorted(of_run[order], np.arange(len(seen.words) + 1))

    def rows(run: int) -> list[int]:
        return seen.rows(evidence.calls(run), int(shapes.of_run[run]))

    for word in range(len(seen.words)):
        runs = order[cuts[word] : cuts[word + 1]].tolist()
        sure = [run for run in runs if run not in shapes.unsure]
        if sure and not _depends_on_values(seen.words.calls(word), extra):
            looks = _looks(_Outline(specs, extra, evidence, sure[0]), rows(sure[0]))
            if looks is not None:
                found += [
                    run for run in sure if _right(evidence, specs, extra, run, rows(run), looks)
                ]
    return frozenset(found)


def _letter(
    specs: tuple[StepSpec, ...], extra: str, any_lookup: bool, symbol: Symbol
) -> Symbol | None:
    """A call as the pattern sees it; extra lookups change nothing, where they are free."""
    if any_lookup or extra == "forbid" or symbol.kind != LOOKUP:
        return symbol
    return symbol if any(spec.tool in (None, symbol.tool) for spec in specs) else None


def _needs_any_lookup(specs: tuple[StepSpec, ...], evidence: Evidence) -> bool:
    """Whether some step may be licensed by any lookup at all."""
    return any(
        spec.kind not in (LOOKUP, NOTIFY)
        and spec.entity_arg is None
        and evidence.spec(spec.tool).entity.argument is None
        and (spec.kind == MUTATE or _may_mutate(spec, evidence))
        for spec in specs
    )


def _may_mutate(spec: StepSpec, evidence: Evidence) -> bool:
    symbols = shapes_of(evidence).words.symbols
    return any(symbol.kind == MUTATE and symbol.tool == spec.tool for symbol in symbols)


@dataclass(frozen=True, slots=True)
class DecidingValues:
    """What decides between runs of one sequence: which values fit, which entities are the same."""

    shape: int
    pairs: tuple[tuple[StepSpec, int], ...]
    """Specs and indices of calls whose values decide whether they fit."""
    twins: tuple[tuple[int, int], ...]
    """Indices of mutations of one tool, which may have acted on one entity."""

    def of(self, reading: Reading) -> tuple[object, ...]:
        """The values of one run that decide."""
        rows = reading.calls
        fits = [reading.fit(spec, rows[index]) for spec, index in self.pairs]
        same = [reading.same_entity(rows[one], rows[two]) for one, two in self.twins]
        return *fits, *same


def deciding_values(
    specs: tuple[StepSpec, ...], extra: str, evidence: Evidence, run: int
) -> DecidingValues | None:
    """What decides on the runs that have the sequence of this one; None: more than that."""
    shapes = shapes_of(evidence)
    shape = int(shapes.of_run[run])
    if (
        run in shapes.unsure
        or run in evidence.gaps
        or _depends_on_values(shapes.words.calls(shape), extra)
    ):
        return None

    def find() -> DecidingValues:
        outline, calls = _Outline(specs, extra, evidence, run), shapes.words.calls(shape)
        pairs = (
            (spec, index)
            for spec in specs
            for index, row in enumerate(outline.calls)
            if outline.means(spec, row) and outline.has_values(spec, row)
        )
        mutations = [index for index, call in enumerate(calls) if call.kind == MUTATE]
        twins = (
            (one, two)
            for one, two in combinations(mutations, 2)
            if calls[one].tool == calls[two].tool
        )
        return DecidingValues(shape, tuple(pairs), tuple(twins))

    return evidence.memo(("deciding", specs, extra, shape), find)


def _depends_on_values(calls: tuple[Call, ...], extra: str) -> bool:
    """Whether it takes values to know what an extra costs."""
    if extra == "forbid":
        return not all(call.ok for call in calls)
    if extra == "allow":
        tools = Counter(call.tool for call in calls if call.kind == MUTATE)
        return any(count > 1 for count in tools.values())
    return False


class _Outline(Reading):
    """A run read as if all its values were right."""

    def conditions(self, spec: StepSpec, row: int) -> list[Truth]:
        """Only what the sequence itself can tell."""
        if self.kind_of(spec) == MUTATE and self.entity_of(spec, row) is None:
            return [self.ground(spec, row).holds]
        return []

    def has_values(self, spec: StepSpec, row: int) -> bool:
        """Whether values decide if a call fulfils a spec."""
        if spec.where_expression is not None or spec.guard_expression is not None:
            return True
        if self.kind_of(spec) != MUTATE:
            return False
        guarded = any(other.guard_expression is not None for other in self.specs)
        return guarded or self.entity_of(spec, row) is not None

    def looks_at_entity_alone(self, spec: StepSpec) -> bool:
        """Whether nothing but the entity decides."""
        guarded = any(other.guard_expression is not None for other in self.specs)
        return spec.where_expression is None and not guarded


def _looks(outline: _Outline, seen: list[int]) -> list[_Look] | None:
    """Calls whose values must be looked at; None: the sequence itself leaves doubts."""
    placement = outline.placement
    if not placement.complete(outline.problem) or placement.violating or placement.unknown:
        return None
    places = {row: index for index, row in enumerate(seen)}
    looks = []
    for index, row in placement.taken:
        spec = outline.specs[index]
        if outline.has_values(spec, row):
            looks.append(_Look(spec, places[row], _surely(outline, spec, row)))
    return looks


def _surely(outline: _Outline, spec: StepSpec, row: int) -> frozenset[int] | None:
    tool, entity = outline.evidence.tool[row], outline.entity_of(spec, row)
    if tool is None or entity is None or not outline.looks_at_entity_alone(spec):
        return None
    kind_of_thing = spec.entity_type or outline.evidence.spec(tool).entity.type
    return surely_grounded(outline.evidence, tool, entity, kind_of_thing)


def _right(
    evidence: Evidence,
    specs: tuple[StepSpec, ...],
    extra: str,
    run: int,
    rows: list[int],
    looks: list[_Look],
) -> bool:
    for look in looks:
        row = rows[look.index]
        if look.surely is not None and row in look.surely:
            continue
        truths = Reading(specs, extra, evidence, run).conditions(look.spec, row)
        if not all(truth is True for truth in truths):
            return False
    return True
