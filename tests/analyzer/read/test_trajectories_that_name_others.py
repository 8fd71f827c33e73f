"""ATIF trajectories in several files: sub-agents and continuations join, or are a named hole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from analyzer.read.session_lines import only, verdict

USER = {"source": "user", "message": "x"}
DONE = {"source": "agent", "message": "done"}


def calling(name: str, **result: Any) -> dict[str, Any]:
    call = {"tool_call_id": "c1", "function_name": name, "arguments": {}}
    answer = {"source_call_id": "c1", "content": "ok", **result}
    step = {"source": "agent", "message": "", "tool_calls": [call]}
    return {**step, "observation": {"results": [answer]}}


def trajectory(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    agent = {"name": "a", "version": "1"}
    return {"schema_version": "ATIF-v1.7", "agent": agent, "steps": numbered, **fields}


def write(folder: Path, **documents: Any) -> Path:
    for name, document in documents.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document))
    return folder


def details(source: Any) -> list[str | None]:
    return [gap.detail for gap in only(source).gaps if gap.name == "missing_steps"]


REFERENCES = [
    {"trajectory_id": "sub-1"},
    {"trajectory_path": "parts/sub.json"},
    {"session_id": "s-sub"},
    {"session_id": "s-sub", "trajectory_path": "elsewhere/parts/sub.json"},
]


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("listed", [True, False])
def test_a_sub_agent_that_nobody_gives_is_a_hole(
    reference: dict[str, str], listed: bool, tmp_path: Path
) -> None:
    told = [reference] if listed else reference
    outer = trajectory(USER, calling("delegate", subagent_trajectory_ref=told), DONE)
    write(tmp_path, outer=outer)
    name = next(
        reference[k] for k in ("trajectory_id", "trajectory_path", "session_id") if k in reference
    )
    assert details(tmp_path) == [f"the sub-agent's trajectory {name}"]
    assert verdict(tmp_path) == "insufficient"


@pytest.mark.parametrize("reference", REFERENCES[:3])
@pytest.mark.parametrize("tool", ["delete_account", "look"])
def test_a_sub_agent_in_another_file_stands_below_its_call(
    reference: dict[str, str], tool: str, tmp_path: Path
) -> None:
    called = calling("delegate", subagent_trajectory_ref=[reference])
    inner = trajectory(calling(tool), DONE, trajectory_id="sub-1", session_id="s-sub")
    inner["agent"]["name"] = "b"
    write(tmp_path, outer=trajectory(USER, called, DONE), parts__sub=inner)
    paths = [(step.tool, step.agent_path) for step in only(tmp_path).tool_steps]
    assert paths == [("delegate", "a"), (tool, "a/b")]
    assert verdict(tmp_path) == ("pass" if tool == "look" else "violation")


def test_trajectories_on_lines_of_one_file_join_too(tmp_path: Path) -> None:
    called = calling("delegate", subagent_trajectory_ref=[{"trajectory_id": "sub-1"}])
    lines = [trajectory(calling("look"), trajectory_id="sub-1"), trajectory(called)]
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert only(path).tools == ["delegate", "look"]


def test_a_reference_beside_no_call_is_a_sub_agent_of_the_agent(tmp_path: Path) -> None:
    refers = {"results": [{"subagent_trajectory_ref": [{"trajectory_path": "sub.json"}]}]}
    system = {"source": "system", "message": "Context was summarised.", "observation": refers}
    write(tmp_path, outer=trajectory(USER, system, DONE), sub=trajectory(calling("look"), DONE))
    assert only(tmp_path).tools == ["look"]
    assert verdict(tmp_path) == "pass"


def test_a_continuation_goes_on_with_the_run(tmp_path: Path) -> None:
    first = trajectory(USER, calling("look"), continued_trajectory_ref="more.json")
    more = trajectory(calling("delete_account"), continued_trajectory_ref="last.json")
    write(tmp_path, first=first, more=more, last=trajectory(calling("mail"), DONE))
    run = only(tmp_path)
    assert run.tools == ["look", "delete_account", "mail"]
    assert {step.agent_path for step in run.steps} == {"a"}
    assert (run.final_text, details(tmp_path)) == ("done", [])


def test_a_continuation_that_nobody_gives_is_a_hole(tmp_path: Path) -> None:
    write(tmp_path, first=trajectory(USER, DONE, continued_trajectory_ref="more.json"))
    assert details(tmp_path) == ["the continuation more.json"]
    assert verdict(tmp_path) == "insufficient"


def test_trajectories_that_name_each_other_in_a_circle_are_read_once(tmp_path: Path) -> None:
    one = trajectory(calling("one"), continued_trajectory_ref="two.json")
    two = trajectory(calling("two"), continued_trajectory_ref="one.json")
    write(tmp_path, one=one, two=two)
    assert sorted(tool for run in ta.load(tmp_path) for tool in run.tools) == ["one", "two"]
    assert verdict(tmp_path) == "insufficient"


def test_a_session_that_several_share_names_none_of_them(tmp_path: Path) -> None:
    called = calling("delegate", subagent_trajectory_ref=[{"session_id": "s"}])
    parts = {f"p{n}": trajectory(calling(f"t{n}"), DONE, session_id="s") for n in (1, 2)}
    write(tmp_path, outer=trajectory(USER, called, DONE), **parts)
    assert len(ta.load(tmp_path)) == 3
    assert verdict(tmp_path) == "insufficient"


def test_equal_trajectories_without_a_name_are_runs_of_their_own(tmp_path: Path) -> None:
    same = trajectory(USER, calling("look"), DONE)
    write(tmp_path, trial1__trajectory=same, trial2__trajectory=same)
    assert [run.tools for run in ta.load(tmp_path)] == [["look"], ["look"]]


@pytest.mark.parametrize(
    ("numbers", "total", "detail"),
    [
        ((1, 4), 4, "the steps 2-3"),
        ((2, 3), None, "the steps 1"),
        ((1, 2), 4, "2 of 4 steps"),
    ],
)
def test_steps_that_numbers_or_a_count_tell_of_are_a_hole(
    numbers: tuple[int, int], total: int | None, detail: str, tmp_path: Path
) -> None:
    metrics = {} if total is None else {"final_metrics": {"total_steps": total}}
    document = trajectory(USER, DONE, **metrics)
    for step, number in zip(document["steps"], numbers, strict=True):
        step["step_id"] = number
    write(tmp_path, run=document)
    assert detail in details(tmp_path)[0].split("; ")  # type: ignore[union-attr]
    assert verdict(tmp_path) == "insufficient"


def test_a_count_of_steps_may_count_those_of_sub_agents(tmp_path: Path) -> None:
    called = calling("delegate", subagent_trajectory_ref=[{"trajectory_id": "s"}])
    inner = trajectory(calling("look"), DONE, trajectory_id="s")
    total = {"total_steps": 5}
    outer = trajectory(USER, called, DONE, subagent_trajectories=[inner], final_metrics=total)
    assert verdict(write(tmp_path, run=outer)) == "pass"


CALL = {"tool_call_id": "c1", "function_name": "delete_account", "arguments": {}}
OTHERS = {"id": "c1", "type": "function", "function": {"name": "delete_account", "arguments": "{}"}}


@pytest.mark.parametrize("calls", [CALL, json.dumps([CALL]), [OTHERS], OTHERS])
@pytest.mark.parametrize("alone", [True, False])
def test_calls_in_other_shapes_are_calls(calls: Any, alone: bool, tmp_path: Path) -> None:
    step = calling("delete_account") | {"tool_calls": calls}
    if alone:
        step["observation"] = step["observation"]["results"]
    write(tmp_path, run=trajectory(USER, step, DONE))
    assert only(tmp_path).tools == ["delete_account"]
    assert verdict(tmp_path) == "violation"


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_calls": ["delete_account"]},
        {"tool_calls": "delete_account()"},
        {"toolCalls": [{"name": "delete_account", "input": {}}]},
        {"message": [{"type": "tool_use", "name": "delete_account", "input": {}}]},
        {"source": "user", "message": "x", "tool_calls": [CALL]},
        {"observation": "gone"},
    ],
)
def test_what_looks_like_a_call_and_is_none_is_put_aside(
    fields: dict[str, Any], tmp_path: Path
) -> None:
    write(tmp_path, run=trajectory(USER, {"source": "agent", "message": "", **fields}, DONE))
    assert verdict(tmp_path) in ("insufficient", "violation")
    assert ta.load(tmp_path).quarantined["reason"].to_pylist() == ["broken_value"]
