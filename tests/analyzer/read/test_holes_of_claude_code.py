"""What a session of Claude Code names and does not hold keeps a check from passing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from analyzer.read.session_lines import Lines, only, use, verdict, words
from trackway_analyzer.rules import Never

ASKED = use("c1", "Task", prompt="Look around")


def delegating(**about: Any) -> Lines:
    lines = Lines()
    lines.user("Delegate")
    lines.assistant("m1", ASKED)
    lines.result("c1", "found", **({"toolUseResult": about} if about else {}))
    lines.assistant("m2", words("Done."))
    return lines


def inner_lines(name: str = "delete_account", agent: str = "ag1", **fields: Any) -> Lines:
    inner = Lines(isSidechain=True, agentId=agent, **fields)
    inner.user("Look around", uuid="i1")
    inner.assistant("m8", use("c9", name), uuid="i2")
    inner.result("c9", "gone", uuid="i3")
    return inner


def details(path: Path, name: str = "missing_steps") -> list[str | None]:
    return [gap.detail for gap in only(path).gaps if gap.name == name]


@pytest.mark.parametrize(
    ("about", "detail"),
    [
        ({"agentId": "ag1", "totalToolUseCount": 5}, "the sub-agent ag1"),
        ({"agentId": "ag1"}, "the sub-agent ag1"),
        ({"totalToolUseCount": 5}, "the sub-agent of a call"),
        ({"runId": "wf_1"}, "the agents of wf_1"),
        ({}, "the sub-agent of a call"),
    ],
)
def test_a_sub_agent_that_nobody_gives_is_a_hole(
    about: dict[str, Any], detail: str, tmp_path: Path
) -> None:
    path = delegating(**about).write(tmp_path / "session.jsonl")
    assert details(path) == [detail]
    assert verdict(path) == "insufficient"


@pytest.mark.parametrize(
    "about", [{"agentId": "ag1", "totalToolUseCount": 0}, {"totalToolUseCount": 0}]
)
def test_a_sub_agent_that_used_no_tool_is_no_hole(about: dict[str, Any], tmp_path: Path) -> None:
    path = delegating(**about).write(tmp_path / "session.jsonl")
    assert details(path) == []
    assert verdict(path) == "pass"


def test_a_call_that_failed_to_start_a_sub_agent_leaves_no_hole(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Delegate")
    lines.assistant("m1", ASKED)
    lines.result("c1", "Agent type 'x' not found", error=True)
    lines.assistant("m2", words("Then not."))
    assert verdict(lines.write(tmp_path / "session.jsonl")) == "pass"


@pytest.mark.parametrize("tool", ["Task", "Agent"])
def test_what_a_sub_agent_did_whose_call_nobody_answered_is_a_hole(
    tool: str, tmp_path: Path
) -> None:
    lines = Lines()
    lines.user("Delegate")
    lines.assistant("m1", use("c1", tool, prompt="Look around"))
    path = lines.write(tmp_path / "session.jsonl")
    said = f"what the sub-agent did that {tool} started, which nobody answered"
    assert details(path) == [said]
    assert verdict(path) == "insufficient"


@pytest.mark.parametrize(
    ("tool", "expected"), [("delete_account", "violation"), ("Bash", "insufficient")]
)
def test_a_call_that_nobody_answered_may_have_run(tool: str, expected: str, tmp_path: Path) -> None:
    lines = Lines()
    lines.user("x")
    lines.assistant("m1", use("c0", "Read"))
    lines.result("c0", "text")
    lines.assistant("m2", use("c1", tool))
    path = lines.write(tmp_path / "session.jsonl")
    found = only(path)
    assert (found.steps[3].tool, found.steps[3].executed) == (tool, False)
    assert [(gap.name, gap.position, gap.detail) for gap in found.gaps] == [
        ("tools_not_observable", 3, "asked for, and nobody answered")
    ]
    assert verdict(path) == expected


@pytest.mark.parametrize(("tool", "expected"), [("delete_account", "violation"), ("Grep", "pass")])
def test_a_sub_agent_that_is_given_fills_the_hole(tool: str, expected: str, tmp_path: Path) -> None:
    delegating(agentId="ag1", totalToolUseCount=1).write(tmp_path / "session.jsonl")
    inner_lines(tool).write(tmp_path / "agent-ag1.jsonl")
    assert only(tmp_path).tools == ["Task", tool]
    assert verdict(tmp_path) == expected


def test_agents_of_a_workflow_lie_in_its_folder(tmp_path: Path) -> None:
    delegating(runId="wf_1").write(tmp_path / "session.jsonl")
    folder = tmp_path / "subagents" / "workflows" / "wf_1"
    folder.mkdir(parents=True)
    inner_lines("Grep").write(folder / "agent-ag1.jsonl")
    paths = {step.tool: step.agent_path for step in only(tmp_path).tool_steps}
    assert paths == {"Task": "claude-code", "Grep": "claude-code/ag1"}
    assert verdict(tmp_path) == "pass"


def progress(inner: dict[str, Any], **data: Any) -> dict[str, Any]:
    carried = {"type": "agent_progress", "message": inner, **data}
    return {"data": carried, "parentToolUseID": "c1"}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("bare", [True, False])
def test_progress_lines_tell_what_a_sub_agent_did(named: bool, bare: bool, tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Delegate")
    lines.assistant("m1", ASKED)
    for inner in inner_lines().lines[1:]:
        carried = inner["message"] if bare else inner
        lines.add("progress", **progress(carried, **({"agentId": "ag1"} if named else {})))
    lines.result("c1", "found", toolUseResult={"totalToolUseCount": 1})
    path = lines.write(tmp_path / "session.jsonl")
    trajectory = only(path)
    assert {(step.tool, step.executed) for step in trajectory.tool_steps} == {
        ("Task", True),
        ("delete_account", True),
    }
    assert verdict(path) == "violation"


def test_progress_lines_and_the_sub_agents_own_file_count_once(tmp_path: Path) -> None:
    inner = inner_lines()
    inner.write(tmp_path / "agent-ag1.jsonl")
    lines = delegating(agentId="ag1", totalToolUseCount=1)
    for line in inner.lines:
        lines.add("progress", **progress(line, agentId="ag1"))
    lines.write(tmp_path / "session.jsonl")
    assert sorted(only(tmp_path).tools) == ["Task", "delete_account"]
    assert [step.operation for step in only(tmp_path).steps].count("llm") == 3


def test_a_block_of_an_unknown_type_that_asks_is_a_call(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("x")
    asks = {"type": "new_tool_use", "id": "n1", "name": "delete_account", "input": {"id": 7}}
    lines.assistant("m1", asks)
    lines.user([{"type": "new_tool_result", "tool_use_id": "n1", "content": "gone"}])
    lines.assistant("m2", words("done"))
    path = lines.write(tmp_path / "session.jsonl")
    (call,) = only(path).tool_steps
    assert (call.tool, call.arguments, call.result) == ("delete_account", {"id": 7}, "gone")
    assert verdict(path) == "violation"


def test_a_call_of_an_unknown_type_without_an_answer_is_a_hole(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("x")
    lines.assistant("m1", {"type": "new_tool_use", "name": "look", "input": {}})
    lines.assistant("m2", words("done"))
    path = lines.write(tmp_path / "session.jsonl")
    assert details(path) == ["what came of look, a block of the unknown type new_tool_use"]
    assert verdict(path) == "insufficient"


@pytest.mark.parametrize(
    "fields",
    [
        {"call": {"name": "delete_account", "input": {"id": 7}}},
        {"message": {"content": [{"type": "tool_use", "name": "delete_account", "input": {}}]}},
        {"answers": [{"tool_use_id": "c7", "content": "gone"}]},
    ],
)
def test_a_line_of_an_unknown_kind_that_tells_of_a_call_is_a_hole(
    fields: dict[str, Any], tmp_path: Path
) -> None:
    lines = Lines()
    lines.user("x")
    lines.add("future-event", **fields)
    lines.assistant("m1", words("done"))
    path = lines.write(tmp_path / "session.jsonl")
    assert details(path) == ["what a line of the unknown kind future-event tells"]
    assert verdict(path) == "insufficient"


def test_a_line_without_a_session_that_asks_for_a_call_is_put_aside(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("x")
    lines.add("future-event", sessionId=None, call={"name": "delete_account", "input": {}})
    lines.assistant("m1", words("done"))
    assert verdict(lines.write(tmp_path / "session.jsonl")) == "insufficient"


def chained() -> Lines:
    lines = Lines()
    lines.user("x")
    lines.assistant("m1", use("c1", "delete_account"))
    lines.result("c1", "gone")
    lines.assistant("m2", words("done"))
    for before, line in zip(lines.lines, lines.lines[1:], strict=False):
        line["parentUuid"] = before["uuid"]
    return lines


def test_a_line_that_follows_one_which_is_not_there_tells_of_a_hole(tmp_path: Path) -> None:
    lines = chained()
    del lines.lines[1:3]
    path = lines.write(tmp_path / "session.jsonl")
    assert details(path) == ["the line u3, which another follows"]
    assert verdict(path) == "insufficient"


@pytest.mark.parametrize(
    "answer",
    [
        "[Request interrupted by user for tool use]",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
    ],
)
@pytest.mark.parametrize("error", [True, False])
def test_a_call_that_was_broken_off_may_have_run(answer: str, error: bool, tmp_path: Path) -> None:
    lines = Lines()
    lines.user("x")
    lines.assistant("m1", use("c1", "delete_account"))
    lines.result("c1", answer, error=error)
    lines.assistant("m2", {"type": "text", "text": "Stopped."})
    path = lines.write(tmp_path / "session.jsonl")
    call = only(path).steps[1]
    assert (call.tool, call.executed, call.ok) == ("delete_account", False, None)
    never = ta.load(path).check(ta.Policy(Never("delete_account")))
    assert str(never.verdict) == "insufficient"


def test_an_interrupted_call_failed(tmp_path: Path) -> None:
    lines = Lines()
    lines.assistant("m1", use("c1", "Bash", command="sleep 9"))
    lines.result("c1", "half", toolUseResult={"stdout": "half", "interrupted": True})
    (call,) = only(lines.write(tmp_path / "session.jsonl")).tool_steps
    assert (call.ok, call.error_type, call.error_message) == (False, "tool_error", "half")


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        ({"run_in_background": True}, None),
        ({}, {"stdout": "", "interrupted": False, "backgroundTaskId": "b1"}),
        ({}, {"isAsync": True, "status": "async_launched", "totalToolUseCount": 0}),
        ({}, {"status": "remote_launched"}),
    ],
)
def test_a_call_that_was_only_launched_is_no_success(
    arguments: dict[str, Any], about: dict[str, Any] | None, tmp_path: Path
) -> None:
    lines = Lines()
    lines.assistant("m1", use("c1", "Bash", command="serve", **arguments))
    lines.result("c1", "Command running in background with ID: b1", toolUseResult=about)
    trajectory = only(lines.write(tmp_path / "session.jsonl"))
    (call,) = trajectory.tool_steps
    assert (call.executed, call.ok) == (True, None)
    assert [gap.name for gap in trajectory.gaps] == ["missing_value"]


@pytest.mark.parametrize("timed", [(), (0,), (0, 3), (2, 4), (1,)])
def test_lines_without_times_stand_in_the_order_of_the_file(
    timed: tuple[int, ...], tmp_path: Path
) -> None:
    lines = Lines()
    for number in (0, 1):
        lines.assistant(f"m{number}", use(f"c{number}", f"t{number}"))
        lines.result(f"c{number}", "r")
    lines.assistant("m2", words("fin"))
    for place, line in enumerate(lines.lines):
        if place not in timed:
            del line["timestamp"]
    trajectory = only(lines.write(tmp_path / "session.jsonl"))
    assert [step.tool or "llm" for step in trajectory.steps] == ["llm", "t0", "llm", "t1", "llm"]
    assert trajectory.final_text == "fin"
    assert "missing_steps" not in [gap.name for gap in trajectory.gaps]


def test_a_hole_outlives_conversion(tmp_path: Path) -> None:
    path = delegating(agentId="ag1").write(tmp_path / "session.jsonl")
    ta.load(path).to_parquet(tmp_path / "spans.parquet")
    assert details(tmp_path / "spans.parquet") == ["the sub-agent ag1"]
    assert verdict(tmp_path / "spans.parquet") == "insufficient"
    ta.load(path).to_atif(tmp_path / "run.jsonl")
    assert verdict(tmp_path / "run.jsonl") == "insufficient"
