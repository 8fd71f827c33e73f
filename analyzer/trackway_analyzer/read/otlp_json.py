"""OTLP JSON documents to raw spans.

One document is `{"resourceSpans": [...]}`: a whole file, or one line of a collector's file.

1. Ids, times and enums are read as `otlp_values` says; fields that hold no spans and are not known
   are ignored. `batches`
   (Tempo), `data` and lists are looked into.
2. A span without ids, or that is no object, is put aside; a broken attribute costs that attribute.
   A span without a start time takes its end, else 0, and is counted. So is what stands at a level
   under a name that is not read, and may hold spans (`otlp_levels`).
3. Log records in the document (`resourceLogs`) are kept for their spans (`log_records`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trackway_analyzer.json_text import UnencodableError, compact
from trackway_analyzer.read.any_value import BrokenValueError, any_value, attributes_of
from trackway_analyzer.read.log_records import LogRecords
from trackway_analyzer.read.otlp_levels import (
    RECORDS,
    SCOPES_OF_LOGS,
    SCOPES_OF_SPANS,
    SPANS,
    listed,
    put_aside,
    unread_fields,
)
from trackway_analyzer.read.otlp_values import (
    CODES,
    count_of,
    enum,
    field_of,
    kind_of,
    known_span_hex,
    nanoseconds,
    objects_of,
    span_hex,
    text_of,
    trace_hex,
)
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


def keep_logs(groups: list[Any], logs: LogRecords) -> None:
    """Keep the log records of resource-log groups for their spans."""
    for group in objects_of(groups):
        for scope in objects_of(listed(group, SCOPES_OF_LOGS)):
            for record in objects_of(listed(scope, RECORDS)):
                trace_id = span_hex(field_of(record, "traceId", "trace_id"), 32)
                span_id = span_hex(field_of(record, "spanId", "span_id"), 16)
                logs.add(trace_id, span_id, _log_event(record))


def spans_of(groups: list[Any], quarantine: Quarantine, offset: int | None) -> Iterator[RawSpan]:
    """Decode the spans of resource-span groups."""
    put_aside(groups, SCOPES_OF_SPANS, SPANS, quarantine, offset)
    for group in objects_of(groups):
        resource, resource_text = resource_of(group.get("resource"), quarantine, offset)
        for part in objects_of(listed(group, SCOPES_OF_SPANS)):
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
        text_of(scope.get("name")) or None,
        text_of(scope.get("version")) or None,
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
    urls = [text_of(field_of(item, "schemaUrl", "schema_url")) for item in (part, group)]
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


def _span(item: Any, origin: Origin, quarantine: Quarantine, offset: int | None) -> RawSpan | None:
    if not isinstance(item, dict):
        quarantine.add(Reason.BROKEN_SPAN, "a span must be an object", offset)
        return None
    broken = [f"a span with members that are not read: {each[:40]}" for each in unread_fields(item)]
    span = span_of(
        origin,
        attributes_of(item.get("attributes"), broken),
        broken,
        field_of(item, "traceId", "trace_id"),
        field_of(item, "spanId", "span_id"),
        field_of(item, "parentSpanId", "parent_span_id"),
        item.get("name"),
        item.get("kind"),
        field_of(item, "startTimeUnixNano", "start_time_unix_nano"),
        field_of(item, "endTimeUnixNano", "end_time_unix_nano"),
        item.get("status"),
        item.get("events"),
        item.get("links"),
        field_of(item, "traceState", "trace_state"),
        item.get("flags"),
        field_of(item, "droppedAttributesCount", "dropped_attributes_count"),
        field_of(item, "droppedEventsCount", "dropped_events_count"),
        field_of(item, "droppedLinksCount", "dropped_links_count"),
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
    known_trace_id, known_span_id = trace_hex(trace_id), known_span_hex(span_id)
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
        known_span_hex(parent_span_id) if parent_span_id else None,
        kind_of(kind),
        nanoseconds(end),
        enum(status.get("code", 0), CODES, "STATUS_CODE_"),
        text_of(status.get("message")) or None,
        _events(events, broken) if events else (),
        _links(links, broken) if links else (),
        text_of(trace_state) or None,
        None if flags is None else count_of(flags),
        None if dropped_attributes is None else count_of(dropped_attributes),
        None if dropped_events is None else count_of(dropped_events),
        None if dropped_links is None else count_of(dropped_links),
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
    _lost_objects("an event", items, broken)
    return tuple(
        RawEvent(
            text_of(item.get("name")) or "",
            nanoseconds(field_of(item, "timeUnixNano", "time_unix_nano")),
            attributes_of(item.get("attributes"), broken),
        )
        for item in objects_of(items)
    )


def _lost_objects(what: str, items: Any, broken: list[str]) -> None:
    """Tell of events or links that are none, and of what they hold that is not read."""
    if not isinstance(items, list):
        broken.append(f"{what} must be an object in a list")
        return
    for item in items:
        if not isinstance(item, dict):
            broken.append(f"{what} must be an object")
        elif "attributes" not in item and (others := unread_fields(item)):
            broken.append(f"{what} with members that are not read: {others[0][:40]}")


def _links(items: Any, broken: list[str]) -> tuple[RawLink, ...]:
    if not items:
        return ()
    _lost_objects("a link", items, broken)
    return tuple(
        RawLink(
            span_hex(field_of(item, "traceId", "trace_id"), 32) or "",
            span_hex(field_of(item, "spanId", "span_id"), 16) or "",
            link_attributes(
                attributes_of(item.get("attributes"), broken),
                text_of(field_of(item, "traceState", "trace_state")),
                count_of(item.get("flags")),
            ),
        )
        for item in objects_of(items)
    )


def _log_event(record: dict[str, Any]) -> RawEvent:
    attributes = attributes_of(record.get("attributes"), [])
    body = record.get("body")
    if isinstance(body, dict):
        try:
            attributes.setdefault("body", any_value(body))
        except BrokenValueError:
            attributes.setdefault("body", None)
    name = text_of(field_of(record, "eventName", "event_name")) or next(
        (attributes[key] for key in _EVENT_NAMES if key in attributes), None
    )
    time = nanoseconds(field_of(record, "timeUnixNano", "time_unix_nano"))
    return RawEvent(name if isinstance(name, str) else "", time, attributes)


_EVENT_NAMES: Final = ("event.name", "otel.event.name")
"""Attributes that name an event which was written before records had a field for it."""
