"""Which values of a run's logical clock does no span bear? Each is a step that is missing.

1. A clock counts from 1, without a hole, up to the last step that the run span names.
2. A process or part that took a run over counts beside it, on a clock of its own: its spans name
   that (`trackway.step.clock`) and the value that it began after. A step on one clock fills no hole
   of another.
3. Runs that are joined to a conversation bring a clock each; no one last step speaks for all.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from trackway.schema import GapName, Trackway
from trackway_analyzer.reconstruct.columns import NONE, Ints, SpanColumns, paired
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, GapRow, gap

_MOST: Final = 2**31 - 1
_RANGES: Final = 5
Clock = tuple[int, int, int]
"""Run, run id, name of the clock, as numbers."""


def gaps_of_clocks(evidence: Evidence) -> Found:
    """One gap a clock that has holes."""
    columns, run = evidence.columns, evidence.run
    index, own = columns.ints("step_index"), columns.codes("run_id")
    names, starts = _names(columns)
    rows = np.flatnonzero((index > 0) & (run != NONE))
    clock = paired(paired(run[rows], own[rows]), names[rows])
    order = np.lexsort((index[rows], clock))
    rows, clock = rows[order], clock[order]
    fresh = np.ones(len(rows), dtype=bool)
    fresh[1:] = (clock[1:] != clock[:-1]) | (index[rows[1:]] != index[rows[:-1]])
    rows, clock = rows[fresh], clock[fresh]
    first = np.flatnonzero(np.diff(clock, prepend=NONE))
    bounds = np.append(first, len(rows))
    heads = rows[first]

    several = np.unique(run[(names > 0) & (run != NONE)])
    named = np.array(
        [_number(span.attributes.get(Trackway.RUN_LAST_STEP)) for span in evidence.spans],
        dtype=np.int64,
    )
    clocks_of = np.bincount(run[heads], minlength=len(evidence.spans))
    named[clocks_of > 1] = 0
    named[several] = 0
    for number in np.flatnonzero((clocks_of == 0) & (named > 0)).tolist():
        yield number, _hole(index[:0], 0, int(named[number]))

    ends = named[run[heads]]
    told = _ends(columns, run, own, names, several) if len(several) else {}
    seen = zip(run[heads].tolist(), own[heads].tolist(), names[heads].tolist(), strict=True)
    for place, of in enumerate(seen if told else ()):
        ends[place] = max(ends[place], told.pop(of, 0))
    for (number, _, name), end in told.items():
        if end > starts[name]:
            yield number, _hole(index[:0], starts[name], end)
    start = np.array(starts, dtype=np.int64)[names[heads]]
    last = np.maximum(index[rows[bounds[1:] - 1]], ends)
    for place in np.flatnonzero(last - start > np.diff(bounds)).tolist():
        there = rows[bounds[place] : bounds[place + 1]]
        yield int(run[there[0]]), _hole(index[there], int(start[place]), int(last[place]))


def _names(columns: SpanColumns) -> tuple[Ints, list[int]]:
    """Return for each row the number of its clock's name, 0 without one, and where each began."""
    found = np.zeros(len(columns), dtype=np.int64)
    numbers: dict[str, int] = {}
    starts = [0]
    for row, name in columns.told(Trackway.STEP_CLOCK, np.ones(len(columns), dtype=bool)):
        if not isinstance(name, str):
            continue
        if name not in numbers:
            began = name.rpartition(":")[2]
            numbers[name] = len(starts)
            starts.append(int(began) if began.isdecimal() and int(began) < _MOST else 0)
        found[row] = numbers[name]
    return found, starts


def _ends(
    columns: SpanColumns, run: Ints, own: Ints, names: Ints, several: Ints
) -> dict[Clock, int]:
    """Return the last step that run spans name of each clock, in the runs that have several."""
    found: dict[Clock, int] = {}
    for row, value in columns.told(Trackway.RUN_LAST_STEP, np.isin(run, several)):
        end = _number(value)
        clock = int(run[row]), int(own[row]), int(names[row])
        found[clock] = max(found.get(clock, 0), end)
    return found


def _number(value: object) -> int:
    return min(value, _MOST) if isinstance(value, int) else 0


def _hole(there: Ints, start: int, last: int) -> GapRow:
    """Name the missing numbers as ranges, the first few."""
    there = there[there > start]
    edges = np.concatenate(([start], there, [last + 1]))
    wide = np.flatnonzero(np.diff(edges) > 1)
    some = wide[:_RANGES].tolist()
    ranges = [(int(edges[place]) + 1, int(edges[place + 1]) - 1) for place in some]
    texts = [str(low) if low == high else f"{low}-{high}" for low, high in ranges]
    detail = ", ".join(texts) + (", …" if len(wide) > _RANGES else "")
    return gap(GapName.MISSING_STEPS, last - start - len(there), detail=detail)
