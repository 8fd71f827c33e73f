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
from functools import lru_cache
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
        resource, resource_text = resource_of(group.get("resource"), quarantine, offset)
        for part in _objects(_spans_of_group(group)):
            origin = origin_of(resource, resource_text, group, part, quarantine, offset)
            spans = part.get("spans")
            if not isinstance(spans, list | None):
                quarantine.add(Reason.BROKEN_SPAN, "spans must be a list", offset)
            for item in spans if isinstance(spans, list) else ():
                span = _span(item, origin, quarantine, offset)
                if span is not None:
                    yield span


def origin_of(
    resource: Attributes,
    resource_text: str,
    group: dict[str, Any],
    part: dict[str, Any],
    quarantine: Quarantine,
    offset: int | None,
) -> Origin:
    """Return the origin of spans under a resource (`group`) and a scope (`part`)."""
    scope = part.get("scope") or part.get("instrumentationLibrary")
    scope = scope if isinstance(scope, dict) else {}
    return Origin(
        resource,
        _text(scope.get("name")) or None,
        _text(scope.get("version")) or None,
        resource_text,
        _beside(group, part, scope, quarantine, offset),
    )


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


def resource_of(
    resource: Any, quarantine: Quarantine, offset: int | None
) -> tuple[Attributes, str]:
    """Return the attributes of a resource, also as JSON."""
    broken: list[str] = []
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
    broken: list[str] = []
    span = span_of(
        origin,
        attributes_of(item.get("attributes"), broken),
        broken,
        _field(item, "traceId", "trace_id"),
        _field(item, "spanId", "span_id"),
        _field(item, "parentSpanId", "parent_span_id"),
        item.get("name"),
        item.get("kind"),
        _field(item, "startTimeUnixNano", "start_time_unix_nano"),
        _field(item, "endTimeUnixNano", "end_time_unix_nano"),
        item.get("status"),
        item.get("events"),
        item.get("links"),
        _field(item, "traceState", "trace_state"),
        item.get("flags"),
        _field(item, "droppedAttributesCount", "dropped_attributes_count"),
        _field(item, "droppedEventsCount", "dropped_events_count"),
        _field(item, "droppedLinksCount", "dropped_links_count"),
    )
    return checked(span, broken, quarantine, offset)


def span_of(
    origin: Origin,
    attributes: Attributes,
    broken: list[str],
    trace_id: Any,
    span_id: Any,
    parent_span_id: Any,
    name: Any,
    kind: Any,
    start: Any,
    end: Any,
    status: Any,
    events: Any,
    links: Any,
    trace_state: Any,
    flags: Any,
    dropped_attributes: Any,
    dropped_events: Any,
    dropped_links: Any,
) -> RawSpan | None:
    """Return a span of what a document says; None where it has no ids.

    A start of -1 is none. What is wrong with events and links is described in `broken`.
    """
    known_trace_id, known_span_id = _trace_hex(trace_id), _span_hex(span_id)
    if known_trace_id is None or known_span_id is None:
        return None
    status = status if isinstance(status, dict) else _NO_STATUS
    began = nanoseconds(start)
    return RawSpan(
        known_trace_id,
        known_span_id,
        name if isinstance(name, str) else "",
        NO_START if began is None else began,
        origin,
        attributes,
        _span_hex(parent_span_id) if parent_span_id else None,
        _kind(kind),
        nanoseconds(end),
        _enum(status.get("code", 0), CODES, "STATUS_CODE_"),
        _text(status.get("message")) or None,
        _events(events, broken) if events else (),
        _links(links, broken) if links else (),
        _text(trace_state) or None,
        None if flags is None else _count(flags),
        None if dropped_attributes is None else _count(dropped_attributes),
        None if dropped_events is None else _count(dropped_events),
        None if dropped_links is None else _count(dropped_links),
    )


NO_START: Final = -1
_NO_STATUS: Final[dict[str, Any]] = {}


def checked(
    span: RawSpan | None, broken: list[str], quarantine: Quarantine, offset: int | None
) -> RawSpan | None:
    """Put aside what a span lacks, and the values that were broken."""
    if span is None:
        quarantine.add(Reason.BROKEN_SPAN, "a span without a trace id or a span id", offset)
        return None
    if span.start == NO_START:
        quarantine.add(Reason.NO_START_TIME, "a span without a start time", offset)
        span = span._replace(start=span.end or 0)
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


def _trace_hex(value: Any) -> str | None:
    return _known_hex(value, 32) if value.__class__ is str else None


def _span_hex(value: Any) -> str | None:
    return _known_hex(value, 16) if value.__class__ is str else None


_known_hex: Final = lru_cache(maxsize=8192)(span_hex)
"""Ids come again: a trace's on each of its spans, a span's on its children."""


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
    if value.__class__ not in _NUMBERS:
        return None
    try:
        time = int(value)
    except (ValueError, OverflowError):
        return None
    return time if 0 < time <= _MAX_TIME else None


_NUMBERS: Final = (str, int, float)


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
