"""Which run does a span belong to?

1. Spans with a run id are of that run. A span without one joins the run of its nearest ancestor
   that has one, else the only run of its trace.
2. Without run ids, a trace is a run. Several root agents in it are several runs, named
   `trace_id/span_id of the root`. A root agent is the topmost span above an agent that an agent's
   instrumentor wrote: what one instrumentor put under one span is one execution. Where a parent is
   missing above one of them, the trace stays whole: a hole must not split a run.
3. By session, all traces of one session id are one run, named after it. A span without the id joins
   the session of its nearest ancestor, else the only session of its trace.
4. No run without activity: there must be a model or tool call, an agent or workflow span, or a run
   id. An instrumentor's `create_agent` trace is no run; an agent that died before its first call
   is.
5. A model call beside the agents of a trace, below none of them, is somebody else's (a judge, a
   simulated user): it is `outside`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Literal, TypeAlias

import numpy as np

from trackway_analyzer.reconstruct.columns import LLM, NONE, TOOL, Ints, Mask, SpanColumns
from trackway_analyzer.reconstruct.tree import Tree, nearest, topmost

By: TypeAlias = Literal["trace", "session"]


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a span table, in order of their starts."""

    of_row: Ints
    """Run of each row; `NONE` for a span of no run."""
    ids: list[str]
    outside: Mask
    """Rows below no agent in a trace that has agents."""


def runs_of(columns: SpanColumns, tree: Tree, by: By) -> Runs:
    """Tell the run of each row."""
    claims = _Claims(len(columns))
    outside = np.zeros(len(columns), dtype=bool)
    for name in ("session_id", "run_id") if by == "session" else ("run_id",):
        claims.take(_joined(columns, tree, name), partial(columns.name_of, name))
    if by == "session" or claims.unclaimed.any():
        units = _units(columns, tree)
        outside = units.outside & (claims.unclaimed | (by == "session"))
        claims.take(np.where(units.split, units.top, NONE), partial(_root_name, columns))
    claims.take(columns.trace, partial(columns.name_of, "trace_id"))
    return _numbered(columns, claims, outside)


class _Claims:
    """Keys of rows: the first who names a row keeps it."""

    def __init__(self, rows: int) -> None:
        self.key = np.full(rows, NONE)
        self._size = 0
        self._named: list[tuple[int, Callable[[int], str]]] = []

    @property
    def unclaimed(self) -> Mask:
        free: Mask = self.key == NONE
        return free

    def take(self, codes: Ints, name: Callable[[int], str]) -> None:
        """Claim the free rows that have a code; `name` gives a code's run id."""
        free = self.unclaimed & (codes != NONE)
        self.key[free] = codes[free] + self._size
        self._named.append((self._size, name))
        self._size += int(codes.max(initial=NONE)) + 1

    def id_of(self, key: int) -> str:
        """Return the run id behind a key."""
        base, name = self._named[bisect_right(self._named, key, key=itemgetter(0)) - 1]
        return name(key - base)


def _joined(columns: SpanColumns, tree: Tree, name: str) -> Ints:
    """Return codes of an id column, spread to rows that lack it: from above, else by trace."""
    own = columns.codes(name)
    if not (own == NONE).any() or not (own != NONE).any():
        return own
    own = own.copy()
    above = nearest(tree.parent, own != NONE)
    bare = np.flatnonzero((own == NONE) & (above != NONE))
    own[bare] = own[above[bare]]
    count = int(columns.trace.max()) + 1
    low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, NONE)
    has = own != NONE
    np.minimum.at(low, columns.trace[has], own[has])
    np.maximum.at(high, columns.trace[has], own[has])
    only = low[columns.trace] == high[columns.trace]
    bare = np.flatnonzero(~has & only)
    own[bare] = high[columns.trace[bare]]
    return own


@dataclass(frozen=True, slots=True)
class _Units:
    top: Ints
    """Root agent above each row; `NONE` outside."""
    split: Mask
    """Rows below one of several root agents of a whole trace."""
    outside: Mask


def _units(columns: SpanColumns, tree: Tree) -> _Units:
    agents = columns.is_agent
    scope = columns.codes("scope")
    pair = columns.trace * (int(scope.max(initial=0)) + 2) + scope
    of_instrumentor = agents | ((scope != NONE) & np.isin(pair, np.unique(pair[agents])))
    above = nearest(tree.parent, of_instrumentor)
    chain = np.where(of_instrumentor, above, NONE)
    top_of = topmost(chain)
    first = np.where(of_instrumentor, np.arange(len(columns)), above)
    top = np.where(first == NONE, NONE, top_of[first])
    roots = np.unique(top[agents])
    top = np.where(np.isin(top, roots), top, NONE)
    count = int(columns.trace.max(initial=NONE)) + 1
    tops_in = np.bincount(columns.trace[roots], minlength=count)
    base = topmost(tree.parent)
    holed = np.bincount(columns.trace[roots[tree.orphan[base[roots]]]], minlength=count) > 0
    several = (tops_in > 1) & ~holed
    outside = (top == NONE) & (tops_in > 0)[columns.trace] & ~tree.orphan[base]
    return _Units(top, (top != NONE) & several[columns.trace], outside)


def _root_name(columns: SpanColumns, row: int) -> str:
    trace, span = columns.values("trace_id", [row]), columns.values("span_id", [row])
    return f"{trace[0]}/{span[0]}"


def _numbered(columns: SpanColumns, claims: _Claims, outside: Mask) -> Runs:
    """Number the runs by their first start and drop those without activity."""
    keys, dense = np.unique(claims.key, return_inverse=True)
    operation = columns.operation
    alive = np.zeros(len(keys), dtype=bool)
    alive[dense[(operation == LLM) | (operation == TOOL) | columns.is_agent]] = True
    alive[dense[columns.recorded("run_id")]] = True
    start = np.full(len(keys), np.iinfo(np.int64).max)
    np.minimum.at(start, dense, columns.start)
    kept = np.flatnonzero(alive)
    ids = [claims.id_of(key) for key in keys[kept].tolist()]
    order = sorted(range(len(kept)), key=lambda place: (start[kept[place]], ids[place]))
    number = np.full(len(keys), NONE)
    number[kept[order]] = np.arange(len(kept))
    return Runs(number[dense], [ids[place] for place in order], outside)
