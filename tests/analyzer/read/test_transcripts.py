"""Transcripts of benchmarks and applications become runs that say only what the file says."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trackway_analyzer as ta
from trackway_analyzer.cli.program import run as trackway
from trackway_analyzer.read import QuarantineError

USER = {"role": "user", "content": "Refund order A-1."}
ASKS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "lookup_order", "arguments": '{"order_id": "A-1"}'},
        }
    ],
}
ANSWER = {"role": "tool", "tool_call_id": "c1", "name": "lookup_order", "content": '{"total": 84}'}
SAYS = {"role": "assistant", "content": "It is done."}
CHAT = [{"role": "system", "content": "Be kind."}, USER, ASKS, ANSWER, SAYS]


def load(tmp_path: Path, document: Any, name: str = "runs.json", **options: Any) -> ta.Trajectories:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return ta.load(path, **options)


def one(tmp_path: Path, document: Any, name: str = "runs.json") -> ta.Trajectory:
    (found,) = load(tmp_path, document, name)
    return found


def shape(trajectory: ta.Trajectory) -> list[tuple[str, str | None, bool]]:
    return [(step.operation, step.tool, step.executed) for step in trajectory]


def iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def gaps(trajectory: ta.Trajectory) -> dict[str, tuple[int, str | None]]:
    return {gap.name: (gap.count, gap.detail) for gap in trajectory.gaps}


REFUND = [("llm", None, True), ("tool", "lookup_order", True), ("llm", None, True)]


def test_a_chat_is_a_run_in_the_order_of_its_messages(tmp_path: Path) -> None:
    found = one(tmp_path, {"messages": CHAT, "model": "gpt-4o"})
    assert shape(found) == REFUND
    step = found.tool_steps[0]
    assert (step.arguments, step.result) == ({"order_id": "A-1"}, {"total": 84})
    assert (step.call_id, step.requested, step.synthesised, step.id_inferred) == (
        *("c1", True),
        *(False, False),
    )
    assert found.input == "Refund order A-1."
    assert found.final_text == "It is done."
    assert {each.model_requested for each in found if each.operation == "llm"} == {"gpt-4o"}


def test_times_that_no_file_holds_are_a_gap_and_never_made_up(tmp_path: Path) -> None:
    found = one(tmp_path, CHAT)
    assert gaps(found) == {"missing_timestamps": (3, "start and end")}
    assert {step.start for step in found} == {step.end for step in found} == {None}
    assert {found.run[name] for name in ("start", "end", "duration_s")} == {None}
    assert found.outcome.success is None
    assert found.task_id is None


@pytest.mark.parametrize(
    "document",
    [
        CHAT,
        [CHAT],
        {"messages": CHAT},
        [{"messages": CHAT}],
        "\n".join(map(json.dumps, CHAT)),
        json.dumps({"messages": CHAT}) + "\n",
        {"messages": CHAT[:-1], "choices": [{"message": SAYS}]},
        {
            "system": "Be kind.",
            "messages": [
                USER,
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I look."},
                        {
                            "type": "tool_use",
                            "id": "c1",
                            "name": "lookup_order",
                            "input": {"order_id": "A-1"},
                        },
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": '{"total": 84}'}
                    ],
                },
                SAYS,
            ],
        },
        {
            "instructions": "Be kind.",
            "input": "Refund order A-1.",
            "output": [
                {"type": "reasoning", "id": "r1", "summary": []},
                {
                    "type": "function_call",
                    "call_id": "c1",
                    "name": "lookup_order",
                    "arguments": '{"order_id": "A-1"}',
                },
                {"type": "function_call_output", "call_id": "c1", "output": '{"total": 84}'},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "It is done."}],
                },
            ],
        },
    ],
    ids=[
        *("list", "list of lists", "object", "list of objects", "a message a line"),
        *("an object a line", "request and choice", "anthropic", "responses"),
    ],
)
def test_every_form_of_a_chat_gives_the_same_run(tmp_path: Path, document: Any) -> None:
    found = one(tmp_path, document)
    assert shape(found) == REFUND
    assert found.tool_steps[0].arguments == {"order_id": "A-1"}
    assert found.tool_steps[0].result == {"total": 84}
    assert found.input == "Refund order A-1."
    assert found.final_text == "It is done."


def test_a_call_that_was_never_answered_was_never_executed(tmp_path: Path) -> None:
    twice = json.loads(json.dumps(ASKS))
    twice["tool_calls"].append({"id": "c2", "function": {"name": "refund", "arguments": "{}"}})
    found = one(tmp_path, [USER, twice, ANSWER, SAYS])
    assert shape(found) == [
        *(("llm", None, True), ("tool", "lookup_order", True)),
        *(("tool", "refund", False), ("llm", None, True)),
    ]
    assert found.steps[1].group == found.steps[2].group


def test_an_id_that_is_used_again_belongs_to_the_oldest_open_call(tmp_path: Path) -> None:
    again = json.loads(json.dumps(ASKS).replace("A-1", "A-2"))
    other = ANSWER | {"content": '{"total": 7}'}
    found = one(tmp_path, [USER, ASKS, ANSWER, again, other, SAYS])
    calls = [(step.arguments, step.result) for step in found.tool_steps]
    assert calls == [({"order_id": "A-1"}, {"total": 84}), ({"order_id": "A-2"}, {"total": 7})]


def test_answers_without_an_id_are_joined_by_place_and_say_so(tmp_path: Path) -> None:
    answer = {"role": "tool", "content": '{"total": 84}'}
    found = one(tmp_path, [USER, ASKS, answer, SAYS])
    step = found.tool_steps[0]
    assert (step.tool, step.result, step.id_inferred) == ("lookup_order", {"total": 84}, True)


def test_an_answer_to_no_call_ran_unasked(tmp_path: Path) -> None:
    answer = {"role": "tool", "tool_call_id": "c9", "name": "refund", "content": "1"}
    found = one(tmp_path, [USER, ASKS, ANSWER, SAYS, answer])
    assert [(step.tool, step.requested) for step in found.tool_steps] == [
        *(("lookup_order", True), ("refund", False)),
    ]


def test_failures_come_from_the_flags_of_a_message(tmp_path: Path) -> None:
    failed = {"role": "tool", "tool_call_id": "c1", "content": "no such order", "error": True}
    step = one(tmp_path, [USER, ASKS, failed]).tool_steps[0]
    assert (step.ok, step.error_type, step.error_message) == (False, "tool_error", "no such order")


def test_what_a_record_says_beside_its_messages_is_taken_or_kept(tmp_path: Path) -> None:
    record = {
        "messages": CHAT,
        "task_id": 7,
        "trial": 2,
        "success": False,
        "thread_id": "s-1",
        "run_id": "r-1",
        "colour": "red",
    }
    runs = load(tmp_path, [record])
    found = runs["r-1"]
    assert (found.task_id, found.run["trial"], found.session_id) == ("7", 2, "s-1")
    assert found.outcome.success is False
    assert gaps(found) == {"missing_timestamps": (3, "start and end")}
    assert '"transcript.colour":"red"' in "".join(runs.spans()["attributes"])


def tau(task: int, trial: int, reward: float | None) -> dict[str, Any]:
    return {"task_id": task, "trial": trial, "reward": reward, "traj": CHAT, "info": {"a": 1}}


def test_tau_bench(tmp_path: Path) -> None:
    rewards = [1.0, 0.0, None, 0.5]
    runs = load(tmp_path, [tau(n, n % 2, r) for n, r in enumerate(rewards)], "gpt-4o-airline.json")
    table = runs.runs()
    assert table["task_id"].tolist() == ["0", "1", "2", "3"]
    assert table["trial"].tolist() == [0, 1, 0, 1]
    assert [each.outcome.success for each in runs] == [True, False, None, False]
    assert set(table["variant"]) == {"gpt-4o-airline"}
    assert [shape(each) for each in runs] == [REFUND] * 4
    assert len(set(table["run_id"])) == 4


def test_equal_runs_of_a_file_stay_two_and_a_file_read_twice_stays_one(tmp_path: Path) -> None:
    assert len(load(tmp_path, [tau(0, 0, 1.0), tau(0, 0, 1.0)])) == 2
    path = tmp_path / "runs.json"
    twice = ta.load([path, path])
    assert len(twice) == 2
    assert {gap.name for each in twice for gap in each.gaps} >= {"duplicate_span_id"}


def tau2(**simulation: Any) -> dict[str, Any]:
    return {
        "info": {
            "agent_info": {"llm": "gpt-4.1", "implementation": "llm_agent"},
            "environment_info": {"domain_name": "telecom"},
        },
        "tasks": [],
        "simulations": [
            {
                "id": "sim-1",
                "task_id": "t",
                "trial": 0,
                "seed": 300,
                "start_time": "2025-08-01T16:20:00",
                "end_time": "2025-08-01T16:21:00",
                "termination_reason": "user_stop",
                "reward_info": {"reward": 1.0},
                "messages": TELECOM,
            }
            | simulation
        ],
    }


TELECOM = [
    {"role": "assistant", "content": "Hi!", "timestamp": "2025-08-01T16:20:01", "usage": None},
    {"role": "user", "content": "No data.", "timestamp": "2025-08-01T16:20:02"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a1", "name": "get_line", "arguments": {"id": 1}, "requestor": "assistant"}
        ],
        "timestamp": "2025-08-01T16:20:03",
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
        "cost": 0.5,
    },
    {
        "role": "tool",
        "id": "a1",
        "content": "unknown line",
        "error": True,
        "requestor": "assistant",
        "timestamp": "2025-08-01T16:20:04",
    },
    {"role": "assistant", "content": "Please restart.", "timestamp": "2025-08-01T16:20:05"},
    {
        "role": "user",
        "content": None,
        "tool_calls": [{"id": "u1", "name": "reboot", "arguments": {}, "requestor": "user"}],
    },
    {"role": "tool", "id": "u1", "content": "rebooted", "requestor": "user"},
    {"role": "user", "content": "It works."},
    {"role": "assistant", "content": "Good.", "timestamp": "2025-08-01T16:20:09"},
]


def test_tau2_bench(tmp_path: Path) -> None:
    runs = load(tmp_path, tau2())
    found = runs["sim-1"]
    assert found.tools == ["get_line"]
    assert (found.run["suite_id"], found.run["variant"], found.run["seed"]) == (
        *("telecom", "gpt-4.1"),
        300,
    )
    assert (found.outcome.success, found.run["duration_s"]) == (True, 60.0)
    step = found.tool_steps[0]
    assert (step.ok, step.error_message) == (False, "unknown line")
    assert (step.start, iso(step.end)) == (None, "2025-08-01T16:20:04+00:00")
    assert (found.run["tokens_in"], found.run["tokens_out"], found.run["cost"]) == (10, 2, 0.5)
    assert gaps(found) == {
        "missing_timestamps": (5, "start"),
        "missing_tokens": (1, "tokens_in, tokens_out"),
        "missing_cost": (1, "cost"),
    }
    assert found.steps[1].start is None  # no time was made up out of its neighbours


def test_simulations_of_one_id_are_runs_of_their_own(tmp_path: Path) -> None:
    document = tau2()
    again = document["simulations"][0] | {"trial": 1, "reward_info": {"reward": 0.0}}
    document["simulations"] += [again, again, again | {"id": "sim-2"}]
    runs = load(tmp_path, document)
    assert [each.tools for each in runs] == [["get_line"]] * 4
    assert [each.outcome.success for each in runs] == [True, False, False, False]
    ids = ["sim-1-trial0-1", "sim-1-trial1-2", "sim-1-trial1-3", "sim-2"]
    assert runs.runs()["run_id"].tolist() == ids


def test_a_benchmarks_run_without_its_chat_counts_with_its_reward(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tau_runs = [tau(0, 0, 1.0), tau(0, 1, 0.0) | {"traj": None}]
    tau2_runs = tau2()
    lost = {**tau2_runs["simulations"][0], "id": "sim-2", "trial": 1, "reward_info": {"reward": 0}}
    del lost["messages"]
    tau2_runs["simulations"].append(lost)
    for document in (tau_runs, tau2_runs):
        runs = load(tmp_path, document)
        assert [each.outcome.success for each in runs] == [True, False]
        assert len(runs.quarantined) == 0
        assert "tools_not_observable" in gaps(runs[1])
        assert trackway(["stats", str(tmp_path / "runs.json")]) == 0
        assert "1  0.5000\n2  0.0000" in capsys.readouterr().out


def test_stats_say_beside_the_rate_what_was_set_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load(tmp_path, [tau(0, 0, 1.0), 7, tau(1, 0, 0.0) | {"traj": "text"}])
    assert trackway(["stats", str(tmp_path / "runs.json")]) == 0
    said = capsys.readouterr().out
    assert "1 task × 1 trial\nwithout 2 things that were set aside and may have been runs\n" in said
    assert trackway(["stats", str(tmp_path / "runs.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["set_aside"] == 2


def test_what_the_simulated_user_called_is_no_step_and_is_not_lost(tmp_path: Path) -> None:
    runs = load(tmp_path, tau2())
    spans = runs.spans()
    assert spans["operation"].tolist().count("tool") == 1
    (own,) = [text for text in spans["attributes"] if "transcript.user_call" in text]
    assert json.loads(own)["transcript.user_call"] == "reboot"
    read = [step.input for step in runs["sim-1"] if step.operation == "llm" and step.input]
    assert "rebooted" not in json.dumps(read)
    assert "It works." in json.dumps(read)


def test_why_a_simulation_ended_is_its_failure_mode(tmp_path: Path) -> None:
    lost = tau2(termination_reason="too_many_errors", reward_info={"reward": 0.0})
    assert one(tmp_path, lost).outcome.failure_mode == "too_many_errors"
    stopped = tau2(reward_info={"reward": 0.0})
    assert one(tmp_path, stopped).outcome.failure_mode is None
    unjudged = one(tmp_path, tau2(reward_info=None)).outcome
    assert (unjudged.success, unjudged.failure_mode) == (None, None)


@pytest.mark.parametrize("document", [tau2() | {"simulations": []}, ""])
def test_an_upload_without_runs_is_an_empty_result(tmp_path: Path, document: Any) -> None:
    runs = load(tmp_path, document)
    assert len(runs) == 0
    assert len(runs.runs()) == 0
    assert len(runs.gaps()) == 0


def test_a_run_of_a_benchmark_without_a_task_is_read_and_named(tmp_path: Path) -> None:
    for document in (tau2(task_id=None), [{**tau(0, 0, 1.0), "task_id": None}]):
        runs = load(tmp_path, document)
        (row,) = runs.quarantine().to_dict("records")
        assert row["reason"] == "no_task_id"
        assert row["detail"] == "a benchmark's run without task_id: its reward is of no task"
        assert len(runs) == 1
        with pytest.raises(QuarantineError, match="no_task_id"):
            len(load(tmp_path, document, strict=True))


def test_swe_agent_commands(tmp_path: Path) -> None:
    document = {
        "environment": "main",
        "trajectory": [
            {"response": "Find it.\n```\nfind_file a.py\n```", "action": "find_file a.py\n"}
            | {"observation": "Found 1", "thought": "Find it."},
            {"response": "I am stuck.", "action": "", "observation": "no command"},
            {"response": "Done.", "action": "submit", "observation": "diff"},
        ],
        "history": [
            {"role": "system", "content": "You are a programmer.", "agent": "primary"},
            {"role": "user", "content": "A demonstration.", "agent": "primary", "is_demo": True},
            {"role": "user", "content": "Fix a.py.", "agent": "primary"},
            {"role": "assistant", "content": "…", "agent": "primary"},
        ],
        "info": {
            "exit_status": "submitted",
            "model_stats": {"api_calls": 3, "tokens_sent": 100, "tokens_received": 20}
            | {"instance_cost": 0.25},
        },
    }
    found = one(tmp_path, document, "gpt4__default/org__repo-7.traj")
    assert found.tools == ["find_file", "submit"]
    first = found.tool_steps[0]
    assert (first.arguments, first.result) == ({"command": "find_file a.py"}, "Found 1")
    assert (first.requested, first.id_inferred) == (True, True)
    assert [step.operation for step in found] == ["llm", "tool", "llm", "llm", "tool"]
    assert (found.task_id, found.run["variant"]) == ("org__repo-7", "gpt4__default")
    assert (found.outcome.success, found.outcome.label) == (None, "submitted")
    assert (found.run["tokens_in"], found.run["cost"]) == (100, 0.25)
    assert found.input == "Fix a.py.\nno command"


def test_swe_agent_function_calls(tmp_path: Path) -> None:
    asks = ASKS | {"agent": "main", "action": "lookup_order A-1"}
    step = {"response": "Look.", "action": "lookup_order A-1", "observation": '{"total": 84}'}
    told = {"role": "user", "content": "Fix it.", "agent": "main"}
    answer = {"role": "tool", "content": '{"total": 84}', "agent": "main", "tool_call_ids": ["c1"]}
    for document in (
        {"trajectory": [step], "history": [told, asks, answer], "info": {}},
        {"history": [told, asks, answer]},
    ):
        found = one(tmp_path, document, "a.traj").tool_steps[0]
        assert (found.tool, found.arguments) == ("lookup_order", {"order_id": "A-1"})
        assert (found.call_id, found.id_inferred, found.result) == ("c1", False, {"total": 84})


def sample(**more: Any) -> dict[str, Any]:
    asks = {
        "role": "assistant",
        "id": "m1",
        "content": "",
        "tool_calls": [{"id": "c1", "function": "lookup_order", "arguments": {"order_id": "A-1"}}],
    }
    answer = {"role": "tool", "tool_call_id": "c1", "function": "lookup_order", "content": "84"}
    model = {
        "event": "model",
        "timestamp": "2025-05-12T20:27:37-04:00",
        "completed": "2025-05-12T20:27:39-04:00",
        "output": {
            "model": "gpt-4o-mini",
            "choices": [{"message": {"id": "m1"}, "stop_reason": "tool_calls"}],
            "usage": {"input_tokens": 7, "output_tokens": 3},
        },
    }
    tool = {
        "event": "tool",
        "id": "c1",
        "timestamp": "2025-05-12T20:27:39-04:00",
        "completed": "2025-05-12T20:27:40-04:00",
    }
    return {
        "id": 5,
        "epoch": 2,
        "messages": [{"role": "user", "content": "attachment://f00"}, asks, answer],
        "scores": {"match": {"value": "C", "answer": "84"}},
        "events": [model, tool],
        "attachments": {"f00": "Refund order A-1."},
    } | more


def log(*samples: dict[str, Any]) -> dict[str, Any]:
    about = {"task": "refunds", "model": "openai/gpt-4o-mini"}
    return {"version": 2, "status": "success", "eval": about, "samples": list(samples)}


def archive(path: Path, *samples: dict[str, Any]) -> Path:
    document = log(*samples)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        header = {key: value for key, value in document.items() if key != "samples"}
        file.writestr("header.json", json.dumps(header))
        for each in document["samples"]:
            file.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_inspect_logs(tmp_path: Path, packed: bool) -> None:
    if packed:
        (found,) = ta.load(archive(tmp_path / "log.eval", sample()))
    else:
        found = one(tmp_path, log(sample()))
    assert (found.run["suite_id"], found.task_id, found.run["trial"]) == ("refunds", "5", 2)
    assert found.run["variant"] == "openai/gpt-4o-mini"
    assert (found.outcome.success, found.outcome.label) == (True, "match=C")
    assert found.input == "Refund order A-1."
    model, tool = found
    assert (model.model_answered, model.tokens_in, model.tokens_out) == ("gpt-4o-mini", 7, 3)
    assert (iso(model.start), iso(model.end)) == (
        "2025-05-13T00:27:37+00:00",
        "2025-05-13T00:27:39+00:00",
    )
    assert (tool.tool, tool.arguments, tool.result) == ("lookup_order", {"order_id": "A-1"}, 84)
    assert found.gaps == ()


@pytest.mark.parametrize(
    ("scores", "success"),
    [
        ({"a": {"value": "I"}}, False),
        ({"a": {"value": "P"}}, False),
        ({"a": {"value": 1}}, True),
        ({"a": {"value": True}}, True),
        ({"a": {"value": "yes"}}, True),
        ({"a": {"value": 0.4}}, False),
        ({"a": {"value": "C"}, "b": {"value": 1.0}}, True),
        ({"a": {"value": "C"}, "b": {"value": "I"}}, None),
        ({"a": {"value": {"x": 1}}}, None),
        ({"a": {"value": "splendid"}}, None),
        ({}, None),
        (None, None),
    ],
)
def test_inspect_scores_judge_only_on_a_scale_that_is_known(
    tmp_path: Path, scores: Any, success: bool | None
) -> None:
    assert one(tmp_path, log(sample(scores=scores))).outcome.success is success


def test_an_archive_that_is_none_damaged_or_a_bomb_is_put_aside(tmp_path: Path) -> None:
    bomb = sample(store={"zeros": "0" * 80_000_000})
    whole = archive(tmp_path / "whole.eval", sample()).read_bytes()
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("letter.txt", "Dear sir")
    damaged = bytearray(whole)
    damaged[whole.index(b"samples/") + 40] ^= 0xFF
    cases = {
        "bomb": (archive(tmp_path / "bomb.eval", bomb).read_bytes(), "decompression_ratio"),
        "other": (other.getvalue(), "unreadable"),
        "cut": (whole[:-30], "truncated_file"),
        "damaged": (bytes(damaged), "broken_compression"),
    }
    for name, (body, reason) in cases.items():
        path = tmp_path / f"{name}.eval"
        path.write_bytes(body)
        runs = ta.load(path)
        assert len(runs) == 0, name
        assert [row["reason"] for row in runs.quarantine().to_dict("records")] == [reason], name


@given(st.data())
def test_an_archive_with_a_spoilt_list_of_members_is_put_aside(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("archives")
    body = bytearray(archive(folder / "log.eval", sample()).read_bytes())
    listed, named = body.index(b"PK\x01\x02"), body.index(b"PK\x03\x04")
    places = st.integers(listed, len(body) - 1) | st.integers(named, named + 60)
    for place in data.draw(st.lists(places, min_size=1, max_size=4)):
        body[place] = data.draw(st.integers(0, 255))
    path = folder / "spoilt.eval"
    path.write_bytes(body)
    runs = ta.load(path)
    assert len(runs) or len(runs.quarantine())


def test_an_archive_of_a_version_to_come_is_put_aside(tmp_path: Path) -> None:
    body = bytearray(archive(tmp_path / "log.eval", sample()).read_bytes())
    body[body.index(b"PK\x01\x02") + 6] = 231
    (tmp_path / "log.eval").write_bytes(body)
    runs = ta.load(tmp_path / "log.eval")
    assert len(runs) == 0
    assert list(runs.quarantine()["reason"]) == ["unreadable"]


def test_nesting_bombs_cost_their_run_alone(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    bomb = {"messages": [USER, {"role": "assistant", "content": deep}]}
    runs = load(tmp_path, [{"messages": CHAT}, bomb])
    assert len(runs) == 1
    assert [row["reason"] for row in runs.quarantine().to_dict("records")] == ["too_deep"]


def test_many_open_calls_and_answers_take_linear_time(tmp_path: Path) -> None:
    calls = [{"id": f"c{n}", "function": {"name": "f", "arguments": "{}"}} for n in range(5_000)]
    asks = {"role": "assistant", "content": None, "tool_calls": calls}
    answers = [
        {"role": "tool", "tool_call_id": f"c{n}", "content": "1"} for n in range(4_999, -1, -1)
    ]
    found = one(tmp_path, [USER, asks, *answers])
    assert len(found.tool_steps) == 5_000


@pytest.mark.parametrize(
    "document",
    [
        [{"role": "user"}],
        {"messages": ["hello"]},
        {"messages": []},
        {"role": "admin", "content": "x"},
        {"simulations": "none"},
        {"eval": {}, "samples": []},
    ],
)
def test_what_only_looks_like_a_transcript_is_none(tmp_path: Path, document: Any) -> None:
    runs = load(tmp_path, document)
    assert len(runs) == 0
    assert [row["reason"] for row in runs.quarantine().to_dict("records")] == ["not_a_trace"]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"simulations": [{"task_id": "1"}, 7]}, "broken_span"),
        ([tau(0, 0, 1.0), {"task_id": 1}], "broken_span"),
        ([{"messages": CHAT}, 7], "broken_span"),
        (log({"id": 1}), "broken_span"),
    ],
)
def test_a_broken_run_costs_itself(tmp_path: Path, document: Any, reason: str) -> None:
    rows = load(tmp_path, document).quarantine().to_dict("records")
    assert {row["reason"] for row in rows} == {reason}


def test_transcripts_come_back_from_parquet_as_they_are(tmp_path: Path) -> None:
    runs = load(tmp_path, tau2())
    runs.to_parquet(tmp_path / "runs.parquet")
    again = ta.load(tmp_path / "runs.parquet")
    assert again.span_table.equals(runs.span_table)
    assert again.batch.runs.equals(runs.batch.runs)
