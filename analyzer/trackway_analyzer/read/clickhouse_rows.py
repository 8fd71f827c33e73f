"""ClickHouse's OpenTelemetry table (`otel_traces`) as Parquet, Arrow or JSON, as spans.

1. Columns are those of the collector's ClickHouse exporter: `TraceId`, `SpanName`, `Timestamp`,
   `Duration` in ns, attributes as maps (or, in its JSON schema, as trees of objects), events and
   links as parallel lists or as lists of objects. Strings may come as bytes, enums by either name.
2. The table keeps every attribute as text. Attributes of ours that are no text get their type back;
   those of others stay text, which dialects read. A row without the column of its attributes, or
   with attributes in no such form, has lost them, and is counted.
3. JSON comes as one row a line, as a list, or with the rows under `data`; as objects, as lists
   beside their names (`meta`), or as columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from trackway.schema import SPAN_COLUMNS, Operation, Trackway, content_attributes
from trackway_analyzer.dialects.values import json_of, text
from trackway_analyzer.json_text import parsed
from trackway_analyzer.read.foreign_values import (
    Origins,
    kept,
    plain_rows,
    span_id_of,
    time_of,
    trace_id_of,
)
from trackway_analyzer.read.otlp_values import CODES, KINDS
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.spans import Attributes, RawEvent, RawLink, RawSpan

_REQUIRED: Final = frozenset(["TraceId", "SpanId", "SpanName", "Timestamp"])
_ATTRIBUTES: Final = "SpanAttributes"
_MAX_DEPTH: Final = 64
_KNOWN: Final = frozenset(
    [
        *(column.attribute for column in SPAN_COLUMNS if column.attribute is not None),
        *(key for operation in Operation for key in content_attributes(operation)),
    ]
)
"""Attributes that may be objects themselves: what is below them is no part of their name."""
_TYPED: Final = frozenset(
    column.attribute
    for column in SPAN_COLUMNS
    if column.attribute is not None and column.type != "string"
) | {
    Trackway.RUN_LAST_STEP,
    Trackway.OUTCOME_SUCCESS,
    Trackway.OUTCOME_CENSORED,
    Trackway.STREAM_ABANDONED,
    Trackway.STREAM_CHUNKS,
    Trackway.STREAM_FIRST_CHUNK,
}
"""Attributes that are no text, of which the table made one."""


def is_clickhouse_table(names: Sequence[str]) -> bool:
    """Tell whether columns are those of `otel_traces`."""
    return set(names) >= _REQUIRED


def clickhouse_rows(document: Any) -> list[Any] | None:
    """Return the rows of a document; None where it is no `otel_traces`."""
    meta = None
    if isinstance(document, dict) and isinstance(document.get("data"), dict | list):
        meta, document = document.get("meta"), document["data"]
    rows = document if isinstance(document, list) else [document]
    if isinstance(meta, list) and any(isinstance(row, list) for row in rows):
        names = [column.get("name") if isinstance(column, dict) else None for column in meta]
        rows = [_named(names, row) for row in rows]
    elif isinstance(document, dict) and document.keys() >= _REQUIRED:
        rows = _rows_of_columns(document)
    return rows if any(isinstance(row, dict) and row.keys() >= _REQUIRED for row in rows) else None


def _named(names: list[Any], row: Any) -> Any:
    """Return a row of values as an object; one that does not fit the names stays as it is."""
    fits = isinstance(row, list) and len(row) == len(names)
    return dict(zip(map(str, names), row, strict=True)) if fits else row


def _rows_of_columns(columns: dict[str, Any]) -> list[Any]:
    """Return columns, each a list, as rows; what is no columns is one row."""
    lengths = {len(values) if isinstance(values, list) else -1 for values in columns.values()}
    if len(lengths) != 1 or -1 in lengths:
        return [columns]
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, values, strict=True)) for values in rows]


def clickhouse_table_spans(table: pa.Table, quarantine: Quarantine) -> Iterator[RawSpan]:
    """Return the rows of a table as spans."""
    yield from clickhouse_spans(plain_rows(table), quarantine, None)


def clickhouse_spans(
    rows: list[Any], quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan]:
    """Return rows as spans."""
    origins = Origins()
    for row in rows:
        span = _span(row, origins) if isinstance(row, dict) else None
        if span is None:
            quarantine.add(Reason.BROKEN_SPAN, "a row without TraceId or SpanId", offset)
            continue
        if not span.start:
            quarantine.add(Reason.NO_START_TIME, "a row without Timestamp", offset)
        if _ATTRIBUTES not in row:
            detail = f"a row without the column {_ATTRIBUTES}: export it too"
            quarantine.add(Reason.BROKEN_VALUE, detail, offset)
        elif row[_ATTRIBUTES] and not span.attributes and not _is_empty(row[_ATTRIBUTES]):
            detail = f"{_ATTRIBUTES} must be a map, found {type(row[_ATTRIBUTES]).__name__}"
            quarantine.add(Reason.BROKEN_VALUE, detail, offset)
        yield span


def _span(row: dict[str, Any], origins: Origins) -> RawSpan | None:
    trace_id, span_id = trace_id_of(row.get("TraceId")), span_id_of(row.get("SpanId"))
    if trace_id is None or span_id is None:
        return None
    start, duration = time_of(row.get("Timestamp")), _integer(row.get("Duration"))
    resource = _attributes(row.get("ResourceAttributes"))
    if row.get("ServiceName"):
        resource.setdefault("service.name", row["ServiceName"])
    return RawSpan(
        trace_id,
        span_id,
        text(row.get("SpanName")) or "",
        start or 0,
        origins.of(resource, _text(row.get("ScopeName")), _text(row.get("ScopeVersion"))),
        _attributes(row.get(_ATTRIBUTES)),
        span_id_of(row.get("ParentSpanId")),
        _word(row.get("SpanKind"), KINDS),
        None if start is None or duration is None else start + duration,
        _word(row.get("StatusCode"), CODES),
        _text(row.get("StatusMessage")),
        tuple(_events(row)),
        tuple(_links(row)),
        _text(row.get("TraceState")),
    )


def _events(row: dict[str, Any]) -> Iterator[RawEvent]:
    for item in _nested(row, "Events"):
        name, time = text(item.get("Name")) or "", time_of(item.get("Timestamp"))
        yield RawEvent(name, time, _attributes(item.get("Attributes")))


def _links(row: dict[str, Any]) -> Iterator[RawLink]:
    for item in _nested(row, "Links"):
        trace_id, span_id = trace_id_of(item.get("TraceId")), span_id_of(item.get("SpanId"))
        if trace_id is not None and span_id is not None:
            yield RawLink(trace_id, span_id, _attributes(item.get("Attributes")))


def _nested(row: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the items of a nested column: objects, or one list for each of their members."""
    whole = row.get(name)
    if isinstance(whole, list):
        return [item for item in whole if isinstance(item, dict)]
    members = whole if isinstance(whole, dict) else row
    prefix = "" if members is whole else f"{name}."
    lists = {
        member.removeprefix(prefix): values
        for member, values in members.items()
        if member.startswith(prefix) and isinstance(values, list)
    }
    count = min(map(len, lists.values()), default=0)
    return [{member: values[place] for member, values in lists.items()} for place in range(count)]


