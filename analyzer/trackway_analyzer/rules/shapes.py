"""The distinct sequences of calls in a batch, each found once, and which of them have gaps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from math import inf
from typing import Final

import numpy as np

from trackway_analyzer.batch import Ints
from trackway_analyzer.model import Gap
from trackway_analyzer.rules.calls import Call, Possible
from trackway_analyzer.rules.columns import Flags
from trackway_analyzer.rules.evidence import UNKNOWN, UNKNOWN_KIND, Evidence
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP, region

UNBOUNDED: Final = 4096
"""Stands for any number of hidden steps."""


@dataclass(frozen=True)
class Shapes:
    """The distinct call sequences of a batch."""

    of_run: Ints
    known: tuple[tuple[Call, ...], ...]
    unsure: frozenset[int]
    """Runs that have a gap which may matter to a shape rule."""
    rows: Ints
    """Rows of all calls, run after run."""
    firsts: Ints
    """Of each run, the place in `rows` of its first call."""

    @cached_property
    def sure(self) -> Flags:
        """Which runs have no such gap."""
        flags = np.ones(len(self.of_run), dtype=bool)
        flags[list(self.unsure)] = False
        return flags

    def possible(self, evidence: Evidence, run: int) -> Possible:
        """A run that is unsure, with its gaps."""
        rows = evidence.calls(run)
        calls = self.known[int(self.of_run[run])]
        gaps = evidence.absence(run)
        return Possible(
            calls,
            tuple(evidence.succeeded(row) is None for row in rows),
            tuple(_slots(evidence, rows, gaps)),
            _hidden(gaps),
            gaps[0].name if gaps else "",
            next((_why(evidence, row) for row in rows if evidence.succeeded(row) is None), ""),
            tuple(_loose(evidence, rows)),
        )


def _why(evidence: Evidence, row: int) -> str:
    gap = evidence.why_unknown(row).gap
    return gap if gap == UNKNOWN_KIND else NOT_RECORDED_GAP


def _slots(evidence: Evidence, rows: list[int], gaps: tuple[Gap, ...]) -> Iterator[int]:
    places = [evidence.position(row) for row in rows]
    for index in range(len(rows) + 1):
        after = places[index - 1] if index else -1.0
        before = places[index] if index < len(rows) else inf
        if any(low < before and after < high for low, high in map(region, gaps)):
            yield index


def _hidden(gaps: tuple[Gap, ...]) -> int:
    if any(gap.name != "missing_steps" for gap in gaps):
        return UNBOUNDED
    return sum(gap.count for gap in gaps)


def _loose(evidence: Evidence, rows: list[int]) -> Iterator[int]:
    """Calls that are unordered with at least one other."""
    for index, row in enumerate(rows):
        others = (other for other in rows if other != row)
        if any(not isinstance(evidence.earlier(row, other), bool) for other in others):
            yield index


def shapes_of(evidence: Evidence) -> Shapes:
    """Find the distinct call sequences of a batch, once."""
    return evidence.memo("shapes", partial(_shapes, evidence))


def _shapes(evidence: Evidence) -> Shapes:
    rows = np.flatnonzero(evidence.is_call)
    matrix = _matrix(evidence, rows)
    of_run = np.empty(len(evidence), dtype=np.int64)
    ids: dict[bytes, int] = {}
    known: list[tuple[Call, ...]] = []
    cuts = np.searchsorted(rows, evidence.batch.offsets)
    for run, (first, last) in enumerate(pairwise(cuts.tolist())):
        key = matrix[first:last].tobytes()
        shape = ids.setdefault(key, len(known))
        if shape == len(known):
            known.append(tuple(_calls(evidence, rows[first:last].tolist(), matrix[first:last])))
        of_run[run] = shape
    return Shapes(of_run, tuple(known), frozenset(_unsure(evidence, rows)), rows, cuts[:-1])


def _matrix(evidence: Evidence, rows: Ints) -> Ints:
    codes = [evidence.codes(name).codes[rows] for name in ("tool", "kind")]
    succeeded = evidence.success_codes[rows]
    matrix: Ints = np.column_stack([*codes, succeeded, _groups(evidence, rows)])
    return matrix


def _groups(evidence: Evidence, rows: Ints) -> Ints:
    """Of each call, the index in its run of the first call of its group."""
    if not len(rows):
        return rows
    runs = np.asarray(evidence.run, dtype=np.int64)[rows]
    groups = np.asarray(evidence.group, dtype=np.int64)[rows]
    new_run = np.concatenate([[True], runs[1:] != runs[:-1]])
    step = np.concatenate([[0], np.diff(groups)])
    starts = np.maximum.accumulate(np.where(new_run, np.arange(len(rows)), 0))
    if np.all(new_run | (step >= 0)):
        changed = new_run | (step != 0)
        firsts = np.maximum.accumulate(np.where(changed, np.arange(len(rows)), 0))
    else:  # calls of one turn with others between them
        pairs = np.stack([runs, groups], axis=1)
        _, index, inverse = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
        firsts = index[inverse.reshape(-1)]
    relative: Ints = firsts - starts
    return relative


def _calls(evidence: Evidence, rows: list[int], matrix: Ints) -> Iterator[Call]:
    for row, (_, _, succeeded, group) in zip(rows, matrix.tolist(), strict=True):
        yield Call(evidence.tool[row], evidence.kind[row], succeeded == 1, group)


def _unsure(evidence: Evidence, rows: Ints) -> Iterator[int]:
    yield from evidence.blurred
    for row in rows[evidence.success_codes[rows] == UNKNOWN].tolist():
        yield evidence.run[row]
