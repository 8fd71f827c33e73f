"""Who is below whom? Parents, cycles and nearest ancestors, for all rows at once.

1. A parent is the span with that id in the same trace. One that is not in the table is missing: the
   span stays, as an orphan.
2. A cycle (a self-parent included) is cut above its earliest span, which becomes a root.
3. Ancestors are found by doubling: each round looks twice as far up, so a chain of a million spans
   takes twenty rounds, and nothing recurses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.reconstruct.columns import NONE, Ints, Mask, SpanColumns


@dataclass(frozen=True, slots=True)
class Tree:
    """Parents of all rows, free of cycles."""

    parent: Ints
    """Row of the parent; `NONE` on a root and an orphan."""
    orphan: Mask
    """Where the parent is named and not in the table."""
    cut: Ints
    """Rows whose parent was taken away because they were their own ancestors."""


def tree_of(columns: SpanColumns) -> Tree:
    """Find the parent of each row."""
    trace, span, parent = (
        columns.array(name) for name in ("trace_id", "span_id", "parent_span_id")
    )
    own = pc.binary_join_element_wise(trace, span, "/")
    named = pc.binary_join_element_wise(trace, parent, "/")
    found = pc.index_in(named, value_set=own)
    rows: Ints = found.cast(pa.int64()).fill_null(NONE).to_numpy(zero_copy_only=False)
    orphan = columns.recorded("parent_span_id") & (rows == NONE)
    cut = _cycle_heads(rows, columns)
    if len(cut):
        rows = rows.copy()
        rows[cut] = NONE
    return Tree(rows, orphan, cut)


def _cycle_heads(parent: Ints, columns: SpanColumns) -> Ints:
    """Return the earliest row of each cycle."""
    reach = parent.copy()
    rows = np.flatnonzero(reach != NONE)
    for _ in range(len(parent).bit_length() + 1):
        if not len(rows):
            return np.empty(0, dtype=np.int64)
        # The right side is read before the left is written: each round doubles the distance.
        reach[rows] = reach[reach[rows]]
        rows = rows[reach[rows] != NONE]
    waiting = set(np.unique(reach[rows]).tolist())
    heads = []
    while waiting:
        ring = [waiting.pop()]
        while (above := int(parent[ring[-1]])) in waiting:
            waiting.remove(above)
            ring.append(above)
        starts, ids = columns.start[ring].tolist(), columns.values("span_id", ring)
        heads.append(min(zip(starts, ids, ring, strict=True))[2])
    return np.array(sorted(heads), dtype=np.int64)


def nearest(parent: Ints, marked: Mask) -> Ints:
    """Return for each row its nearest marked ancestor, itself excluded; `NONE` without one."""
    above = parent.copy()
    rows = np.flatnonzero(above != NONE)
    rows = rows[~marked[above[rows]]]
    while len(rows):
        above[rows] = above[above[rows]]
        rows = rows[above[rows] != NONE]
        rows = rows[~marked[above[rows]]]
    return above


def topmost(parent: Ints) -> Ints:
    """Return the root above each row; a root is its own."""
    top = np.where(parent == NONE, np.arange(len(parent)), parent)
    while True:
        further = top[top]
        if np.array_equal(further, top):
            return top
        top = further


def depth(parent: Ints) -> Ints:
    """Return how many ancestors each row has."""
    return summed(parent, parent != NONE)


def summed(parent: Ints, values: Ints | Mask) -> Ints:
    """Return for each row the sum of its own value and those of its ancestors."""
    above, total = parent.copy(), values.astype(np.int64)
    rows = np.flatnonzero(above != NONE)
    while len(rows):
        at = above[rows]
        total[rows] += total[at]
        above[rows] = above[at]
        rows = rows[above[rows] != NONE]
    return total
