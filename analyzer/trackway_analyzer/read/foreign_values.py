"""Ids and times of stores that write them in a way of their own.

1. An id that is hex of the right length, a UUID or base64 of the right length is that id; any other
   text becomes one by its SHA-256, the same in every file. Attributes keep the original.
2. A time is an ISO text of any precision and separator, read to the nanosecond, or a number whose
   size tells seconds, milliseconds, microseconds and nanoseconds apart. Without a zone it is UTC.
"""

from __future__ import annotations

import hashlib
import math
import re
from calendar import timegm
from collections.abc import Container, Mapping
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from trackway.schema import Trackway
from trackway_analyzer.dialects.values import text
from trackway_analyzer.json_text import UnencodableError, compact
from trackway_analyzer.read.any_value import BrokenValueError, bounded
from trackway_analyzer.read.otlp_values import span_hex
from trackway_analyzer.spans import Attributes, Origin
from trackway_analyzer.times import decoded

TRACE_DIGITS: Final = 32
SPAN_DIGITS: Final = 16

_ISO: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?"
    r"\s*(Z|UTC|([+-])(\d\d):?(\d\d)?)?",
    re.IGNORECASE,
)
_MAX_TIME: Final = 2**63 - 1
_SHOWN: Final = 40


def trace_id_of(value: Any) -> str | None:
    """Return a trace id of 32 hex digits for whatever a store calls a trace; None for nothing."""
    return _id_of(value, TRACE_DIGITS)


def span_id_of(value: Any) -> str | None:
    """Return a span id of 16 hex digits for whatever a store calls a span; None for nothing."""
    return _id_of(value, SPAN_DIGITS)


def _id_of(value: Any, digits: int) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value:
        return None
    found = span_hex(value, digits)
    if found is None and len(value) == 36 and value.count("-") == 4:
        found = span_hex(value.replace("-", ""), digits)
    return found or made_id(value, digits=digits)


def made_id(*parts: Any, digits: int = SPAN_DIGITS) -> str:
    """Return an id that is the same wherever these parts come together; nested ones are none."""
    joined = "\0".join(part if isinstance(part, str) else str(text(part)) for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def time_of(value: Any) -> int | None:
    """Return a time in ns since 1970 UTC; None where the value is no time."""
    if isinstance(value, str):
        return _time_of_text(value.strip())
    if isinstance(value, datetime):
        return _time_of_text(value.isoformat())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _time_of_number(value)


def _time_of_number(value: float) -> int | None:
    if not math.isfinite(value) or value <= 0:
        return None
    for bound, factor in _SIZES:
        if value < bound:
            time = (
                value * factor if isinstance(value, int) else round(value * 1e6) * factor // 10**6
            )
            return time if time <= _MAX_TIME else None
    return None


_SIZES: Final = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3), (10**20, 1))


def _time_of_text(text: str) -> int | None:
    found = _ISO.fullmatch(text)
    if found is None:
        try:
            return _time_of_number(int(text)) if text.isdigit() else _time_of_number(float(text))
        except ValueError:
            return None
    year, month, day, hour, minute = (int(found[place]) for place in range(1, 6))
    try:
        datetime(year, month, day, hour, minute)
    except ValueError:
        return None
    seconds = timegm((year, month, day, hour, minute, int(found[6] or 0)))
    if found[9]:
        offset = int(found[10]) * 3600 + int(found[11] or 0) * 60
        seconds += -offset if found[9] == "+" else offset
    time = seconds * 10**9 + int((found[7] or "").ljust(9, "0")[:9])
    return time if 0 < time <= _MAX_TIME else None


def first(item: dict[str, Any], *names: str) -> Any:
    """Return the first of these members that is no null."""
    return next((item[name] for name in names if item.get(name) is not None), None)


def unread_members(item: Mapping[str, Any], read: Container[str]) -> list[str]:
    """Return the members that hold a list or an object and are none of those that are read."""
    return [
        str(name)[:_SHOWN]
        for name, value in item.items()
        if isinstance(value, dict | list) and value and name not in read
    ]


def kept(attributes: Attributes, key: str, value: Any, column: str | None = None) -> None:
    """Set an attribute unless the value is null.

    What is nested deeper than an attribute may be stands as JSON text; what is too deep for that is
    null and named in `trackway.truncated`, by its `column` if it has one.
    """
    if value is None:
        return
    try:
        attributes[key] = bounded(value)
    except BrokenValueError:
        try:
            attributes[key] = compact(value)
        except UnencodableError:
            attributes[key] = None
            known = attributes.get(Trackway.TRUNCATED)
            named = known if isinstance(known, list) else []
            attributes[Trackway.TRUNCATED] = [*named, column or key]


def plain_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Return rows as objects: times in ns, for Python's end at microseconds, bytes as text."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        columns[name] = [_plain(value) for value in decoded(_integer_times(column))]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _integer_times(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("ns", kind.tz)).cast(pa.int64())
    if pa.types.is_list(kind) and pa.types.is_timestamp(kind.value_type):
        times = pa.list_(pa.timestamp("ns", kind.value_type.tz))
        return column.cast(times).cast(pa.list_(pa.int64()))
    return column


def _plain(value: Any) -> Any:
    """Return a value with bytes as text, and pairs of a map as an object."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list):
        if value and all(isinstance(item, tuple) and len(item) == 2 for item in value):
            return {str(_plain(key)): _plain(inner) for key, inner in value}
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    return value


class Origins:
    """Resources and scopes of one document, each made once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str | None, str | None], Origin] = {}

    def of(
        self, resource: Any = None, scope: str | None = None, version: str | None = None
    ) -> Origin:
        """Return the origin of spans with this resource and scope."""
        attributes = resource if isinstance(resource, dict) else {}
        try:
            written = compact(bounded(attributes))
        except (UnencodableError, BrokenValueError):
            attributes, written = {}, "{}"
        key = (written, scope, version)
        if key not in self._known:
            self._known[key] = Origin(attributes, scope or None, version or None, written)
        return self._known[key]
