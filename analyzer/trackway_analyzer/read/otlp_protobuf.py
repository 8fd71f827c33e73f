"""OTLP protobuf messages to raw spans.

`TracesData` and `ExportTraceServiceRequest` are the same on the wire. A message is decoded as
`otlp_json` decodes its twin in JSON: both give equal spans.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from trackway.schema import BYTES_TAG
from trackway_analyzer.json_text import compact
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.any_value import MAX_DEPTH, BrokenValueError, finite, untagged
from trackway_analyzer.read.otlp_values import CODES, KINDS, nanoseconds
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.spans import (
    Attributes,
    Origin,
    RawEvent,
    RawLink,
    RawSpan,
    beside,
    link_attributes,
)

_TRACE_BYTES: Final = 16
_SPAN_BYTES: Final = 8
_FIRST: Final = b"\x0a"
_INNER: Final = (b"\x0a", b"\x12", b"\x1a")
"""Tags of a resource-spans message, and of what it may begin with."""


def protobuf_spans(
    message: bytes, quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan] | None:
    """Return the spans of a message; None where the bytes are none."""
    try:
        data = TracesData.FromString(message)
    except DecodeError:
        return None
    if message and not data.resource_spans:
        return None
    return _spans(data, quarantine, offset)


def begins_a_trace(message: bytes) -> bool:
    """Tell whether bytes that are no traces begin as traces do, and are no metrics or logs."""
    length = next((place for place, byte in enumerate(message[1:11], 1) if byte < 0x80), None)
    if length is None or message[:1] != _FIRST or message[length + 1 : length + 2] not in _INNER:
        return False
    return not any(map(partial(_decodes, message), (LogsData, MetricsData)))


def _decodes(message: bytes, form: Any) -> bool:
    try:
        form.FromString(message)
    except DecodeError:
        return False
    return True


def _spans(data: Any, quarantine: Quarantine, offset: int | None) -> Iterator[RawSpan]:
    broken: list[str] = []
    for group in data.resource_spans:
        resource = attributes_of_pairs(group.resource.attributes, broken)
        text = compact(resource)
        for part in group.scope_spans:
            scope = part.scope
            own = attributes_of_pairs(scope.attributes, broken)
            more = beside(own, part.schema_url, group.schema_url)
            origin = Origin(resource, scope.name or None, scope.version or None, text, more)
            for item in part.spans:
                span = _span(item, origin, broken)
                if span is None:
                    detail = "a span without a trace id or a span id"
                    quarantine.add(Reason.BROKEN_SPAN, detail, offset)
                    continue
                if not item.start_time_unix_nano:
                    quarantine.add(Reason.NO_START_TIME, "a span without a start time", offset)
                yield span
    for detail in broken:
        reason = Reason.TOO_DEEP if "nested deeper" in detail else Reason.BROKEN_VALUE
        quarantine.add(reason, detail, offset)


def _span(item: Any, origin: Origin, broken: list[str]) -> RawSpan | None:
    if not _is_id(item.trace_id, _TRACE_BYTES) or not _is_id(item.span_id, _SPAN_BYTES):
        return None
    end = nanoseconds(item.end_time_unix_nano)
    return RawSpan(
        item.trace_id.hex(),
        item.span_id.hex(),
        item.name,
        nanoseconds(item.start_time_unix_nano) or end or 0,
        origin,
        attributes_of_pairs(item.attributes, broken),
        item.parent_span_id.hex() if _is_id(item.parent_span_id, _SPAN_BYTES) else None,
        KINDS[item.kind] if 0 < item.kind < len(KINDS) else None,
        end,
        CODES[item.status.code] if 0 <= item.status.code < len(CODES) else None,
        item.status.message or None,
        tuple(
            RawEvent(
                event.name,
                nanoseconds(event.time_unix_nano),
                attributes_of_pairs(event.attributes, broken),
            )
            for event in item.events
        ),
        tuple(
            RawLink(
                link.trace_id.hex(),
                link.span_id.hex(),
                link_attributes(
                    attributes_of_pairs(link.attributes, broken),
                    link.trace_state,
                    _count(link.flags),
                ),
            )
            for link in item.links
        ),
        item.trace_state or None,
        _count(item.flags),
        _count(item.dropped_attributes_count),
        _count(item.dropped_events_count),
        _count(item.dropped_links_count),
    )


def attributes_of_pairs(items: Any, broken: list[str]) -> Attributes:
    """Decode pairs of a key and a value; what is broken is left out and described in `broken`."""
    decoded: Attributes = {}
    for item in items:
        try:
            decoded[item.key] = value_of(item.value, 0)
        except BrokenValueError as error:
            broken.append(f"attribute {item.key}: {error}")
    return decoded


def value_of(value: Any, depth: int = 0) -> JsonValue:
    """Decode one AnyValue. Raises BrokenValueError."""
    if depth > MAX_DEPTH:
        raise BrokenValueError(f"nested deeper than {MAX_DEPTH}")
    form = value.WhichOneof("value")
    if form == "array_value":
        return [value_of(item, depth + 1) for item in value.array_value.values]
    if form == "kvlist_value":
        pairs = value.kvlist_value.values
        return untagged({pair.key: value_of(pair.value, depth + 1) for pair in pairs})
    if form == "double_value":
        return finite(value.double_value)
    if form == "bytes_value":
        return {BYTES_TAG: base64.b64encode(value.bytes_value).decode()}
    return None if form is None else getattr(value, form)


def _is_id(value: bytes, length: int) -> bool:
    return len(value) == length and any(value)


def _count(value: int) -> int | None:
    return value if 0 < value < 2**31 else None
