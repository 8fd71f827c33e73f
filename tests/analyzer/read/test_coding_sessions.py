"""Session lines of coding agents: Claude Code and Codex."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from analyzer.read.session_lines import CODEX, SESSION, Lines, codex, only, use, words


def test_a_session_is_a_run(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Fix the test")
    lines.assistant("m1", {"type": "thinking", "thinking": "hm"}, words("I run it."))
    lines.assistant("m1", use("c1", "Bash", command="pytest"))
    lines.result("c1", "1 failed", error=True)
    lines.assistant("m2", words("It fails."))
    trajectory = only(lines.write(tmp_path / "session.jsonl"))
    first, call, last = trajectory.steps
    assert (trajectory.input, trajectory.final_text) == ("Fix the test", "It fails.")
    assert [part["type"] for part in first.output[0]["parts"]] == ["reasoning", "text", "tool_call"]
    assert (first.tokens_in, first.tokens_cache_read, first.tokens_out) == (100, 90, 5)
    assert (call.tool, call.arguments, call.error_message) == (
        "Bash",
        {"command": "pytest"},
        "1 failed",
    )
    assert (call.turn, last.model_answered) == (first.position, "claude-x")
    assert trajectory.session_id == SESSION
    assert trajectory.gaps == ()


def test_lines_of_one_message_are_one_turn_however_they_are_interleaved(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Both")
    lines.assistant("m1", use("c1", "Bash", command="a"))
    lines.result("c1", "A")
    lines.assistant("m1", use("c2", "Bash", command="b"))
    lines.result("c2", "B")
    trajectory = only(lines.write(tmp_path / "session.jsonl"))
    assert [step.operation for step in trajectory.steps] == ["llm", "tool", "tool"]
    assert [step.result for step in trajectory.tool_steps] == ["A", "B"]
    assert trajectory.steps[1].group == trajectory.steps[2].group


def test_a_line_that_comes_again_counts_once(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Go")
    lines.assistant("m1", use("c1", "Bash"))
    lines.result("c1", "done")
    lines.lines += lines.lines
    trajectories = ta.load(lines.write(tmp_path / "session.jsonl"))
    assert trajectories[0].tools == ["Bash"]
    assert len(trajectories.quarantined) == 0


def test_another_line_with_a_known_id_is_put_aside(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Go")
    lines.user("Other", uuid="u1")
    trajectories = ta.load(lines.write(tmp_path / "session.jsonl"))
    (row,) = trajectories.quarantined.to_pylist()
    assert row["detail"] == "a line with the id of another line; the first one counts"


def test_an_id_that_is_used_again_answers_its_calls_in_order(tmp_path: Path) -> None:
    lines = Lines()
    for number in (1, 2):
        lines.assistant(f"m{number}", use("same", "Bash", n=number))
        lines.result("same", f"result {number}")
    lines.assistant("m3", use("same", "Bash", n=3))
    trajectory = only(lines.write(tmp_path / "session.jsonl"))
    calls = [(s.arguments["n"], s.result, s.executed) for s in trajectory.steps if s.tool]
    assert [(n, executed) for n, _, executed in calls] == [(1, True), (2, True), (3, False)]
    assert [result for _, result, executed in calls if executed] == ["result 1", "result 2"]


def agent_files(folder: Path, *, outer: bool = True) -> Path:
    lines = Lines()
    lines.user("Delegate")
    lines.assistant("m1", use("c1", "Task", prompt="Look around"))
    lines.result("c1", "found", toolUseResult={"agentId": "a7"})
    lines.assistant("m2", words("Done."))
    inner = Lines(isSidechain=True, agentId="a7")
    inner.user("Look around", uuid="i1", timestamp="2026-10-01T12:00:02.1Z")
    step = use("c9", "Grep", pattern="x")
    inner.assistant("m8", step, uuid="i2", timestamp="2026-10-01T12:00:02.2Z")
    inner.result("c9", "hit", uuid="i3", timestamp="2026-10-01T12:00:02.3Z")
    inner.write(folder / "agent-a7.jsonl")
    if outer:
        lines.write(folder / "session.jsonl")
    return folder


def test_a_sub_agent_in_a_file_of_its_own_stands_below_its_call(tmp_path: Path) -> None:
    trajectory = only(agent_files(tmp_path))
    assert {step.tool: step.agent_path for step in trajectory.tool_steps} == {
        "Task": "claude-code",
        "Grep": "claude-code/a7",
    }
    assert trajectory.gaps == ()
    assert trajectory.final_text == "Done."


def test_a_sub_agent_whose_call_is_not_given_has_a_missing_parent(tmp_path: Path) -> None:
    trajectory = only(agent_files(tmp_path, outer=False))
    assert trajectory.tools == ["Grep"]
    assert {gap.name for gap in trajectory.gaps} == {"missing_parent", "no_root"}


def test_a_sub_agent_of_older_files_is_told_by_its_prompt(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Delegate")
    lines.assistant("m1", use("c1", "Task", prompt="Look around"))
    lines.user("Look around", isSidechain=True, uuid="s1", parentUuid=None)
    lines.assistant("m2", use("c2", "Grep"), isSidechain=True, uuid="s2", parentUuid="s1")
    lines.result("c2", "hit", isSidechain=True, uuid="s3", parentUuid="s2")
    lines.result("c1", "found")
    trajectory = only(lines.write(tmp_path / "session.jsonl"))
    paths = {step.tool: step.agent_path for step in trajectory.tool_steps}
    assert paths["Task"] == "claude-code"
    assert paths["Grep"].startswith("claude-code/sidechain")


def test_an_api_error_is_a_turn_that_failed(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Go")
    error = {"type": "overloaded_error", "message": "Server overloaded"}
    lines.add("system", subtype="api_error", error=error, retryAttempt=1)
    lines.assistant("m1", words("Now."))
    first, second = only(lines.write(tmp_path / "session.jsonl")).steps
    assert (first.error_type, first.error_message) == ("overloaded_error", "Server overloaded")
    assert second.error_type is None


def test_lines_of_unknown_kinds_are_counted(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Go")
    lines.add("future-event")
    lines.assistant("m1", {"type": "future_part", "widget": 1})
    trajectories = ta.load(lines.write(tmp_path / "session.jsonl"))
    attributes = json.loads(trajectories.span_table["attributes"][0].as_py())
    assert attributes["claude_code.lines"] == {"user": 1, "future-event": 1, "assistant": 1}
    assert len(trajectories.quarantined) == 0


def test_a_rollout_of_codex_is_a_run(tmp_path: Path) -> None:
    trajectory = only(codex(tmp_path / "rollout.jsonl", CODEX))
    first, call, last = trajectory.steps
    assert (trajectory.input, trajectory.final_text) == ("Run the tests.", "All pass.")
    assert (first.model_requested, first.tokens_in, first.tokens_cache_read) == ("gpt-x", 100, 80)
    assert (call.tool, call.arguments, call.result) == (
        "exec_command",
        {"cmd": "pytest"},
        "2 passed",
    )
    assert call.start is not None
    assert call.end is not None
    assert (call.end - call.start).total_seconds() == 2
    assert last.turn is None
    assert trajectory.session_id == "thread-1"


def test_a_rollout_that_was_cut_has_a_call_that_nobody_ran(tmp_path: Path) -> None:
    trajectory = only(codex(tmp_path / "rollout.jsonl", CODEX[:6]))
    assert [(step.tool, step.executed) for step in trajectory.steps] == [
        (None, True),
        ("exec_command", False),
    ]


def test_a_spawned_thread_stands_below_the_call_that_spawned_it(tmp_path: Path) -> None:
    spawn = {
        "type": "response_item",
        "payload": {
            "type": "function_call",
            "name": "spawn_agent",
            "arguments": "{}",
            "call_id": "s1",
        },
    }
    answer = {
        "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": "s1", "output": "{}"},
    }
    codex(tmp_path / "outer.jsonl", [*CODEX[:4], spawn, answer])
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "thread-1", "spawn_call_id": "s1"}}}
    meta = {"type": "session_meta", "payload": {"id": "thread-2", "source": source}}
    codex(tmp_path / "inner.jsonl", [meta, *CODEX[1:]], first=4)
    trajectory = only(tmp_path)
    assert sorted(trajectory.tools) == ["exec_command", "spawn_agent"]
    assert {gap.name for gap in trajectory.gaps} == {"missing_tokens"}


def test_lines_of_codex_before_the_envelope_are_read(tmp_path: Path) -> None:
    head = {"id": "old", "timestamp": "2025-05-01T00:00:00Z", "instructions": None}
    bare = [line["payload"] for line in CODEX if line["type"] == "response_item"]
    path = tmp_path / "old.jsonl"
    lines = [head, {"record_type": "state"}, *bare]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    trajectory = only(path)
    assert (trajectory.tools, trajectory.final_text) == (["exec_command"], "All pass.")


def test_an_aborted_turn_failed(tmp_path: Path) -> None:
    abort = {"type": "event_msg", "payload": {"type": "turn_aborted", "reason": "interrupted"}}
    steps = only(codex(tmp_path / "rollout.jsonl", [*CODEX[:4], abort])).steps
    assert [(step.error_type, step.error_message) for step in steps] == [
        ("turn_aborted", "interrupted")
    ]


@pytest.mark.parametrize(
    "lines",
    [
        [{"type": "user", "uuid": [], "sessionId": "s", "message": {"content": [1, {}]}}],
        [{"type": "assistant", "uuid": 1, "sessionId": "s", "message": {"id": {}, "usage": 3}}],
        [{"type": "session_meta", "payload": {"id": {}, "source": {"subagent": 3}}}],
        [{"type": "response_item", "payload": {"type": [], "summary": 3, "call_id": {}}}],
        [{"type": "event_msg", "payload": {"type": "token_count", "info": []}}],
    ],
)
def test_lines_of_broken_shapes_raise_nothing(lines: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ta.load(path).runs()


def test_a_session_in_which_nobody_says_anything_is_told_of(tmp_path: Path) -> None:
    line = {"type": "file-history-snapshot", "messageId": "m1", "snapshot": {}}
    path = tmp_path / "session.jsonl"
    path.write_text(json.dumps(line) + "\n")
    trajectories = ta.load(path)
    assert len(trajectories) == 0
    (row,) = trajectories.quarantined.to_pylist()
    assert row["reason"] == "not_a_trace"
    assert "nobody says anything" in row["detail"]


@pytest.mark.parametrize(
    ("output", "ok"),
    [
        ("Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno", False),
        ("Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nyes", True),
        ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno", False),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nExit code: 1", True),
        ('{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.1}}', False),
        ('{"output":"yes","metadata":{"exit_code":0,"duration_seconds":0.1}}', True),
        ("2 passed", True),
    ],
)
def test_a_command_of_codex_failed_if_its_exit_code_says_so(
    output: str, ok: bool, tmp_path: Path
) -> None:
    lines = json.loads(json.dumps(CODEX))
    lines[7]["payload"]["output"] = output
    call = only(codex(tmp_path / "rollout.jsonl", lines)).steps[1]
    assert (call.ok, call.executed) == (ok, True)


def test_an_exit_code_in_the_output_of_another_tool_says_nothing(tmp_path: Path) -> None:
    lines = json.loads(json.dumps(CODEX))
    lines[5]["payload"]["name"] = "read_log"
    lines[7]["payload"]["output"] = "Exit code: 1\nOutput:\nno"
    assert only(codex(tmp_path / "rollout.jsonl", lines)).steps[1].ok is True


@pytest.mark.parametrize(
    "output",
    [
        "exec command rejected by user",
        "rejected by user",
        "approval policy is Never; reject command — you should not ask for escalated permissions",
        "approval policy is OnRequest; reject command",
    ],
)
def test_a_command_of_codex_that_was_refused_was_not_executed(output: str, tmp_path: Path) -> None:
    lines = json.loads(json.dumps(CODEX))
    lines[7]["payload"]["output"] = output
    call = only(codex(tmp_path / "rollout.jsonl", lines)).steps[1]
    assert (call.tool, call.executed, call.ok) == ("exec_command", False, False)


def test_a_web_search_of_codex_is_a_call_of_the_turn(tmp_path: Path) -> None:
    action = {"type": "search", "query": "q"}
    search = {"type": "web_search_call", "status": "completed", "action": action}
    line = {"type": "response_item", "payload": search}
    trajectory = only(codex(tmp_path / "rollout.jsonl", [*CODEX[:4], line, CODEX[8]]))
    model, call = trajectory.steps
    assert (call.tool, call.arguments, call.executed) == ("web_search", action, True)
    assert call.turn == model.position
    assert trajectory.final_text == "All pass."


def test_a_tool_of_the_provider_is_a_call_of_claude_code(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Search")
    asks = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
    lines.assistant("m1", asks)
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    lines.assistant("m1", found)
    lines.assistant("m1", {"type": "text", "text": "Nothing."})
    trajectory = only(lines.write(tmp_path / "session.jsonl"))
    model, call = trajectory.steps
    assert (call.tool, call.arguments, call.result) == ("web_search", {"query": "q"}, [])
    assert (call.executed, call.ok, call.turn) == (True, True, model.position)
    assert trajectory.final_text == "Nothing."


REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
PERMISSION = "Permission to use Bash with command rm -r x has been denied."
NOT_GRANTED = "Claude requested permissions to use Bash, but you haven't granted it yet."
BY_HOOKS = [
    "PreToolUse:Bash hook error: [guard.sh]: no",
    "Bash operation blocked by hook:\n- no",
    "Hook PreToolUse:Bash denied this tool",
]
NO_TOOL_TOOK_IT = [
    "<tool_use_error>Error: No such tool available: Bash</tool_use_error>",
    "<tool_use_error>InputValidationError: Bash failed</tool_use_error>",
]


@pytest.mark.parametrize("answer", [REJECTED, PERMISSION, NOT_GRANTED, *BY_HOOKS, *NO_TOOL_TOOK_IT])
@pytest.mark.parametrize("goes_on", [True, False])
def test_a_call_that_was_refused_was_not_executed(
    answer: str, goes_on: bool, tmp_path: Path
) -> None:
    lines = Lines()
    lines.user("Clean up")
    lines.assistant("m1", use("c1", "Bash", command="rm -r x"))
    lines.result("c1", answer, error=True)
    if goes_on:
        lines.assistant("m2", {"type": "text", "text": "Then not."})
    trajectory = only(lines.write(tmp_path / "session.jsonl"))
    call = trajectory.steps[1]
    assert (call.tool, call.executed, call.ok) == ("Bash", False, False)
    assert "tools_not_observable" not in [gap.name for gap in trajectory.gaps]


def test_lines_that_stand_before_the_one_they_follow_are_put_in_order(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Fix it.")
    lines.assistant("m1", use("c1", "Bash", command="ls"))
    lines.result("c1", "a")
    lines.assistant("m2", words("Done."))
    for before, line in zip(lines.lines, lines.lines[1:], strict=False):
        line["parentUuid"] = before["uuid"]
    lines.lines.reverse()
    trajectory = only(lines.write(tmp_path / "session.jsonl"))
    assert [step.operation for step in trajectory.steps] == ["llm", "tool", "llm"]
    assert (trajectory.input, trajectory.final_text) == ("Fix it.", "Done.")


def test_lines_that_follow_each_other_in_a_circle_are_all_there(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Fix it.")
    lines.assistant("m1", words("One."))
    lines.assistant("m2", words("Two."))
    lines.lines[1]["parentUuid"] = lines.lines[2]["uuid"]
    lines.lines[2]["parentUuid"] = lines.lines[1]["uuid"]
    assert len(only(lines.write(tmp_path / "session.jsonl")).steps) == 2


def counted(inputs: int, total: int) -> dict[str, Any]:
    info = {
        "last_token_usage": {"input_tokens": inputs},
        "total_token_usage": {"input_tokens": total},
    }
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def test_tokens_of_codex_add_up_to_the_total_of_the_session(tmp_path: Path) -> None:
    lines = [*CODEX[:6], CODEX[7], counted(100, 100), counted(100, 100), CODEX[8], CODEX[8]]
    lines += [counted(200, 300), CODEX[8], counted(50, 350)]
    trajectory = only(codex(tmp_path / "rollout.jsonl", lines))
    models = [step for step in trajectory.steps if step.operation == "llm"]
    assert [step.tokens_in for step in models] == [100, 200, 50]
    assert trajectory.run["tokens_in"] == 350
