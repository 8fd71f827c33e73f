"""The engine for what fits in memory: one process, one batch.

All spans are collected, then reconstructed as one batch: a run may be spread over any number of
files, so nothing is whole before the last one is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine import By, Result
from trackway_analyzer.reconstruct import reconstruct
from trackway_analyzer.tables import SPAN_SCHEMA


class LocalEngine:
    """Runs a function over all runs at once, in this process."""

    def map(
        self, spans: Iterable[pa.Table], function: Callable[[RunBatch], Result], *, by: By
    ) -> Iterator[Result]:
        """Collect the spans, reconstruct them and call `function` once."""
        yield function(reconstruct(collect(spans), by=by))


def collect(spans: Iterable[pa.Table]) -> pa.Table:
    """Put span tables into one; no table at all is an empty one."""
    tables = list(spans)
    return pa.concat_tables(tables).unify_dictionaries() if tables else SPAN_SCHEMA.empty_table()
