"""From columns to Arrow, and from Arrow to the order and partitions of the files.

1. A batch in memory or in the spool has those columns of the span table that have a value. A file
   has all of them, but for `service`: as Hive readers expect, the folder's name holds it (and the
   footer, and `service.name` in `resource`).
2. Rows of a file are sorted by run (the trace, where nobody named a run) and start.
3. Rows are parted by date and service. The date is that of the run's first span in the table, so
   that a run that crosses midnight stays together.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
from opentelemetry.sdk.trace import ReadableSpan

from trackway import schema
from trackway.export.rows import Columns, Rows, rows_of

SCHEMA: Final[pa.Schema] = schema.arrow_schema(pa)
FILE_SCHEMA: Final[pa.Schema] = SCHEMA.remove(SCHEMA.get_field_index("service"))
WRITER_VERSION: Final = version("trackway")
_BATCH_FIELDS: Final = {field.name: field.remove_metadata() for field in SCHEMA}
_NEEDED: Final = {"trace_id", "span_id", "start"}
_ZEROS: Final = pa.array([0] * 4096, pa.int32())
_LARGE_PART: Final = 16_384
_NO_SERVICE: Final = "unknown_service"
"""As OpenTelemetry calls it; pandas reads no folder in which some services are null."""


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one file."""

    partition: str
    """date=YYYY-MM-DD/service=NAME, the name percent-encoded."""
    service: str
    rows: pa.Table


def batch_of(spans: Sequence[ReadableSpan]) -> tuple[pa.RecordBatch, Rows]:
    """Build the Arrow batch of ended spans: the columns that have a value."""
    rows = rows_of(spans)
    try:
        return _batch(rows.columns), rows
    except (UnicodeEncodeError, OverflowError, pa.ArrowInvalid, pa.ArrowTypeError):
        rows = rows_of(spans, careful=True)
        return _batch(rows.columns), rows


def _batch(columns: Columns) -> pa.RecordBatch:
    present = [field for name, field in _BATCH_FIELDS.items() if name in columns]
    arrays = [_array(columns[field.name], field.type) for field in present]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(present))


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    only = values[0]
    if not pa.types.is_dictionary(kind) or only is None or values.count(only) < len(values):
        return pa.array(values, kind)
    first = _ZEROS if len(values) <= len(_ZEROS) else pa.array([0] * len(values), kind.index_type)
    entry = pa.array([only], kind.value_type)
    return pa.DictionaryArray.from_arrays(first.slice(0, len(values)), entry)


class _Parts(io.RawIOBase):
    """Keeps what is written to it: large buffers as they are, small ones put together."""

    def __init__(self) -> None:
        self.parts: list[bytearray | memoryview] = [bytearray()]
        self._size = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, written: Any) -> int:
        part, last = memoryview(written), self.parts[-1]
        if len(part) >= _LARGE_PART:
            self.parts += (part, bytearray())
        elif isinstance(last, bytearray):
            last += part
        self._size += len(part)
        return len(part)


def frame_of(batch: pa.RecordBatch) -> list[bytearray | memoryview]:
    """Encode a batch as an uncompressed Arrow IPC stream, which names its own columns.

    Returns its parts, one after another: the memory of the columns themselves, not a copy.
    """
    sink = _Parts()
    with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), batch.schema) as writer:
        writer.write_batch(batch)
    return sink.parts


def from_bytes(payload: bytes) -> list[pa.RecordBatch]:
    """Decode what `frame_of` encoded, by this version or an older one, less batches without rows.

    Raises `ValueError` for anything else.
    """
    try:
        with pa.ipc.open_stream(payload) as reader:
            batches = [batch for batch in reader if batch.num_rows]
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"a frame is no Arrow stream ({error})") from error
    for batch in batches:
        _check(batch)
    return batches


def _check(batch: pa.RecordBatch) -> None:
    """Raise `ValueError` unless the rows can stand in a table with those of this version."""
    names = set(batch.schema.names)
    if not (names <= _BATCH_FIELDS.keys() and names >= _NEEDED):
        raise ValueError(f"a frame has other columns than spans: {', '.join(sorted(names))}")
    try:
        _coded(pa.Table.from_batches([batch]))
    except pa.ArrowException as error:
        raise ValueError(f"a frame has columns of another type ({error})") from error
    if batch["start"].null_count:
        raise ValueError("a frame has spans without a start")


