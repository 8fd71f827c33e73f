"""Exports of span stores, written by the stores themselves (see tests/data/README.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trackway_analyzer as ta
from trackway_analyzer.read import read

DATA = Path(__file__).parents[2] / "data"
EXPORTS = DATA / "exports"
PHOENIX_TWIN = DATA / "frameworks/openai-agents-openinference/fail.json"
CLICKHOUSE_TWIN = DATA / "frameworks/langgraph-openinference/fail.json"

PHOENIX = [
    "phoenix_spans.json",
    "phoenix_otlp.json",
    "phoenix_frame.jsonl",
    "phoenix_frame.parquet",
]
CLICKHOUSE = [
    "clickhouse_traces.parquet",
    "clickhouse_traces_bytes.parquet",
    "clickhouse_traces.ndjson",
]


def only(source: Any, **options: Any) -> ta.Trajectory:
    trajectories = ta.load(source, **options)
    assert len(trajectories.quarantined) == 0
    (trajectory,) = trajectories
    return trajectory


def told(trajectory: ta.Trajectory) -> list[Any]:
    return [
        (step.operation, step.tool, step.arguments, step.result, step.error_message, step.tokens_in)
        for step in trajectory.steps
    ]


def of_table(name: str) -> pa.Table:
    return pq.read_table(EXPORTS / name)


@pytest.mark.parametrize("name", PHOENIX)
def test_what_phoenix_exports_is_the_run_that_was_sent_to_it(name: str) -> None:
    exported, sent = only(EXPORTS / name), only(PHOENIX_TWIN)
    assert told(exported) == told(sent)
    assert exported.final_text == sent.final_text
    assert exported.run["sources"] == ["openinference"]


def test_a_frame_of_phoenix_with_the_span_ids_as_its_index_is_read() -> None:
    frame = of_table("phoenix_frame.parquet").to_pandas()
    whole = frame.reset_index() if "context.span_id" not in frame.columns else frame
    indexed = whole.set_index("context.span_id")
    assert "context.span_id" not in indexed.columns
    assert told(only(indexed)) == told(only(EXPORTS / "phoenix_frame.parquet"))


@pytest.mark.parametrize("name", CLICKHOUSE)
def test_rows_of_clickhouse_are_the_spans_that_were_sent_to_it(name: str) -> None:
    assert only(EXPORTS / name).steps == only(CLICKHOUSE_TWIN).steps
    key = [("trace_id", "ascending"), ("span_id", "ascending")]
    exported = ta.load(EXPORTS / name).span_table.sort_by(key)
    sent = ta.load(CLICKHOUSE_TWIN).span_table.sort_by(key)
    differing = {n for n in sent.column_names if exported[n].to_pylist() != sent[n].to_pylist()}
    # The table has no flags and keeps every attribute as text.
    assert differing == {"attributes", "flags"}


def test_rows_of_clickhouse_may_stand_as_lists_or_as_columns(tmp_path: Path) -> None:
    lines = (EXPORTS / "clickhouse_traces.ndjson").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    names = list(rows[0])
    meta = [{"name": name, "type": "String"} for name in names]
    columns = {name: [row[name] for row in rows] for name in names}
    lists = [[row[name] for name in names] for row in rows]
    expected = only(EXPORTS / "clickhouse_traces.ndjson").steps
    for document in ({"meta": meta, "data": lists}, {"meta": meta, "data": columns}, columns):
        path = tmp_path / "rows.json"
        path.write_text(json.dumps(document))
        assert only(path).steps == expected
        assert len(ta.load(path).quarantined) == 0
    lists[0].pop()
    path.write_text(json.dumps({"meta": meta, "data": lists}))
    assert ta.load(path).quarantined["reason"].to_pylist() == ["broken_span"]


@pytest.mark.parametrize("names", [True, False])
def test_rows_of_clickhouse_without_names_are_not_taken_for_no_trace(
    names: bool, tmp_path: Path
) -> None:
    row = json.loads((EXPORTS / "clickhouse_traces.ndjson").read_text().splitlines()[0])
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, [list(row)] * names + [list(row.values())])))
    (entry,) = ta.load(path).quarantined.to_pylist()
    assert (entry["reason"], entry["count"]) == ("unread_form", 1 + names)
    assert entry["detail"].startswith("rows of spans without names")


def test_clickhouse_gives_our_own_attributes_their_type_back() -> None:
    row = {
        "Timestamp": "2026-11-29 10:00:00.000000001",
        "TraceId": "5b8efff798038103d269b633813fc60c",
        "SpanId": "eee19b7ec3c1b174",
        "SpanName": "execute_tool refund",
        "SpanKind": "SPAN_KIND_INTERNAL",
        "ScopeName": "trackway",
        "Duration": "5",
        "StatusCode": "STATUS_CODE_ERROR",
        "SpanAttributes": {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "refund",
            "trackway.step.index": "3",
            "trackway.step.ok": "false",
            "trackway.entity.refs": '["order:7"]',
            "trackway.run.id": "12",
        },
    }
    (batch,) = read(pa.Table.from_pylist([row]))
    (span,) = batch.spans.to_pylist()
    assert (span["step_index"], span["ok"], span["entity_refs"]) == (3, False, ["order:7"])
    assert (span["run_id"], span["kind"], span["status"]) == ("12", "INTERNAL", "ERROR")
    assert span["end"].value - span["start"].value == 5


def test_attributes_that_clickhouse_keeps_as_json_are_the_same(tmp_path: Path) -> None:
    rows = (EXPORTS / "clickhouse_traces.ndjson").read_text().splitlines()
    nested = tmp_path / "nested.ndjson"
    nested.write_text("\n".join(json.dumps(in_trees(json.loads(row))) for row in rows))
    assert "llm.model_name" not in nested.read_text()
    assert only(nested).steps == only(EXPORTS / "clickhouse_traces.ndjson").steps


def in_trees(row: dict[str, Any]) -> dict[str, Any]:
    """Divide the names of attributes at their dots, as a column of the type JSON does."""
    for column in ("SpanAttributes", "ResourceAttributes"):
        tree: dict[str, Any] = {}
        for name, value in row[column].items():
            *above, last = name.split(".")
            place = tree
            for each in above:
                place = place.setdefault(each, {})
            place[last] = value
        row[column] = tree
    return row


def test_an_object_that_is_an_attribute_of_clickhouse_stays_one() -> None:
    row = {
        "Timestamp": "2026-11-29 10:00:00.000000001",
        "TraceId": "5b8efff798038103d269b633813fc60c",
        "SpanId": "eee19b7ec3c1b174",
        "SpanName": "execute_tool look",
        "Duration": "5",
        "SpanAttributes": {
            "gen_ai": {
                "operation": {"name": "execute_tool"},
                "tool": {"name": "look", "call": {"arguments": {"id": {"of": 7}}}},
            }
        },
    }
    (step,) = only(row).tool_steps
    assert (step.tool, step.arguments) == ("look", {"id": {"of": 7}})


def test_a_key_of_clickhouse_that_is_no_text_costs_nothing_else(tmp_path: Path) -> None:
    row = {
        "Timestamp": "2026-11-29 10:00:00",
        "TraceId": "5b8efff798038103d269b633813fc60c",
        "SpanId": "eee19b7ec3c1b174",
        "SpanName": "execute_tool refund",
        "SpanAttributes": [[[], "x"], [{"a": 1}, "y"], ["gen_ai.tool.name", "refund"]],
    }
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row))
    (batch,) = read(path)
    (span,) = batch.spans.to_pylist()
    assert span["tool"] == "refund"


@pytest.mark.parametrize("wrapped", [False, True], ids=["alone", "in a list"])
def test_a_trace_of_mlflow_is_the_run_that_it_recorded(wrapped: bool, tmp_path: Path) -> None:
    document = json.loads((EXPORTS / "mlflow_trace.json").read_text())
    path = tmp_path / "traces.json"
    path.write_text(json.dumps([document] if wrapped else document))
    trajectory = only(path)
    assert trajectory.tools == ["lookup_order", "refund_create"]
    assert trajectory.tool_steps[0].result == {"total": 84.0, "status": "paid"}
    assert trajectory.tool_steps[1].error_message == "payment gateway timeout"
    assert trajectory.session_id == "session-1"
    assert trajectory.final_text == "The refund failed."
    assert (trajectory.run["tokens_in"], trajectory.run["agent"]) == (153, "refund_agent")


def test_rows_of_search_traces_are_traces() -> None:
    text = (EXPORTS / "mlflow_trace.json").read_text()
    document = json.loads(text)
    frame = pa.Table.from_pylist(
        [{"trace_id": "tr-1", "trace": text, "trace_metadata": {"mlflow.trace.session": "other"}}]
    )
    assert only(frame).tools == ["lookup_order", "refund_create"]
    spans = pa.Table.from_pylist(
        [
            {
                "spans": document["data"]["spans"],
                "trace_metadata": {"mlflow.trace.session": "s2"},
                "tags": {"env": "test"},
            }
        ]
    )
    trajectory = only(spans)
    assert trajectory.tools == ["lookup_order", "refund_create"]
    assert trajectory.session_id == "s2"


def test_a_trace_of_mlflow_before_schema_3_is_read(tmp_path: Path) -> None:
    def span(number: int, parent: str | None, kind: str, name: str, **more: Any) -> dict[str, Any]:
        attributes = {"mlflow.traceRequestId": '"tr-ab"', "mlflow.spanType": f'"{kind}"'} | more
        return {
            "name": name,
            "context": {"span_id": f"0x{number:016x}", "trace_id": "0x5b8efff798038103d269b6338"},
            "parent_id": parent,
            "start_time": 1_700_000_000_000_000_000 + number,
            "end_time": 1_700_000_000_000_000_100 + number,
            "status_code": "OK",
            "status_message": "",
            "attributes": attributes,
            "events": [],
        }

    inputs = {"mlflow.spanInputs": '{"city": "Paris"}', "mlflow.spanOutputs": '"rain"'}
    spans = [span(1, None, "AGENT", "helper"), span(2, f"0x{1:016x}", "TOOL", "weather", **inputs)]
    metadata = {"mlflow.trace.session": "chat-9"}
    info = {"request_id": "tr-ab", "timestamp_ms": 1, "request_metadata": metadata, "tags": {}}
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"info": info, "data": {"spans": spans}}))
    trajectory = only(path)
    assert trajectory.tools == ["weather"]
    assert trajectory.tool_steps[0].arguments == {"city": "Paris"}
    assert trajectory.session_id == "chat-9"
    assert trajectory.gaps == ()


OBSERVATIONS: list[dict[str, Any]] = [
    {
        "id": "obs-agent",
        "traceId": "conversation-7",
        "type": "AGENT",
        "name": "helper",
        "parentObservationId": None,
        "startTime": "2026-11-29T10:00:00.000Z",
        "endTime": "2026-11-29T10:00:03.000Z",
        "level": "DEFAULT",
        "input": "Weather in Paris?",
        "output": "It rains.",
        "metadata": None,
    },
    {
        "id": "obs-model",
        "traceId": "conversation-7",
        "type": "GENERATION",
        "name": "chat",
        "parentObservationId": "obs-agent",
        "startTime": "2026-11-29T10:00:00.100Z",
        "endTime": "2026-11-29T10:00:01.000Z",
        "level": "DEFAULT",
        "model": "gpt-4o-mini",
        "usageDetails": {"input": 50, "output": 12, "cache_read_input_tokens": 10},
        "costDetails": {"total": 0.25},
        "input": [{"role": "user", "content": "Weather in Paris?"}],
        "output": {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
            ],
        },
        "metadata": {},
    },
    {
        "id": "obs-tool",
        "traceId": "conversation-7",
        "type": "TOOL",
        "name": "weather",
        "parentObservationId": "obs-agent",
        "startTime": "2026-11-29T10:00:01.100Z",
        "endTime": "2026-11-29T10:00:02.000Z",
        "level": "ERROR",
        "statusMessage": "service is down",
        "input": {"args": [], "kwargs": {"city": "Paris"}},
        "output": None,
        "metadata": {"tool_call_id": "c1"},
    },
]


def snake(item: dict[str, Any]) -> dict[str, Any]:
    def name(key: str) -> str:
        return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)

    return {name(key): value for key, value in item.items()}


LANGFUSE_FORMS: dict[str, Any] = {
    "page": lambda: json.dumps({"trace": {"sessionId": "s1"}, "observations": OBSERVATIONS}),
    "api trace": lambda: json.dumps(
        {"id": "conversation-7", "sessionId": "s1", "observations": OBSERVATIONS}
    ),
    "api observations": lambda: json.dumps(
        {"data": [{**item, "sessionId": "s1"} for item in OBSERVATIONS], "meta": {"page": 1}}
    ),
    "lines of the blob export": lambda: "\n".join(
        json.dumps(snake({**item, "sessionId": "s1"})) for item in OBSERVATIONS
    ),
}


@pytest.mark.parametrize("form", LANGFUSE_FORMS)
def test_observations_of_langfuse_are_spans(form: str, tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_text(LANGFUSE_FORMS[form]())
    trajectory = only(path)
    model, tool = trajectory.steps
    assert (model.tokens_in, model.tokens_cache_read, model.cost) == (50, 10, 0.25)
    assert (tool.tool, tool.arguments, tool.call_id) == ("weather", {"city": "Paris"}, "c1")
    assert tool.error_message == "service is down"
    assert tool.turn == model.position
    assert trajectory.session_id == "s1"
    assert (trajectory.input, trajectory.final_text) == ("Weather in Paris?", "It rains.")


def test_what_an_instrumentor_wrote_counts_before_what_langfuse_made_of_it(tmp_path: Path) -> None:
    observation = {
        **OBSERVATIONS[2],
        "type": "SPAN",
        "level": "DEFAULT",
        "input": None,
        "metadata": {
            "attributes": '{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}',
            "resourceAttributes": {"service.name": "shop"},
            "scope": {"name": "pydantic-ai", "version": "2"},
        },
    }
    path = tmp_path / "observation.json"
    path.write_text(json.dumps(observation))
    (batch,) = read(path)
    (span,) = batch.spans.to_pylist()
    assert (span["operation"], span["tool"]) == ("tool", "f")
    assert (span["service"], span["scope"]) == ("shop", "pydantic-ai")


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("phoenix_spans.json", "langfuse"),
        ("mlflow_trace.json", "otlp-json"),
        ("clickhouse_traces.ndjson", "phoenix"),
    ],
)
def test_a_forced_format_reads_no_other(name: str, other: str) -> None:
    trajectories = ta.load(EXPORTS / name, format=other)
    assert len(trajectories.span_table) == 0
    assert set(trajectories.quarantined["reason"].to_pylist()) == {"unread_form"}
    detail = trajectories.quarantined["detail"].to_pylist()[0]
    assert detail.startswith(f"it was to be read as {other}, and is none: ")


@pytest.mark.parametrize(
    "broken",
    [
        {
            "data": [
                {"context": {"span_id": None, "trace_id": None}, "start_time": 1, "span_kind": 1}
            ]
        },
        {"info": {"trace_id": "t"}, "data": {"spans": [1, {"trace_id": [], "span_id": {}}]}},
        {"observations": [{**OBSERVATIONS[0], "id": None}, 7]},
        {"TraceId": "", "SpanId": "", "SpanName": 1, "Timestamp": None},
    ],
)
def test_a_broken_span_of_an_export_is_put_aside(broken: Any, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(broken))
    trajectories = ta.load(path)
    assert len(trajectories.span_table) == 0
    assert "broken_span" in trajectories.quarantined["reason"].to_pylist()


def test_what_the_console_exporter_prints_a_line_is_read(tmp_path: Path) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("demo")
    with (
        tracer.start_as_current_span("agent", attributes={"gen_ai.operation.name": "invoke_agent"}),
        tracer.start_as_current_span(
            "call",
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "lookup",
                "gen_ai.tool.call.arguments": '{"id": 7}',
            },
        ) as span,
    ):
        span.record_exception(RuntimeError("down"))
    path = tmp_path / "console.jsonl"
    path.write_text("\n".join(item.to_json(indent=None) for item in memory.get_finished_spans()))
    (written,), (live,) = ta.load(path), ta.load(list(memory.get_finished_spans()))
    assert written.tool_steps[0].arguments == {"id": 7}
    assert written.run_id == live.run_id
    assert [step.span_id for step in written.steps] == [step.span_id for step in live.steps]


def frames(table: pa.Table) -> dict[str, Any]:
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(table)
    return {"arrow": table, "pandas": table.to_pandas(), "polars": frame, "lazy": frame.lazy()}


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "lazy"])
def test_a_frame_of_spans_is_the_spans(kind: str) -> None:
    table = ta.load(PHOENIX_TWIN).span_table
    assert ta.load(frames(table)[kind]).span_table.to_pylist() == table.to_pylist()


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "lazy"])
@pytest.mark.parametrize("name", ["phoenix_frame.parquet", "clickhouse_traces.parquet"])
def test_a_frame_of_an_export_is_the_export(name: str, kind: str) -> None:
    assert told(only(frames(of_table(name))[kind])) == told(only(EXPORTS / name))


def langfuse_trace(*roots: dict[str, Any], **words: Any) -> dict[str, Any]:
    common = {"traceId": "t1", "parentObservationId": None, "level": "DEFAULT"}
    times = {"startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:01Z"}
    observations = [
        {"id": f"o{place}", **common, **times, **each} for place, each in enumerate(roots)
    ]
    return {"id": "t1", "name": "support", "sessionId": "s", **words, "observations": observations}


LOOK = {"type": "TOOL", "name": "look", "input": {"a": 1}, "output": "r"}


@pytest.mark.parametrize(
    ("roots", "run_input", "final"),
    [
        ([LOOK], "Hi", "Done"),
        ([LOOK, LOOK], "Hi", "Done"),
        ([{"type": "AGENT", "name": "a"}], "Hi", "Done"),
        ([{"type": "AGENT", "name": "a", "input": "Hello", "output": "Bye"}], "Hello", "Bye"),
        ([{"type": "AGENT", "name": "a", "output": "Bye"}], "Hi", "Bye"),
    ],
)
def test_what_only_a_trace_of_langfuse_says_is_said_by_its_run(
    roots: list[dict[str, Any]], run_input: str, final: str, tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    told = {"messages": [{"role": "user", "content": "Hi"}]}
    path.write_text(json.dumps(langfuse_trace(*roots, input=told, output="Done")))
    trajectory = only(path)
    assert (trajectory.run["input"], trajectory.run["final_text"]) == (run_input, final)
    assert trajectory.tools == ["look"] * roots.count(LOOK)


def test_a_trace_of_langfuse_that_repeats_its_observation_gets_no_span(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(langfuse_trace(LOOK, input={"a": 1}, output="r")))
    assert len(ta.load(path).span_table) == 1


def test_an_observation_of_an_unknown_type_may_be_a_call(tmp_path: Path) -> None:
    observations = langfuse_trace(LOOK, {**LOOK, "type": "ACTION", "name": "refund"})
    path = tmp_path / "observations.json"
    path.write_text(json.dumps(observations["observations"]))
    runs = ta.load(path)
    assert [gap.detail for gap in runs[0].gaps if gap.name == "possible_calls"] == ["refund"]
    assert "broken_span" not in runs.quarantined["reason"].to_pylist()


def as_jaeger(document: dict[str, Any]) -> dict[str, Any]:
    """Say of OTLP what Jaeger would: its times are microseconds."""
    found: dict[str, Any] = {}
    for group in document["resourceSpans"]:
        for part in group["scopeSpans"]:
            for span in part["spans"]:
                trace = found.setdefault(span["traceId"], {"traceID": span["traceId"], "spans": []})
                start, end = (int(span[f"{name}TimeUnixNano"]) for name in ("start", "end"))
                parent = span.get("parentSpanId")
                trace["spans"].append(
                    {
                        "traceID": span["traceId"],
                        "spanID": span["spanId"],
                        "operationName": span["name"],
                        "references": [
                            {"refType": "CHILD_OF", "traceID": span["traceId"], "spanID": parent}
                        ]
                        * bool(parent),
                        "startTime": start // 1000,
                        "duration": (end - start) // 1000,
                        "tags": [
                            {"key": "otel.scope.name", "value": part["scope"]["name"]},
                            *(
                                {"key": each["key"], "value": next(iter(each["value"].values()))}
                                for each in span["attributes"]
                            ),
                        ],
                        "processID": "p1",
                    }
                )
                trace["processes"] = {"p1": {"serviceName": "s", "tags": []}}
    return {"data": list(found.values())}


def test_two_exports_of_one_trace_are_one_run_of_single_steps(tmp_path: Path) -> None:
    document = json.loads(PHOENIX_TWIN.read_text())
    (tmp_path / "a.json").write_text(json.dumps(document))
    (tmp_path / "b.json").write_text(json.dumps(as_jaeger(document)))
    (tmp_path / "c.json").write_bytes((EXPORTS / "phoenix_spans.json").read_bytes())
    both, alone = only(tmp_path), only(PHOENIX_TWIN)
    assert len(ta.load(tmp_path / "b.json").span_table) == len(ta.load(PHOENIX_TWIN).span_table)
    assert [step.tool for step in both.steps] == [step.tool for step in alone.steps]
    assert [gap.name for gap in both.gaps] == ["duplicate_span_id"]


@pytest.mark.parametrize(
    ("name", "place", "instead"),
    [
        ("clickhouse_traces.ndjson", "SpanAttributes", {}),
        ("clickhouse_traces.ndjson", "SpanAttributes", {"Attributes": {"a": "b"}}),
        ("clickhouse_traces.ndjson", "SpanAttributes", {"SpanAttributes": "a=b"}),
        ("phoenix_frame.jsonl", "attributes.", {"span_attributes": {"a": "b"}}),
        ("phoenix_frame.jsonl", "attributes.", {"attributes": "a=b"}),
        ("phoenix_frame.jsonl", "events", {"events": "a=b"}),
    ],
)
def test_attributes_that_stand_where_nobody_reads_them_are_put_aside(
    name: str, place: str, instead: dict[str, Any], tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in (EXPORTS / name).read_text().splitlines()]
    kept = [{key: each for key, each in row.items() if not key.startswith(place)} for row in rows]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row | instead) for row in kept))
    lost = ta.load(path).quarantined.to_pylist()
    assert [(row["reason"], row["count"]) for row in lost] == [("broken_value", len(rows))]
