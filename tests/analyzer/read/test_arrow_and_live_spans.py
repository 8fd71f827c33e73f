"""Span tables pass through, raw rows are read, and a span is one row from wherever it comes."""

import datetime
import sys
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode

sys.path.insert(0, str(Path(__file__).parent))
import otlp_text
from otlp_text import document, lines, span

from trackway.export.parquet import ParquetSpanExporter
from trackway.schema import SCOPE_NAME
from trackway_analyzer.read import read
from trackway_analyzer.read.parquet import ForeignTableError
from trackway_analyzer.tables import SPAN_SCHEMA

FRAMEWORKS = Path(__file__).parents[2] / "data" / "frameworks"
SAMPLE = FRAMEWORKS / "langgraph-openinference" / "fail.json"


def spans_of(source: Any) -> pa.Table:
    return pa.concat_tables([batch.spans for batch in read(source)])


def put_aside(source: Any) -> list[dict[str, Any]]:
    return [row for batch in read(source) for row in batch.quarantine.to_pylist()]


def live(scope: str) -> list[ReadableSpan]:
    """Spans as an instrumentor leaves them in the in-memory exporter."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "shop", "team": "a"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer(scope, "1.0")
    with tracer.start_as_current_span("invoke_agent shop") as root:
        root.set_attribute("gen_ai.operation.name", "invoke_agent")
        root.set_attribute("gen_ai.agent.name", "shop")
        root.set_attribute("trackway.run.id", "run-1")
        root.set_attribute("trackway.input", "Refund A-1")
        root.add_event("trackway.decision", {"chosen": "refund"})
        tool = tracer.start_span("execute_tool refund")
        tool.set_attributes(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "refund",
                "gen_ai.tool.call.id": "c1",
                "gen_ai.tool.call.arguments": '{"amount":84.0,"order_id":"A-1"}',
                "gen_ai.tool.call.result": '{"status":"succeeded"}',
                "trackway.run.id": "run-1",
                "trackway.step.index": 2,
                "trackway.step.ok": True,
                "trackway.entity.refs": ["order:A-1"],
                "ratio": 0.5,
                "infinite": float("inf"),
                "shares": [0.25, 2.0],
                "blob": b"hi",
            }
        )
        tool.set_status(Status(StatusCode.ERROR, "gateway timeout"))
        tool.end()
    return list(exporter.get_finished_spans())


def as_parquet(spans: list[ReadableSpan], folder: Path) -> Path:
    """The same spans as the Parquet exporter writes them: files sorted by run and start."""
    exporter = ParquetSpanExporter(folder)
    exporter.export(spans)
    exporter.shutdown()
    return folder


def as_otlp(spans: list[ReadableSpan]) -> bytes:
    """The same spans as the OTLP exporter sends them, written as OTLP JSON."""
    request = encode_spans(spans)
    groups = []
    for group in request.resource_spans:
        scopes = [
            {
                "scope": {"name": part.scope.name, "version": part.scope.version},
                "spans": [_otlp_span(item) for item in part.spans],
            }
            for part in group.scope_spans
        ]
        resource = {"attributes": _otlp_attributes(group.resource.attributes)}
        groups.append({"resource": resource, "scopeSpans": scopes})
    return orjson.dumps({"resourceSpans": groups})


def _otlp_span(item: Any) -> dict[str, Any]:
    return {
        "traceId": item.trace_id.hex(),
        "spanId": item.span_id.hex(),
        "parentSpanId": item.parent_span_id.hex(),
        "name": item.name,
        "kind": item.kind,
        "flags": item.flags,
        "startTimeUnixNano": str(item.start_time_unix_nano),
        "endTimeUnixNano": str(item.end_time_unix_nano),
        "attributes": _otlp_attributes(item.attributes),
        "status": {"code": item.status.code, "message": item.status.message},
        "events": [
            {
                "name": event.name,
                "timeUnixNano": str(event.time_unix_nano),
                "attributes": _otlp_attributes(event.attributes),
            }
            for event in item.events
        ],
    }


def _otlp_attributes(items: Any) -> list[dict[str, Any]]:
    from google.protobuf.json_format import MessageToDict

    return [MessageToDict(item) for item in items]


@pytest.mark.parametrize("scope", [SCOPE_NAME, "some.instrumentor"])
def test_a_span_is_the_same_row_from_memory_otlp_and_parquet(tmp_path: Path, scope: str) -> None:
    spans = live(scope)
    from_memory = by_span_id(spans_of(spans))
    (tmp_path / "spans.json").write_bytes(as_otlp(spans))
    from_otlp = by_span_id(spans_of(tmp_path / "spans.json"))
    from_parquet = by_span_id(spans_of(as_parquet(spans, tmp_path / "parquet")))
    for one, two, three in zip(from_memory, from_otlp, from_parquet, strict=True):
        assert _comparable(one) == _comparable(two) == _comparable(three)
    (tool,) = (row for row in from_memory if row["tool"] == "refund")
    (agent,) = (row for row in from_memory if row["operation"] == "agent")
    assert tool["run_id"] == "run-1"
    assert tool["arguments"] == '{"amount":84.0,"order_id":"A-1"}'
    assert agent["input"] == ("Refund A-1" if scope == SCOPE_NAME else None)


def by_span_id(table: pa.Table) -> list[dict[str, Any]]:
    return table.sort_by("span_id").to_pylist()  # type: ignore[no-any-return]


def _comparable(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its JSON objects decoded; the OTLP exporter drops the W3C bits of the flags."""
    texts = {
        "attributes": orjson.loads(row["attributes"]),
        "resource": orjson.loads(row["resource"]),
    }
    events = [
        (event["name"], event["time"], orjson.loads(event["attributes"]))
        for event in row["events"] or ()
    ]
    return {**row, **texts, "events": events, "flags": row["flags"] & ~0xFF}


