"""Raw spans to span batches: the dialect is applied, rows are gathered, tables are cut to size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import pyarrow as pa

from trackway_analyzer.dialects import SpanReader
from trackway_analyzer.read.quarantine import Quarantine, Quarantined, quarantine_table
from trackway_analyzer.spans import RawSpan, SpanRows

BATCH_ROWS: Final = 16_384
BATCH_BYTES: Final = 16 * 1024 * 1024


class SpanBatch(NamedTuple):
    """Spans as they come out of the files, and what was put aside on the way."""

    spans: pa.Table
    """Rows of `tables.SPAN_SCHEMA`, in file order."""
    quarantine: pa.Table
    """Rows of `quarantine.QUARANTINE_SCHEMA`."""


class Gathering:
    """Rows of several files on their way into batches of a bounded size."""

    def __init__(self, reader: SpanReader) -> None:
        self._reader = reader
        self._rows = SpanRows()
        self._aside: list[Quarantined] = []

    def add(self, spans: Iterable[RawSpan], quarantine: Quarantine) -> Iterator[SpanBatch]:
        """Take spans in; return the batches that are full."""
        for span in spans:
            typed, attributes = self._reader(span)
            self._rows.add(span, typed, attributes)
            if len(self._rows) >= BATCH_ROWS or self._rows.bytes >= BATCH_BYTES:
                self._aside += quarantine.take()
                yield self.flush()

    def put_aside(self, quarantine: Quarantine) -> None:
        """Take in what was put aside, at the end of a file."""
        self._aside += quarantine.take()

    @property
    def pending(self) -> bool:
        """Whether a flush would return anything."""
        return bool(len(self._rows) or self._aside)

    def flush(self) -> SpanBatch:
        """Return what was gathered and begin anew."""
        batch = SpanBatch(self._rows.table(), quarantine_table(self._aside))
        self._rows, self._aside = SpanRows(), []
        return batch


def converted(spans: Iterable[RawSpan], reader: SpanReader) -> pa.Table:
    """Return the span table of some spans at once."""
    rows = SpanRows()
    for span in spans:
        typed, attributes = reader(span)
        rows.add(span, typed, attributes)
    return rows.table()
