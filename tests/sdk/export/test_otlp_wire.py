"""Spans survive their encoding, and a message is never larger than it was said to be."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceState

from trackway.export.otlp.endpoint import Endpoint, endpoint_of
from trackway.export.otlp.wire import decode, encode, pieces, size_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | texts
    | st.binary(max_size=20)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts.filter(bool), inner, max_size=3)
    ),
    max_leaves=6,
)
attributes = st.dictionaries(texts.filter(bool), values, max_size=5)


class CountedIds(IdGenerator):
    def __init__(self) -> None:
        self._ids = count(1)

    def generate_trace_id(self) -> int:
        return next(self._ids)

    def generate_span_id(self) -> int:
        return next(self._ids)


@st.composite
def ended_spans(draw: Any) -> ReadableSpan:
    resource = Resource(draw(attributes), draw(st.sampled_from(["", "https://schema/1"])))
    provider = TracerProvider(
        resource=resource,
        shutdown_on_exit=False,
        id_generator=CountedIds(),
        span_limits=SpanLimits(max_attributes=3, max_events=1),
    )
    tracer = provider.get_tracer(
        draw(texts.filter(bool)), draw(st.none() | texts), attributes=draw(attributes)
    )
    remote = SpanContext(1, 2, is_remote=True, trace_state=TraceState([("k", "v")]))
    span = tracer.start_span(
        draw(texts),
        kind=draw(st.sampled_from(SpanKind)),
        attributes=draw(attributes),
        links=[Link(remote, draw(attributes))] if draw(st.booleans()) else [],
        start_time=draw(st.integers(1, 2**62)),
    )
    for _ in range(draw(st.integers(0, 2))):
        span.add_event(draw(texts), draw(attributes), timestamp=draw(st.integers(1, 2**62)))
    if draw(st.booleans()):
        span.set_status(Status(StatusCode.ERROR, draw(texts)))
    span.end(draw(st.integers(1, 2**62)))
    assert isinstance(span, ReadableSpan)
    return span


@settings(max_examples=50)
@given(st.lists(ended_spans(), max_size=2))
def test_decoded_spans_encode_to_the_same_bytes(spans: list[ReadableSpan]) -> None:
    payload = encode(spans)
    assert encode(decode(payload)) == payload


@given(ended_spans())
def test_a_span_is_never_larger_than_its_estimate(span: ReadableSpan) -> None:
    assert len(encode([span])) <= size_of(span)


@settings(max_examples=50)
@given(st.lists(ended_spans(), max_size=4), st.integers(200, 1500))
def test_pieces_keep_the_order_and_the_limit(spans: list[ReadableSpan], limit: int) -> None:
    cut = list(pieces(spans, limit))
    assert [span for piece in cut for span in piece] == spans
    assert all(len(encode(piece)) <= limit for piece in cut if len(piece) > 1)
    assert all(cut)


@pytest.mark.parametrize(
    ("target", "endpoint"),
    [
        ("otlp+http://host:4318", Endpoint(False, "http://host:4318/v1/traces")),
        ("otlp+http://host:4318/", Endpoint(False, "http://host:4318/v1/traces")),
        ("otlp+https://host/otlp/v1/traces", Endpoint(False, "https://host/otlp/v1/traces")),
        ("otlp+grpc://host:4317", Endpoint(True, "host:4317", insecure=True)),
        ("otlp+grpcs://host:4317", Endpoint(True, "host:4317", insecure=False)),
        ("otlp", Endpoint(False)),
    ],
)
def test_a_target_names_protocol_and_address(target: str, endpoint: Endpoint) -> None:
    assert endpoint_of(target) == endpoint


def test_the_protocol_comes_from_the_usual_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    assert endpoint_of("otlp") == Endpoint(True)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf")
    assert endpoint_of("otlp") == Endpoint(False)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json")
    with pytest.raises(ValueError, match="'http/json'; expected grpc or http/protobuf"):
        endpoint_of("otlp")
