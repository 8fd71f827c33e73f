"""Which expected call is which actual call, so that least is missing and least is extra?

1. Each expected call takes one actual call of its own that fits (True) or may fit (None).
2. An expected call that takes none is missing, an actual call that is not taken is an extra; each
   has a cost: it is free, an unknown, or a violation. A call that only may fit is an unknown.
3. The answer has the fewest violations, then the fewest unknowns, then takes the most calls. All
   answers are searched: nothing is taken greedily.
4. In order, a group of expected calls takes its calls before the next group does. Actual calls of
   one group have no order, so two groups may take calls of one only if all these only read.

Pure: numbers in, one value out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias

FREE: Final = 0
UNKNOWN: Final = 1
VIOLATES: Final = 2

_PRICE: Final = (0.0, 1e3, 1e6)
_IMPOSSIBLE: Final = 1e12
_TAKEN: Final = -1e-3

Cost: TypeAlias = tuple[int, int, int]
"""Violations, unknowns, and minus the number of taken calls."""


@dataclass(frozen=True, slots=True)
class Question:
    """Expected calls, actual calls, and what fits."""

    expected: Sequence[Sequence[int]]
    """Numbers from 0, in groups."""
    actual: Sequence[Sequence[int]]
    """Rows, in groups."""
    fits: Mapping[tuple[int, int], bool | None]
    """(expected, row); a pair that is not there does not fit."""
    missing: int
    """Cost of an expected call that takes none."""
    extras: Mapping[int, int]
    """Cost of a row that is not taken; not there: free."""
    reads: frozenset[int] = frozenset()
    """Rows that only read."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The cheapest way to take calls."""

    taken: tuple[tuple[int, int], ...]
    """(expected, row)"""
    missing: tuple[int, ...]
    extra: tuple[int, ...]


def unordered(question: Question) -> Answer:
    """Lay the calls without any order: an optimal assignment."""
    from scipy.optimize import linear_sum_assignment

    wanted = [number for group in question.expected for number in group]
    rows = [row for group in question.actual for row in group]
    size = len(wanted) + len(rows)
    price = [[0.0] * size for _ in range(size)]
    for i, number in enumerate(wanted):
        for j, row in enumerate(rows):
            price[i][j] = _price(question, number, row)
        for j in range(len(rows), size):
            price[i][j] = _PRICE[question.missing]
    for i in range(len(wanted), size):
        for j, row in enumerate(rows):
            price[i][j] = _PRICE[question.extras.get(row, FREE)]
    if not size:
        return Answer((), (), ())
    chosen = dict(zip(*(side.tolist() for side in linear_sum_assignment(price)), strict=True))
    taken = tuple(
        (number, rows[chosen[i]]) for i, number in enumerate(wanted) if chosen[i] < len(rows)
    )
    return _answer(question, taken)


def _price(question: Question, number: int, row: int) -> float:
    fit = question.fits.get((number, row), False)
    if fit is False:
        return _IMPOSSIBLE
    return _TAKEN + (0.0 if fit else _PRICE[UNKNOWN])