def test_attributes_with_a_column_are_not_repeated_in_native_rows() -> None:
    (tool, _) = spans_of(live(SCOPE_NAME)).to_pylist()
    assert orjson.loads(tool["attributes"]) == {
        "gen_ai.operation.name": "execute_tool",
        "ratio": 0.5,
        "infinite": {"doubleValue": "Infinity"},
        "shares": [0.25, 2.0],
        "blob": {"bytesValue": "aGk="},
    }


def test_rows_that_a_dialect_read_before_pass_through_untouched(tmp_path: Path) -> None:
    table = spans_of(SAMPLE)
    odd = table.set_column(
        table.schema.get_field_index("tool"),
        SPAN_SCHEMA.field("tool"),
        pa.array(["as it stands"] * len(table)).dictionary_encode(),
    )
    pq.write_table(odd, tmp_path / "spans.parquet")
    assert spans_of(tmp_path / "spans.parquet").to_pylist() == odd.to_pylist()
    assert spans_of(f"file://{tmp_path}").to_pylist() == odd.to_pylist()


def test_reading_what_was_written_gives_the_same_rows(tmp_path: Path) -> None:
    for path in sorted(FRAMEWORKS.glob("*/fail.json"))[:6]:
        table = spans_of(path)
        pq.write_table(table, tmp_path / "spans.parquet")
        assert spans_of(tmp_path / "spans.parquet").to_pylist() == table.to_pylist()


def test_raw_and_read_rows_may_be_mixed_and_keep_their_order(tmp_path: Path) -> None:
    folder = as_parquet(live("some.instrumentor") + live(SCOPE_NAME), tmp_path / "parquet")
    (path,) = folder.rglob("*.parquet")
    written = pq.ParquetFile(path).read()
    assert written["source"].to_pylist().count(None) == 2
    table = spans_of(path)
    assert table["span_id"].to_pylist() == written["span_id"].to_pylist()
    for row, source in zip(table.to_pylist(), written["source"].to_pylist(), strict=True):
        assert row["source"] == (source or "otel-genai")
        assert row["operation"] == ("tool" if row["name"].startswith("execute_tool") else "agent")


