"""Spans survive their encoding, and a message is never larger than it was said to be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceState

from sdk.export.sdk_values import TAKES_MAPPINGS
from trackway.export.ended import attributes_of, list_of
from trackway.export.otlp.endpoint import Endpoint, endpoint_of
from trackway.export.otlp.wire import decode, encode
from trackway.export.size import pieces, size_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = (
    # What the oldest SDKs cannot encode they leave out, and resources that differ become one.
    (st.none() if TAKES_MAPPINGS else st.nothing())
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | texts
    | st.binary(max_size=20)
)
nested = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts.filter(bool), inner, max_size=3)
    ),
    max_leaves=6,
)
values = nested if TAKES_MAPPINGS else scalars
attributes = st.dictionaries(texts.filter(bool), values, max_size=5)


statuses = st.just(Status()) | st.builds(Status, st.just(StatusCode.ERROR), texts)
resources = st.builds(Resource, attributes, st.sampled_from(["", "https://schema/1"]))
scopes = st.builds(InstrumentationScope, texts, st.none() | texts, st.none(), attributes)
times = st.integers(1, 2**62)
counts = st.integers(0, 3)
bounded = st.builds(attributes_of, attributes, counts)
contexts = st.builds(
    SpanContext,
    st.integers(1, 2**128 - 1),
    st.integers(1, 2**64 - 1),
    is_remote=st.booleans(),
    trace_state=st.sampled_from([TraceState(), TraceState([("k", "v"), ("l", "w")])]),
)
events = st.builds(Event, texts, bounded, times)
links = st.builds(Link, contexts, bounded)
ended_spans = st.builds(
    ReadableSpan,
    name=texts,
    context=contexts,
    parent=st.none() | contexts,
    resource=resources,
    attributes=bounded,
    events=st.builds(list_of, st.lists(events, max_size=2), counts),
    links=st.builds(list_of, st.lists(links, max_size=2), counts),
    kind=st.sampled_from(SpanKind),
    instrumentation_scope=scopes,
    status=statuses,
    start_time=times,
    end_time=times,
)


@settings(max_examples=60)
@given(st.lists(ended_spans, max_size=2))
def test_decoded_spans_encode_to_the_same_bytes(spans: list[ReadableSpan]) -> None:
    payload = encode(spans)
    assert encode(decode(payload)) == payload


@settings(max_examples=60)
@given(ended_spans)
def test_a_span_is_never_larger_than_its_estimate(span: ReadableSpan) -> None:
    assert len(encode([span])) <= size_of(span)


@settings(max_examples=40)
@given(st.lists(ended_spans, max_size=4), st.integers(200, 1500))
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


def test_the_protocol_comes_from_the_usual_variables(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    assert endpoint_of("otlp") == Endpoint(True)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf")
    assert endpoint_of("otlp") == Endpoint(False)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json")
    assert endpoint_of("otlp") == Endpoint(False)
    assert "expected grpc or http/protobuf, found 'http/json'; ignored" in caplog.text
