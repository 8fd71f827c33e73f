"""Nothing is lost between the forms of one span: OTLP JSON, OTLP protobuf, Parquet, live spans."""

from __future__ import annotations

import base64
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.json_format import ParseDict
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

import trackway_analyzer as ta
from analyzer.read import otlp_text
from trackway_analyzer.read import read

DATA = Path(__file__).parents[2] / "data"

KEYS = st.sampled_from(
    ["gen_ai.operation.name", "gen_ai.tool.name", "openinference.span.kind", "a", "ü", "x.y"]
)
PLAIN = st.one_of(
    st.text(max_size=8),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.binary(max_size=4),
    st.sampled_from(["execute_tool", "chat", "TOOL", '{"a": 1}']),
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["bytesValue", "doubleValue", "k"]), inner, max_size=2),
    ),
    max_leaves=6,
)
ATTRIBUTES = st.dictionaries(KEYS, VALUES, max_size=4).map(otlp_text.attributes)
TRACE_IDS = st.integers(1, 2**128 - 1).map(lambda number: f"{number:032x}")
SPAN_IDS = st.integers(1, 2**64 - 1).map(lambda number: f"{number:016x}")
TIMES = st.integers(1, 2**63 - 1).map(str)
TEXTS = st.text(alphabet=st.characters(codec="utf-8"), max_size=6)
URLS = st.sampled_from(["", "https://opentelemetry.io/schemas/1.37.0"])

LINKS = st.fixed_dictionaries(
    {"traceId": TRACE_IDS, "spanId": SPAN_IDS, "attributes": ATTRIBUTES},
    optional={"traceState": st.just("a=1"), "flags": st.integers(0, 2**20)},
)
EVENTS = st.fixed_dictionaries({"name": TEXTS, "timeUnixNano": TIMES, "attributes": ATTRIBUTES})
SPANS = st.fixed_dictionaries(
    {
        "traceId": TRACE_IDS,
        "spanId": SPAN_IDS,
        "name": TEXTS,
        "startTimeUnixNano": TIMES,
        "attributes": ATTRIBUTES,
    },
    optional={
        "parentSpanId": SPAN_IDS,
        "endTimeUnixNano": TIMES,
        "kind": st.integers(0, 5),
        "status": st.fixed_dictionaries({"code": st.integers(0, 2), "message": TEXTS}),
        "traceState": st.just("k=v"),
        "flags": st.integers(0, 2**20),
        "events": st.lists(EVENTS, max_size=2),
        "links": st.lists(LINKS, max_size=2),
        "droppedAttributesCount": st.integers(0, 9),
        "droppedEventsCount": st.integers(0, 9),
        "droppedLinksCount": st.integers(0, 9),
    },
)
SCOPES = st.fixed_dictionaries(
    {
        "scope": st.fixed_dictionaries(
            {
                "name": st.sampled_from(["", "demo", "trackway"]),
                "version": st.sampled_from(["", "1"]),
                "attributes": ATTRIBUTES,
            }
        ),
        "spans": st.lists(SPANS, max_size=3),
        "schemaUrl": URLS,
    }
)
DOCUMENTS = st.fixed_dictionaries(
    {
        "resourceSpans": st.lists(
            st.fixed_dictionaries(
                {
                    "resource": st.fixed_dictionaries({"attributes": ATTRIBUTES}),
                    "scopeSpans": st.lists(SCOPES, max_size=2),
                    "schemaUrl": URLS,
                }
            ),
            max_size=2,
        )
    }
)


