"""Spans that are still in the process: finished spans of an in-memory exporter.

Anything with the attributes of OpenTelemetry's `ReadableSpan` will do; nothing is imported from it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trackway.schema import BYTES_TAG
from trackway_analyzer.json_text import UnencodableError, compact, plain
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.any_value import finite, untagged
from trackway_analyzer.spans import (
    Attributes,
    Origin,
    RawEvent,
    RawLink,
    RawSpan,
    beside,
    link_attributes,
)


def is_live_span(value: object) -> bool:
    """Tell whether an object looks like a finished OpenTelemetry span."""
    return all(hasattr(value, name) for name in ("context", "start_time", "attributes", "name"))


def live_spans(spans: Iterable[Any]) -> Iterator[RawSpan]:
    """Return finished spans as raw spans."""
    origins: dict[int, Origin] = {}
    for span in spans:
        resource = getattr(span, "resource", None)
        scope = getattr(span, "instrumentation_scope", None)
        key = hash((id(resource), id(scope)))
        if key not in origins:
            origins[key] = _origin(resource, scope)
        yield _raw(span, origins[key])


def _origin(resource: Any, scope: Any) -> Origin:
    attributes = _attributes(getattr(resource, "attributes", None))
    return Origin(
        attributes,
        getattr(scope, "name", None) or None,
        getattr(scope, "version", None) or None,
        compact(attributes),
        _beside(resource, scope),
    )


def _beside(resource: Any, scope: Any) -> str:
    own = _attributes(getattr(scope, "attributes", None))
    urls = [getattr(item, "schema_url", None) or None for item in (scope, resource)]
    return beside(own, *urls)


def _raw(span: Any, origin: Origin) -> RawSpan:
    context, parent = span.context, getattr(span, "parent", None)
    status = getattr(span, "status", None)
    return RawSpan(
        trace_id=f"{context.trace_id:032x}",
        span_id=f"{context.span_id:016x}",
        name=str(span.name),
        start=span.start_time or span.end_time or 0,
        origin=origin,
        attributes=_attributes(span.attributes),
        parent_span_id=f"{parent.span_id:016x}" if parent is not None else None,
        kind=getattr(getattr(span, "kind", None), "name", None),
        end=getattr(span, "end_time", None),
        status=getattr(getattr(status, "status_code", None), "name", None),
        status_message=getattr(status, "description", None) or None,
        events=tuple(
            RawEvent(event.name, event.timestamp, _attributes(event.attributes))
            for event in getattr(span, "events", None) or ()
        ),
        links=tuple(
            RawLink(
                f"{link.context.trace_id:032x}",
                f"{link.context.span_id:016x}",
                link_attributes(_attributes(link.attributes), _header(link.context), None),
            )
            for link in getattr(span, "links", None) or ()
        ),
        trace_state=_header(context),
        flags=context.trace_flags | 256 | (512 if parent is not None and parent.is_remote else 0),
        dropped_attributes=getattr(span, "dropped_attributes", None) or None,
        dropped_events=getattr(span, "dropped_events", None) or None,
        dropped_links=getattr(span, "dropped_links", None) or None,
    )


def _header(context: Any) -> str | None:
    state = getattr(context, "trace_state", None)
    return state.to_header() or None if state is not None else None


def _attributes(attributes: Mapping[str, Any] | None) -> Attributes:
    decoded: Attributes = {}
    for key, value in (attributes or {}).items():
        try:
            decoded[str(key)] = _value(value)
        except (UnencodableError, RecursionError):
            decoded[str(key)] = None
    return decoded


def _value(value: Any) -> JsonValue:
    """As `any_value` would decode what the OTLP exporter writes of it."""
    if isinstance(value, bytes):
        return {BYTES_TAG: base64.b64encode(value).decode()}
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, Mapping):
        return untagged({str(key): _value(item) for key, item in value.items()})
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_value(item) for item in value]
    return plain(value)
