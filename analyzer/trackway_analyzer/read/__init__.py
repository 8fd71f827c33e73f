"""Reading: from whatever a person has to span tables, as a stream.

1. `read` takes a file, a folder, a pattern, a list of these, `-`, an open file, bytes, a decoded
   document, a list of such (of messages, too), an Arrow table or a data frame, or finished
   OpenTelemetry spans, and returns batches of the span table with what was put aside.
2. The format of a file is told by its content, each span's dialect by its keys; both can be forced.
3. Memory is bounded by a batch and by the longest document, whatever the size of the files.
4. A broken line, span or value costs itself (`quarantine`); `strict` raises instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trackway_analyzer.dialects import span_reader
from trackway_analyzer.read import detect
from trackway_analyzer.read.in_memory import content_of, table_of
from trackway_analyzer.read.memory import is_live_span, live_spans
from trackway_analyzer.read.parquet import any_table
from trackway_analyzer.read.quarantine import (
    QUARANTINE_SCHEMA,
    Quarantine,
    Quarantined,
    QuarantineError,
    Reason,
    quarantine_table,
)
from trackway_analyzer.read.source import Listing, SourceError, TraceFile, listing
from trackway_analyzer.read.span_rows import SpanBatch, converted
from trackway_analyzer.read.trace_files import read_files


def read(
    source: Any, *, format: str | None = None, dialect: str | None = None, strict: bool = False
) -> Iterator[SpanBatch]:
    """Return the spans of a source, batch by batch.

    `format` is one of `detect.Format`, `dialect` the name of one of `dialects.KNOWN`; None:
    detected. Raises SourceError, ValueError for an unknown name, QuarantineError in strict mode.
    """
    reader = span_reader(dialect)
    forced = None if format is None else detect.named(format)
    table = table_of(source)
    if table is not None:
        quarantine = Quarantine(type(source).__name__, strict=strict)
        spans = any_table(table, reader, forced, quarantine)
        return iter([SpanBatch(spans, quarantine_table(quarantine.take()))])
    if isinstance(source, Sequence) and source and is_live_span(source[0]):
        return iter([SpanBatch(converted(live_spans(source), reader), quarantine_table())])
    content = content_of(source)
    if content is not None:
        name = type(source).__name__
        inside = Listing((TraceFile(name, name, content=content),), ())
        return read_files(inside, reader, forced, strict=strict)
    return read_files(listing(source), reader, forced, strict=strict)


__all__ = [
    "QUARANTINE_SCHEMA",
    "Quarantine",
    "QuarantineError",
    "Quarantined",
    "Reason",
    "SourceError",
    "SpanBatch",
    "quarantine_table",
    "read",
]
