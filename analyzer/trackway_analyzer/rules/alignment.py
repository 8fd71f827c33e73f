"""Can a pattern be laid over the steps of a run, and if not, how far does it get?

1. A pattern is a list of specs. Each spec that is not optional takes one step of its own; specs
   take steps in their order.
2. Members of one group have no order. Two specs may take members of one group only where all that
   do so only read: reads need not see each other's results.
3. A spec and a step fit (True), do not (False), or nobody knows (None). A step that no spec takes
   is an extra and costs nothing (0), is unknown (1) or violates (2).
4. Of all ways to lay the pattern, the one with the fewest violating extras wins, then the one
   with the fewest unknowns. All ways are searched: nothing is taken greedily.
5. A hidden step may stand in for a spec where a gap opens, at most `hidden` times in all, and is
   an unknown.

Pure: numbers in, one value out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

EXTRA_FREE: Final = 0
EXTRA_UNKNOWN: Final = 1
EXTRA_VIOLATES: Final = 2

Fit: TypeAlias = bool | None
Step: TypeAlias = int
Spec: TypeAlias = int


@dataclass(frozen=True, slots=True)
class Problem:
    """A pattern and the steps that it is laid over."""

    optional: Sequence[bool]
    """Of each spec."""
    reads: Sequence[bool]
    """Of each spec: whether it only reads."""
    groups: Sequence[Sequence[Step]]
    """Steps in order, those of one group together."""
    fits: Mapping[tuple[Spec, Step], Fit]
    """Pairs that are not there do not fit."""
    extras: Mapping[Step, int]
    """Cost of a step that no spec takes; not there: free."""
    gap_before: Sequence[bool]
    """Whether hidden steps may stand before each group, and at last after all: one longer."""
    hidden: int = 0
    """How many steps may be hidden at the most."""


@dataclass(frozen=True, slots=True)
class Placement:
    """How far the pattern got and what that cost."""

    reached: int
    """How many specs are fulfilled or left out; all of them: the pattern fits."""
    taken: tuple[tuple[Spec, Step], ...]
    hidden: tuple[Spec, ...]
    violating: tuple[Step, ...]
    unknown: tuple[Step, ...]
    """Extras, or taken steps, of which nobody knows whether they fit."""

    def complete(self, problem: Problem) -> bool:
        """Whether every spec has its step."""
        return self.reached == len(problem.optional)


@dataclass(frozen=True, slots=True)
class _Event:
    """A spec took a step; without a spec, the step is an extra; without a step, it is hidden."""

    spec: Spec | None
    step: Step | None
    cost: int


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to lay the specs up to here; `back` is the way before the last event."""

    violations: int = 0
    unknowns: int = 0
    back: _Way | None = None
    event: _Event | None = None

    def then(self, event: _Event) -> _Way:
        violates, unknown = event.cost == EXTRA_VIOLATES, event.cost == EXTRA_UNKNOWN
        return _Way(self.violations + violates, self.unknowns + unknown, self, event)

    @property
    def cost(self) -> tuple[int, int]:
        return self.violations, self.unknowns

    def events(self) -> list[_Event]:
        backwards, way = [], self
        while way.back is not None and way.event is not None:
            backwards.append(way.event)
            way = way.back
        return backwards[::-1]


_State: TypeAlias = tuple[Spec, int]
"""(specs done, hidden steps used)"""
_Ways: TypeAlias = dict[_State, _Way]


def place(problem: Problem) -> Placement:
    """Lay the pattern over the steps the best way there is."""
    ways: _Ways = {(0, 0): _Way()}
    _skip(ways, problem, gap=problem.gap_before[0])
    furthest = _furthest(ways, None)
    for number, group in enumerate(problem.groups, start=1):
        ways = _single(ways, problem, group[0]) if len(group) == 1 else _group(ways, problem, group)
        _skip(ways, problem, gap=problem.gap_before[number])
        furthest = _furthest(ways, furthest)
    full = len(problem.optional)
    complete = [way for (done, _), way in ways.items() if done == full]
    if complete:
        return _placement(full, min(complete, key=lambda way: way.cost))
    return _placement(*furthest)


