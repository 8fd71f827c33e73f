"""Spans written as plain JSON objects: Phoenix, MLflow and the SDK's own `to_json`.

    {"name": "lookup", "context": {"trace_id": "5b8e...", "span_id": "eee1..."},
     "parent_id": null, "start_time": "2026-11-29T17:40:24.1Z", "end_time": ...,
     "status_code": "OK", "attributes": {"openinference.span.kind": "TOOL"}, "events": []}

1. Ids stand in `context` or beside the name, in hex (with `0x` or without) or base64; times in ISO
   form or as numbers, under `start_time`, `start_time_unix_nano` or `start_time_ns`; the status in
   `status` or in `status_code` and `status_message`.
2. Attributes are an object, flat or nested, or OTLP's list of pairs, in which members without a
   value may be null.
3. An exception that stands in an event's own members becomes its attributes.
4. Attributes or events in no such form, and what stands in an object without attributes under a
   name that is not read, are put aside.
"""

from __future__ import annotations

from typing import Any, Final

from trackway_analyzer.dialects.values import json_of, text
from trackway_analyzer.read.any_value import attributes_of
from trackway_analyzer.read.foreign_values import (
    first,
    kept,
    span_id_of,
    time_of,
    trace_id_of,
    unread_members,
)
from trackway_analyzer.read.otlp_values import CODES, KINDS
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.spans import Attributes, Origin, RawEvent, RawLink, RawSpan

_START: Final = ("start_time_unix_nano", "start_time_ns", "start_time", "startTime")
_END: Final = ("end_time_unix_nano", "end_time_ns", "end_time", "endTime")
_TIME: Final = ("time_unix_nano", "timestamp", "time")
_OWN_OF_EVENT: Final = frozenset(["name", "attributes", *_TIME])
_READ: Final = frozenset(["context", "status", "events", "links", "resource", "annotations"])
_MAX_PRUNED: Final = 64


def object_span(
    item: dict[str, Any],
    attributes: Attributes,
    origin: Origin,
    quarantine: Quarantine,
    offset: int | None,
) -> RawSpan | None:
    """Return an object as a span with these attributes; None, put aside, where it has no ids."""
    context = json_of(item.get("context"))
    ids = {**item, **context} if isinstance(context, dict) else item
    trace_id = trace_id_of(_bare(ids.get("trace_id")))
    span_id = span_id_of(_bare(ids.get("span_id")))
    if trace_id is None or span_id is None:
        quarantine.add(Reason.BROKEN_SPAN, "a span without a trace id or a span id", offset)
        return None
    if item.get("attributes") is None:
        for name in unread_members(item, _READ):
            detail = f"a span without attributes, with a member that is not read: {name}"
            quarantine.add(Reason.BROKEN_VALUE, detail, offset)
    if item.get("events") and not isinstance(json_of(item["events"]), list):
        quarantine.add(Reason.BROKEN_VALUE, "events of a span must be a list", offset)
    start, end = time_of(first(item, *_START)), time_of(first(item, *_END))
    if start is None:
        quarantine.add(Reason.NO_START_TIME, "a span without a start time", offset)
    code, message = _status(item)
    return RawSpan(
        trace_id,
        span_id,
        text(item.get("name")) or "",
        start or end or 0,
        origin,
        attributes,
        span_id_of(_bare(first(item, "parent_id", "parent_span_id"))),
        _word(item.get("kind"), KINDS),
        end,
        code,
        message,
        _events(item.get("events")),
        _links(item.get("links")),
        _trace_state(first(ids, "trace_state", "traceState")),
    )


def object_attributes(value: Any, quarantine: Quarantine, offset: int | None) -> Attributes:
    """Return attributes that stand as an object, or as OTLP's list with nulls for what is unset."""
    value = json_of(value)
    if isinstance(value, list):
        broken: list[str] = []
        decoded = attributes_of(pruned(value), broken)
        for detail in broken:
            quarantine.add(Reason.BROKEN_VALUE, detail, offset)
        return decoded
    if value and not isinstance(value, dict):
        detail = "attributes of a span must be an object or a list of keys and values"
        quarantine.add(Reason.BROKEN_VALUE, detail, offset)
    found: Attributes = {}
    for key, inner in (value if isinstance(value, dict) else {}).items():
        kept(found, str(key), inner)
    return found


def pruned(value: Any, depth: int = 0) -> Any:
    """Return a value without the null members that columns of structs fill in."""
    if depth > _MAX_PRUNED:
        return value
    if isinstance(value, dict):
        members = {name: pruned(inner, depth + 1) for name, inner in value.items()}
        return {name: inner for name, inner in members.items() if inner is not None} or None
    if isinstance(value, list):
        return [pruned(inner, depth + 1) for inner in value]
    return value


def _bare(value: Any) -> Any:
    return value.removeprefix("0x") if isinstance(value, str) else value


def _status(item: dict[str, Any]) -> tuple[str | None, str | None]:
    status = json_of(item.get("status"))
    inner = status if isinstance(status, dict) else {}
    code = first(inner, "code", "status_code")
    if code is None:
        code = item.get("status_code", status)
    message = first(inner, "message", "description") or item.get("status_message")
    name = _word(code, CODES) or "UNSET"
    return name, message if isinstance(message, str) and message else None


def _word(value: Any, names: tuple[str, ...]) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return names[value] if 0 <= value < len(names) else None
    word = value.upper().rpartition(".")[2].rpartition("_")[2] if isinstance(value, str) else None
    return word if word in names else None


def _events(value: Any) -> tuple[RawEvent, ...]:
    items = json_of(value)
    found = []
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            attributes: Attributes = {}
            inner = json_of(item.get("attributes"))
            if isinstance(inner, list):
                attributes = attributes_of(pruned(inner), [])
            for key, value in (inner if isinstance(inner, dict) else {}).items():
                kept(attributes, str(key), value)
            for name, value in item.items():
                if name not in _OWN_OF_EVENT:
                    kept(attributes, name.replace("exception_", "exception."), value)
            time = time_of(first(item, *_TIME))
            found.append(RawEvent(text(item.get("name")) or "", time, attributes))
    return tuple(found)


def _links(value: Any) -> tuple[RawLink, ...]:
    items = json_of(value)
    found = []
    for item in items if isinstance(items, list) else ():
        context = item.get("context", item) if isinstance(item, dict) else None
        if isinstance(context, dict):
            trace_id = trace_id_of(_bare(context.get("trace_id")))
            span_id = span_id_of(_bare(context.get("span_id")))
            inner = item.get("attributes")
            attributes = dict(inner) if isinstance(inner, dict) else {}
            if trace_id and span_id:
                found.append(RawLink(trace_id, span_id, attributes))
    return tuple(found)


def _trace_state(value: Any) -> str | None:
    return value if isinstance(value, str) and value not in ("", "[]") else None
