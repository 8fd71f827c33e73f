"""Runs of tau-bench, replayed through two SDKs: does the command give the recorded tool order?"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from trackway_analyzer.cli.program import run

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        "TRACKWAY_CORPUS" not in os.environ, reason="TRACKWAY_CORPUS names no folder of traces"
    ),
]

DIALECTS = ["openinference", "otel-genai"]
RUNS = 100
POLICY = """
version: 1
tools:
  get_user_details: {kind: lookup, entity: {type: reservation, result: '$.reservations[*]'}}
  get_reservation_details: {kind: lookup}
rules:
  - grounded: {tool: get_reservation_details, argument: reservation_id, from: reservation}
"""
NOT_RECORDED = {"openinference": 2, "otel-genai": 0}
"""Calls without arguments, of which OpenInference records none."""


def replays() -> Path:
    return Path(os.environ["TRACKWAY_CORPUS"]) / "public" / "replay-taubench-6-dialects"


@cache
def loaded(dialect: str) -> ta.Trajectories:
    return ta.load(replays() / dialect, by="session")


def truth() -> list[dict[str, Any]]:
    lines = (replays() / "truth.tasks00-24.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def replayed(run: dict[str, Any], tools: list[str]) -> list[dict[str, Any]]:
    """The recorded calls that the replay made; two replays stopped inside their run."""
    calls: list[dict[str, Any]] = run["tool_calls"]
    if not run.get("partial_in_langchain_replay"):
        return calls
    assert 0 < len(tools) < len(calls)
    return calls[: len(tools)]


def opens_a_reservation_of_no_known_user(calls: list[dict[str, Any]]) -> bool:
    """Break the rule of `POLICY`, judged the obvious way on the recorded calls."""
    seen: set[str] = set()
    for call in calls:
        arguments, result = call["arguments"], call["result"]
        if call["name"] == "get_reservation_details" and arguments["reservation_id"] not in seen:
            return True
        if call["name"] == "get_user_details" and not result.startswith("Error"):
            seen.update(json.loads(result)["reservations"])
    return False


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
    expected = {
        run["session_id"]: [call["name"] for call in replayed(run, found[run["session_id"]])]
        for run in truth()
    }
    assert found == expected


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_policy_finds_what_the_recorded_calls_show(dialect: str) -> None:
    runs = loaded(dialect)
    report = runs.check(ta.Policy.from_yaml(POLICY))
    states = dict(zip(*(report.findings()[name] for name in ("run_id", "state")), strict=True))
    broken = {
        run["session_id"]
        for run in truth()
        if opens_a_reservation_of_no_known_user(replayed(run, runs[run["session_id"]].tools))
    }
    assert 0 < len(broken) < RUNS
    assert states == dict.fromkeys(broken, "violated")
    assert report.verdict == "violation"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_made_up_identifiers_are_looked_for_in_every_run(dialect: str) -> None:
    found = ta.find_ungrounded(loaded(dialect))
    assert found.attrs["not_recorded"] == NOT_RECORDED[dialect]
    assert found.attrs["identifiers"] > 1000
    assert len(found) < found.attrs["identifiers"] / 10
