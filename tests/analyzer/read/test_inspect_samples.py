"""Samples of Inspect logs: calls of events alone, samples that are missing, twins that are two."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

import trackway_analyzer as ta
from trackway_analyzer.rules import Forbidden

U = {"role": "user", "content": "x"}
D = {"role": "assistant", "content": "done"}
ABOUT = {
    "eval_id": "e",
    "run_id": "r",
    "task": "t",
    "model": "m",
    "created": "2025-10-01T10:00:00Z",
}


def sample(number: int = 1, epoch: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": number, "epoch": epoch, "input": "x", "messages": [U, D], "scores": {}, **more}


def log(*samples: Any, **more: Any) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": ABOUT, "samples": list(samples), **more}


def archive(*samples: Any, **header: Any) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as members:
        for each in samples:
            name = f"samples/{each['id']}_epoch_{each['epoch']}.json"
            members.writestr(name, json.dumps(each))
        summaries = header.pop("summaries", None)
        if summaries is not None:
            members.writestr("summaries.json", json.dumps(summaries))
        about = {"version": 2, "status": "success", "eval": ABOUT, **header}
        members.writestr("header.json", json.dumps(about))
    return packed.getvalue()


def tool(name: str, call_id: str, second: int, **more: Any) -> dict[str, Any]:
    return {
        "event": "tool",
        "id": call_id,
        "function": name,
        "arguments": {},
        "result": "gone",
        "timestamp": f"2025-10-01T10:00:{second:02d}Z",
        **more,
    }


def model(second: int, text: str, *calls: str, **more: Any) -> dict[str, Any]:
    message = {
        "id": f"m{second}",
        "role": "assistant",
        "content": text,
        "tool_calls": [{"id": each, "function": each, "arguments": {}} for each in calls],
    }
    return {
        "event": "model",
        "timestamp": f"2025-10-01T10:00:{second:02d}Z",
        "output": {"model": "m", "choices": [{"message": message}]},
        **more,
    }


def steps(source: Any) -> list[tuple[str, Any]]:
    (run,) = ta.load(source)
    return [(step.operation, step.tool) for step in run.steps]


def verdict(source: Any) -> str:
    return str(ta.load(source).check(ta.Policy(Forbidden("delete_account"))).verdict)


def test_a_call_that_only_events_tell_of_is_a_step() -> None:
    inner = tool("delete_account", "z", 2)
    events = [tool("look", "c1", 1, events=[inner])]
    assert steps(log(sample(events=events))) == [
        ("llm", None),
        ("tool", "look"),
        ("tool", "delete_account"),
    ]
    assert verdict(log(sample(events=events))) == "violation"


def test_calls_of_a_sub_agent_stand_where_they_were_made() -> None:
    outer = {"id": "ask", "function": "ask", "arguments": {}}
    messages = [
        U,
        {"id": "m1", "role": "assistant", "content": "", "tool_calls": [outer]},
        {"role": "tool", "tool_call_id": "ask", "content": "told"},
        {"id": "m5", **D},
    ]
    events = [
        model(1, "", "ask"),
        tool("ask", "ask", 2),
        model(3, "", "look"),
        tool("look", "look", 4),
        model(5, "done"),
    ]
    events[0]["output"]["choices"][0]["message"]["id"] = "m1"
    source = log(sample(messages=messages, events=events))
    assert steps(source) == [
        ("llm", None),
        ("tool", "ask"),
        ("llm", None),
        ("tool", "look"),
        ("llm", None),
    ]
    (run,) = ta.load(source)
    assert run.final_text == "done"
    assert [step.requested for step in run.tool_steps] == [True, True]


def test_what_a_scorer_did_is_not_the_agents() -> None:
    spans = [
        {"event": "span_begin", "id": "s", "type": "scorers"},
        {"event": "span_begin", "id": "s2", "parent_id": "s", "type": "tool"},
        tool("look", "a", 1, span_id="s2"),
    ]
    old = [
        {"event": "step", "action": "begin", "type": "scorer"},
        tool("look", "a", 1),
        {"event": "step", "action": "end", "type": "scorer"},
    ]
    for events in (spans, old):
        assert steps(log(sample(events=events))) == [("llm", None)]


def test_a_call_that_failed_in_its_event_failed() -> None:
    failed = tool("look", "a", 1, result="", error={"type": "permission", "message": "not yours"})
    (run,) = ta.load(log(sample(events=[failed])))
    (step,) = run.tool_steps
    assert (step.ok, step.error_type) == (False, "permission")


SAMPLES = {"sample_ids": [1, 2, 3]}
MISSING: dict[str, Any] = {
    "summaries": archive(sample(1), sample(2), summaries=[{}, {}, {}]),
    "results of an archive": archive(sample(1), results={"total_samples": 3}),
    "a cancelled archive": archive(
        sample(1), status="cancelled", eval={**ABOUT, "dataset": SAMPLES}
    ),
    "results": log(sample(1), results={"total_samples": 2}),
    "a log that failed": log(sample(1), status="error", eval={**ABOUT, "dataset": SAMPLES}),
    "epochs": log(
        *(sample(number) for number in (1, 2, 3)),
        status="started",
        eval={**ABOUT, "dataset": SAMPLES, "config": {"epochs": 2}},
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_samples_that_a_log_counts_and_does_not_hold_keep_a_check_from_passing(name: str) -> None:
    runs = ta.load(MISSING[name])
    (row,) = runs.quarantined.to_pylist()
    assert (row["reason"], row["detail"]) == (
        "empty_trace",
        "samples that an Inspect log counts and does not hold",
    )
    assert row["count"] == (3 if name == "epochs" else 1 if name in ("summaries", "results") else 2)
    assert verdict(MISSING[name]) == "insufficient"


WHOLE: dict[str, Any] = {
    "an archive": archive(
        sample(1),
        sample(2),
        summaries=[{}, {}],
        results={"total_samples": 2},
        eval={**ABOUT, "dataset": {"sample_ids": [1, 2], "samples": 100}},
    ),
    "a cancelled log": log(
        sample(1), status="cancelled", eval={**ABOUT, "dataset": {"sample_ids": [1]}}
    ),
    "a limit": log(sample(1), eval={**ABOUT, "dataset": {"samples": 100}}),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_log_with_all_its_samples_loses_nothing(name: str) -> None:
    assert ta.load(WHOLE[name]).quarantined.to_pylist() == []
    assert verdict(WHOLE[name]) == "pass"


@pytest.mark.parametrize("packed", [False, True], ids=["a log", "an archive"])
@pytest.mark.parametrize("named", [False, True], ids=["without uuids", "with uuids"])
def test_epochs_and_samples_of_equal_messages_are_runs_of_their_own(
    packed: bool, named: bool
) -> None:
    samples = [
        sample(number, epoch, scores={"s": {"value": score}})
        for number, epoch, score in ((1, 1, "C"), (1, 2, "I"), (1, 3, "C"), (2, 1, "C"))
    ]
    if named:
        samples = [{**each, "uuid": f"u{place}"} for place, each in enumerate(samples)]
    runs = ta.load(archive(*samples) if packed else log(*samples))
    told = [(run.run["task_id"], run.run["trial"], run.outcome.success) for run in runs]
    assert told == [("1", 1, True), ("1", 2, False), ("1", 3, True), ("2", 1, True)]


def test_a_log_and_its_archive_are_the_same_runs(tmp_path: Any) -> None:
    samples = [sample(1, 1), sample(1, 2)]
    (tmp_path / "a.json").write_text(json.dumps(log(*samples)))
    (tmp_path / "a.eval").write_bytes(archive(*samples))
    assert len(ta.load(tmp_path)) == 2


def test_equal_samples_of_two_evals_are_two_runs(tmp_path: Any) -> None:
    (tmp_path / "a.json").write_text(json.dumps(log(sample())))
    (tmp_path / "b.json").write_text(json.dumps(log(sample(), eval={**ABOUT, "eval_id": "f"})))
    assert len(ta.load(tmp_path)) == 2