def table_of(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Join batches, one at least, into a table of the columns that one of them has."""
    return _joined(pa.Table.from_batches([batch]) for batch in batches)


def parts_of(table: pa.Table) -> Iterator[Part]:
    """Cut a table into the files that it becomes, each sorted."""
    run = _runs(table)
    places = pa.table({"date": _dates(table["start"], run), "service": _services(table)})
    if pc.count_distinct(places["date"], mode="all").as_py() > 1 or (
        pc.count_distinct(places["service"], mode="all").as_py() > 1
    ):
        order = pc.sort_indices(places, sort_keys=[("date", "ascending"), ("service", "ascending")])
        table, places, run = table.take(order), places.take(order), run.take(order)
        stretches = list(_stretches(places))
    else:
        stretches = [(0, table.num_rows)]
    for start, length in stretches:
        date, service = (places[name][start].as_py() for name in ("date", "service"))
        name = quote(service, safe="")
        rows = _sorted(table.slice(start, length), run.slice(start, length))
        yield Part(f"date={date}/service={name}", service, rows)


def merged(files: Iterable[pa.Table]) -> pa.Table:
    """Join the rows of several files of one partition, sorted as one file."""
    table = _joined(files)
    return _sorted(table, _runs(table))


def with_footer(rows: pa.Table, service: str | None, **more: str) -> pa.Table:
    """Return the rows of a file with what it says about itself in its metadata."""
    said = {
        "trackway.schema.version": schema.SCHEMA_VERSION,
        "trackway.writer.version": WRITER_VERSION,
        "trackway.spans": str(rows.num_rows),
        "trackway.runs": str(pc.count_distinct(_runs(rows)).as_py()),
        "trackway.order": "run,start",
        **more,
    }
    if service is not None:
        said["trackway.service"] = service
    return rows.replace_schema_metadata(said)


def _joined(tables: Iterable[pa.Table]) -> pa.Table:
    return pa.concat_tables(map(_coded, tables), promote_options="default")


def _coded(table: pa.Table) -> pa.Table:
    """Return a table whose repeating names are dictionaries: an older version wrote texts."""
    if all(field.type == _BATCH_FIELDS[field.name].type for field in table.schema):
        return table
    return table.cast(pa.schema([_BATCH_FIELDS[name] for name in table.column_names]))


def _sorted(table: pa.Table, run: pa.ChunkedArray) -> pa.Table:
    """Return the rows in the order and with the columns of a file."""
    keys = pa.table({"run": run, "start": table["start"]})
    order = pc.sort_indices(keys, sort_keys=[("run", "ascending"), ("start", "ascending")])
    rows = table.take(order)
    arrays = [
        _whole(rows[field.name])
        if field.name in rows.column_names
        else pa.nulls(rows.num_rows, field.type)
        for field in FILE_SCHEMA
    ]
    return pa.table(arrays, schema=FILE_SCHEMA)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece, and copy it only where it is none."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _runs(table: pa.Table) -> pa.ChunkedArray:
    """Return whose rows stand together: the run, or the trace where nobody named a run."""
    if "run_id" not in table.column_names:
        return table["trace_id"]
    return pc.coalesce(table["run_id"], table["trace_id"])


def _services(table: pa.Table) -> pa.ChunkedArray:
    if "service" not in table.column_names:
        return pa.chunked_array([pa.repeat(_NO_SERVICE, table.num_rows)])
    services = table["service"].cast(pa.string())
    if services.null_count == 0 and not pc.any(pc.equal(services, "")).as_py():
        return services
    return pc.if_else(pc.equal(pc.fill_null(services, ""), ""), _NO_SERVICE, services)


def _dates(start: pa.ChunkedArray, run: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return each row's partition date: that of its run's first span."""
    # As text: pyarrow needs pandas to give nanoseconds as a Python value, and we do not ask for it.
    ends = (pc.strftime(end(start), format="%Y-%m-%d") for end in (pc.min, pc.max))
    days = [day.as_py() for day in ends]
    if days[0] == days[1]:
        return pa.chunked_array([pa.repeat(days[0], len(start))])
    first = (
        pa.table({"run": run, "start": start})
        .group_by("run", use_threads=False)
        .aggregate([("start", "min")])
    )
    row = pc.index_in(run, first["run"])
    return pc.strftime(first["start_min"].take(row), format="%Y-%m-%d")


def _stretches(keys: pa.Table) -> Iterator[tuple[int, int]]:
    """Yield (first row, rows) of each stretch of equal keys in a sorted table."""
    texts = [pc.fill_null(column, "\0") for column in keys.columns]
    joined = pc.binary_join_element_wise(*texts, "\0").combine_chunks()
    start = 0
    for end in pc.run_end_encode(joined).run_ends.to_pylist():
        yield start, end - start
        start = end
