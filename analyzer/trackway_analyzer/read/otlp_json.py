"""OTLP JSON documents to raw spans.

One document is `{"resourceSpans": [...]}`: a whole file, or one line of a collector's file.

1. Ids are hex of any case; 24 or 12 characters of base64 (Tempo) are turned into hex.
2. Enums are integers or names, 64-bit integers texts or numbers, field names lowerCamelCase or
   snake_case; unknown fields are ignored. `batches` (Tempo), `data` and lists are looked into.
3. A span without ids, or that is no object, is put aside; a broken attribute costs that attribute.
   A span without a start time takes its end, else 0, and is counted.
4. Log records in the document (`resourceLogs`) are kept for their spans (`log_records`).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Final

from trackway_analyzer.json_text import UnencodableError, compact
from trackway_analyzer.read.any_value import BrokenValueError, any_value, attributes_of
from trackway_analyzer.read.log_records import LogRecords
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

KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
CODES: Final = ("UNSET", "OK", "ERROR")
_MAX_TIME: Final = 2**63 - 1
_WRAPPERS: Final = ("batches", "data", "trace", "traces", "resource_spans", "requests", "result")


def resource_groups(document: Any, depth: int = 0) -> list[Any] | None:
    """Return the resource-span groups of a document; None where it is no OTLP trace."""
    if depth > 3:
        return None
    if isinstance(document, list):
        parts = [resource_groups(item, depth + 1) for item in document]
        found = [part for part in parts if part is not None]
        return [group for part in found for group in part] if found else None
    if not isinstance(document, dict):
        return None
    groups = document.get("resourceSpans")
    if isinstance(groups, list):
        return groups
    if _spans_of_group(document) is not None:
        return [document]
    for name in _WRAPPERS:
        inner = document.get(name)
        if isinstance(inner, list | dict):
            unwrapped = resource_groups(inner, depth + 1)
            if unwrapped is not None:
                return unwrapped
    return None


def log_groups(document: Any) -> list[Any] | None:
    """Return the resource-log groups of a document; None where it holds no logs."""
    groups = _field(document, "resourceLogs", "resource_logs") if isinstance(document, dict) else 0
    return groups if isinstance(groups, list) else None


def keep_logs(groups: list[Any], logs: LogRecords) -> None:
    """Keep the log records of resource-log groups for their spans."""
    for group in _objects(groups):
        for scope in _objects(_field(group, "scopeLogs", "scope_logs")):
            for record in _objects(_field(scope, "logRecords", "log_records")):
                trace_id = span_hex(_field(record, "traceId", "trace_id"), 32)
                span_id = span_hex(_field(record, "spanId", "span_id"), 16)
                logs.add(trace_id, span_id, _log_event(record))


def spans_of(groups: list[Any], quarantine: Quarantine, offset: int | None) -> Iterator[RawSpan]:
    """Decode the spans of resource-span groups."""
    for group in groups:
        if not isinstance(group, dict):
            quarantine.add(Reason.BROKEN_SPAN, "a resource group must be an object", offset)
            continue
        resource, resource_text = _resource(group, quarantine, offset)
        for part in _objects(_spans_of_group(group)):
            scope = part.get("scope") or part.get("instrumentationLibrary") or {}
            scope = scope if isinstance(scope, dict) else {}
            origin = Origin(
                resource,
                _text(scope.get("name")) or None,
                _text(scope.get("version")) or None,
                resource_text,
                _beside(group, part, scope, quarantine, offset),
            )
            spans = part.get("spans")
            if not isinstance(spans, list | None):
                quarantine.add(Reason.BROKEN_SPAN, "spans must be a list", offset)
            for item in spans if isinstance(spans, list) else ():
                span = _span(item, origin, quarantine, offset)
                if span is not None:
                    yield span


def _beside(
    group: dict[str, Any],
    part: dict[str, Any],
    scope: dict[str, Any],
    quarantine: Quarantine,
    offset: int | None,
) -> str:
    broken: list[str] = []
    own = attributes_of(scope.get("attributes"), broken)
    for detail in broken:
        quarantine.add(Reason.BROKEN_VALUE, f"scope: {detail}", offset)
    urls = [_text(_field(item, "schemaUrl", "schema_url")) for item in (part, group)]
    try:
        return beside(own, *urls)
    except UnencodableError:
        return ""


def _resource(
    group: dict[str, Any], quarantine: Quarantine, offset: int | None
) -> tuple[Attributes, str]:
    broken: list[str] = []
    resource = group.get("resource")
    items = resource.get("attributes") if isinstance(resource, dict) else None
    attributes = attributes_of(items, broken)
    for detail in broken:
        quarantine.add(Reason.BROKEN_VALUE, f"resource: {detail}", offset)
    try:
        return attributes, compact(attributes)
    except UnencodableError:
        return {}, "{}"


def _spans_of_group(group: dict[str, Any]) -> Any:
    for name in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
        if isinstance(group.get(name), list):
            return group[name]
    return None


def _span(item: Any, origin: Origin, quarantine: Quarantine, offset: int | None) -> RawSpan | None:
    if not isinstance(item, dict):
        quarantine.add(Reason.BROKEN_SPAN, "a span must be an object", offset)
        return None
    trace_id = span_hex(_field(item, "traceId", "trace_id"), 32)
    span_id = span_hex(_field(item, "spanId", "span_id"), 16)
    if not trace_id or not span_id:
        quarantine.add(Reason.BROKEN_SPAN, "a span without a trace id or a span id", offset)
        return None
    broken: list[str] = []
    attributes = attributes_of(item.get("attributes"), broken)
    end = nanoseconds(_field(item, "endTimeUnixNano", "end_time_unix_nano"))
    start = nanoseconds(_field(item, "startTimeUnixNano", "start_time_unix_nano"))
    if start is None:
        quarantine.add(Reason.NO_START_TIME, "a span without a start time", offset)
        start = end or 0
    status = item.get("status")
    status = status if isinstance(status, dict) else {}
    span = RawSpan(
        trace_id,
        span_id,
        _text(item.get("name")) or "",
        start,
        origin,
        attributes,
        span_hex(_field(item, "parentSpanId", "parent_span_id"), 16),
        _kind(item.get("kind")),
        end,
        _enum(status.get("code", 0), CODES, "STATUS_CODE_"),
        _text(status.get("message")) or None,
        _events(item.get("events"), broken),
        _links(item.get("links"), broken),
        _text(_field(item, "traceState", "trace_state")) or None,
        _count(item.get("flags")),
        _count(_field(item, "droppedAttributesCount", "dropped_attributes_count")),
        _count(_field(item, "droppedEventsCount", "dropped_events_count")),
        _count(_field(item, "droppedLinksCount", "dropped_links_count")),
    )
    for detail in broken:
        reason = Reason.TOO_DEEP if "nested deeper" in detail else Reason.BROKEN_VALUE
        quarantine.add(reason, detail, offset)
    return span


def _events(items: Any, broken: list[str]) -> tuple[RawEvent, ...]:
    if not items:
        return ()
    return tuple(
        RawEvent(
            _text(item.get("name")) or "",
            nanoseconds(_field(item, "timeUnixNano", "time_unix_nano")),
            attributes_of(item.get("attributes"), broken),
        )
        for item in _objects(items)
    )


def _links(items: Any, broken: list[str]) -> tuple[RawLink, ...]:
    if not items:
        return ()
    return tuple(
        RawLink(
            span_hex(_field(item, "traceId", "trace_id"), 32) or "",
            span_hex(_field(item, "spanId", "span_id"), 16) or "",
            link_attributes(
                attributes_of(item.get("attributes"), broken),
                _text(_field(item, "traceState", "trace_state")),
                _count(item.get("flags")),
            ),
        )
        for item in _objects(items)
    )


def _log_event(record: dict[str, Any]) -> RawEvent:
    attributes = attributes_of(record.get("attributes"), [])
    body = record.get("body")
    if isinstance(body, dict):
        try:
            attributes.setdefault("body", any_value(body))
        except BrokenValueError:
            attributes.setdefault("body", None)
    name = _text(_field(record, "eventName", "event_name")) or next(
        (attributes[key] for key in _EVENT_NAMES if key in attributes), None
    )
    time = nanoseconds(_field(record, "timeUnixNano", "time_unix_nano"))
    return RawEvent(name if isinstance(name, str) else "", time, attributes)


_EVENT_NAMES: Final = ("event.name", "otel.event.name")
"""Attributes that name an event which was written before records had a field for it."""


def span_hex(value: Any, length: int) -> str | None:
    """Return an id as lower-case hex of `length` digits; None where it is empty or no id."""
    if not isinstance(value, str) or not value:
        return None
    if len(value) == length:
        text = value.lower()
        if _is_hex(text):
            return None if text == "0" * length else text
    return _hex_of_base64(value, length)


def _hex_of_base64(value: str, length: int) -> str | None:
    try:
        raw = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw.hex() if len(raw) * 2 == length and any(raw) else None


def _is_hex(text: str) -> bool:
    try:
        int(text, 16)
    except ValueError:
        return False
    return text.isalnum()


def nanoseconds(value: Any) -> int | None:
    """Return a time in ns; None where it is absent, zero or out of range."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    try:
        time = int(value)
    except (ValueError, OverflowError):
        return None
    return time if 0 < time <= _MAX_TIME else None


def _enum(value: Any, names: tuple[str, ...], prefix: str) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return names[value] if 0 <= value < len(names) else None
    if isinstance(value, str):
        name = value.upper().removeprefix(prefix)
        if name in names:
            return name
        return _enum(int(value), names, prefix) if value.isascii() and value.isdigit() else None
    return None


def _kind(value: Any) -> str | None:
    """Return a kind by name; the default of protobuf, which writers leave out, is none."""
    name = _enum(value, KINDS, "SPAN_KIND_")
    return None if name == KINDS[0] else name


def _count(value: Any) -> int | None:
    try:
        count = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return count if 0 < count < 2**31 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _field(item: dict[str, Any], camel: str, snake: str) -> Any:
    value = item.get(camel)
    return item.get(snake) if value is None else value


def _objects(items: Any) -> Iterator[dict[str, Any]]:
    if isinstance(items, list):
        for item in items:
            if isinstance(item, dict):
                yield item