def test_older_and_newer_columns_are_accepted(tmp_path: Path) -> None:
    table = spans_of(SAMPLE)
    older = table.drop_columns(["seed", "flags", "tokens_reasoning", "events", "links"])
    newer = older.append_column("from_the_future", pa.array([1] * len(older)))
    plain = newer.set_column(0, "run_id", pa.array(["run-1"] * len(newer)).dictionary_encode())
    pq.write_table(plain, tmp_path / "spans.parquet")
    read_back = spans_of(tmp_path / "spans.parquet")
    assert read_back.schema.equals(SPAN_SCHEMA)
    assert read_back["run_id"].to_pylist() == ["run-1"] * len(table)
    assert read_back["tool"].to_pylist() == table["tool"].to_pylist()
    assert read_back["flags"].null_count == len(table)


def test_the_service_of_a_partitioned_file_stands_in_its_footer(tmp_path: Path) -> None:
    table = spans_of(SAMPLE).drop_columns(["service"])
    table = table.replace_schema_metadata({"trackway.service": "shop"})
    pq.write_table(table, tmp_path / "spans.parquet")
    assert set(spans_of(tmp_path / "spans.parquet")["service"].to_pylist()) == {"shop"}


def test_a_foreign_parquet_is_refused_with_what_it_has(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "trace_id": ["x"]}), tmp_path / "other.parquet")
    (entry,) = put_aside(tmp_path)
    assert entry["reason"] == "not_a_trace"
    assert entry["detail"] == (
        "no span table: columns span_id, name, start are missing; it has a, trace_id"
    )
    with pytest.raises(ForeignTableError, match="no span table"):
        read(pa.table({"a": [1]}))


def test_a_column_of_another_type_is_refused(tmp_path: Path) -> None:
    table = spans_of(SAMPLE)
    wrong = table.set_column(0, "run_id", pa.array([[1]] * len(table)))
    pq.write_table(wrong, tmp_path / "spans.parquet")
    (entry,) = put_aside(tmp_path)
    assert entry["detail"].startswith("column run_id has type list<")


@pytest.mark.parametrize("cut", [slice(0, 1000), slice(0, -4), slice(4, None)])
def test_a_damaged_parquet_is_put_aside(tmp_path: Path, cut: slice) -> None:
    path = tmp_path / "spans.parquet"
    pq.write_table(spans_of(SAMPLE), path)
    path.write_bytes(path.read_bytes()[cut])
    (entry,) = put_aside(tmp_path)
    assert entry["reason"] in ("unreadable", "not_a_trace")


def test_frames_and_tables_are_sources() -> None:
    table = spans_of(SAMPLE)
    assert spans_of(table).to_pylist() == table.to_pylist()
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    assert spans_of(frame).select(["tool", "arguments", "start"]).to_pylist() == (
        table.select(["tool", "arguments", "start"]).to_pylist()
    )
    (batch,) = table.slice(0, 3).combine_chunks().to_batches()
    assert len(spans_of(batch)) == 3


def test_a_frame_made_by_hand_is_read_as_raw_rows() -> None:
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    attributes = '{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"f"}'
    frame = pd.DataFrame(
        {
            "trace_id": ["0" * 31 + "1"],
            "span_id": ["0" * 15 + "2"],
            "name": ["execute_tool f"],
            "start": [start],
            "attributes": [attributes],
        }
    )
    (row,) = spans_of(frame).to_pylist()
    assert (row["operation"], row["tool"], row["start"]) == ("tool", "f", start)


def test_a_finished_run_is_the_same_from_lines_and_from_a_list_of_files(tmp_path: Path) -> None:
    spans = [span(spanId=f"{number:016x}", attributes={"n": number}) for number in range(1, 5)]
    (tmp_path / "a.jsonl").write_bytes(lines([document(item) for item in spans]))
    (tmp_path / "b.json").write_bytes(orjson.dumps(document(*spans)))
    one, two = spans_of(tmp_path / "a.jsonl"), spans_of(tmp_path / "b.json")
    assert one.to_pylist() == two.to_pylist()
    assert otlp_text.TRACE in one["trace_id"].to_pylist()
