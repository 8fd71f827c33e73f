"""ATIF trajectories: written, read back whole, and read from whoever else wrote them."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trackway_analyzer as ta
from analyzer.reconstruct.test_reconstruct_properties import rows
from analyzer.span_builder import Recording, Row, answered, call, said, spans_of, user
from trackway_analyzer.cli.program import run as trackway
from trackway_analyzer.model import NOT_RECORDED
from trackway_analyzer.rules import Never, State
from trackway_analyzer.rules.policy import Policy
from trackway_analyzer.span_json import spans_as_json, spans_of_json

DATA = Path(__file__).parents[2] / "data"
RECORDED = sorted((DATA / "frameworks").glob("*/*.json"))


def same(one: ta.Trajectories, other: ta.Trajectories) -> None:
    assert len(other.quarantined) == 0
    assert one.batch.steps.to_pylist() == other.batch.steps.to_pylist()
    assert differences(one, other) == []


def differences(one: ta.Trajectories, other: ta.Trajectories) -> list[Any]:
    runs = zip(one.batch.runs.to_pylist(), other.batch.runs.to_pylist(), strict=True)
    return [(name, a[name], b[name]) for a, b in runs for name in a if a[name] != b[name]]


def written(trajectories: ta.Trajectories, folder: Path) -> list[dict[str, Any]]:
    path = folder / "runs.jsonl"
    assert trajectories.to_atif(path) == len(trajectories)
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_run_comes_back_whole(path: Path, tmp_path: Path) -> None:
    recorded = ta.load(path)
    recorded.to_atif(tmp_path / "runs.jsonl")
    same(recorded, ta.load(tmp_path / "runs.jsonl"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_steps_alone_tell_the_same_calls(path: Path, tmp_path: Path) -> None:
    recorded = ta.load(path)
    documents = written(recorded, tmp_path)
    for document in documents:
        del document["extra"]
    (tmp_path / "plain.jsonl").write_text("\n".join(map(json.dumps, documents)))
    plain = ta.load(tmp_path / "plain.jsonl")

    def told(trajectories: ta.Trajectories) -> list[Any]:
        # An ATIF call has arguments: what nobody recorded is the empty object there.
        runs = [
            [(s.tool, s.arguments or {}, s.executed) for s in t if s.tool] for t in trajectories
        ]
        return sorted(runs, key=repr)

    assert told(plain) == told(recorded)


@given(rows(), st.sampled_from(["by run id", "by trace", "by session"]))
@settings(max_examples=40)
def test_any_run_comes_back_whole(found: list[Row], how: str) -> None:
    for row in found:
        row["source"] = "otel-genai"
        row["run_id"] = f"run {row['trace_id']}" if how == "by run id" else None
    by: Any = "session" if how == "by session" else "trace"
    trajectories = ta.load(spans_of(found), by=by)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        if trajectories.to_atif(path):
            same(trajectories, ta.load(path, by=by))


def test_a_conversation_is_one_trajectory(tmp_path: Path) -> None:
    record = Recording(session_id="chat-1")
    for trace in ("one", "two"):
        agent = record.agent("support", trace=trace)
        record.tool("f", {}, 1, agent, trace=trace)
    trajectories = ta.load(record.table(), by="session")
    assert trajectories.to_atif(tmp_path / "runs.jsonl") == 1
    same(trajectories, ta.load(tmp_path / "runs.jsonl", by="session"))


TEXTS = st.one_of(st.text(max_size=4), st.text(min_size=60, max_size=90))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["ref", "a", "role"]), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(st.lists(st.fixed_dictionaries({"input": JSON, "attributes": JSON, "result": JSON})))
@settings(max_examples=50)
def test_span_rows_survive_json_letter_by_letter(values: list[dict[str, Any]]) -> None:
    table = spans_of(
        {
            "trace_id": "t",
            "span_id": str(place),
            "name": "n",
            "start": place,
            "input": json.dumps(value["input"]),
            "attributes": json.dumps({"x": value["attributes"]}, ensure_ascii=False),
            "resource": json.dumps(value["attributes"], separators=(",", ":")),
            "result": repr(value["result"]),
            "events": [("e", place, '{"a":1}'), ("f", None, None)],
            "links": [("t", "s", "{}")],
        }
        for place, value in enumerate(values)
    )
    again = spans_of_json(json.loads(json.dumps(spans_as_json(table))))
    assert again.equals(table)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"values": [], "spans": [{"span_id": {"ref": 3}}]},
        {"values": [], "spans": [{"trace_id": "t"}]},
        {"values": [], "spans": [7]},
        {"values": [1], "spans": [{"trace_id": 1, "span_id": "s", "name": "n", "start": "now"}]},
    ],
)
def test_what_is_no_span_rows_is_refused(broken: Any) -> None:
    with pytest.raises(ValueError):
        spans_of_json(broken)


def test_repeated_texts_cannot_grow_beyond_the_bound() -> None:
    row = {"trace_id": "t", "span_id": "s", "name": "n", "start": 1, "input": {"messages": [0] * 9}}
    bomb = {"values": ["x" * 70_000_000], "spans": [row]}
    with pytest.raises(ValueError, match="more than"):
        spans_of_json(bomb)


@pytest.fixture
def refund() -> Recording:
    record = Recording(session_id="chat-1")
    agent = record.agent("support", input="Refund order 7", output="Done.")
    asks = [call("lookup", {"id": 7}, "c1"), call("refund", {"id": 7}, "c2")]
    told = [user("Refund order 7")]
    record.model(agent, told=told, asks=asks, says="I look.", tokens_in=50, tokens_out=5, cost=0.5)
    record.tool("lookup", {"id": 7}, {"total": 84}, agent, call_id="c1")
    record.tool("refund", {"id": 7}, None, agent, call_id="c2", raises="Timeout")
    told += [{"role": "assistant", "parts": asks}, answered("c1", {"total": 84})]
    record.model(agent, told=told, says="Done.", tokens_in=60)
    return record


def test_a_trajectory_holds_what_others_read(refund: Recording, tmp_path: Path) -> None:
    (document,) = written(ta.load(refund.table()), tmp_path)
    for step in document["steps"]:
        step.pop("extra", None)
        step.pop("timestamp", None)
    calls = document["steps"][1].pop("tool_calls")
    assert [(c["tool_call_id"], c["function_name"], c["arguments"]) for c in calls] == [
        ("c1", "lookup", {"id": 7}),
        ("c2", "refund", {"id": 7}),
    ]
    results = document["steps"][1].pop("observation")["results"]
    assert results == [
        {"source_call_id": "c1", "content": '{"total":84}'},
        {
            "source_call_id": "c2",
            "content": "Timeout",
            "extra": {
                "is_error": True,
                "trackway": {"error_type": "Timeout", "error_message": "Timeout"},
            },
        },
    ]
    assert document["steps"] == [
        {"step_id": 1, "source": "user", "message": "Refund order 7"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "I look.",
            "llm_call_count": 1,
            "metrics": {"prompt_tokens": 50, "completion_tokens": 5, "cost_usd": 0.5},
        },
        {
            "step_id": 3,
            "source": "agent",
            "message": "Done.",
            "llm_call_count": 1,
            "metrics": {"prompt_tokens": 60},
        },
    ]
    assert document["session_id"] == "chat-1"
    assert document["agent"] == {"name": "support", "version": "unknown"}
    assert document["final_metrics"]["total_prompt_tokens"] == 110


def test_the_reference_models_take_what_is_written(refund: Recording, tmp_path: Path) -> None:
    models = pytest.importorskip("atif")
    for path in [None, *RECORDED]:
        trajectories = ta.load(refund.table() if path is None else path)
        for document in written(trajectories, tmp_path):
            models.Trajectory.model_validate(document)


def test_a_step_that_somebody_redacted_counts_before_the_spans(
    refund: Recording, tmp_path: Path
) -> None:
    (document,) = written(ta.load(refund.table()), tmp_path)
    document["steps"][1]["observation"]["results"][0]["content"] = "[redacted]"
    path = tmp_path / "redacted.json"
    path.write_text(json.dumps(document))
    (trajectory,) = ta.load(path)
    assert trajectory.tool_steps[0].result is NOT_RECORDED
    assert trajectory.tool_steps[1].error_type == "Timeout"
    assert trajectory.session_id == "chat-1"


def test_spans_beside_that_cannot_be_read_cost_no_step(refund: Recording, tmp_path: Path) -> None:
    (document,) = written(ta.load(refund.table()), tmp_path)
    document["extra"]["trackway"]["values"] = []
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(document))
    trajectories = ta.load(path)
    assert trajectories[0].tools == ["lookup", "refund"]
    assert trajectories.quarantined["reason"].to_pylist() == ["broken_value"]


def test_outcomes_that_were_joined_are_written_too(refund: Recording, tmp_path: Path) -> None:
    trajectories = ta.load(refund.table()).with_outcomes([{"run_id": "t1", "success": False}])
    trajectories.to_atif(tmp_path / "runs.jsonl")
    same(trajectories, ta.load(tmp_path / "runs.jsonl"))
    assert ta.load(tmp_path / "runs.jsonl")[0].outcome.success is False


def test_values_that_json_objects_cannot_hold_come_back_too(tmp_path: Path) -> None:
    record = Recording()
    deep = '{"a":' * 240 + "1" + "}" * 240
    long = '{"n":123456789012345678901234567890}'
    for text in (deep, long, '"bare"', "not json"):
        record.span("tool", tool="f", arguments=text, result=text)
    trajectories = ta.load(record.table())
    trajectories.to_atif(tmp_path / "runs.jsonl")
    same(trajectories, ta.load(tmp_path / "runs.jsonl"))


def trajectory(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    agent = {"name": "planner", "version": "1", "model_name": "m"}
    return {"schema_version": "ATIF-v1.8", "agent": agent, "steps": numbered, **more}


ASKED: dict[str, Any] = {
    "source": "agent",
    "message": "I look.",
    "tool_calls": [
        {"tool_call_id": "a", "function_name": "first", "arguments": {"x": 1}},
        {"tool_call_id": "b", "function_name": "second", "arguments": {}},
    ],
}


def loaded(document: Any, folder: Path) -> ta.Trajectory:
    path = folder / "trajectory.json"
    path.write_text(json.dumps(document))
    (found,) = ta.load(path)
    return found


@pytest.mark.parametrize("minor", range(9))
def test_every_version_is_read(minor: int, tmp_path: Path) -> None:
    document = trajectory({"source": "user", "message": "Go"}, {**ASKED, "source": "agent"})
    document["schema_version"] = f"ATIF-v1.{minor}"
    assert loaded(document, tmp_path).input == "Go"


def test_results_join_their_calls_by_id(tmp_path: Path) -> None:
    results = [{"source_call_id": "b", "content": "two"}, {"source_call_id": "a", "content": "1"}]
    found = loaded(trajectory({**ASKED, "observation": {"results": results}}), tmp_path)
    assert [(s.tool, s.result, s.call_id) for s in found.tool_steps] == [
        ("first", 1, "a"),
        ("second", "two", "b"),
    ]
    assert found.tool_steps[0].group == found.tool_steps[1].group


def test_results_without_ids_answer_in_order_and_say_so(tmp_path: Path) -> None:
    results = [{"content": "one"}, {"content": "two"}]
    found = loaded(trajectory({**ASKED, "observation": {"results": results}}), tmp_path)
    assert [(s.tool, s.result, s.id_inferred) for s in found.tool_steps] == [
        ("first", "one", True),
        ("second", "two", True),
    ]


def test_a_call_without_a_result_was_not_carried_out(tmp_path: Path) -> None:
    results = [{"source_call_id": "a", "content": "one"}]
    found = loaded(trajectory({**ASKED, "observation": {"results": results}}), tmp_path)
    assert [(s.tool, s.executed) for s in found.steps if s.tool] == [
        ("first", True),
        ("second", False),
    ]


def test_a_step_without_a_model_call_is_none(tmp_path: Path) -> None:
    results = [{"source_call_id": "a", "content": "one"}]
    step = {**ASKED, "message": "", "llm_call_count": 0, "observation": {"results": results}}
    found = loaded(trajectory(step), tmp_path)
    assert [step.operation for step in found.steps] == ["tool"]


def test_copied_context_is_told_and_not_done(tmp_path: Path) -> None:
    results = [{"source_call_id": "a", "content": "one"}, {"source_call_id": "b", "content": "two"}]
    copied = {**ASKED, "is_copied_context": True, "observation": {"results": results}}
    again = {**ASKED, "observation": {"results": results[:1]}}
    found = loaded(trajectory(copied, again), tmp_path)
    assert found.tools == ["first"]
    assert [part["type"] for part in found.steps[0].input[0]["parts"]][:1] == ["text"]


@pytest.mark.parametrize("named", [True, False])
def test_copied_calls_whose_trajectory_is_not_given_are_a_hole(named: bool, tmp_path: Path) -> None:
    keys = {"function_name", "arguments", *(["tool_call_id"] if named else [])}
    calls = [{key: each[key] for key in keys} for each in ASKED["tool_calls"]]
    asked = {**ASKED, "tool_calls": calls}
    copied = trajectory({**asked, "is_copied_context": True}, {"source": "agent", "message": "x"})
    alone = loaded(copied, tmp_path)
    holes = [gap for gap in alone.gaps if gap.name == "missing_steps"]
    assert [gap.detail for gap in holes] == ["the trajectory that 2 copied calls come from"]
    (finding,) = Never("delete").check(alone.batch)
    assert finding.state is State.INSUFFICIENT
    (tmp_path / "first.json").write_text(json.dumps(trajectory(asked, session_id="first")))
    both = ta.load(tmp_path)
    assert len(both) == 2
    assert not [gap for run in both for gap in run.gaps if gap.name == "missing_steps"]


def test_sub_agents_stand_below_the_call_that_refers_to_them(tmp_path: Path) -> None:
    inner = trajectory(
        {**ASKED, "observation": {"results": [{"source_call_id": "a", "content": "in"}]}},
        trajectory_id="inner",
    )
    inner["agent"]["name"] = "worker"
    reference = [{"trajectory_id": "inner"}]
    results = [{"source_call_id": "b", "content": "ok", "subagent_trajectory_ref": reference}]
    outer = {**ASKED, "observation": {"results": results}}
    found = loaded(trajectory(outer, subagent_trajectories=[inner]), tmp_path)
    paths = {step.tool: step.agent_path for step in found.tool_steps}
    assert paths == {"second": "planner", "first": "planner/worker"}


def test_times_that_no_step_has_are_not_made_up(tmp_path: Path) -> None:
    found = loaded(trajectory({**ASKED, "timestamp": "2026-11-29T10:00:00.5+01:00"}), tmp_path)
    assert found.steps[0].start is not None
    assert found.steps[0].start.isoformat() == "2026-11-29T09:00:00.500000+00:00"
    without = loaded(trajectory(ASKED), tmp_path)
    assert without.steps[0].start is None
    assert "missing_timestamps" in {gap.name for gap in without.gaps}


def test_metrics_are_tokens_and_cost(tmp_path: Path) -> None:
    metrics = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "cached_tokens": 80,
        "cost_usd": 0.25,
        "extra": {"reasoning_tokens": 5},
    }
    step = {"source": "agent", "message": "hi", "reasoning_content": "hm", "metrics": metrics}
    (found,) = loaded(trajectory(step), tmp_path).steps
    assert (found.tokens_in, found.tokens_out, found.tokens_cache_read) == (100, 20, 80)
    assert (found.tokens_reasoning, found.cost, found.model_requested) == (5, 0.25, "m")
    assert [part["type"] for part in found.output[0]["parts"]] == ["reasoning", "text"]


@pytest.mark.parametrize(
    "steps",
    [
        [7, None, {"source": "agent"}],
        [{"source": "agent", "tool_calls": [None, {"tool_call_id": []}], "observation": 3}],
        [{"source": "agent", "observation": {"results": [{"source_call_id": {}}]}}],
        [{"source": None, "message": {"a": 1}, "metrics": []}],
    ],
)
def test_broken_steps_cost_themselves(steps: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text(json.dumps({**trajectory(), "steps": steps}))
    assert len(ta.load(path)) == 1


def test_a_folder_gets_one_file_a_run(tmp_path: Path) -> None:
    record = Recording()
    for trace in ("one", "../two", "ONE"):
        record.tool("f", {}, 1, trace=trace)
    trajectories = ta.load(record.table())
    assert trajectories.to_atif(tmp_path / "out") == 3
    assert len(list((tmp_path / "out").iterdir())) == 3
    assert {t.run_id for t in ta.load(tmp_path / "out")} == {"one", "../two", "ONE"}


def test_a_file_of_another_run_or_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "order_2.json").write_text("{}")
    for trace in ("order/1", "order_1", "order/1", "order_1", "order:2"):
        record = Recording()
        record.tool("f", {"trace": trace}, 1, trace=trace)
        ta.load(record.table()).to_atif(folder)
    assert (folder / "order_2.json").read_text() == "{}"
    written = [path for path in folder.iterdir() if path.name != "order_2.json"]
    assert len(written) == 3
    assert {
        run.run_id: run.tool_steps[0].arguments for path in written for run in ta.load(path)
    } == {trace: {"trace": trace} for trace in ("order/1", "order_1", "order:2")}


def test_one_file_holds_one_run(tmp_path: Path) -> None:
    record = Recording()
    record.tool("f", {}, 1, trace="one")
    ta.load(record.table()).to_atif(tmp_path / "one.json")
    assert json.loads((tmp_path / "one.json").read_text())["trajectory_id"] == "one"
    record.tool("f", {}, 1, trace="two")
    with pytest.raises(ValueError, match="found 2 runs: give a folder"):
        ta.load(record.table()).to_atif(tmp_path / "two.json")
    assert not (tmp_path / "two.json").exists()


def test_the_command_writes_trajectories(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(RECORDED[0])
    assert trackway(["convert", source, str(tmp_path / "out.jsonl"), "--to", "atif"]) == 0
    assert capsys.readouterr().out == f"1 run to {tmp_path / 'out.jsonl'}\n"
    same(ta.load(source), ta.load(tmp_path / "out.jsonl"))


def test_what_was_said_is_no_new_message_of_the_next_turn(tmp_path: Path) -> None:
    record = Recording()
    agent = record.agent("support")
    record.model(agent, told=[user("Hi")], says="Hello.")
    record.model(agent, told=[user("Hi"), said("Hello."), user("Bye")], says="Bye.")
    (document,) = written(ta.load(record.table()), tmp_path)
    words = [(step["source"], step["message"]) for step in document["steps"]]
    assert words == [("user", "Hi"), ("agent", "Hello."), ("user", "Bye"), ("agent", "Bye.")]


@pytest.mark.parametrize(("depth", "whole"), [(10, True), (100, True), (240, True), (600, False)])
def test_a_value_that_is_too_deep_is_named(depth: int, whole: bool, tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(depth):
        deep = {"a": deep}
    calls = [{"tool_call_id": "a", "function_name": "f", "arguments": deep}]
    results = {"results": [{"source_call_id": "a", "content": "x"}]}
    step = {"source": "agent", "message": "", "tool_calls": calls, "observation": results}
    path = tmp_path / "deep.json"
    path.write_text(json.dumps(trajectory(step)))
    trajectories = ta.load(path)
    if whole:
        assert trajectories[0].tool_steps[0].arguments == deep
    else:
        reasons = trajectories.quarantined["reason"].to_pylist()
        gaps = {gap.name for run in trajectories for gap in run.gaps}
        assert "too_deep" in reasons or "truncated_value" in gaps


def atif(*steps: dict[str, Any], version: str = "ATIF-v1.6") -> dict[str, Any]:
    numbered = [{"step_id": number, "message": "", **step} for number, step in enumerate(steps, 1)]
    agent = {"name": "a", "version": "1", "model_name": "m"}
    return {"schema_version": version, "session_id": "s", "agent": agent, "steps": numbered}


def test_a_result_that_answers_no_call_keeps_a_check_from_passing() -> None:
    asked = {"tool_call_id": "1", "function_name": "look", "arguments": {}}
    loose = {"observation": {"results": [{"content": "ran rm"}]}}
    call = {"source": "agent", "tool_calls": [asked], **loose}
    assert len(ta.load(atif(call)).quarantined) == 0
    trajectories = ta.load(atif(call, {"source": "system", **loose}))
    (row,) = trajectories.quarantined.to_pylist()
    assert (row["reason"], row["detail"]) == (
        "broken_value",
        "a result that answers no call of its step",
    )
    policy = Policy.from_yaml("version: 1\nrules:\n  - forbid: [rm]\n")
    assert trajectories.check(policy).exit_code == 2


@pytest.mark.parametrize("version", ["ATIF-v1.9", "ATIF-v2.0", "ATIF-v"])
def test_an_unknown_version_is_read_and_told_of(version: str) -> None:
    trajectories = ta.load(atif({"source": "agent", "message": "Hi"}, version=version), strict=True)
    assert len(trajectories[0].steps) == 1
    (row,) = trajectories.quarantined.to_pylist()
    assert (row["reason"], row["detail"]) == ("unknown_version", f"read as ATIF-v1.8: {version}")
