"""What a session of Codex names and does not hold, and what its outputs say of success."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analyzer.read.session_lines import CODEX, codex, event, item, only, verdict

ASKED = CODEX[3]
SAID = CODEX[8]


def called(name: str, output: Any, call_id: str = "c1", **arguments: Any) -> list[dict[str, Any]]:
    return [
        item("function_call", name=name, arguments=json.dumps(arguments), call_id=call_id),
        item("function_call_output", call_id=call_id, output=output),
    ]


def session(path: Path, *lines: dict[str, Any], first: int = 0, **meta: Any) -> Path:
    head = {"type": "session_meta", "payload": {"id": "thread-1", **meta}}
    return codex(path, [head, ASKED, *lines, SAID], first=first)


def details(path: Path) -> list[str | None]:
    return [gap.detail for gap in only(path).gaps if gap.name == "missing_steps"]


SPAWNED = [
    ('{"agent_id":"thread-2","nickname":"Ada"}', "the thread thread-2"),
    ('{"task_name":"/lead/research"}', "the thread of the task /lead/research"),
    ("{}", "the thread that a call spawned"),
]


@pytest.mark.parametrize(("output", "detail"), SPAWNED)
def test_a_spawned_thread_that_nobody_gives_is_a_hole(
    output: str, detail: str, tmp_path: Path
) -> None:
    path = session(tmp_path / "outer.jsonl", *called("spawn_agent", output))
    assert details(path) == [detail]
    assert verdict(path) == "insufficient"


def test_a_thread_that_an_event_names_is_a_hole(tmp_path: Path) -> None:
    spawned = event("collab_agent_spawn_end", call_id="x", new_thread_id="thread-2")
    path = session(tmp_path / "outer.jsonl", *called("collab", "ok", "x"), spawned)
    assert details(path) == ["the thread thread-2"]


def test_a_call_that_failed_to_spawn_leaves_no_hole(tmp_path: Path) -> None:
    path = session(tmp_path / "outer.jsonl", *called("spawn_agent", "unsupported call: x"))
    assert verdict(path) == "pass"


@pytest.mark.parametrize("names", [("a", "b", "c"), ("c", "b", "a")])
def test_a_thread_below_a_thread_is_in_the_run_of_the_first(
    names: tuple[str, str, str], tmp_path: Path
) -> None:
    for number, name in enumerate(names, 1):
        spawned = called("spawn_agent", json.dumps({"agent_id": f"thread-{number + 1}"}))
        spawn = {"thread_spawn": {"parent_thread_id": f"thread-{number - 1}"}}
        about = {"id": f"thread-{number}"} | ({"source": {"subagent": spawn}} if number > 1 else {})
        lines = spawned if number < 3 else called("delete_account", "done", "c9")
        session(tmp_path / f"{name}.jsonl", *lines, first=number, **about)
    trajectory = only(tmp_path)
    assert sorted(trajectory.tools) == ["delete_account", "spawn_agent", "spawn_agent"]
    assert details(tmp_path) == []
    assert verdict(tmp_path) == "violation"


@pytest.mark.parametrize(
    ("tool", "expected"),
    [("delete_account", "violation"), ("look", "insufficient"), ("spawn_agent", "insufficient")],
)
def test_a_call_that_nobody_answered_may_have_run(tool: str, expected: str, tmp_path: Path) -> None:
    lines = [*called("exec_command", "ok", "c0"), *called(tool, "", "c1")[:1]]
    assert verdict(session(tmp_path / "cut.jsonl", *lines)) == expected


PARENT = {"parent_thread_id": "thread-1"}


@pytest.mark.parametrize(
    ("output", "spawn"),
    [
        ('{"agent_id":"thread-2"}', PARENT),
        ('{"agent_id":"thread-2"}', {**PARENT, "spawn_call_id": "c1"}),
        ('{"task_name":"/lead/research"}', {**PARENT, "agent_path": "/lead/research"}),
        ('{"task_name":"research"}', {**PARENT, "agent_path": "/lead/research"}),
        ("{}", {**PARENT, "spawn_call_id": "c1"}),
    ],
)
@pytest.mark.parametrize("tool", ["delete_account", "look"])
def test_a_spawned_thread_that_is_given_fills_the_hole(
    output: str, spawn: dict[str, Any], tool: str, tmp_path: Path
) -> None:
    session(tmp_path / "outer.jsonl", *called("spawn_agent", output))
    source = {"subagent": {"thread_spawn": spawn}}
    inner = called(tool, "done", "c9")
    session(tmp_path / "inner.jsonl", *inner, first=4, id="thread-2", source=source)
    trajectory = only(tmp_path)
    assert sorted(trajectory.tools) == sorted(["spawn_agent", tool])
    assert not {"missing_steps", "missing_parent"} & {gap.name for gap in trajectory.gaps}
    assert verdict(tmp_path) == ("pass" if tool == "look" else "violation")


def test_threads_that_spawn_threads_are_one_run(tmp_path: Path) -> None:
    parent = "thread-1"
    for number in (1, 2, 3):
        spawns = called("spawn_agent", json.dumps({"agent_id": f"thread-{number + 1}"}))
        lines = spawns if number < 3 else called("look", "seen")
        source = {"subagent": {"thread_spawn": {"parent_thread_id": parent}}}
        about = {"session_id": "thread-1"} | ({"source": source} if number > 1 else {})
        parent = f"thread-{number}"
        session(tmp_path / f"{number}.jsonl", *lines, first=9 * number, id=parent, **about)
    assert only(tmp_path).tools == ["spawn_agent", "spawn_agent", "look"]
    assert verdict(tmp_path) == "pass"


@pytest.mark.parametrize("kind", ["weird_call", "new_tool_call", "novelty"])
@pytest.mark.parametrize("answered", [True, False])
def test_an_item_of_an_unknown_type_that_asks_is_a_call(
    kind: str, answered: bool, tmp_path: Path
) -> None:
    lines = [item(kind, name="look", arguments='{"id":7}', call_id="n1")]
    if answered:
        lines.append(item("novelty_output", call_id="n1", output="seen"))
    path = session(tmp_path / "rollout.jsonl", *lines)
    call = next(step for step in only(path).steps if step.tool)
    assert (call.tool, call.arguments, call.executed) == ("look", {"id": 7}, answered)
    assert verdict(path) == ("pass" if answered else "insufficient")


def test_a_line_of_an_unknown_kind_that_tells_of_a_call_is_a_hole(tmp_path: Path) -> None:
    line = {"type": "novelty", "payload": {"name": "delete_account", "arguments": {}}}
    path = session(tmp_path / "rollout.jsonl", line)
    assert details(path) == ["what a line of the unknown kind novelty tells"]


INVOCATION = {"server": "s", "tool": "delete_account", "arguments": {"id": 7}}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            event("mcp_tool_call_end", invocation=INVOCATION, result={"Ok": {"content": []}}),
            ("delete_account", {"id": 7}, True),
        ),
        (
            event("mcp_tool_call_end", invocation=INVOCATION, result={"Err": "no"}),
            ("delete_account", {"id": 7}, False),
        ),
        (
            event("exec_command_end", command=["rm", "x"], exit_code=0),
            ("exec_command", {"command": ["rm", "x"]}, True),
        ),
        (
            event("exec_command_end", command=["rm", "x"], exit_code=1),
            ("exec_command", {"command": ["rm", "x"]}, False),
        ),
        (
            event("patch_apply_end", success=False, changes={"a": {}}),
            ("apply_patch", {"a": {}}, False),
        ),
        (event("exec_command_begin", command=["rm"]), ("exec_command", {"command": ["rm"]}, None)),
    ],
)
def test_a_call_that_events_tell_of_alone_is_a_step(
    told: dict[str, Any], expected: tuple[Any, ...], tmp_path: Path
) -> None:
    told = {**told, "payload": {**told["payload"], "call_id": "e1"}}
    (call,) = only(session(tmp_path / "rollout.jsonl", told)).tool_steps
    assert (call.tool, call.arguments, call.ok) == expected


def test_an_event_of_a_call_that_an_item_asks_for_is_no_other_call(tmp_path: Path) -> None:
    ends = event("exec_command_end", call_id="c1", command=["ls"], exit_code=0)
    person = event("exec_command_end", call_id="p", command=["ls"], source="user_shell")
    search = item("web_search_call", status="completed", action={"type": "search", "query": "q"})
    found = event("web_search_end", call_id="ws_1", query="q")
    lines = [*called("exec_command", "a"), ends, person, search, found]
    path = session(tmp_path / "rollout.jsonl", *lines)
    assert only(path).tools == ["exec_command", "web_search"]


@pytest.mark.parametrize(
    "result", [{"Err": "boom"}, {"Ok": {"content": [], "isError": True}}], ids=["Err", "isError"]
)
def test_an_event_that_says_so_makes_the_call_of_an_item_a_failure(
    result: dict[str, Any], tmp_path: Path
) -> None:
    ends = event("mcp_tool_call_end", call_id="c1", invocation={"tool": "look"}, result=result)
    asks, answers = called("mcp__s__look", '[{"type": "text", "text": "nope"}]')
    (call,) = only(session(tmp_path / "rollout.jsonl", asks, ends, answers)).tool_steps
    assert (call.tool, call.executed, call.ok) == ("mcp__s__look", True, False)


@pytest.mark.parametrize(
    ("tool", "output"),
    [
        ("shell", "aborted by user after 3.2s"),
        ("exec_command", "Wall time: 3.0 seconds\naborted by user"),
        ("look", "aborted"),
        ("delete_account", "unsupported call: delete_account"),
        ("shell", "execution error: Io(NotFound)"),
        ("exec_command", "exec_command failed for `ls`: no such file"),
        ("write_stdin", "write_stdin failed: Unknown process id 5"),
        ("apply_patch", "apply_patch verification failed: no such line"),
        ("shell", "failed in sandbox MacosSeatbelt with execution error"),
        ("mcp__s__look", "tool call error: tool call failed for `s/look`"),
    ],
)
def test_an_output_of_codex_that_says_so_is_a_failure(
    tool: str, output: str, tmp_path: Path
) -> None:
    (call,) = only(session(tmp_path / "rollout.jsonl", *called(tool, output))).tool_steps
    assert (call.ok, call.error_type, call.error_message) == (False, "tool_error", output)


def test_a_call_that_a_person_cancelled_was_not_carried_out(tmp_path: Path) -> None:
    lines = called("mcp__s__look", "user cancelled MCP tool call")
    call = only(session(tmp_path / "rollout.jsonl", *lines)).steps[1]
    assert (call.tool, call.executed, call.ok) == ("mcp__s__look", False, False)


@pytest.mark.parametrize(
    "output", ["aborted the deployment as asked", "the tool call error: rate is 3 %"]
)
def test_words_of_a_tool_that_are_none_of_codex_are_no_failure(output: str, tmp_path: Path) -> None:
    (call,) = only(session(tmp_path / "rollout.jsonl", *called("look", output))).tool_steps
    assert call.ok is True


RUNNING = "Wall time: 1.0 seconds\nProcess running with session ID 5\nOutput:\nhalf"


@pytest.mark.parametrize("output", [RUNNING, "Process running with session ID 5"])
@pytest.mark.parametrize(("code", "ok"), [(None, None), (0, True), (2, False)])
def test_a_command_that_still_runs_is_no_success_until_it_ends(
    output: str, code: int | None, ok: bool | None, tmp_path: Path
) -> None:
    lines = called("exec_command", output, cmd="serve")
    if code is not None:
        ended = f"Process exited with code {code}\nOutput:\n"
        lines += called("write_stdin", ended, "c2", session_id=5)
    first = only(session(tmp_path / "rollout.jsonl", *lines)).tool_steps[0]
    assert (first.executed, first.ok) == (True, ok)


def old(path: Path, timed: tuple[int, ...], calls: int) -> Path:
    lines: list[dict[str, Any]] = [{"id": "abc", "timestamp": "2025-06-01T10:00:00Z"}]
    if calls > 1:
        lines[0]["instructions"] = None
    lines.append(ASKED["payload"])
    for number in range(calls):
        both = called(f"t{number}", "r", f"c{number}")
        lines += [line["payload"] for line in both]
    lines.append(SAID["payload"])
    for place in timed:
        lines[place] = {"timestamp": f"2025-06-01T10:00:{place:02}Z", **lines[place]}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("timed", [(), (2,), (3, 4)])
@pytest.mark.parametrize("calls", [1, 2])
def test_lines_without_times_stand_in_the_order_of_the_file(
    timed: tuple[int, ...], calls: int, tmp_path: Path
) -> None:
    trajectory = only(old(tmp_path / "old.jsonl", timed, calls))
    expected = [name for number in range(calls) for name in ("llm", f"t{number}")]
    assert [step.tool or "llm" for step in trajectory.steps] == [*expected, "llm"]
    assert trajectory.final_text == "All pass."
    assert "missing_steps" not in [gap.name for gap in trajectory.gaps]
