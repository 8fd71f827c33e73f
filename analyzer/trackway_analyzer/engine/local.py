"""The engine for one machine: one process, in memory or with what does not fit on disk.

1. Span tables are collected and reconstructed as one batch: a run may be spread over any number of
   tables, so nothing is whole before the last one is read.
2. Files of ours are sorted out of core and reconstructed a part at a time, about `store.SPAN_ROWS`
   spans each; what is connected by runs and traces (or sessions) stays in one part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine import By, Result
from trackway_analyzer.engine.native_files import NativeFiles
from trackway_analyzer.engine.store import store_of
from trackway_analyzer.reconstruct import reconstruct
from trackway_analyzer.tables import SPAN_SCHEMA


class LocalEngine:
    """Runs a function over all runs, in this process."""

    def map(
        self,
        spans: Iterable[pa.Table] | NativeFiles,
        function: Callable[[RunBatch], Result],
        *,
        by: By = "trace",
    ) -> Iterator[Result]:
        """Reconstruct the runs and call `function` on each batch of whole runs."""
        if isinstance(spans, NativeFiles):
            with store_of(spans) as store:
                for part in store.whole(by=by):
                    yield function(reconstruct(part, by=by))
            return
        yield function(reconstruct(collect(spans), by=by))


def collect(spans: Iterable[pa.Table]) -> pa.Table:
    """Put span tables into one; no table at all is an empty one."""
    tables = list(spans)
    return pa.concat_tables(tables).unify_dictionaries() if tables else SPAN_SCHEMA.empty_table()
