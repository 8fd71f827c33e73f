"""Which signal is a message of OTLP protobuf: spans, logs or metrics? And what logs it holds.

All three begin alike on the wire, and one often decodes as another: a metric's name looks like a
span's trace id.

1. Spans have ids of 16 and 8 bytes and a time, logs a time before all else, metrics a name and
   points. What decodes as spans and has none of these is tried as logs, then as metrics.
2. Log records are kept for their spans, as those in JSON are.
3. Metrics hold nothing that a run did.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

from trackway_analyzer.read.any_value import BrokenValueError
from trackway_analyzer.read.log_records import LogRecords
from trackway_analyzer.read.otlp_protobuf import attributes_of_pairs, value_of
from trackway_analyzer.read.otlp_values import nanoseconds
from trackway_analyzer.spans import RawEvent

METRICS: Final = "OTLP metrics, which hold no spans"
_LENGTH_DELIMITED: Final = 2
_RECORD: Final = (1, 2, 2)
"""Fields that lead from a message to its first record, whatever the signal."""
_FIXED_TIME: Final = b"\x09"
_OBSERVED_TIME: Final = b"\x59"


def begins_with_logs(head: bytes) -> bool:
    """Tell by its first bytes whether a message holds log records."""
    return bytes(_first_record(head)[:1]) in (_FIXED_TIME, _OBSERVED_TIME)


def _first_record(message: bytes) -> memoryview:
    """Return a message's first record, as far as it is there; empty where there is none."""
    rest = memoryview(message)
    for wanted in _RECORD:
        inner = _field(rest, wanted)
        if inner is None:
            return memoryview(b"")
        rest = inner
    return rest


def _field(message: memoryview, wanted: int) -> memoryview | None:
    """Return the first field of this number, without its tag and length."""
    place = 0
    while place < len(message):
        tag = message[place]
        length, place = _varint(message, place + 1)
        if tag & 7 != _LENGTH_DELIMITED or length is None:
            return None
        if tag >> 3 == wanted:
            return message[place : place + length]
        place += length
    return None


def _varint(message: memoryview, place: int) -> tuple[int | None, int]:
    value = 0
    for count, byte in enumerate(message[place : place + 5]):
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, place + count + 1
    return None, place


def kept_logs(message: bytes, logs: LogRecords) -> bool:
    """Keep the log records of a message; False where it holds none."""
    data = _decoded(message, LogsData)
    records = [] if data is None else _records(data, "resource_logs", "scope_logs", "log_records")
    if not any(_is_log(record) for record in records):
        return False
    for record in records:
        logs.add(record.trace_id.hex() or None, record.span_id.hex() or None, _event(record))
    return True


def holds_spans(message: bytes) -> bool:
    """Tell whether a message holds a span with ids, or nothing at all."""
    first = _decoded(bytes(_first_record(message)), Span)
    if first is not None and _is_span(first):
        return True
    data = _decoded(message, TracesData)
    if data is None:
        return False
    spans = _records(data, "resource_spans", "scope_spans", "spans")
    return not spans or any(map(_is_span, spans))


def _is_span(span: Any) -> bool:
    """A metric's name and description may be as long as ids, but it has no time."""
    timed = span.start_time_unix_nano or span.end_time_unix_nano
    return bool(timed) and len(span.trace_id) == 16 and len(span.span_id) == 8


def holds_metrics(message: bytes) -> bool:
    """Tell whether a message holds metrics."""
    data = _decoded(message, MetricsData)
    metrics = [] if data is None else _records(data, "resource_metrics", "scope_metrics", "metrics")
    return any(metric.name and metric.WhichOneof("data") for metric in metrics)


def _decoded(message: bytes, form: Any) -> Any:
    try:
        return form.FromString(message)
    except DecodeError:
        return None


def _records(data: Any, groups: str, scopes: str, records: str) -> list[Any]:
    return [
        record
        for group in getattr(data, groups)
        for scope in getattr(group, scopes)
        for record in getattr(scope, records)
    ]


def _is_log(record: Any) -> bool:
    return bool(record.time_unix_nano or record.observed_time_unix_nano)


def _event(record: Any) -> RawEvent:
    attributes = attributes_of_pairs(record.attributes, [])
    if record.HasField("body"):
        try:
            attributes.setdefault("body", value_of(record.body))
        except BrokenValueError:
            attributes.setdefault("body", None)
    name = record.event_name or attributes.get("event.name")
    return RawEvent(
        name if isinstance(name, str) else "", nanoseconds(record.time_unix_nano), attributes
    )
