"""What did the agent do? Spans of any origin to runs and steps, by the rules of trajectories.

1. Spans with one run id are a run; without run ids, those of one trace; by session, those of one
   conversation. A trace without model or tool call and without an agent is no run. (`runs`)
2. The operation decides what a span is, never its name. Model, tool, retrieval and wait spans are
   steps; all others are transparent. (`columns`, `tree`)
3. Several spans of one call are one step: innermost times, fields of all. (`copies`, `merge`)
4. A tool step is joined to the request of its model by call id, else by name, arguments and
   order. A request without an execution and an execution without a request stay, marked.
   (`requests`, `matching`)
5. A call that only the messages tell of becomes a step, marked; results that spans lack come from
   the answers. (`dialogue`, `entries`)
6. Order is cause before effect, then the logical clock, then time. Calls of one model turn are a
   group without order. (`order`, `rank`)
7. Tries of one operation are counted. (`attempts`)
8. Whatever is missing is a named gap. (`gaps`)

Nothing depends on the order of rows, and work grows with the number of spans, however deep or broad
their trees are.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.reconstruct.attempts import with_attempts
from trackway_analyzer.reconstruct.columns import NONE, Ints, SpanColumns
from trackway_analyzer.reconstruct.copies import without_copies
from trackway_analyzer.reconstruct.drafts import drafts_of
from trackway_analyzer.reconstruct.entries import entries_of
from trackway_analyzer.reconstruct.gap_rows import Evidence
from trackway_analyzer.reconstruct.gaps import gaps_of
from trackway_analyzer.reconstruct.merge import calls_of
from trackway_analyzer.reconstruct.messages import Messages
from trackway_analyzer.reconstruct.order import order_of
from trackway_analyzer.reconstruct.paths import paths_of
from trackway_analyzer.reconstruct.rank import Clock, clock_of
from trackway_analyzer.reconstruct.requests import join_requests
from trackway_analyzer.reconstruct.run_rows import runs_table
from trackway_analyzer.reconstruct.run_spans import run_spans_of
from trackway_analyzer.reconstruct.runs import By, runs_of
from trackway_analyzer.reconstruct.steps import steps_table
from trackway_analyzer.reconstruct.tree import Tree, nearest, tree_of

__all__ = ["reconstruct"]


def reconstruct(spans: pa.Table, *, by: By = "trace") -> RunBatch:
    """Return the runs that a span table holds, in order of their starts.

    `spans` has `tables.SPAN_SCHEMA` and holds each of its runs whole, in any order. Raises
    ValueError for another schema.
    """
    if not len(spans):
        return RunBatch.empty()
    with _no_collection():
        return _reconstruct(spans, by)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Many small objects live until the end, none in a cycle: collecting would find nothing."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _reconstruct(spans: pa.Table, by: By) -> RunBatch:
    columns, extra = without_copies(spans)
    tree = tree_of(columns)
    clock = clock_of(columns, tree)
    runs = runs_of(columns, tree, by)
    above = nearest(tree.parent, columns.is_step | columns.is_agent)
    calls = calls_of(columns, runs.of_row, above, clock.rank)
    drafts = drafts_of(columns, tree, runs, calls, clock)
    messages = Messages()
    skewed = np.unique(runs.of_row[clock.skewed])
    joined = join_requests(drafts, skewed, messages)
    entries = entries_of(drafts, joined)
    steps = steps_table(entries, order_of(entries), joined, paths_of(columns, tree))
    steps = with_attempts(steps)
    heads = _heads(columns, tree, clock, runs.of_row)
    own = run_spans_of(drafts, runs.of_row, heads, above, clock.rank, len(runs.ids), messages)
    gaps = gaps_of(Evidence(columns, tree, clock, runs.of_row, extra, steps, own))
    table = runs_table(columns, runs.of_row, runs.ids, heads, clock.rank, steps, own, gaps)
    return RunBatch.of(table, steps)


def _heads(columns: SpanColumns, tree: Tree, clock: Clock, run: Ints) -> Ints:
    """Agent and workflow spans below no other of their run, sorted by run and start."""
    agents = np.flatnonzero(columns.is_agent & (run != NONE))
    above = nearest(tree.parent, columns.is_agent)[agents]
    heads: Ints = agents[(above == NONE) | (run[above] != run[agents])]
    by_start: Ints = heads[np.lexsort((clock.rank[heads], clock.time[heads], run[heads]))]
    return by_start