def _attributes(value: Any) -> Attributes:
    members = json_of(value)
    found: Attributes = {}
    for key, told in _flat(members, "", 0) if isinstance(members, dict) else _pairs(members):
        typed = parsed(told) if key in _TYPED and isinstance(told, str) else told
        kept(found, key, typed)
    return found


def _flat(members: dict[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Return attributes of which a JSON column made a tree: it divides names at their dots."""
    for name, value in members.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict) and value and key not in _KNOWN and depth < _MAX_DEPTH:
            yield from _flat(value, f"{key}.", depth + 1)
        elif value is not None or not prefix:
            yield key, value


def _is_empty(value: Any) -> bool:
    """Tell a map without members, or with none that has a value, however it is written."""
    members = json_of(value)
    return isinstance(members, dict) or members in ([], "[]", "")


def _pairs(items: Any) -> Iterator[tuple[str, Any]]:
    """Return the members of a map that a data frame made a list of."""
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and item.keys() == {"key", "value"}:
            key, value = item["key"], item["value"]
        elif isinstance(item, list | tuple) and len(item) == 2:
            key, value = item
        else:
            continue
        name = text(key)
        if name is not None:
            yield name, value


def _word(value: Any, names: tuple[str, ...]) -> str | None:
    word = (text(value) or "").upper().rpartition("_")[2]
    return word if word in names else None


def _integer(value: Any) -> int | None:
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 <= number < 2**62 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
