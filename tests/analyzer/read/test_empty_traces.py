"""A trace that a file names and of which it holds nothing: it is lost, and no check passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from analyzer.read.test_atif import ASKED, trajectory
from analyzer.read.test_exports import EXPORTS, OBSERVATIONS
from trackway_analyzer.check import Verdict
from trackway_analyzer.rules import Never, Policy

TRACE = "5b8efff798038103d269b633813fc60c"
TIMES = {"start_time": "2026-11-29T10:00:00Z", "end_time": "2026-11-29T10:00:01Z"}
LISTED = {"htmlPath": "/project/p/traces/t", "latency": 1.0, "totalCost": 0, "scores": []}
PHOENIX = {"id": "VHJhY2U6MQ==", "trace_id": TRACE, "project_id": "UHJvamVjdDox", **TIMES}
FEW_WORDS = {"id": "U3BhbjoxOQ==", "span_id": "eee19b7ec3c1b174", "name": "chat", **TIMES}
INSPECT = {"version": 2, "status": "success", "eval": {"task": "refunds", "model": "m"}}
ATIF = {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "a", "version": "1"}}
BENCHMARK = {"task_id": "7", "trial": 0, "reward": 0.0}
CHAT = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}

NAMED: dict[str, tuple[Any, str]] = {
    "langfuse page": (
        {"trace": {"id": "t", "sessionId": "s"}, "observations": []},
        "the trace 't' without observations",
    ),
    "langfuse page, null": (
        {"trace": {"id": "t"}, "observations": None},
        "the trace 't' without observations",
    ),
    "langfuse list of traces": (
        {"data": [{"id": "t", "observations": ["o1", "o2"], **LISTED}], "meta": {"page": 1}},
        "the trace 't' without observations",
    ),
    "mlflow": (
        {"info": {"trace_id": "tr-1"}, "data": {"spans": []}},
        "the trace 'tr-1' without spans",
    ),
    "mlflow, null": (
        {"info": {"request_id": "tr-1"}, "data": None},
        "the trace 'tr-1' without spans",
    ),
    "mlflow list of traces": (
        {"traces": [{"trace_id": "tr-1", "trace_metadata": {}, "state": "OK"}]},
        "the trace 'tr-1' without spans",
    ),
    "jaeger": (
        {"data": [{"traceID": TRACE, "spans": [], "processes": {}}]},
        f"the trace '{TRACE}' without spans",
    ),
    "jaeger, null": (
        {"traceID": TRACE, "spans": None, "processes": {}},
        f"the trace '{TRACE}' without spans",
    ),
    "tempo search": (
        {"traces": [{"traceID": TRACE, "rootServiceName": "shop", "durationMs": 3}]},
        f"the trace '{TRACE}' without spans",
    ),
    "phoenix list of traces": (
        {"data": [PHOENIX], "next_cursor": None},
        f"the trace '{TRACE}' without spans",
    ),
    "phoenix list of traces with spans": (
        {"data": [PHOENIX | {"spans": [FEW_WORDS]}]},
        f"the trace '{TRACE}' without attributes of its spans",
    ),
    "inspect log": (INSPECT, "an Inspect log without samples"),
}
BROKEN: dict[str, Any] = {
    "inspect sample": INSPECT | {"samples": [{"id": 1, "messages": None}]},
    "atif": ATIF | {"steps": None},
    "atif header": ATIF,
    "jaeger": {"traceID": TRACE, "spans": "gone", "processes": {}},
    "transcript": {"run_id": "r", "messages": ["hello"]},
}
RUNS: dict[str, Any] = {
    "inspect sample": INSPECT | {"samples": [{"id": 1, "uuid": "u", "epoch": 1, "messages": []}]},
    "inspect sample that failed": INSPECT
    | {"samples": [{"id": 1, "messages": [], "error": {"message": "no sandbox"}}]},
    "atif": ATIF | {"steps": []},
    "tau-bench": [BENCHMARK | {"traj": []}],
    "tau-bench, null": [BENCHMARK | {"traj": None}],
    "tau2-bench": {
        "info": {"agent_info": {"llm": "m"}},
        "simulations": [{"id": "s", "task_id": "7", "messages": [], "reward_info": {"reward": 0}}],
    },
    "swe-agent": {"trajectory": [], "history": [], "info": {"exit_status": "exit_cost"}},
    "swe-agent, null": {"trajectory": None, "history": None, "info": {}},
    "transcript": {"run_id": "r", "task_id": "7", "success": False, "messages": []},
    "transcript, null": {"session_id": "s", "messages": None},
    "codex": {"timestamp": TIMES["start_time"], "type": "session_meta", "payload": {"id": "s"}},
}
EMPTY: dict[str, Any] = {
    "otlp": {"resourceSpans": []},
    "tempo": {"trace": {"resourceSpans": []}},
    "otlp scope": {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": []}]}]},
    "inspect": INSPECT | {"samples": []},
    "tau2-bench": {"info": {}, "simulations": []},
    "jaeger": {"data": [], "total": 0},
    "mlflow": {"traces": []},
    "clickhouse": {"meta": [], "data": [], "rows": 0},
    "file": "",
}


def load(document: Any, folder: Path) -> ta.Trajectories:
    path = folder / "document.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return ta.load(path)


def verdict(document: Any, folder: Path) -> Verdict:
    """Check the document beside a run that is well."""
    load(document, folder)
    (folder / "chat.json").write_text(json.dumps(CHAT))
    return ta.load(folder).check(Policy(Never("refund"))).verdict


@pytest.mark.parametrize("form", NAMED)
def test_a_trace_that_is_only_named_is_put_aside_by_its_name(form: str, tmp_path: Path) -> None:
    document, detail = NAMED[form]
    (row,) = load(document, tmp_path).quarantined.to_pylist()
    assert (row["reason"], row["detail"]) == ("empty_trace", detail)


@pytest.mark.parametrize("form", BROKEN)
def test_a_run_whose_steps_cannot_be_read_is_put_aside(form: str, tmp_path: Path) -> None:
    runs = load(BROKEN[form], tmp_path)
    assert len(runs) == 0
    assert runs.quarantined["reason"].to_pylist() == ["broken_span"]


@pytest.mark.parametrize("form", RUNS)
def test_a_record_that_is_a_run_is_one_without_steps(form: str, tmp_path: Path) -> None:
    runs = load(RUNS[form], tmp_path)
    assert len(runs.quarantined) == 0
    (run,) = runs
    assert len(run.steps) == 0
    assert [gap.name for gap in run.gaps] == ["tools_not_observable"]


@pytest.mark.parametrize("form", EMPTY)
def test_a_list_of_no_traces_loses_nothing(form: str, tmp_path: Path) -> None:
    assert len(load(EMPTY[form], tmp_path)) == 0
    assert verdict(EMPTY[form], tmp_path) is Verdict.PASS


@pytest.mark.parametrize(
    "document",
    [*(document for document, _ in NAMED.values()), *BROKEN.values(), *RUNS.values()],
    ids=[*NAMED, *(f"broken {form}" for form in BROKEN), *(f"run of {form}" for form in RUNS)],
)
def test_no_check_passes_over_it(document: Any, tmp_path: Path) -> None:
    assert verdict(document, tmp_path) is Verdict.INSUFFICIENT


MIXED: dict[str, Any] = {
    "langfuse": [{"id": "t", "observations": OBSERVATIONS, **LISTED}, NAMED["langfuse page"][0]],
    "langfuse, no object": {"data": [*OBSERVATIONS, 7]},
    "mlflow": [json.loads((EXPORTS / "mlflow_trace.json").read_text()), NAMED["mlflow"][0]],
    "mlflow, no object": [json.loads((EXPORTS / "mlflow_trace.json").read_text()), 7],
    "phoenix": [
        *json.loads((EXPORTS / "phoenix_spans.json").read_text())["data"],
        PHOENIX,
    ],
    "phoenix, no object": [*json.loads((EXPORTS / "phoenix_spans.json").read_text())["data"], 7],
    "atif": [trajectory(ASKED), ATIF],
    "atif, no object": [trajectory(ASKED), 7],
    "atif sub-agent": trajectory(ASKED, subagent_trajectories=[{"agent": {"name": "worker"}}]),
}


@pytest.mark.parametrize("form", MIXED)
def test_it_does_not_vanish_beside_others(form: str, tmp_path: Path) -> None:
    runs = load(MIXED[form], tmp_path)
    assert len(runs) == 1
    assert sum(runs.quarantined["count"].to_pylist()) == 1


def test_sub_agents_of_one_id_are_two(tmp_path: Path) -> None:
    worker = {"agent": {"name": "worker", "version": "1"}, "trajectory_id": "w"}
    steps = [{"step_id": 1, "source": "agent", "message": "I work."}]
    workers = [worker | {"steps": steps}, worker | {"steps": steps}]
    (run,) = load(trajectory(ASKED, subagent_trajectories=workers), tmp_path)
    assert [step.agent for step in run.steps if step.operation == "llm"].count("worker") == 2
