"""Span tables that come as Arrow: Parquet files, data frames, Arrow tables.

1. Columns are taken by name; one that is missing (an older schema) is null, one that is not known
   is left out. The service of a partitioned file stands in its footer. Without ids, name and
   start it is no span table, and is refused with what it has; a row without them is put aside.
2. Rows whose `source` is set were read by a dialect before: they pass through as they are.
3. Tables of other stores are told by their columns (`formats`) and become raw spans.
4. Rows whose `source` is null are raw: they become raw spans again, attributes put back from their
   columns, and a dialect reads them.
5. A converted file tells what could not be read of its source, in the footer and in a row, which
   a frame has too: that is put aside again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import SPAN_COLUMNS, content_attributes
from trackway_analyzer.dialects import SpanReader
from trackway_analyzer.json_text import parsed
from trackway_analyzer.read.carried import adopt_footer, without_unread_rows
from trackway_analyzer.read.detect import Format
from trackway_analyzer.read.formats import table_format
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.span_rows import converted
from trackway_analyzer.read.unread_forms import unread_columns
from trackway_analyzer.spans import CARRIED, Attributes, Origin, RawEvent, RawLink, RawSpan
from trackway_analyzer.tables import SPAN_SCHEMA

REQUIRED: Final = ("trace_id", "span_id", "name", "start")
ROWS: Final = 65_536
FOREIGN_ROWS: Final = 4096
_SERVICE: Final = b"trackway.service"


class ForeignTableError(ValueError):
    """A table that is no span table; `unread` says what it may hold all the same."""

    def __init__(self, message: str, unread: str | None = None) -> None:
        super().__init__(message)
        self.unread = unread


def parquet_tables(
    file_or_path: Any, reader: SpanReader, forced: Format | None, quarantine: Quarantine
) -> Iterator[pa.Table]:
    """Read a Parquet file batch by batch.

    Raises ForeignTableError, pyarrow.ArrowException, OSError.
    """
    import pyarrow.parquet as pq  # slow to import, and not of every source

    with pq.ParquetFile(file_or_path) as file:
        foreign = table_format(file.schema_arrow.names, forced)
        if foreign is not None:
            for batch in file.iter_batches(batch_size=FOREIGN_ROWS):
                batch.validate(full=True)
                spans = foreign.spans(pa.Table.from_batches([batch]), quarantine)
                yield converted(spans, reader)
            return
        _refuse_foreign(file.schema_arrow.names)
        adopt_footer(file.metadata.metadata, quarantine)
        names = [name for name in file.schema_arrow.names if name in SPAN_SCHEMA.names]
        service = (file.schema_arrow.metadata or {}).get(_SERVICE)
        for batch in file.iter_batches(batch_size=ROWS, columns=names):
            batch.validate(full=True)  # a damaged file may hold what is no UTF-8
            table = pa.Table.from_batches([batch])
            if service is not None and "service" not in names:
                named = pa.repeat(pa.scalar(service.decode(), pa.string()), len(table))
                table = table.append_column("service", named)
            yield span_table(_complete(table, quarantine), reader)


def any_table(
    table: pa.Table, reader: SpanReader, forced: Format | None, quarantine: Quarantine
) -> pa.Table:
    """Return an Arrow table of any known format in `SPAN_SCHEMA`. Raises ForeignTableError."""
    adopt_footer(table.schema.metadata, quarantine)
    foreign = table_format(table.column_names, forced)
    if foreign is not None:
        return converted(foreign.spans(table, quarantine), reader)
    _refuse_foreign(table.column_names)
    return span_table(_complete(table, quarantine), reader)


def _complete(table: pa.Table, quarantine: Quarantine) -> pa.Table:
    """Put aside the rows that lack what every span has, and what a row says of others."""
    table = without_unread_rows(table, quarantine)
    lacking = [pc.is_null(table.column(name)) for name in REQUIRED]
    broken = functools.reduce(pc.or_, lacking)
    count = pc.sum(broken).as_py() or 0
    if not count:
        return table
    detail = f"a row without {', '.join(REQUIRED[:-1])} or {REQUIRED[-1]}"
    quarantine.add(Reason.BROKEN_SPAN, detail, count=count)
    return table.filter(pc.invert(broken))


def span_table(table: pa.Table, reader: SpanReader) -> pa.Table:
    """Return any Arrow table of spans in `SPAN_SCHEMA`, raw rows read. Raises ForeignTableError."""
    _refuse_foreign(table.column_names)
    table = _conformed(table)
    raw = pc.is_null(table.column("source"))
    count = pc.sum(raw).as_py() or 0
    if not count:
        return table
    spans = raw_spans(table.filter(raw))
    read = converted(spans, reader)
    if count == len(table):
        return read
    joined = pa.concat_tables([table.filter(pc.invert(raw)), read]).unify_dictionaries()
    mask = raw.combine_chunks().to_numpy(zero_copy_only=False)
    order = np.empty(len(table), dtype=np.int64)
    order[~mask] = np.arange(len(table) - count)
    order[mask] = np.arange(len(table) - count, len(table))
    return joined.take(pa.array(order))


def _refuse_foreign(names: list[str]) -> None:
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        raise ForeignTableError(
            f"no span table: columns {', '.join(missing)} are missing; it has {shown or 'none'}",
            unread_columns(names),
        )
    twice = sorted({name for name in names if name in SPAN_SCHEMA.names and names.count(name) > 1})
    if twice:
        raise ForeignTableError(f"no span table: it has columns twice: {', '.join(twice)}")


def _conformed(table: pa.Table) -> pa.Table:
    if table.schema.equals(SPAN_SCHEMA):
        return table
    columns = []
    for field in SPAN_SCHEMA:
        if field.name not in table.column_names:
            columns.append(pa.nulls(len(table), field.type))
            continue
        column = table.column(field.name)
        if column.type != field.type:
            column = _cast(column, field)
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=SPAN_SCHEMA)


def _cast(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    try:
        if pa.types.is_dictionary(field.type):
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            return column.cast(field.type.value_type).dictionary_encode().cast(field.type)
        return column.cast(field.type)
    except pa.ArrowException as error:
        raise ForeignTableError(
            f"column {field.name} has type {column.type}, expected {field.type}: {error}"
        ) from None


def raw_spans(table: pa.Table) -> Iterator[RawSpan]:
    """Return the spans of raw rows, their attributes put back together."""
    origins: dict[tuple[Any, ...], Origin] = {}
    for batch in table.to_batches(max_chunksize=4096):
        times = {name: batch.column(name).cast(pa.int64()).to_pylist() for name in ("start", "end")}
        events = _with_integer_times(batch.column("events"))
        columns = {
            name: batch.column(name).to_pylist()
            for name in batch.schema.names
            if name not in ("start", "end", "events")
        }
        for index in range(len(batch)):
            row = {name: values[index] for name, values in columns.items()}
            row |= {name: values[index] for name, values in times.items()}
            row["events"] = events[index]
            yield _raw_span(row, origins)


def _with_integer_times(events: pa.Array) -> list[Any]:
    integers = pa.list_(
        pa.struct([("name", pa.string()), ("time", pa.int64()), ("attributes", pa.string())])
    )
    return events.cast(integers).to_pylist()  # type: ignore[no-any-return]  # Arrow is untyped


def _raw_span(row: dict[str, Any], origins: dict[tuple[Any, ...], Origin]) -> RawSpan:
    key = (row["resource"], row["scope"], row["scope_version"], row["service"])
    origin = origins.get(key)
    if origin is None:
        resource = _object(row["resource"])
        if row["service"] is not None:
            resource.setdefault("service.name", row["service"])
        text = row["resource"] or orjson.dumps(resource).decode()
        origin = origins[key] = Origin(resource, row["scope"], row["scope_version"], text)
    carried = {name: row[name] for name in CARRIED}
    return RawSpan(
        **carried,
        origin=origin,
        attributes=_attributes(row),
        status_message=row["error_message"],
        events=tuple(
            RawEvent(event["name"], event["time"], _object(event["attributes"]))
            for event in row["events"] or ()
        ),
        links=tuple(
            RawLink(link["trace_id"] or "", link["span_id"] or "", _object(link["attributes"]))
            for link in row["links"] or ()
        ),
    )


_STORED: Final = tuple((c.name, c.attribute) for c in SPAN_COLUMNS if c.attribute is not None)


def _attributes(row: dict[str, Any]) -> Attributes:
    attributes = _object(row["attributes"])
    input_key, output_key = content_attributes(row["operation"])
    for name, key in (*_STORED, ("input", input_key), ("output", output_key)):
        if row[name] is not None:
            attributes.setdefault(key, row[name])
    return attributes


def _object(text: str | None) -> Attributes:
    if not text:
        return {}
    value = parsed(text)
    return value if isinstance(value, dict) else {}
