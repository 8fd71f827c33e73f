"""A session in several files is one run; a history that it copied counts once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from analyzer.read.session_lines import (
    CODEX,
    SESSION,
    Lines,
    codex,
    item,
    only,
    use,
    verdict,
    words,
)


def first_lines() -> Lines:
    lines = Lines()
    lines.user("Look")
    lines.assistant("m1", use("c1", "look"))
    lines.result("c1", "seen")
    lines.assistant("m2", words("Seen."))
    return chained(lines)


def chained(lines: Lines) -> Lines:
    for before, line in zip(lines.lines, lines.lines[1:], strict=False):
        line["parentUuid"] = before["uuid"]
    return lines


def resumed(session: str) -> Lines:
    lines = first_lines()
    lines.common["sessionId"] = session
    for line in lines.lines:
        line["sessionId"] = session
    lines.user("Now write")
    lines.assistant("m3", use("c2", "write"))
    lines.result("c2", "written")
    lines.assistant("m4", words("Written."))
    return chained(lines)


def attributes(runs: ta.Trajectories, key: str) -> list[Any]:
    texts = runs.span_table["attributes"].to_pylist()
    return [told[key] for text in texts if key in (told := json.loads(text))]


@pytest.mark.parametrize(("original", "copy"), [("a", "b"), ("b", "a")])
def test_the_lines_of_a_resumed_session_count_once(
    original: str, copy: str, tmp_path: Path
) -> None:
    first_lines().write(tmp_path / f"{original}.jsonl")
    resumed("second").write(tmp_path / f"{copy}.jsonl")
    runs = ta.load(tmp_path)
    assert {run.session_id: run.tools for run in runs} == {SESSION: ["look", "write"]}
    assert [run.input for run in runs] == ["Look\nNow write"]
    assert attributes(runs, "claude_code.sessions") == [[SESSION, "second"]]
    assert [run.gaps for run in runs] == [()]
    assert len(runs.quarantined) == 0


@pytest.mark.parametrize(("original", "copy"), [("a", "b"), ("b", "a")])
def test_sessions_that_go_on_apart_keep_what_is_their_own(
    original: str, copy: str, tmp_path: Path
) -> None:
    lines = first_lines()
    lines.assistant("m9", use("c9", "other"), uuid="u9x")
    lines.result("c9", "done", uuid="u9y")
    lines.write(tmp_path / f"{original}.jsonl")
    resumed("second").write(tmp_path / f"{copy}.jsonl")
    runs = ta.load(tmp_path)
    assert {run.session_id: run.tools for run in runs} == {
        SESSION: ["look", "other"],
        "second": ["write"],
    }
    assert attributes(runs, "claude_code.forked_from") == [SESSION]
    gaps = {run.session_id: [(gap.name, gap.detail) for gap in run.gaps] for run in runs}
    before = f"what came before the session was forked from {SESSION}"
    assert gaps == {SESSION: [], "second": [("missing_steps", before)]}
    assert verdict(tmp_path) == "insufficient"


def test_a_marked_fork_is_one_however_little_its_original_did(tmp_path: Path) -> None:
    lines = resumed("second")
    for line in lines.lines[:4]:
        line["forkedFrom"] = {"sessionId": SESSION, "messageUuid": line["uuid"]}
    lines.lines = lines.lines[:6]
    lines.write(tmp_path / "a.jsonl")
    original = first_lines()
    for number in range(3):
        original.assistant(f"m1{number}", use(f"c1{number}", "other"), uuid=f"u1{number}x")
        original.result(f"c1{number}", "done", uuid=f"u1{number}y")
    original.write(tmp_path / "b.jsonl")
    runs = {run.session_id: run.tools for run in ta.load(tmp_path)}
    assert runs == {SESSION: ["look", "other", "other", "other"], "second": []}


@pytest.mark.parametrize("cut", range(1, 8))
@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
@pytest.mark.parametrize("session", [SESSION, "second"])
def test_a_session_that_goes_on_in_another_file_is_one(
    cut: int, names: tuple[str, str], session: str, tmp_path: Path
) -> None:
    whole = resumed(SESSION)
    expected = only(whole.write(tmp_path / "whole.jsonl"))
    (tmp_path / "whole.jsonl").unlink()
    rest = Lines()
    rest.lines = [{**line, "sessionId": session} for line in whole.lines[cut:]]
    whole.lines = whole.lines[:cut]
    whole.write(tmp_path / f"{names[0]}.jsonl")
    rest.write(tmp_path / f"{names[1]}.jsonl")
    found = only(tmp_path)
    assert (found.session_id, found.input, found.gaps) == (SESSION, expected.input, ())
    assert found.steps == expected.steps


def compacted(session: str, follows: str | None) -> Lines:
    lines = Lines(sessionId=session)
    boundary = {"subtype": "compact_boundary", "parentUuid": None, "uuid": "n1"}
    if follows is not None:
        boundary["logicalParentUuid"] = follows
    lines.add("system", **boundary)
    lines.user("This goes on.", uuid="n2", parentUuid="n1", isCompactSummary=True)
    lines.assistant("m7", use("c7", "write"), uuid="n3", parentUuid="n2")
    lines.result("c7", "written", uuid="n4", parentUuid="n3")
    for line in lines.lines:
        line["timestamp"] = line["timestamp"].replace("12:00", "12:01")
    return lines


@pytest.mark.parametrize("session", [SESSION, "second"])
def test_a_session_that_goes_on_after_compaction_is_one(session: str, tmp_path: Path) -> None:
    first_lines().write(tmp_path / "b.jsonl")
    compacted(session, "u4").write(tmp_path / "a.jsonl")
    found = only(tmp_path)
    assert (found.tools, found.gaps) == (["look", "write"], ())


@pytest.mark.parametrize("follows", ["u4", None])
def test_what_came_before_a_summary_and_is_not_given_is_a_hole(
    follows: str | None, tmp_path: Path
) -> None:
    path = compacted("second", follows).write(tmp_path / "a.jsonl")
    assert [gap.detail for gap in only(path).gaps] == [
        "what came before the summary that it begins with"
    ]
    assert verdict(path) == "insufficient"


def test_a_sub_agent_of_a_session_that_goes_on_stands_in_it(tmp_path: Path) -> None:
    first_lines().write(tmp_path / "a.jsonl")
    lines = resumed("second")
    lines.assistant("m5", use("c5", "Task", prompt="Look around"), uuid="v1")
    lines.result("c5", "found", uuid="v2", toolUseResult={"agentId": "ag1"})
    lines.write(tmp_path / "b.jsonl")
    inner = Lines(isSidechain=True, agentId="ag1", sessionId="second")
    inner.user("Look around", uuid="i1")
    inner.assistant("m8", use("c9", "Grep"), uuid="i2")
    inner.result("c9", "x", uuid="i3")
    for line in inner.lines:
        line["timestamp"] = "2026-10-01T12:00:09.5Z"
    inner.write(tmp_path / "agent-ag1.jsonl")
    found = only(tmp_path)
    assert sorted(found.tools) == ["Grep", "Task", "look", "write"]
    assert found.gaps == ()


def test_a_file_of_a_session_that_cannot_be_read_costs_itself(tmp_path: Path) -> None:
    whole = resumed(SESSION)
    rest = Lines()
    rest.lines, whole.lines = whole.lines[4:], whole.lines[:4]
    whole.write(tmp_path / "a.jsonl")
    rest.write(tmp_path / "b.jsonl")
    runs = ta.load([tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "a.jsonl"])
    assert [run.tools for run in runs] == [["look", "write"]]
    (tmp_path / "b.jsonl").chmod(0)
    runs = ta.load(tmp_path)
    assert [run.tools[:1] for run in runs] == [["look"]]


def test_a_copy_whose_original_is_not_given_keeps_its_history(tmp_path: Path) -> None:
    resumed("second").write(tmp_path / "b.jsonl")
    assert only(tmp_path).tools == ["look", "write"]


def test_a_session_that_is_a_copy_and_no_more_is_no_run(tmp_path: Path) -> None:
    lines = first_lines()
    lines.write(tmp_path / "a.jsonl")
    for line in lines.lines:
        line["sessionId"] = "second"
    lines.write(tmp_path / "b.jsonl")
    runs = ta.load(tmp_path)
    assert [run.tools for run in runs] == [["look"]]
    (row,) = runs.quarantined.to_pylist()
    assert row["detail"].startswith("every line is a copy of one of the session ")


def test_a_session_and_its_copy_in_one_file_count_once(tmp_path: Path) -> None:
    lines = first_lines()
    lines.lines += resumed("second").lines
    runs = ta.load(lines.write(tmp_path / "both.jsonl"))
    assert [run.tools for run in runs] == [["look", "write"]]
    assert len(runs.quarantined) == 0


def forked(tmp_path: Path, name: str, *more: dict[str, Any], items: int | None = None) -> Path:
    meta = {"id": "thread-2", "forked_from_id": "thread-1"}
    lines = [{"type": "session_meta", "payload": meta}, *CODEX[:items], *more]
    return codex(tmp_path / f"{name}.jsonl", lines, first=20)


WROTE = [
    item("message", role="user", content=[{"type": "input_text", "text": "Now write"}]),
    item("function_call", name="write", arguments="{}", call_id="c2"),
    item("function_call_output", call_id="c2", output="written"),
]


@pytest.mark.parametrize(("original", "copy"), [("a", "b"), ("b", "a")])
@pytest.mark.parametrize("items", [None, 8])
def test_the_items_of_a_fork_count_once(
    original: str, copy: str, items: int | None, tmp_path: Path
) -> None:
    codex(tmp_path / f"{original}.jsonl", CODEX)
    forked(tmp_path, copy, *WROTE, items=items)
    runs = ta.load(tmp_path)
    assert {run.session_id: run.tools for run in runs} == {
        "thread-1": ["exec_command"],
        "thread-2": ["write"],
    }
    assert attributes(runs, "codex.forked_from") == ["thread-1"]
    before = "what came before the session was forked from thread-1"
    holes = [gap.detail for run in runs for gap in run.gaps if gap.name == "missing_steps"]
    assert holes == [before]
    models = [step for run in runs for step in run.steps if step.operation == "llm"]
    assert [step.model_requested for step in models] == ["gpt-x"] * 3


def test_a_fork_whose_original_is_not_given_keeps_its_history(tmp_path: Path) -> None:
    forked(tmp_path, "b", *WROTE)
    assert only(tmp_path).tools == ["exec_command", "write"]


def test_a_fork_that_did_nothing_is_no_run(tmp_path: Path) -> None:
    codex(tmp_path / "a.jsonl", CODEX)
    forked(tmp_path, "b")
    runs = ta.load(tmp_path)
    assert [run.session_id for run in runs] == ["thread-1"]
    assert runs.quarantined["detail"].to_pylist() == [
        "every item is a copy of one of the session thread-1"
    ]
