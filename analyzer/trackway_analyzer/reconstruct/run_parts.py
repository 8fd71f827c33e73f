"""Did every part of a run of our SDK end? Each leaves a span when it does.

1. A run of ours without a run span did not end, or its span was lost.
2. A run that was taken up again has a run span for each part. One part's does not speak for
   another: a span of the run whose way up ends at a parent that is missing, below no run span, and
   which began outside the time of every run span that is there, belongs to a part that has none.
3. What a run hands over to other processes is counted where it leaves, and marked by a span where
   it ends (`trackway.handed_over`): more parts than marks, and some were killed, went on beyond the
   end of the trace, or ran in a process that recorded nothing.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np

from trackway.schema import GapName, Trackway
from trackway_analyzer.reconstruct.columns import NEVER, NONE, Ints, SpanColumns
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap
from trackway_analyzer.reconstruct.tree import nearest, topmost
from trackway_analyzer.spans import NO_TIME

_OF_RUN_SPAN: Final = rf'"(?:{Trackway.SCHEMA_VERSION}|{Trackway.RUN_LAST_STEP})":'.replace(
    ".", r"\."
)
"""An attribute of run spans alone: of each from its start, or from its end."""
_NO_RUN_SPAN: Final = "the run span is missing: the run did not end, or its span was lost"
_NOT_BACK: Final = (
    "parts that went to other processes and left no mark of their end: killed, still going on, or "
    "in a process that does not call trackway.configure()"
)
_NO_PART: Final = "the run span of a part is missing: it did not end, or its span was lost"


def run_spans(columns: SpanColumns) -> Ints:
    """Return the rows of run spans of our SDK."""
    rows = columns.naming(_OF_RUN_SPAN)
    found: Ints = rows[~columns.is_step[rows] & (columns.codes("run_id")[rows] != NONE)]
    return found


def gaps_of_run_parts(evidence: Evidence) -> Found:
    """One gap for the run ids of a run that lack their run span, one for those that lack a part."""
    columns, run = evidence.columns, evidence.run
    own = columns.codes("run_id")
    rows = run_spans(columns)
    member = (own != NONE) & (run != NONE)
    bare = np.flatnonzero(member & ~np.isin(own, own[rows]))
    adrift = evidence.tree.orphan[topmost(evidence.tree.parent)] & np.isin(own, own[rows])
    if adrift.any():
        marked = np.zeros(len(columns), dtype=bool)
        marked[rows] = True
        adrift &= member & ~marked & (nearest(evidence.tree.parent, marked) == NONE)
    apart = _outside(columns, own, rows, np.flatnonzero(adrift))
    for found, detail in ((bare, _NO_RUN_SPAN), (apart, _NO_PART)):
        pairs = np.unique(np.stack((run[found], own[found])), axis=1)
        for number, count in zip(*np.unique(pairs[0], return_counts=True), strict=True):
            yield int(number), gap(GapName.UNFINISHED_SPAN, int(count), detail=detail)


def gaps_of_handed_over(evidence: Evidence) -> Found:
    """One gap for the parts of a run that came to no end in another process."""
    columns, run = evidence.columns, evidence.run
    member = run != NONE
    counts: dict[tuple[int, str], int] = defaultdict(int)
    for row, value in columns.told(Trackway.HANDED_OVER, member):
        name, number = _numbered(value)
        counts[int(run[row]), name] = max(counts[int(run[row]), name], number)
    if not counts:
        return
    ended: dict[tuple[int, str], set[int]] = defaultdict(set)
    for row, value in columns.told(Trackway.HANDED_OVER_PART, member):
        name, number = _numbered(value)
        ended[int(run[row]), name].add(number)
    missing: dict[int, int] = defaultdict(int)
    for part, count in counts.items():
        missing[part[0]] += max(0, count - len(ended[part]))
    for of, count in missing.items():
        if count:
            yield of, gap(GapName.UNFINISHED_SPAN, count, detail=_NOT_BACK)


def _numbered(value: object) -> tuple[str, int]:
    name, _, number = str(value).rpartition(":")
    return name, int(number) if name and number.isdecimal() else 0


def _outside(columns: SpanColumns, own: Ints, spans: Ints, rows: Ints) -> Ints:
    """Return the rows that began within none of the run spans of their run id."""
    if not len(rows):
        return rows
    times: dict[int, list[tuple[int, int]]] = defaultdict(list)
    concerned = spans[np.isin(own[spans], own[rows])]
    for row in concerned.tolist():
        times[int(own[row])].append((int(columns.start[row]), int(columns.end[row])))
    return np.array(
        [
            row
            for row, at in zip(rows.tolist(), columns.start[rows].tolist(), strict=True)
            if at != NO_TIME and not any(_holds(span, at) for span in times[int(own[row])])
        ],
        dtype=np.int64,
    )


def _holds(span: tuple[int, int], moment: int) -> bool:
    start, end = span
    if NO_TIME in span:
        return True
    return start <= moment and (end == NEVER or moment <= end)