def protobuf_of(document: dict[str, Any]) -> bytes:
    """The same spans as OTLP protobuf, encoded by the library of the protocol."""
    copy = json.loads(json.dumps(document))
    for resource in copy["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for holder in (span, *span.get("links", [])):
                    for key in ("traceId", "spanId", "parentSpanId"):
                        if key in holder:
                            raw = bytes.fromhex(holder[key])
                            holder[key] = base64.b64encode(raw).decode()
    return ParseDict(copy, ExportTraceServiceRequest()).SerializeToString()


def spans_in(folder: str | Path, name: str, content: bytes) -> pa.Table:
    path = Path(folder) / name
    path.write_bytes(content)
    return table_of(path)


def table_of(source: Any) -> pa.Table:
    batches = list(read(source))
    assert sum(len(batch.quarantine) for batch in batches) == 0
    return pa.concat_tables([batch.spans for batch in batches]) if batches else None


def rows_of(table: pa.Table | None) -> list[dict[str, Any]]:
    if table is None:
        return []
    key = ("trace_id", "span_id", "name", "attributes")
    return sorted(table.to_pylist(), key=lambda row: [str(row[name]) for name in key])


@given(DOCUMENTS)
@settings(max_examples=50)
def test_json_and_protobuf_twins_load_equal(document: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = json.dumps(document).encode()
        if not any(s["spans"] for r in document["resourceSpans"] for s in r["scopeSpans"]):
            return
        one = spans_in(folder, "twin.json", text)
        other = spans_in(folder, "twin.pb", protobuf_of(document))
        assert one.to_pylist() == other.to_pylist()


@pytest.mark.parametrize("length", [123, 91])
def test_a_message_that_begins_as_a_text_of_json_might_is_read(tmp_path: Path, length: int) -> None:
    def message(name: str) -> bytes:
        span = otlp_text.span(name=name, kind=..., status=..., endTimeUnixNano=...)
        return protobuf_of(otlp_text.document(span))

    name = next(
        "n" * more
        for more in range(1, length)
        if message("n" * more)[:2] == b"\n" + bytes([length])
    )
    path = tmp_path / "traces.pb"
    path.write_bytes(message(name))
    assert ta.load(path).span_table["name"].to_pylist() == [name]


@given(DOCUMENTS)
@settings(max_examples=50)
def test_spans_come_back_from_parquet_as_they_went(document: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, parquet = Path(folder) / "spans.json", Path(folder) / "spans.parquet"
        path.write_text(json.dumps(document))
        count = ta.load(path).to_parquet(parquet)
        assert count == sum(
            len(scope["spans"]) for r in document["resourceSpans"] for scope in r["scopeSpans"]
        )
        again = rows_of(table_of(parquet))
        assert again == rows_of(table_of(path) if count else None)
        if count:
            twice = Path(folder) / "twice.parquet"
            ta.load(parquet).to_parquet(twice)
            assert rows_of(table_of(twice)) == again


def test_what_otlp_has_no_column_for_is_kept(tmp_path: Path) -> None:
    document = otlp_text.document(
        otlp_text.span(
            links=[
                {
                    "traceId": otlp_text.TRACE,
                    "spanId": otlp_text.SPAN,
                    "traceState": "vendor=1",
                    "flags": 257,
                    "attributes": otlp_text.attributes({"why": "retry"}),
                }
            ],
            attributes={"a": 1},
        )
    )
    group = document["resourceSpans"][0]
    group["schemaUrl"] = "https://resource"
    group["scopeSpans"][0]["schemaUrl"] = "https://scope"
    group["scopeSpans"][0]["scope"]["attributes"] = otlp_text.attributes({"key": "public"})
    (tmp_path / "spans.json").write_text(json.dumps(document))
    ta.load(tmp_path / "spans.json").to_parquet(tmp_path / "spans.parquet")
    for name in ("spans.json", "spans.parquet"):
        (row,) = table_of(tmp_path / name).to_pylist()
        assert json.loads(row["attributes"]) == {
            "a": 1,
            "otlp.scope.attributes": {"key": "public"},
            "otlp.scope.schema_url": "https://scope",
            "otlp.resource.schema_url": "https://resource",
        }
        assert json.loads(row["links"][0]["attributes"]) == {
            "why": "retry",
            "otlp.link.trace_state": "vendor=1",
            "otlp.link.flags": 257,
        }
        assert row["resource"] == '{"service.name":"shop"}'


def test_a_live_span_keeps_what_its_scope_says() -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("demo", schema_url="https://scope", attributes={"key": "public"})
    tracer.start_span("one").end()
    (row,) = table_of(list(memory.get_finished_spans())).to_pylist()
    assert json.loads(row["attributes"]) == {
        "otlp.scope.attributes": {"key": "public"},
        "otlp.scope.schema_url": "https://scope",
    }


@pytest.mark.parametrize(
    "path",
    sorted((DATA / "frameworks").glob("*/*.json")),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_recorded_spans_come_back_from_parquet(path: Path, tmp_path: Path) -> None:
    ta.load(path).to_parquet(tmp_path / "spans.parquet")
    assert rows_of(table_of(tmp_path / "spans.parquet")) == rows_of(table_of(path))


def test_numbers_that_json_lacks_survive_everywhere(tmp_path: Path) -> None:
    values = {"nan": math.nan, "inf": math.inf, "low": -math.inf, "plus": 0.0, "zero": -0.0}
    document = otlp_text.document(otlp_text.span(attributes=values))
    text = spans_in(tmp_path, "spans.json", json.dumps(document).encode())
    binary = spans_in(tmp_path, "spans.pb", protobuf_of(document))
    assert text.to_pylist() == binary.to_pylist()
    ta.load(text).to_parquet(tmp_path / "spans.parquet")
    assert rows_of(table_of(tmp_path / "spans.parquet")) == rows_of(text)
