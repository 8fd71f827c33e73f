"""Runs of tau-bench, replayed through two SDKs: does the command give the recorded tool order?"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from trackway_analyzer.cli.main import run

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        "TRACKWAY_CORPUS" not in os.environ, reason="TRACKWAY_CORPUS names no folder of traces"
    ),
]

DIALECTS = ["openinference", "otel-genai"]
RUNS = 100


def replays() -> Path:
    return Path(os.environ["TRACKWAY_CORPUS"]) / "public" / "replay-taubench-6-dialects"


def truth() -> list[dict[str, Any]]:
    lines = (replays() / "truth.tasks00-24.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert run(arguments) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_steps_reproduce_the_recorded_tool_order(
    dialect: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = printed(capsys, "steps", "--json", "--by", "session", str(replays() / dialect))
    found = {run["session_id"]: run["tools"] for run in runs}
    assert len(runs) == RUNS
    expected = {}
    for run_truth in truth():
        tools = [call["name"] for call in run_truth["tool_calls"]]
        session = run_truth["session_id"]
        if run_truth.get("partial_in_langchain_replay"):
            # The replay stopped inside these runs, so the files hold only their beginning.
            assert 0 < len(found[session]) < len(tools)
            tools = tools[: len(found[session])]
        expected[session] = tools
    assert found == expected