def _answer(question: Question, taken: tuple[tuple[int, int], ...]) -> Answer:
    done, used = {number for number, _ in taken}, {row for _, row in taken}
    return Answer(
        taken,
        tuple(number for group in question.expected for number in group if number not in done),
        tuple(row for group in question.actual for row in group if row not in used),
    )


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to come to a state, the cheapest known."""

    cost: Cost = (0, 0, 0)
    back: _Way | None = None
    took: tuple[int, int] | None = None

    def then(self, price: int, took: tuple[int, int] | None = None) -> _Way:
        violations, unknowns, calls = self.cost
        cost = (
            violations + (price == VIOLATES),
            unknowns + (price == UNKNOWN),
            calls - (took is not None),
        )
        return _Way(cost, self, took)

    def taken(self) -> tuple[tuple[int, int], ...]:
        way, backwards = self, []
        while way.back is not None:
            if way.took is not None:
                backwards.append(way.took)
            way = way.back
        return tuple(reversed(backwards))


_NOTHING, _READS, _WROTE, _CROSSED = range(4)
"""What an actual group gave so far: nothing, reads, something else, reads to several groups."""

_State: TypeAlias = tuple[int, int, int, int]
"""(expected group, bits done in it, bits used of the actual group, what that gave)"""


def ordered(question: Question) -> Answer:
    """Lay the calls in the order of the expected groups."""
    if all(len(group) == 1 for group in (*question.expected, *question.actual)):
        return _sequential(question)
    return _grouped(question)


def _sequential(question: Question) -> Answer:
    """Two plain sequences: the quick way for what nearly all runs are."""
    wanted = [number for (number,) in question.expected]
    rows = [row for (row,) in question.actual]
    skip = _PRICE[question.missing]
    extra = [_PRICE[question.extras.get(row, FREE)] for row in rows]
    price = [[_price(question, number, row) for row in rows] for number in wanted]
    # best[i][j]: price of laying wanted[i:] over rows[j:].
    best = [[0.0] * (len(rows) + 1) for _ in range(len(wanted) + 1)]
    for i in range(len(wanted), -1, -1):
        for j in range(len(rows), -1, -1):
            ways = []
            if i < len(wanted):
                ways.append(best[i + 1][j] + skip)
            if j < len(rows):
                ways.append(best[i][j + 1] + extra[j])
            if i < len(wanted) and j < len(rows):
                ways.append(best[i + 1][j + 1] + price[i][j])
            best[i][j] = min(ways, default=0.0)
    taken, i, j = [], 0, 0
    while i < len(wanted) and j < len(rows):
        if best[i][j] == best[i + 1][j + 1] + price[i][j]:
            taken.append((wanted[i], rows[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i][j + 1] + extra[j]:
            j += 1
        else:
            i += 1
    return _answer(question, tuple(taken))


def _grouped(question: Question) -> Answer:
    ways: dict[_State, _Way] = {(0, 0, 0, _NOTHING): _Way()}
    for group in question.actual:
        wanted = [row for row in group if any((n, row) in question.fits for n in _all(question))]
        lost = [row for row in group if row not in wanted]
        ways = _within(ways, question, wanted)
        closed: dict[_State, _Way] = {}
        for (place, done, used, _), way in ways.items():
            left = [row for bit, row in enumerate(wanted) if not used >> bit & 1]
            for row in (*lost, *left):
                way = way.then(question.extras.get(row, FREE))
            _keep(closed, (place, done, 0, _NOTHING), way)
        ways = closed
    ways = _within(ways, question, [])
    end = len(question.expected)
    best = min((way for state, way in ways.items() if state[0] == end), key=lambda way: way.cost)
    return _answer(question, best.taken())


def _all(question: Question) -> Iterator[int]:
    return (number for group in question.expected for number in group)


def _keep(ways: dict[_State, _Way], state: _State, way: _Way) -> None:
    known = ways.get(state)
    if known is None or way.cost < known.cost:
        ways[state] = way


def _within(
    ways: dict[_State, _Way], question: Question, group: Sequence[int]
) -> dict[_State, _Way]:
    """Take, skip and go on to the next expected group, in every way, inside one actual group."""
    found = dict(ways)
    # A step leads to a state that sorts later, so each state is final when its turn comes.
    pending = list(found)
    heapify(pending)
    while pending:
        state = heappop(pending)
        for following, way in _steps(state, found[state], question, group):
            if following not in found:
                heappush(pending, following)
            _keep(found, following, way)
    return found


def _steps(
    state: _State, way: _Way, question: Question, group: Sequence[int]
) -> Iterator[tuple[_State, _Way]]:
    place, done, used, gave = state
    if place == len(question.expected):
        return
    wanted = question.expected[place]
    if done == (1 << len(wanted)) - 1:
        if gave != _WROTE:
            yield (place + 1, 0, used, _CROSSED if gave else _NOTHING), way
        return
    for bit, number in enumerate(wanted):
        if done >> bit & 1:
            continue
        yield (place, done | 1 << bit, used, gave), way.then(question.missing)
        for index, row in enumerate(group):
            fit = question.fits.get((number, row), False)
            reads = row in question.reads
            if fit is False or used >> index & 1 or (gave == _CROSSED and not reads):
                continue
            given = gave if gave in (_WROTE, _CROSSED) else (_READS if reads else _WROTE)
            taken = way.then(FREE if fit else UNKNOWN, (number, row))
            yield (place, done | 1 << bit, used | 1 << index, given), taken