def _furthest(ways: _Ways, best: tuple[Spec, _Way] | None) -> tuple[Spec, _Way]:
    done = max(done for done, _ in ways)
    if best is not None and best[0] >= done:
        return best
    return done, min((way for (d, _), way in ways.items() if d == done), key=lambda way: way.cost)


def _relax(ways: _Ways, state: _State, way: _Way) -> bool:
    known = ways.get(state)
    if known is not None and known.cost <= way.cost:
        return False
    ways[state] = way
    return True


def _skip(ways: _Ways, problem: Problem, *, gap: bool) -> None:
    """Leave out optional specs, and let hidden steps stand in where a gap opens."""
    for done in range(len(problem.optional)):
        for hidden in range(problem.hidden + 1):
            way = ways.get((done, hidden))
            if way is None:
                continue
            if problem.optional[done]:
                _relax(ways, (done + 1, hidden), way)
            elif gap and hidden < problem.hidden:
                stood_in = way.then(_Event(done, None, EXTRA_UNKNOWN))
                _relax(ways, (done + 1, hidden + 1), stood_in)


def _single(ways: _Ways, problem: Problem, step: Step) -> _Ways:
    after: _Ways = {}
    # Further ways first: of two equal calls the earlier one is taken, the later one is the extra.
    for (done, hidden), way in sorted(ways.items(), key=lambda item: item[0], reverse=True):
        _relax(after, (done, hidden), _left(way, problem, step))
        taken = _taken(way, problem, done, step)
        if taken is not None:
            _relax(after, (done + 1, hidden), taken)
    return after


def _left(way: _Way, problem: Problem, step: Step) -> _Way:
    cost = problem.extras.get(step, EXTRA_FREE)
    return way if cost == EXTRA_FREE else way.then(_Event(None, step, cost))


def _taken(way: _Way, problem: Problem, spec: Spec, step: Step) -> _Way | None:
    fit = problem.fits.get((spec, step), False)
    if fit is False:
        return None
    return way.then(_Event(spec, step, EXTRA_UNKNOWN if fit is None else EXTRA_FREE))


def _group(ways: _Ways, problem: Problem, group: Sequence[Step]) -> _Ways:
    """Lay specs over an unordered group: any members, each once, more than one only to read."""
    after: _Ways = {}
    layer = {(done, hidden, 0): way for (done, hidden), way in ways.items()}
    while layer:
        following: dict[tuple[Spec, int, int], _Way] = {}
        for (done, hidden, used), way in layer.items():
            rest = way
            for index, step in enumerate(group):
                if not used >> index & 1:
                    rest = _left(rest, problem, step)
            _relax(after, (done, hidden), rest)
            for spec, index in _next(problem, group, done, used):
                taken = _taken(way, problem, spec, group[index])
                state = (spec + 1, hidden, used | 1 << index)
                known = following.get(state)
                if taken is not None and (known is None or taken.cost < known.cost):
                    following[state] = taken
        layer = following
    return after


def _next(
    problem: Problem, group: Sequence[Step], done: Spec, used: int
) -> Iterable[tuple[Spec, int]]:
    """Specs that may take a further member of the group, with the members that are free."""
    for spec in range(done, len(problem.optional)):
        # The spec before `done` took the member before; by induction all that took one read.
        if not used or (problem.reads[done - 1] and problem.reads[spec]):
            for index in range(len(group)):
                if not used >> index & 1:
                    yield spec, index
        if not problem.optional[spec]:
            return


def _placement(reached: Spec, way: _Way) -> Placement:
    events = way.events()
    return Placement(
        reached,
        tuple((e.spec, e.step) for e in events if e.spec is not None and e.step is not None),
        tuple(e.spec for e in events if e.spec is not None and e.step is None),
        tuple(e.step for e in events if e.step is not None and e.cost == EXTRA_VIOLATES),
        tuple(e.step for e in events if e.step is not None and e.cost == EXTRA_UNKNOWN),
    )
