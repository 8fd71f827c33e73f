"""Spans as OTLP bytes, and back; how many fit into a message.

1. `encode` is the upstream encoding. `decode` gives spans that encode to the same bytes again.
2. `size_of` is never less than what a span takes in a message: text is measured, the rest is
   counted at its most.
3. `pieces` keeps the order and fills each message up to the limit; a span that is larger by itself
   gets a message of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util import BoundedList
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

_IS_REMOTE: Final = 0x200
_KINDS: Final = {
    WireSpan.SPAN_KIND_INTERNAL: SpanKind.INTERNAL,
    WireSpan.SPAN_KIND_SERVER: SpanKind.SERVER,
    WireSpan.SPAN_KIND_CLIENT: SpanKind.CLIENT,
    WireSpan.SPAN_KIND_PRODUCER: SpanKind.PRODUCER,
    WireSpan.SPAN_KIND_CONSUMER: SpanKind.CONSUMER,
}
_SPAN_BYTES: Final = 200
"""Ids, times, kind, status, flags and counts of one span, with their tags and lengths."""
_MEMBER_BYTES: Final = 32
"""Tags and lengths around one attribute, event or list item, and a number in it."""


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


def size_of(span: ReadableSpan) -> int:
    """Return an upper bound of the bytes that a span adds to a message, its resource included."""
    named = [span.name, span.status.description, span.resource.schema_url]
    scope = span.instrumentation_scope
    if scope is not None:
        named += [scope.name, scope.version, scope.schema_url]
    return (
        _SPAN_BYTES
        + sum(_text_bytes(text) for text in named if text)
        + (_members_bytes(scope.attributes) if scope else 0)
        + (_text_bytes(span.context.trace_state.to_header()) if span.context else 0)
        + _members_bytes(span.attributes)
        + _members_bytes(span.resource.attributes)
        + sum(_item_bytes(event.name, event.attributes) for event in span.events)
        + sum(_item_bytes("", link.attributes) for link in span.links)
    )


def pieces(spans: Iterable[ReadableSpan], limit: int) -> Iterator[list[ReadableSpan]]:
    """Cut spans into messages of at most `limit` bytes."""
    piece: list[ReadableSpan] = []
    size = 0
    for span in spans:
        added = size_of(span)
        if piece and size + added > limit:
            yield piece
            piece, size = [], 0
        piece.append(span)
        size += added
    if piece:
        yield piece


def _item_bytes(name: str, attributes: Mapping[str, Any] | None) -> int:
    return 2 * _MEMBER_BYTES + _text_bytes(name) + _members_bytes(attributes)


def _members_bytes(attributes: Mapping[str, Any] | None) -> int:
    return sum(
        _MEMBER_BYTES + _text_bytes(str(key)) + _value_bytes(value)
        for key, value in (attributes or {}).items()
    )


def _value_bytes(value: Any) -> int:
    if isinstance(value, str):
        return _text_bytes(value)
    if isinstance(value, (bytes, bytearray)):
        return len(value)
    if isinstance(value, Mapping):
        return _members_bytes(value)
    if isinstance(value, Sequence):
        return sum(_MEMBER_BYTES + _value_bytes(item) for item in value)
    return 0  # within the bytes of its member


def _text_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


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
    attributes = BoundedAttributes(attributes=_attributes(span.attributes))
    attributes.dropped = span.dropped_attributes_count
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
        attributes=attributes,
        events=_bounded(map(_event, span.events), span.dropped_events_count),
        links=_bounded(map(_link, span.links), span.dropped_links_count),
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
    return Event(event.name, _counted(event), event.time_unix_nano)


def _link(link: Any) -> Link:
    context = SpanContext(
        int.from_bytes(link.trace_id, "big"),
        int.from_bytes(link.span_id, "big"),
        is_remote=bool(link.flags & _IS_REMOTE),
    )
    return Link(context, _counted(link))


def _counted(holder: Any) -> BoundedAttributes:
    attributes = BoundedAttributes(attributes=_attributes(holder.attributes))
    attributes.dropped = holder.dropped_attributes_count
    return attributes


def _bounded(items: Iterable[Any], dropped: int) -> Any:
    bounded = BoundedList.from_seq(None, items)
    bounded.dropped = dropped
    return bounded


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
