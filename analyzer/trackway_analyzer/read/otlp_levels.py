"""Which members of a level of OTLP JSON does nobody read, and may they hold spans?

A level is a resource group, a scope group, a span, and what stands above them in a document.

1. A level whose own list is missing, and which holds something under another name (`spans` below
   the resource, `scope_Spans`), holds what is not read.
2. Beside its own list, another member counts where an object with the id of a span or trace stands
   in it: any other field is one that a later version of the protocol may add.
3. Plain texts and numbers hold no spans, unless the level itself has the ids of one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from trackway_analyzer.read.otlp_values import field_of, objects_of
from trackway_analyzer.read.quarantine import Quarantine, Reason

SCOPES_OF_SPANS: Final = (
    *("scopeSpans", "scope_spans"),
    *("instrumentationLibrarySpans", "instrumentation_library_spans"),
)
SCOPES_OF_LOGS: Final = ("scopeLogs", "scope_logs")
SPANS: Final = ("spans",)
RECORDS: Final = ("logRecords", "log_records")

_WRAPPERS: Final = ("batches", "data", "trace", "traces", "resource_spans", "requests", "result")
_TOLD: Final = frozenset(
    [
        *("resource", "scope", "instrumentationLibrary", "instrumentation_library"),
        *("schemaUrl", "schema_url"),
    ]
)
"""What describes a group, and holds nothing that a run did."""
_FIELDS: Final = frozenset(
    [
        *("attributes", "events", "links", "status", "flags", "name", "kind"),
        *("traceId", "trace_id", "spanId", "span_id", "parentSpanId", "parent_span_id"),
        *("startTimeUnixNano", "start_time_unix_nano", "endTimeUnixNano", "end_time_unix_nano"),
        *("traceState", "trace_state", "droppedAttributesCount", "dropped_attributes_count"),
        *("droppedEventsCount", "dropped_events_count", "droppedLinksCount"),
        *("dropped_links_count", "timeUnixNano", "time_unix_nano"),
    ]
)
_IDS: Final = frozenset(["spanid", "traceid"])
_DEPTH: Final = 8
_ITEMS: Final = 100
_SHOWN: Final = 5


def resource_groups(document: Any, depth: int = 0) -> list[Any] | None:
    """Return the resource-span groups of a document; None where it is no OTLP trace."""
    if depth > 3:
        return None
    if isinstance(document, list):
        parts = [resource_groups(item, depth + 1) for item in document]
        if all(part is None for part in parts):
            return None
        items = zip(document, parts, strict=True)
        return [each for item, part in items for each in (_other(item) if part is None else part)]
    if not isinstance(document, dict):
        return None
    groups = document.get("resourceSpans")
    if isinstance(groups, list):
        return _with_others(groups, document, *_KNOWN)
    if listed(document, SCOPES_OF_SPANS) is not None:
        return [document]
    for name in _WRAPPERS:
        inner = document.get(name)
        if isinstance(inner, list | dict):
            unwrapped = resource_groups(inner, depth + 1)
            if unwrapped is not None:
                return _with_others(unwrapped, document, name, *_KNOWN)
    return None


def _with_others(groups: list[Any], document: Mapping[str, Any], *read: str) -> list[Any]:
    """Add to groups, as one that is broken, what stands beside them and tells of spans."""
    others = {
        name: inner
        for name, inner in document.items()
        if name not in read and tells_of_spans(inner)
    }
    return [*groups, others] if others else groups


def _other(item: Any) -> list[Any]:
    """Return what stands beside resource groups and is none, unless it is logs or metrics."""
    signals = isinstance(item, dict) and not _SIGNALS.isdisjoint(item)
    return [] if signals or not isinstance(item, dict | list) or not item else [item]


_KNOWN: Final = frozenset(["resourceSpans", "resourceLogs", "resource_logs"])
_SIGNALS: Final = frozenset(
    [
        *("resourceLogs", "resource_logs", "resourceMetrics", "resource_metrics"),
        *("resourceProfiles", "resource_profiles"),
    ]
)


def log_groups(document: Any, depth: int = 0) -> list[Any] | None:
    """Return the resource-log groups of a document; None where it holds no logs."""
    if depth > 3:
        return None
    if isinstance(document, list):
        parts = [log_groups(item, depth + 1) for item in document]
        found = [part for part in parts if part is not None]
        return [group for part in found for group in part] if found else None
    if not isinstance(document, dict):
        return None
    groups = field_of(document, "resourceLogs", "resource_logs")
    if isinstance(groups, list):
        return groups
    for name in _WRAPPERS:
        inner = document.get(name)
        if isinstance(inner, list | dict):
            unwrapped = log_groups(inner, depth + 1)
            if unwrapped is not None:
                return unwrapped
    return None


def listed(level: Mapping[str, Any], names: Iterable[str]) -> list[Any] | None:
    """Return what stands in the lists of these names; None where the level has none of them."""
    found = [level[name] for name in names if isinstance(level.get(name), list)]
    return [each for part in found for each in part] if found else None


def unread(level: Mapping[str, Any], names: Collection[str]) -> list[str]:
    """Return the members of a group that hold something and are not read; `names`: its lists."""
    others = {
        name: value
        for name, value in level.items()
        if isinstance(value, dict | list)
        and value
        and name not in _TOLD
        # Who reads the spans tells of what stands in their place.
        and not (name in names and (names is SPANS or isinstance(value, list)))
    }
    if listed(level, names) is not None:
        return sorted(name for name, value in others.items() if tells_of_spans(value))
    return sorted(others) or (["ids"] if has_ids(level) else [])


def unread_fields(item: Mapping[str, Any]) -> list[str]:
    """Return the members of a span or event that may be its attributes under another name."""
    if "attributes" in item or item.keys() <= _FIELDS:
        return []
    return sorted(
        name
        for name, value in item.items()
        if name not in _FIELDS and isinstance(value, dict | list) and value
    )


def has_ids(level: Mapping[str, Any]) -> bool:
    """Tell whether an object has the id of a span or of a trace."""
    return any(_plain(name) in _IDS for name in level)


def tells_of_spans(value: Any, depth: int = 0) -> bool:
    """Tell whether an object with the id of a span or of a trace stands in a value."""
    if depth > _DEPTH:
        return False
    if isinstance(value, dict):
        return has_ids(value) or any(tells_of_spans(each, depth + 1) for each in value.values())
    if isinstance(value, list):
        return any(tells_of_spans(each, depth + 1) for each in value[:_ITEMS])
    return False


def put_aside(
    groups: Iterable[Any],
    scopes: Collection[str],
    records: Collection[str],
    quarantine: Quarantine,
    offset: int | None,
) -> None:
    """Tell of what in these groups is not read, at every level down to the spans or records."""
    for group in groups:
        if not isinstance(group, dict):
            quarantine.add(Reason.BROKEN_SPAN, "a resource group must be an object", offset)
            continue
        _tell("a resource group", group, scopes, quarantine, offset)
        parts = listed(group, scopes) or ()
        for part in parts:
            if not isinstance(part, dict):
                quarantine.add(Reason.BROKEN_SPAN, "a scope group must be an object", offset)
        for part in objects_of(parts):
            _tell("a scope group", part, records, quarantine, offset)


def _tell(
    what: str,
    level: Mapping[str, Any],
    names: Collection[str],
    quarantine: Quarantine,
    offset: int | None,
) -> None:
    others = unread(level, names)
    if others:
        wanted = next(iter(names))
        shown = ", ".join(name[:40] for name in others[:_SHOWN])
        detail = f"{what} with members that are not read: {shown} (expected {wanted})"
        quarantine.add(Reason.BROKEN_SPAN, detail, offset)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
