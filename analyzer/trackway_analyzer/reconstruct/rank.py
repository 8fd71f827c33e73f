"""A total order of rows that depends on what spans say, never on their place in a file.

1. Start first, then depth (a parent before its child), then content. Ids decide only between spans
   that are equal in everything else.
2. Clocks of two machines disagree. A span that starts more than `TOLERANCE` before its parent is
   moved, with everything below it, to its parent's start; that is a clock skew, unless its start
   was not recorded.
3. A span without a start stands where its logical clock puts it among the spans of its trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from trackway_analyzer.reconstruct.columns import NONE, Ints, Mask, SpanColumns
from trackway_analyzer.reconstruct.tree import Tree, depth, summed
from trackway_analyzer.spans import NO_TIME
from trackway_analyzer.tables import SPAN_SCHEMA

IDS: Final = ("trace_id", "span_id", "parent_span_id")
TOLERANCE: Final = 1_000_000
"""ns; clocks with millisecond ticks round a child before its parent."""

_TELLING: Final = ("end", "operation", "name", "tool", "arguments", "agent", "step_index")
_REST: Final = (*(name for name in SPAN_SCHEMA.names if name not in IDS), *IDS)
"""Every column, ids last."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Times and order of all rows."""

    time: Ints
    """Start in ns, moved where clocks disagree."""
    rank: Ints
    """Place of each row in the total order of its trace."""
    skewed: Ints
    """Rows that started before their parent."""


def clock_of(columns: SpanColumns, tree: Tree) -> Clock:
    """Order the rows."""
    time, skewed = _moved(columns, tree)
    time = _with_times_made_up(columns, time)
    names = columns.name_order("trace_id")[columns.trace]
    deep = depth(tree.parent)
    order = np.lexsort((deep, time, names))
    before, after = order[:-1], order[1:]
    tied = (names[before] == names[after]) & (time[before] == time[after])
    tied &= deep[before] == deep[after]
    if tied.any():
        _settle(columns, order, tied)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Clock(time, rank, skewed)


def _settle(columns: SpanColumns, order: Ints, tied: Mask) -> None:
    """Sort each stretch of equal rows by content, in place: by a few columns, then by all."""
    for names in (_TELLING, _REST):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], tied.astype(np.int8), [0]))))
        stretches = list(zip(edges[::2].tolist(), (edges[1::2] + 1).tolist(), strict=True))
        rows = np.concatenate([order[first:last] for first, last in stretches])
        texts = zip(*(columns.values(name, rows) for name in names), strict=True)
        content = dict(zip(rows.tolist(), map(repr, texts), strict=True))
        tied = np.zeros_like(tied)
        for first, last in stretches:
            settled = sorted(order[first:last].tolist(), key=content.__getitem__)
            order[first:last] = settled
            texts_in_order = [content[row] for row in settled]
            tied[first : last - 1] = [a == b for a, b in pairwise(texts_in_order)]
        if not tied.any():
            return


def _moved(columns: SpanColumns, tree: Tree) -> tuple[Ints, Ints]:
    start = columns.start
    rows = np.flatnonzero(tree.parent != NONE)
    early = start[tree.parent[rows]] - start[rows]
    skewed = rows[early > TOLERANCE]
    if not len(skewed):
        return start, skewed
    move = np.zeros(len(columns), dtype=np.int64)
    move[skewed] = start[tree.parent[skewed]] - start[skewed]
    return start + summed(tree.parent, move), skewed[start[skewed] != NO_TIME]


def _with_times_made_up(columns: SpanColumns, time: Ints) -> Ints:
    """Put spans without a start behind those that their trace's logical clock puts before them."""
    index = columns.ints("step_index")
    rows = np.flatnonzero(index != NONE)
    if not (columns.start[rows] == NO_TIME).any():
        return time
    rows = rows[np.lexsort((index[rows], columns.trace[rows]))]
    distinct, place = np.unique(time[rows], return_inverse=True)
    base = columns.trace[rows] * (len(distinct) + 1)
    so_far = distinct[np.maximum.accumulate(place + base) - base]
    untimed = columns.start[rows] == NO_TIME
    time = time.copy()
    time[rows[untimed]] = so_far[untimed] + index[rows[untimed]]
    return time
