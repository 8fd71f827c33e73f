"""Jaeger's JSON: what its UI downloads and its query API returns.

1. A document is `{"data": [{"traceID", "spans", "processes"}]}`, or one such trace by itself.
2. Tags become attributes; those that the OpenTelemetry mapping made of a span's own fields (kind,
   status, scope, trace state, what was dropped) become the fields again. A process is a resource.
   Tags may be a list, or an object as a store with tags as fields keeps them (`tag`, whose names
   have `@` for the dot). What else a span holds and is not read is put aside.
3. The parent is the `CHILD_OF` reference into the same trace, other references are links. Times are
   microseconds. A log is an event, named by its field `event`.
4. A span by itself, with its process in it, is what a store of Jaeger holds (a dump of
   Elasticsearch, one a line, bare or as `_source`).
5. A trace without spans is put aside; so are those that an answer of Tempo's search only names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trackway.schema import BYTES_TAG
from trackway_analyzer.dialects.values import text
from trackway_analyzer.json_text import UnencodableError, compact
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.any_value import BrokenValueError, bounded
from trackway_analyzer.read.foreign_values import unread_members
from trackway_analyzer.read.otlp_values import count_of, span_hex
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.spans import Attributes, Origin, RawEvent, RawLink, RawSpan

_FIELD_TAGS: Final = frozenset(
    [
        "span.kind",
        "otel.status_code",
        "otel.status_description",
        "otel.scope.name",
        "otel.scope.version",
        "otel.library.name",
        "otel.library.version",
        "w3c.tracestate",
        "internal.span.format",
        "otel.dropped_attributes_count",
        "otel.dropped_events_count",
        "otel.dropped_links_count",
    ]
)
_TAGS: Final = ("tags", "tag")
_MEMBERS: Final = frozenset(["references", *_TAGS, "logs", "process", "warnings"])
"""Members of a span that are lists or objects and are read, or hold nothing that it did."""
_Origins = dict[tuple[str, str | None, str | None], Origin]
"""Origins by process, scope and scope version."""

_MAX_MICROSECONDS: Final = (2**63 - 1) // 1000


def jaeger_traces(document: Any) -> list[Any] | None:
    """Return the traces of a document; None where it is none of Jaeger's."""
    if not isinstance(document, dict):
        return None
    if _is_trace(document):
        return [document]
    stored = _stored(document)
    if stored is not None:
        return [stored]
    for name in ("data", "traces"):
        traces = document.get(name)
        if isinstance(traces, list) and any(map(_is_trace, traces)):
            return traces
    return None


def _stored(document: dict[str, Any]) -> dict[str, Any] | None:
    """Return a span of a store as a trace; None where it is none."""
    inner = document.get("_source")
    span = inner if isinstance(inner, dict) else document
    if not span.keys() >= _STORED:
        return None
    parent = span.get("parentSpanID")
    references = span.get("references")
    if parent and not references:
        references = [{"refType": "CHILD_OF", "traceID": span["traceID"], "spanID": parent}]
    whole = {**span, "processID": _OWN, "references": references}
    return {"traceID": span["traceID"], "spans": [whole], "processes": {_OWN: span["process"]}}


_STORED: Final = frozenset(["traceID", "spanID", "operationName", "process"])
_OWN: Final = "own"


def _is_trace(item: Any) -> bool:
    return isinstance(item, dict) and "traceID" in item and not item.keys().isdisjoint(_OF_TRACE)


_OF_TRACE: Final = ("spans", "processes", "rootServiceName", "rootTraceName", "spanSets")
"""What stands beside the id of a trace: in Jaeger's JSON, and in answers of Tempo's search."""


def jaeger_spans(
    traces: list[Any], quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan]:
    """Decode the spans of Jaeger traces."""
    for trace in traces:
        spans = trace.get("spans") if _is_trace(trace) else ()
        if not _is_trace(trace) or not isinstance(spans, list | None):
            quarantine.add(Reason.BROKEN_SPAN, "a trace must have traceID and spans", offset)
            continue
        if not spans:
            quarantine.add_empty(trace["traceID"], offset)
            continue
        processes = trace.get("processes")
        processes = processes if isinstance(processes, dict) else {}
        origins: _Origins = {}
        for item in spans:
            span = _span(item, processes, origins) if isinstance(item, dict) else None
            if span is None:
                quarantine.add(Reason.BROKEN_SPAN, "a span without a trace id or span id", offset)
                continue
            for detail in _unread(item):
                quarantine.add(Reason.BROKEN_VALUE, detail, offset)
            yield span


