"""Steps on their way: one entry a call, in the order of their times, as arrays.

1. Entries are sorted by run and time; an entry's number is its place. Reading the messages may add
   entries that have no span (`row` is `NONE`).
2. `inside` is the step that a step runs in (a tool of a sub-agent inside the tool that started it),
   `scope` the agent span around it. Wrapper spans leave no trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from trackway_analyzer.reconstruct.columns import NONE, Ints, Mask, SpanColumns
from trackway_analyzer.reconstruct.merge import Calls
from trackway_analyzer.reconstruct.rank import Clock
from trackway_analyzer.reconstruct.runs import Runs
from trackway_analyzer.reconstruct.tree import Tree, nearest


@dataclass(frozen=True, slots=True)
class Drafts:
    """The calls of all runs, sorted by run and time."""

    row: Ints
    run: Ints
    operation: Ints
    time: Ints
    rank: Ints
    inside: Ints
    scope: Ints
    outside: Mask
    calls: Calls
    columns: SpanColumns
    run_of_row: Ints
    of_row: Ints
    """Entry of each row that is a call or was merged into one; one longer than the rows."""

    def __len__(self) -> int:
        return len(self.row)

    def texts(self, name: str, entries: Ints) -> pa.Array:
        """Return a text column for these entries, as an array."""
        if self.calls.layers:
            return pa.array(self.values(name, entries), pa.string())
        taken = self.columns.array(name).take(pa.array(self.row[entries], pa.int64()))
        return taken.dictionary_decode() if pa.types.is_dictionary(taken.type) else taken

    def values(self, name: str, entries: Iterable[int] | Ints) -> list[Any]:
        """Return a span column for these entries, the innermost span's value first."""
        wanted = np.asarray(entries if isinstance(entries, np.ndarray) else list(entries), np.int64)
        values = self.columns.values(name, self.row[wanted])
        layers = self.calls.layers
        if layers:
            for place, row in enumerate(self.row[wanted].tolist()):
                if values[place] is None and row in layers:
                    outer = self.columns.values(name, layers[row])
                    values[place] = next((value for value in outer if value is not None), None)
        return values


def drafts_of(columns: SpanColumns, tree: Tree, runs: Runs, calls: Calls, clock: Clock) -> Drafts:
    """Put the calls in the order of their times."""
    rows = calls.rows
    rows = rows[np.lexsort((clock.rank[rows], clock.time[rows], runs.of_row[rows]))]
    entry = np.full(len(columns) + 1, NONE)
    entry[rows] = np.arange(len(rows))
    for row, inner in calls.absorbed.items():
        entry[row] = entry[inner] if inner != NONE else NONE
    kept = np.zeros(len(columns), dtype=bool)
    kept[rows] = True
    inside = entry[nearest(tree.parent, kept)[rows]]
    inside[(inside != NONE) & (runs.of_row[rows] != runs.of_row[rows[inside]])] = NONE
    return Drafts(
        row=rows,
        run=runs.of_row[rows],
        operation=columns.operation[rows],
        time=clock.time[rows],
        rank=clock.rank[rows],
        inside=inside,
        scope=nearest(tree.parent, columns.is_agent)[rows],
        outside=runs.outside[rows],
        calls=calls,
        columns=columns,
        run_of_row=runs.of_row,
        of_row=entry,
    )
