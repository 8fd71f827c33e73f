"""Answers of stores that say of themselves that something is missing keep a check from passing."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from trackway_analyzer.rules import Forbidden

EXPORTS = Path(__file__).parents[2] / "data" / "exports"
SPAN = {
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b174",
    "name": "execute_tool look",
    "startTimeUnixNano": "1700000000000000000",
    "endTimeUnixNano": "1700000000250000000",
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
        {"key": "gen_ai.tool.name", "value": {"stringValue": "look"}},
        {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": "{}"}},
        {"key": "gen_ai.tool.call.result", "value": {"stringValue": "{}"}},
    ],
}
OTLP = {"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}
JAEGER = {
    "traceID": SPAN["traceId"],
    "processes": {"p1": {"serviceName": "s"}},
    "spans": [
        {
            "traceID": SPAN["traceId"],
            "spanID": SPAN["spanId"],
            "operationName": "execute_tool look",
            "processID": "p1",
            "startTime": 1700000000000000,
            "duration": 5,
            "tags": [
                {"key": each["key"], "type": "string", "value": each["value"]["stringValue"]}  # type: ignore[index]
                for each in SPAN["attributes"]
            ],
        }
    ],
}
ROW = {
    "Timestamp": "2026-11-29 10:00:00.000000001",
    "TraceId": SPAN["traceId"],
    "SpanId": SPAN["spanId"],
    "SpanName": "execute_tool look",
    "Duration": "5",
    "SpanAttributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"},
}
PHOENIX: dict[str, Any] = json.loads((EXPORTS / "phoenix_spans.json").read_text())
MLFLOW: dict[str, Any] = json.loads((EXPORTS / "mlflow_trace.json").read_text())


def observation(number: int) -> dict[str, Any]:
    return {
        "id": f"o{number}",
        "traceId": "t1",
        "type": "TOOL",
        "name": "look",
        "startTime": "2026-11-29T10:00:00Z",
        "endTime": "2026-11-29T10:00:01Z",
        "parentObservationId": None,
        "input": {},
        "output": {},
    }


def langfuse(page: int, of: int) -> dict[str, Any]:
    meta = {"page": page, "limit": 1, "totalItems": of, "totalPages": of}
    return {"data": [observation(page)], "meta": meta}


def mlflow(**info: Any) -> dict[str, Any]:
    trace = copy.deepcopy(MLFLOW)
    trace["info"] |= info
    return trace


def fewer_spans() -> dict[str, Any]:
    trace = copy.deepcopy(MLFLOW)
    del trace["data"]["spans"][-1]
    return trace


def verdict(source: Any) -> tuple[str, set[str]]:
    runs = ta.load(source)
    policy = ta.Policy(Forbidden("delete_account"))
    return str(runs.check(policy).verdict), set(runs.quarantined["reason"].to_pylist())


PARTIAL = {
    "tempo": {"trace": OTLP, "status": "PARTIAL", "message": "trace too large"},
    "jaeger": {"data": [JAEGER], "errors": [{"code": 500, "msg": "a shard failed"}]},
    "phoenix": PHOENIX | {"next_cursor": "U3BhbjoxMQ=="},
    "langfuse page": langfuse(1, 3),
    "langfuse cursor": {"data": [observation(1)], "meta": {"cursor": "eyJsYXN0"}},
    "mlflow page": {"traces": [MLFLOW], "next_page_token": "eyJvZmZzZXQi"},
    "mlflow spans": fewer_spans(),
    "mlflow open": mlflow(state="IN_PROGRESS"),
    "clickhouse limit": {"data": [ROW], "rows": 1, "rows_before_limit_at_least": 7},
    "clickhouse error": {"data": [ROW], "rows": 1, "exception": "Code: 241. Memory limit"},
}
WHOLE = {
    "tempo": {"trace": OTLP, "status": "COMPLETE", "message": ""},
    "jaeger": {"data": [JAEGER], "errors": None, "total": 0, "limit": 0, "offset": 0},
    "phoenix": PHOENIX | {"next_cursor": None},
    "langfuse page": langfuse(1, 1),
    "langfuse cursor": {"data": [observation(1)], "meta": {"cursor": None}},
    "mlflow page": {"traces": [MLFLOW], "next_page_token": ""},
    "mlflow trace": MLFLOW,
    "clickhouse": {"data": [ROW], "rows": 1, "rows_before_limit_at_least": 1},
}


@pytest.mark.parametrize("name", PARTIAL)
def test_an_answer_that_says_it_is_partial_keeps_a_check_from_passing(name: str) -> None:
    assert verdict(PARTIAL[name]) == ("insufficient", {"partial_answer"})


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_answer_has_no_note(name: str) -> None:
    assert verdict(WHOLE[name]) == ("pass", set())


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"data": [], "errors": None, "total": 0},
        {"data": [], "next_cursor": None},
        {"traces": [], "metrics": {"inspectedBytes": "0"}},
        {"batches": []},
        {"resourceSpans": []},
    ],
    ids=str,
)
def test_an_answer_of_no_traces_is_an_empty_result(document: Any, tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(document))
    assert len(ta.load(path)) == 0
    assert ta.load(path).quarantined.to_pylist() == []
    path.write_text(json.dumps({"data": {}}))
    assert ta.load(path).quarantined["reason"].to_pylist() == ["not_a_trace"]


def test_pages_that_are_all_there_are_whole_in_any_order(tmp_path: Path) -> None:
    for page in (3, 1, 2):
        (tmp_path / f"{page}.json").write_text(json.dumps(langfuse(page, 3)))
    assert verdict(tmp_path) == ("pass", set())
    (tmp_path / "2.json").unlink()
    assert verdict(tmp_path) == ("insufficient", {"partial_answer"})


def test_a_cursor_is_followed_where_the_page_begins_that_it_names(tmp_path: Path) -> None:
    items = PHOENIX["data"]
    pages = [{"data": items[:2], "next_cursor": items[2]["id"]}, {"data": items[2:]}]
    (tmp_path / "1.json").write_text(json.dumps(pages[0]))
    assert verdict(tmp_path)[1] == {"partial_answer"}
    (tmp_path / "2.json").write_text(json.dumps(pages[1]))
    assert verdict(tmp_path) == ("pass", set())


def test_what_a_partial_answer_lacks_is_said(tmp_path: Path) -> None:
    (row,) = ta.load(PARTIAL["mlflow spans"]).quarantined.to_pylist()
    assert row["detail"] == "a trace of 6 spans with 5 of them"
    (row,) = ta.load(PARTIAL["tempo"]).quarantined.to_pylist()
    assert row["detail"] == "an answer that is not whole: status PARTIAL: trace too large"
    (row,) = ta.load(PARTIAL["langfuse page"]).quarantined.to_pylist()
    assert row["detail"] == "page 1 of 3, and the others are not in the source: fetch them too"
