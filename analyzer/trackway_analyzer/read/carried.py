"""What could not be read of a source, carried in the files that it was converted to.

1. A converted file is as undecided as its source: rows of the quarantine go with it, in the footer
   of Parquet (`schema.UNREAD_FOOTER`), and under `extra.trackway` of an ATIF trajectory.
2. Who reads the file finds the same rows: they name the first file, not the converted one. They
   count once, however many files of one source carry them.
3. What loses nothing (`NOTES`) is not carried.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
import pyarrow as pa

from trackway.schema import UNREAD_FOOTER
from trackway_analyzer.read.quarantine import (
    NOTES,
    Quarantine,
    Quarantined,
    Reason,
    lost,
    quarantine_table,
)

UNREAD: Final = "unread"
"""Key of the rows under `extra.trackway`."""
_FOOTER: Final = UNREAD_FOOTER.encode()

Row = dict[str, Any]


def carried_rows(quarantine: pa.Table) -> list[Row]:
    """Return the rows of a quarantine that go with a converted file, as JSON holds them."""
    rows: list[Row] = quarantine.to_pylist()
    return [row for row in rows if row["reason"] not in NOTES]


def footer_of(quarantine: pa.Table) -> dict[str, str]:
    """Return what the footer of a converted file says of what could not be read."""
    rows = carried_rows(quarantine)
    return {UNREAD_FOOTER: orjson.dumps(rows).decode()} if rows else {}


def adopt_footer(footer: Mapping[bytes, bytes] | None, quarantine: Quarantine) -> None:
    """Put aside again what a footer says could not be read."""
    if footer and _FOOTER in footer:
        adopt(_decoded(footer[_FOOTER]), quarantine)


def lost_by(footer: Mapping[bytes, bytes] | None) -> int:
    """Count the things of a footer that may have held what a run did."""
    quarantine = Quarantine("")
    adopt_footer(footer, quarantine)
    return lost(quarantine_table(quarantine.take()))


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
        return Quarantined(file, Reason(str(row.get("reason"))), detail, offset, count)
    except ValueError:
        return None


def _decoded(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
