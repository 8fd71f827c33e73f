"""Reading: from whatever a person has to span tables, as a stream.

1. `read` takes a file, a folder, a pattern, a list of these, `-`, an Arrow table or a data frame,
   or finished OpenTelemetry spans, and returns batches of the span table with what was put aside.
2. The format of a file is told by its content, each span's dialect by its keys; both can be forced.
3. Memory is bounded by a batch and by the longest document, whatever the size of the files.
4. A broken line, span or value costs itself (`quarantine`); `strict` raises instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from trackway_analyzer.dialects import SpanReader, span_reader
from trackway_analyzer.read import detect
from trackway_analyzer.read.byte_stream import ByteStream
from trackway_analyzer.read.json_documents import documents
from trackway_analyzer.read.memory import is_live_span, live_spans
from trackway_analyzer.read.otlp_json import log_events, resource_groups, spans_of
from trackway_analyzer.read.parquet import ForeignTableError, parquet_tables, span_table
from trackway_analyzer.read.quarantine import (
    QUARANTINE_SCHEMA,
    Quarantine,
    Quarantined,
    QuarantineError,
    Reason,
    quarantine_table,
)
from trackway_analyzer.read.source import STDIN, SourceError, files
from trackway_analyzer.read.span_rows import Gathering, SpanBatch, converted


def read(
    source: Any, *, format: str | None = None, dialect: str | None = None, strict: bool = False
) -> Iterator[SpanBatch]:
    """Return the spans of a source, batch by batch.

    `format` is one of `detect.FORMATS`, `dialect` the name of one of `dialects.KNOWN`; None:
    detected. Raises SourceError, ValueError for an unknown name, QuarantineError in strict mode.
    """
    reader = span_reader(dialect)
    forced = None if format is None else detect.checked(format)
    table = _as_table(source)
    if table is not None:
        return iter([SpanBatch(span_table(table, reader), quarantine_table())])
    if isinstance(source, Sequence) and source and is_live_span(source[0]):
        return iter([SpanBatch(converted(live_spans(source), reader), quarantine_table())])
    return _read_files(list(files(source)), reader, forced, strict=strict)


def _as_table(source: Any) -> pa.Table | None:
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if hasattr(source, "to_arrow"):
        return source.to_arrow()
    if hasattr(source, "columns") and hasattr(source, "to_parquet"):
        return pa.Table.from_pandas(source, preserve_index=False)
    return None


def _read_files(
    paths: list[str], reader: SpanReader, forced: str | None, *, strict: bool
) -> Iterator[SpanBatch]:
    gathering = Gathering(reader)
    for path in paths:
        quarantine = Quarantine(path, strict=strict)
        try:
            if (forced or _format_of(path)) == "parquet":
                for table in _parquet(path, reader, quarantine):
                    yield SpanBatch(table, quarantine_table())
            else:
                yield from _json(path, gathering, quarantine)
        except OSError as error:
            quarantine.add(Reason.UNREADABLE, str(error))
        gathering.put_aside(quarantine)
    if gathering.pending:
        yield gathering.flush()


def _format_of(path: str) -> str:
    if path == STDIN:
        return "otlp-json"
    with open(path, "rb") as file:
        return detect.format_of(file.read(16))


def _parquet(path: str, reader: SpanReader, quarantine: Quarantine) -> Iterator[pa.Table]:
    try:
        yield from parquet_tables(path, reader)
    except ForeignTableError as error:
        quarantine.add(Reason.NOT_A_TRACE, str(error))
    except pa.ArrowException as error:
        quarantine.add(Reason.UNREADABLE, f"no readable Parquet: {error}")


def _json(path: str, gathering: Gathering, quarantine: Quarantine) -> Iterator[SpanBatch]:
    stream = ByteStream(path)
    try:
        for offset, document in documents(stream, quarantine):
            groups = resource_groups(document)
            if groups is not None:
                logs = log_events(document)
                yield from gathering.add(spans_of(groups, quarantine, offset, logs), quarantine)
            else:
                quarantine.add(Reason.NOT_A_TRACE, _foreign(document), offset)
    finally:
        stream.close()


def _foreign(document: Any) -> str:
    if isinstance(document, dict):
        keys = ", ".join(sorted(map(str, document))[:6])
        return f"JSON without resourceSpans; its keys are {keys or 'none'}"
    return f"JSON without resourceSpans; it is a {type(document).__name__}"


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
