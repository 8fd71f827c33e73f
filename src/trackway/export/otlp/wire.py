"""Spans as OTLP bytes, and back: what is decoded encodes to the same bytes again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    Link,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
)

from trackway.export.ended import attributes_of, list_of

_IS_REMOTE: Final = 0x200
_KINDS: Final = {
    WireSpan.SPAN_KIND_INTERNAL: SpanKind.INTERNAL,
    WireSpan.SPAN_KIND_SERVER: SpanKind.SERVER,
    WireSpan.SPAN_KIND_CLIENT: SpanKind.CLIENT,
    WireSpan.SPAN_KIND_PRODUCER: SpanKind.PRODUCER,
    WireSpan.SPAN_KIND_CONSUMER: SpanKind.CONSUMER,
}


def encode(spans: Sequence[ReadableSpan]) -> bytes:
    """Encode spans as one `ExportTraceServiceRequest`."""
    return encode_spans(spans).SerializePartialToString()


def decode(payload: bytes) -> list[ReadableSpan]:
    """Decode an `ExportTraceServiceRequest` into ended spans."""
    request = ExportTraceServiceRequest.FromString(payload)
    return [
        _span(span, Resource(_attributes(of.resource.attributes), of.schema_url), scope)
        for of in request.resource_spans
        for group in of.scope_spans
        for scope in (_scope(group),)
        for span in group.spans
    ]


def _scope(group: Any) -> InstrumentationScope:
    scope = group.scope
    return InstrumentationScope(
        scope.name, scope.version or None, group.schema_url, _attributes(scope.attributes)
    )


def _span(span: Any, resource: Resource, scope: InstrumentationScope) -> ReadableSpan:
    trace_id = int.from_bytes(span.trace_id, "big")
    parent = None
    if span.parent_span_id:
        parent = SpanContext(
            trace_id,
            int.from_bytes(span.parent_span_id, "big"),
            is_remote=bool(span.flags & _IS_REMOTE),
        )
    return ReadableSpan(
        name=span.name,
        context=SpanContext(
            trace_id,
            int.from_bytes(span.span_id, "big"),
            is_remote=False,
            trace_flags=TraceFlags(TraceFlags.SAMPLED),
            trace_state=TraceState.from_header([span.trace_state]),
        ),
        parent=parent,
        resource=resource,
        attributes=attributes_of(_attributes(span.attributes), span.dropped_attributes_count),
        events=list_of(map(_event, span.events), span.dropped_events_count),
        links=list_of(map(_link, span.links), span.dropped_links_count),
        kind=_KINDS.get(span.kind, SpanKind.INTERNAL),
        status=_status(span.status),
        start_time=span.start_time_unix_nano,
        end_time=span.end_time_unix_nano,
        instrumentation_scope=scope,
    )


def _status(status: Any) -> Status:
    code = StatusCode(status.code)
    # The API keeps a description only on an error, and says so in the log otherwise.
    return Status(code, status.message or None if code is StatusCode.ERROR else None)


def _event(event: Any) -> Event:
    attributes = attributes_of(_attributes(event.attributes), event.dropped_attributes_count)
    return Event(event.name, attributes, event.time_unix_nano)


def _link(link: Any) -> Link:
    context = SpanContext(
        int.from_bytes(link.trace_id, "big"),
        int.from_bytes(link.span_id, "big"),
        is_remote=bool(link.flags & _IS_REMOTE),
    )
    attributes = attributes_of(_attributes(link.attributes), link.dropped_attributes_count)
    return Link(context, attributes)


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return tuple(map(_value, value.array_value.values))
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    return getattr(value, kind)
