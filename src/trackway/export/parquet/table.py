"""From columns to Arrow, and from Arrow to the order and partitions of the files.

1. A batch in memory or in the spool has the span table's columns in plain types; a file has the
   schema of `schema.arrow_schema`, dictionaries included, but for `service`: as Hive readers
   expect, the folder's name holds it (and the footer, and `service.name` in `resource`).
2. Rows of a file are sorted by run (the trace, where nobody named a run) and start.
3. Rows are parted by date and service. The date is that of the run's first span in the table, so
   that a run that crosses midnight stays together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
from opentelemetry.sdk.trace import ReadableSpan

from trackway import schema
from trackway.export.rows import Columns, Rows, rows_of

_FULL_SCHEMA: Final[pa.Schema] = schema.arrow_schema(pa)
_PLAIN_TYPES: Final = [
    pa.string() if pa.types.is_dictionary(field.type) else field.type for field in _FULL_SCHEMA
]
PLAIN_SCHEMA: Final[pa.Schema] = pa.schema(list(zip(_FULL_SCHEMA.names, _PLAIN_TYPES, strict=True)))
FILE_SCHEMA: Final[pa.Schema] = _FULL_SCHEMA.remove(_FULL_SCHEMA.get_field_index("service"))
WRITER_VERSION: Final = version("trackway")
_EMPTY: Final = PLAIN_SCHEMA.empty_table().drop_columns(["service"])
_NO_SERVICE: Final = "__HIVE_DEFAULT_PARTITION__"
_RUN: Final = "__run"
_DATE: Final = "__date"


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one file."""

    partition: str
    """date=YYYY-MM-DD/service=NAME, the name percent-encoded."""
    service: str | None
    rows: pa.Table


def batch_of(spans: Sequence[ReadableSpan]) -> tuple[pa.RecordBatch, Rows]:
    """Build the Arrow batch of ended spans: the columns that have a value, in plain types."""
    rows = rows_of(spans)
    try:
        return _batch(rows.columns), rows
    except (UnicodeEncodeError, OverflowError, pa.ArrowInvalid):
        rows = rows_of(spans, careful=True)
        return _batch(rows.columns), rows


def _batch(columns: Columns) -> pa.RecordBatch:
    present = [field for field in PLAIN_SCHEMA if field.name in columns]
    arrays = [pa.array(columns[field.name], field.type) for field in present]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(present))


def table_of(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """Join batches into one table with every column of `PLAIN_SCHEMA`."""
    tables = [PLAIN_SCHEMA.empty_table(), *(pa.Table.from_batches([batch]) for batch in batches)]
    return pa.concat_tables(tables, promote_options="default").select(PLAIN_SCHEMA.names)


def to_bytes(batch: pa.RecordBatch) -> memoryview:
    """Encode a batch as an uncompressed Arrow IPC stream, which names its own columns."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return memoryview(sink.getvalue())


def from_bytes(payload: bytes) -> list[pa.RecordBatch]:
    """Decode what `to_bytes` encoded, by this version or an older one."""
    with pa.ipc.open_stream(payload) as reader:
        return list(reader)


def parts_of(table: pa.Table) -> Iterator[Part]:
    """Cut a table in `PLAIN_SCHEMA` into the files that it becomes, each sorted."""
    run = pc.coalesce(table["run_id"], table["trace_id"])
    table = table.append_column(_RUN, run).append_column(_DATE, _dates(table["start"], run))
    order = [(key, "ascending") for key in (_DATE, "service", _RUN, "start")]
    table = table.take(pc.sort_indices(table, sort_keys=order))
    keys = table.select([_DATE, "service"]).combine_chunks()
    for start, length in _stretches(keys):
        first = keys.slice(start, 1).to_pylist()[0]
        service = first["service"]
        name = _NO_SERVICE if service is None else quote(service, safe="")
        rows = _as_file(table.slice(start, length))
        yield Part(f"date={first[_DATE]}/service={name}", service, rows)


def with_footer(rows: pa.Table, service: str | None, **more: str) -> pa.Table:
    """Return the rows of a file with what it says about itself in its metadata."""
    runs = pc.count_distinct(pc.coalesce(rows["run_id"], rows["trace_id"])).as_py()
    said = {
        "trackway.schema.version": schema.SCHEMA_VERSION,
        "trackway.writer.version": WRITER_VERSION,
        "trackway.spans": str(rows.num_rows),
        "trackway.runs": str(runs),
        "trackway.order": "run,start",
        **more,
    }
    if service is not None:
        said["trackway.service"] = service
    return rows.replace_schema_metadata(said)


def merged(files: Iterable[pa.Table]) -> pa.Table:
    """Join the rows of several files of one partition, sorted as one file."""
    plain = [table.cast(_without_dictionaries(table.schema)) for table in files]
    table = pa.concat_tables([_EMPTY, *plain], promote_options="default")
    run = pc.coalesce(table["run_id"], table["trace_id"])
    keys = pa.table({_RUN: run, "start": table["start"]})
    order = pc.sort_indices(keys, sort_keys=[(_RUN, "ascending"), ("start", "ascending")])
    return _as_file(table.take(order))


def _without_dictionaries(schema: pa.Schema) -> pa.Schema:
    return pa.schema(
        [
            field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field
            for field in schema
        ]
    )


def _as_file(rows: pa.Table) -> pa.Table:
    arrays = [
        rows[field.name].combine_chunks().dictionary_encode()
        if pa.types.is_dictionary(field.type)
        else rows[field.name]
        for field in FILE_SCHEMA
    ]
    return pa.table(arrays, schema=FILE_SCHEMA)


def _dates(start: pa.ChunkedArray, run: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return each row's partition date: that of its run's first span."""
    # As text: pyarrow needs pandas to give nanoseconds as a Python value, and we do not ask for it.
    ends = (pc.strftime(end(start), format="%Y-%m-%d") for end in (pc.min, pc.max))
    days = [day.as_py() for day in ends]
    if days[0] == days[1]:
        return pa.chunked_array([pa.repeat(days[0], len(start))])
    first = (
        pa.table({_RUN: run, "start": start})
        .group_by(_RUN, use_threads=False)
        .aggregate([("start", "min")])
    )
    row = pc.index_in(run, first[_RUN])
    return pc.strftime(first["start_min"].take(row), format="%Y-%m-%d")


def _stretches(keys: pa.Table) -> Iterator[tuple[int, int]]:
    """Yield (first row, rows) of each stretch of equal keys in a sorted table."""
    texts = [pc.fill_null(column, "\0") for column in keys.columns]
    joined = pc.binary_join_element_wise(*texts, "\0").combine_chunks()
    start = 0
    for end in pc.run_end_encode(joined).run_ends.to_pylist():
        yield start, end - start
        start = end
