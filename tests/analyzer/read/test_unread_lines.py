"""A line of a session, of a kind that nobody knows, is a hole or keeps the names in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.analyzer.read.session_lines import CODEX, Lines, use, words

import trackway_analyzer as ta
from trackway_analyzer.read.codex_events import EventCalls
from trackway_analyzer.rules import Forbidden

CALLS: list[dict[str, Any]] = [
    {"toolName": "delete_account", "input": {"id": 7}},
    {"entry": {"type": "function_call", "name": "delete_account", "arguments": "{}"}},
]
WORDS: dict[str, Any] = {"entry": {"kind": "ran", "what": ["delete_account"]}}


def claude(path: Path, **fields: Any) -> Path:
    lines = Lines()
    lines.user("hi")
    lines.assistant("m1", use("c1", "lookup", id=1))
    lines.result("c1", "found")
    lines.add("new_line_kind", **fields)
    lines.assistant("m2", words("bye"))
    return lines.write(path / "session.jsonl")


def codex(path: Path, **fields: Any) -> Path:
    file = path / "rollout-1.jsonl"
    lines = [*CODEX, {"type": "new_line_kind", "payload": fields}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def asked(file: Path, tool: str) -> tuple[str, list[str]]:
    report = ta.load(file).check(ta.Policy(Forbidden(tool)))
    return report.verdict, [loss.tool for loss in report.naming]


@pytest.mark.parametrize("write", [claude, codex])
@pytest.mark.parametrize("fields", CALLS)
def test_a_call_in_a_line_of_an_unknown_kind_is_a_hole(
    write: Any, fields: dict[str, Any], tmp_path: Path
) -> None:
    (run,) = ta.load(write(tmp_path, **fields))
    assert "what a line of the unknown kind new_line_kind tells" in {
        part for gap in run.gaps for part in (gap.detail or "").split("; ")
    }


@pytest.mark.parametrize("write", [claude, codex])
def test_other_words_of_it_count_for_whoever_asks_about_them(write: Any, tmp_path: Path) -> None:
    file = write(tmp_path, **WORDS)
    assert asked(file, "delete_account") == ("insufficient", ["delete_account"])
    assert asked(file, "close_account") == ("pass", [])
    assert ta.load(file).quarantined.to_pylist() == []


def test_a_tool_that_the_session_calls_where_all_can_see_it_is_not_lost(tmp_path: Path) -> None:
    file = claude(tmp_path, hook="PreToolUse:lookup")
    assert asked(file, "lookup") == ("violation", [])


def test_the_event_of_an_image_is_the_call_of_its_tool() -> None:
    events = EventCalls()
    events.take("view_image_tool_call", {"call_id": "c", "path": "/x.png"}, None, 0)
    (call,) = events.alone(set(), set())
    assert (call.tool, call.arguments) == ("view_image", {"path": "/x.png"})