def _unread(item: dict[str, Any]) -> Iterator[str]:
    """Say what of a span is not read."""
    for name in unread_members(item, _MEMBERS):
        yield f"a span with a member that is not read: {name}"
    for name in (*_TAGS, "logs", "references"):
        inner = item.get(name)
        if inner and not isinstance(inner, list | dict if name in _TAGS else list):
            yield f"{name} of a span must be a list, found {type(inner).__name__}"
    fields = [log.get("fields") for log in _objects(item.get("logs"))]
    for tags in (item.get("tags"), *fields):
        for tag in tags if isinstance(tags, list) else ():
            if not isinstance(tag, dict) or not isinstance(tag.get("key"), str):
                yield "a tag without a key"
            elif "value" not in tag and len(tag) > _WITHOUT_VALUE:
                yield "a tag without a value"


_WITHOUT_VALUE: Final = 2
"""Members of a tag whose value was empty, and is left out: its key and type."""


def _objects(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _span(item: dict[str, Any], processes: dict[str, Any], origins: _Origins) -> RawSpan | None:
    trace_id, span_id = _id(item.get("traceID"), 32), _id(item.get("spanID"), 16)
    if trace_id is None or span_id is None:
        return None
    tags = _all_tags(item)
    start = _nanoseconds(item.get("startTime"))
    duration = _nanoseconds(item.get("duration"))
    parent, links = _references(item.get("references"), trace_id)
    status = tags.get("otel.status_code")
    if status is None:
        status = "ERROR" if str(tags.get("error")).lower() == "true" else "UNSET"
    kind = tags.get("span.kind")
    return RawSpan(
        trace_id,
        span_id,
        text(item.get("operationName")) or "",
        start or 0,
        _origin(item, tags, processes, origins),
        {key: value for key, value in tags.items() if key not in _FIELD_TAGS},
        parent,
        kind.upper() if isinstance(kind, str) else None,
        None if start is None or duration is None else start + duration,
        (text(status) or "UNSET").upper(),
        _text(tags.get("otel.status_description")),
        _events(item.get("logs")),
        links,
        _text(tags.get("w3c.tracestate")),
        None,
        *(count_of(tags.get(f"otel.dropped_{what}_count")) for what in _DROPPED),
    )


def _origin(
    item: dict[str, Any], tags: Attributes, processes: dict[str, Any], known: _Origins
) -> Origin:
    scope = _text(tags.get("otel.scope.name")) or _text(tags.get("otel.library.name"))
    version = _text(tags.get("otel.scope.version")) or _text(tags.get("otel.library.version"))
    key = (str(text(item.get("processID"))), scope, version)
    if key not in known:
        process = processes.get(key[0])
        process = process if isinstance(process, dict) else {}
        resource = _all_tags(process)
        if isinstance(process.get("serviceName"), str):
            resource["service.name"] = process["serviceName"]
        known[key] = Origin(resource, scope, version, compact(resource))
    return known[key]


def _references(items: Any, trace_id: str) -> tuple[str | None, tuple[RawLink, ...]]:
    parent, links = None, []
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        of_trace, of_span = _id(item.get("traceID"), 32), _id(item.get("spanID"), 16)
        if of_trace is None or of_span is None:
            continue
        if parent is None and item.get("refType") == "CHILD_OF" and of_trace == trace_id:
            parent = of_span
        else:
            links.append(RawLink(of_trace, of_span, {}))
    return parent, tuple(links)


def _events(items: Any) -> tuple[RawEvent, ...]:
    found = []
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            fields = _tags(item.get("fields")) | _tags(item.get("field"))
            name = fields.pop("event", None)
            found.append(RawEvent(_text(name) or "", _nanoseconds(item.get("timestamp")), fields))
    return tuple(found)


_DROPPED: Final = ("attributes", "events", "links")


def _all_tags(item: dict[str, Any]) -> Attributes:
    found: Attributes = {}
    for name in _TAGS:
        found |= _tags(item.get(name))
    return found


def _tags(items: Any) -> Attributes:
    decoded: Attributes = {}
    if isinstance(items, dict):
        items = [{"key": key.replace("@", "."), "value": value} for key, value in items.items()]
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and isinstance(item.get("key"), str):
            try:
                decoded[item["key"]] = _tag(item)
            except (BrokenValueError, UnencodableError):
                decoded[item["key"]] = None
    return decoded


def _tag(item: dict[str, Any]) -> JsonValue:
    value = bounded(item.get("value"))
    return {BYTES_TAG: value} if item.get("type") == "binary" else value


def _id(value: Any, length: int) -> str | None:
    """Return an id; Jaeger leaves out leading zeros."""
    return span_hex(value.rjust(length, "0"), length) if isinstance(value, str) else None


def _nanoseconds(value: Any) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value * 1000 if 0 <= value <= _MAX_MICROSECONDS else None


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
