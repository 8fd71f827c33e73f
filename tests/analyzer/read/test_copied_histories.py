"""A history that a session copied from another counts once, where it happened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from analyzer.read.session_lines import CODEX, Lines, codex, item, only, use, words


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
    first = first_lines().write(tmp_path / f"{original}.jsonl")
    resumed("second").write(tmp_path / f"{copy}.jsonl")
    runs = ta.load(tmp_path)
    assert {run.session_id: run.tools for run in runs} == {
        only(first).session_id: ["look"],
        "second": ["write"],
    }
    assert [run.input for run in runs] == ["Look", "Now write"]
    assert attributes(runs, "claude_code.continued_from") == [only(first).session_id]
    assert [run.gaps for run in runs] == [(), ()]
    assert len(runs.quarantined) == 0


def test_sessions_that_go_on_apart_keep_what_is_their_own(tmp_path: Path) -> None:
    lines = first_lines()
    lines.assistant("m9", use("c9", "other"), uuid="u9x")
    lines.result("c9", "done", uuid="u9y")
    lines.write(tmp_path / "a.jsonl")
    resumed("second").write(tmp_path / "b.jsonl")
    assert [run.tools for run in ta.load(tmp_path)] == [["look", "other"], ["write"]]


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
    assert [run.tools for run in runs] == [["look"], ["write"]]
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
