"""Logs and metrics beside spans: logs join their spans, metrics are named and left out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

import trackway_analyzer as ta
from analyzer.read import otlp_text
from analyzer.read.test_round_trips import protobuf_of
from trackway_analyzer.cli.program import run as trackway

MESSAGES = '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]'


def framed(message: bytes) -> bytes:
    return len(message).to_bytes(4) + message


def metrics(name: str = "gen_ai.client.token.usage") -> bytes:
    data = MetricsData()
    group = data.resource_metrics.add()
    group.resource.attributes.add(key="service.name").value.string_value = "shop"
    scope = group.scope_metrics.add()
    scope.scope.name = "demo"
    metric = scope.metrics.add(name=name, description="how many", unit="{token}")
    metric.sum.data_points.add(as_int=7, time_unix_nano=5)
    return data.SerializeToString()


def spans() -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    return otlp_text.document(otlp_text.span(attributes=attributes))


def logs(*, span: bool = True) -> bytes:
    data = LogsData()
    group = data.resource_logs.add()
    group.resource.attributes.add(key="service.name").value.string_value = "shop"
    scope = group.scope_logs.add()
    scope.scope.name = "demo"
    record = scope.log_records.add(time_unix_nano=5, event_name="gen_ai.user.message")
    record.trace_id = bytes.fromhex(otlp_text.TRACE)
    record.span_id = bytes.fromhex(otlp_text.SPAN) if span else b""
    record.body.kvlist_value.values.add(key="content").value.string_value = "Hi"
    return data.SerializeToString()


@pytest.mark.parametrize("name", ["gen_ai.client.token.usage", "sixteen_letters_", "m"])
@pytest.mark.parametrize("pack", [bytes, framed, gzip.compress], ids=["bare", "framed", "gzip"])
def test_protobuf_metrics_are_named_and_left_out(name: str, pack: Any, tmp_path: Path) -> None:
    path = tmp_path / "metrics.pb"
    path.write_bytes(pack(metrics(name)))
    trajectories = ta.load(path)
    assert len(trajectories.span_table) == 0
    (row,) = trajectories.quarantined.to_pylist()
    assert row["reason"] == "not_a_trace"
    assert row["detail"] == "OTLP metrics, which hold no spans"


def test_json_metrics_are_named_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "metrics.json"
    path.write_text(json.dumps({"resourceMetrics": []}))
    (row,) = ta.load(path).quarantined.to_pylist()
    assert row["detail"] == "OTLP metrics, which hold no spans"


def test_metrics_in_a_folder_keep_no_span_from_being_read(tmp_path: Path) -> None:
    (tmp_path / "metrics.pb").write_bytes(metrics())
    (tmp_path / "traces.pb").write_bytes(protobuf_of(spans()))
    assert len(ta.load(tmp_path)) == 1


@pytest.mark.parametrize("pack", [bytes, framed], ids=["bare", "framed"])
@pytest.mark.parametrize("span", [True, False], ids=["of a span", "of a trace"])
@pytest.mark.parametrize("name", ["a.pb", "z.pb"], ids=["before", "after"])
def test_protobuf_logs_join_their_spans(pack: Any, span: bool, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(pack(logs(span=span)))
    (tmp_path / "traces.pb").write_bytes(pack(protobuf_of(spans())))
    trajectories = ta.load(tmp_path)
    assert len(trajectories.quarantined) == 0
    assert trajectories[0].steps[0].input[0]["parts"][0]["content"] == "Hi"


def test_logs_alone_say_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "logs.pb"
    path.write_bytes(logs())
    trajectories = ta.load(path)
    assert len(trajectories) == 0
    (row,) = trajectories.quarantined.to_pylist()
    assert (row["reason"], row["count"]) == ("unjoined_log", 1)
    assert row["detail"] == "log records without their span: give the file of the spans too"
    assert trackway(["stats", str(path)]) == 4
    assert "give the file of the spans too" in capsys.readouterr().err


def choice(*, span: str = otlp_text.SPAN, trace: str = otlp_text.TRACE, call: bool = True) -> Any:
    """A document of one log record: what the model said, a call of a tool or a text."""
    said: dict[str, Any] = {"content": "Done"}
    if call:
        function = {"name": "rm", "arguments": "{}"}
        said = {"tool_calls": [{"id": "c", "type": "function", "function": function}]}
    body = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **said}}
    record = {
        "timeUnixNano": "5",
        "traceId": trace,
        "spanId": span,
        "eventName": "gen_ai.choice",
        "body": otlp_text.any_value(body),
    }
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}


def lines(*documents: Any) -> str:
    return "".join(json.dumps(document) + "\n" for document in documents)


def names(source: Any) -> list[str]:
    return [step.name for run in ta.load(source) for step in run.steps]


def test_logs_behind_their_spans_in_one_file_join_them(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    path.write_text(lines(spans(), choice()))
    assert names(path) == ["m", "rm"]
    assert len(ta.load(path).quarantined) == 0


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_logs_that_a_first_look_missed_are_found_on_the_way(
    pack: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trackway_analyzer.read.logs_ahead.WINDOW", 0)
    last = spans()
    last["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = "7" * 32
    path = tmp_path / "both.jsonl"
    path.write_bytes(pack(lines(spans(), choice(), last, choice(trace="7" * 32)).encode()))
    trajectories = ta.load(path)
    assert [[step.name for step in run.steps] for run in trajectories] == [["m"], ["m", "rm"]]
    (row,) = trajectories.quarantined.to_pylist()
    assert (row["reason"], row["count"]) == ("unjoined_call", 1)


def test_logs_of_the_next_of_two_mixed_files_join_their_spans(tmp_path: Path) -> None:
    other = choice(trace="7" * 32, span="9" * 16)
    (tmp_path / "a.jsonl").write_text(lines(spans(), other))
    (tmp_path / "b.jsonl").write_text(lines({"resourceSpans": []}, choice()))
    assert names(tmp_path) == ["m", "rm"]


def test_framed_logs_behind_their_spans_join_them(tmp_path: Path) -> None:
    path = tmp_path / "both.pb"
    path.write_bytes(framed(protobuf_of(spans())) + framed(logs()))
    trajectories = ta.load(path)
    assert len(trajectories.quarantined) == 0
    assert trajectories[0].steps[0].input[0]["parts"][0]["content"] == "Hi"


@pytest.mark.parametrize("swapped", [False, True])
def test_logs_in_a_list_of_documents_join_their_spans(swapped: bool, tmp_path: Path) -> None:
    path = tmp_path / "both.json"
    documents = [spans(), choice()]
    path.write_text(json.dumps(documents[::-1] if swapped else documents))
    assert names(path) == ["m", "rm"]


def test_logs_on_standard_input_behind_their_spans_join_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "both.jsonl"
    path.write_text(lines(spans(), choice()))
    with path.open() as opened:
        monkeypatch.setattr("sys.stdin", opened)
        assert names("-") == ["m", "rm"]


@pytest.mark.parametrize("span", ["9" * 16, ""], ids=["of no span", "of an unclear call"])
def test_a_tool_call_in_a_log_of_no_span_keeps_a_check_from_passing(
    span: str, tmp_path: Path
) -> None:
    path = tmp_path / "both.jsonl"
    policy = tmp_path / "policy.yaml"
    policy.write_text("version: 1\nrules:\n  - forbid: [rm]\n")
    answered = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    once = otlp_text.document(otlp_text.span(attributes=answered))
    path.write_text(lines(once, choice(span=span)))
    (row,) = ta.load(path).quarantined.to_pylist()
    assert (row["reason"], row["count"]) == ("unjoined_call", 1)
    assert trackway(["check", str(path), "--policy", str(policy)]) != 0
    path.write_text(lines(once, choice(span=span, call=False)))
    (row,) = ta.load(path).quarantined.to_pylist()
    assert (row["reason"], row["count"]) == ("unjoined_log", 1)
    assert trackway(["check", str(path), "--policy", str(policy)]) == 0
