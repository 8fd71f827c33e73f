"""What could not be read of a source, carried in the files that it was converted to.

1. A converted file is as undecided as its source: rows of the quarantine go with it, in the footer
   of Parquet (`schema.UNREAD_FOOTER`), and under `extra.trackway` of an ATIF trajectory.
   Other readers of Parquet know no footer: the last row of such a file is none of a span, has the
   source `UNREAD_SOURCE`, and says the same. It comes along into a frame, and is taken out here.
2. Who reads the file finds the same rows: they name the first file, not the converted one. They
   count once, however many files of one source carry them.
3. What loses nothing (`NOTES`) goes along too, but for the row among the spans, which says what a
   check must know: a loss, or what may name a tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import UNREAD_FOOTER, Operation
from trackway_analyzer.read.names_held import bounded_names
from trackway_analyzer.read.quarantine import (
    NOTES,
    Quarantine,
    Quarantined,
    Reason,
    quarantine_table,
)
from trackway_analyzer.tables import SPAN_SCHEMA

UNREAD: Final = "unread"
"""Key of the rows under `extra.trackway`."""
UNREAD_SOURCE: Final = "trackway.unread"
"""Source of the row that tells of what could not be read, and its attribute with the rows."""
_FOOTER: Final = UNREAD_FOOTER.encode()
_TRACE_ID: Final = "f" * 32

Row = dict[str, Any]


def carried_rows(quarantine: pa.Table) -> list[Row]:
    """Return the rows of a quarantine that go with a converted file, as JSON holds them."""
    rows: list[Row] = quarantine.to_pylist()
    return rows


def footer_of(quarantine: pa.Table) -> dict[str, str]:
    """Return what the footer of a converted file says of what could not be read."""
    rows = carried_rows(quarantine)
    return {UNREAD_FOOTER: orjson.dumps(rows).decode()} if rows else {}


def unread_row(quarantine: pa.Table, start: pa.Scalar) -> pa.Table | None:
    """Return the row that tells what could not be read; None where there is nothing to tell.

    `start` is a time of the file's spans, so that it stretches no span of time.
    """
    rows = [row for row in carried_rows(quarantine) if row["reason"] not in NOTES or row["names"]]
    if not rows:
        return None
    told = {
        "trace_id": _TRACE_ID,
        "span_id": _TRACE_ID[:16],
        "name": UNREAD_SOURCE,
        "start": start.as_py() if start.is_valid else 0,
        "source": UNREAD_SOURCE,
        "operation": Operation.OTHER.value,
        "attributes": orjson.dumps({UNREAD_SOURCE: rows}).decode(),
    }
    names = [told.get(name) for name in SPAN_SCHEMA.names]
    columns = [
        pa.array([value], field.type.value_type).dictionary_encode().cast(field.type)
        if pa.types.is_dictionary(field.type)
        else pa.array([value], pa.int64() if isinstance(value, int) else field.type).cast(
            field.type
        )
        for value, field in zip(names, SPAN_SCHEMA, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=SPAN_SCHEMA)


def without_unread_rows(table: pa.Table, quarantine: Quarantine) -> pa.Table:
    """Take out the rows that tell what could not be read, and put that aside again.

    Raises QuarantineError in strict mode.
    """
    place = table.schema.get_field_index("source")
    if place < 0 or table.schema.get_field_index("attributes") < 0 or not _is_text(table, place):
        return table
    told = pc.equal(table.column(place).cast(pa.large_string()), UNREAD_SOURCE).fill_null(False)
    if not pc.any(told).as_py():
        return table
    for text in table.column("attributes").filter(told).to_pylist():
        members = _decoded(str(text).encode())
        adopt(members.get(UNREAD_SOURCE) if isinstance(members, dict) else None, quarantine)
    return table.filter(pc.invert(told))


def _is_text(table: pa.Table, place: int) -> bool:
    kind = table.schema.field(place).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def adopt_footer(footer: Mapping[bytes, bytes] | None, quarantine: Quarantine) -> None:
    """Put aside again what a footer says could not be read."""
    if footer and _FOOTER in footer:
        adopt(_decoded(footer[_FOOTER]), quarantine)


def told_by(footers: Iterable[Mapping[bytes, bytes] | None]) -> pa.Table:
    """Return what footers say could not be read, as a table of `QUARANTINE_SCHEMA`."""
    quarantine = Quarantine("")
    for footer in footers:
        adopt_footer(footer, quarantine)
    return quarantine_table(quarantine.take())


def adopt(rows: Any, quarantine: Quarantine) -> None:
    """Put rows aside again; what is none is a broken value.

    Raises QuarantineError in strict mode.
    """
    for row in rows if isinstance(rows, list) else [rows]:
        entry = _entry(row)
        if entry is None:
            quarantine.add(Reason.BROKEN_VALUE, "what could not be read before is not readable")
        else:
            quarantine.adopt(entry)


def _entry(row: Any) -> Quarantined | None:
    if not isinstance(row, dict):
        return None
    file: Any = row.get("file")
    detail: Any = row.get("detail")
    offset: Any = row.get("offset")
    count: Any = row.get("count")
    whole = all(type(number) is int and 0 <= number < 2**63 for number in (offset or 0, count))
    if not (isinstance(file, str) and isinstance(detail, str) and whole):
        return None
    try:
        reason = Reason(str(row.get("reason")))
        return Quarantined(file, reason, detail, offset, count, _names(row.get("names")))
    except ValueError:
        return None


def _names(told: Any) -> tuple[str, ...] | None:
    if not isinstance(told, list):
        return None
    return bounded_names(name for name in told if isinstance(name, str))


def _decoded(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
