"""One refund agent in many frameworks: does every recording give the scenario back?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import trackway_analyzer as ta

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        "TRACKWAY_CORPUS" not in os.environ, reason="TRACKWAY_CORPUS names no folder of traces"
    ),
]

COMBINATIONS = 25
ENDS_WITH_A_TOOL = {"smolagents-openinference": ["final_answer"]}
NO_MODEL_TURN = {"mcp-sdk-native-stdio"}
"""Recordings of the tool server alone: nobody knows what was asked for together."""


def recordings(scenario: str) -> list[Path]:
    folder = Path(os.environ["TRACKWAY_CORPUS"]) / "recorded" / "frameworks"
    found = sorted(folder.glob(f"*/{scenario}.json"))
    assert len(found) == COMBINATIONS
    return found


def only_run(path: Path) -> ta.Trajectory:
    runs = ta.load(path)
    assert len(runs) == 1, path
    return runs[0]


def test_four_tools_in_order() -> None:
    for path in recordings("happy"):
        run = only_run(path)
        last = ENDS_WITH_A_TOOL.get(path.parent.name, [])
        expected = ["lookup_order", "check_policy", "refund_create", "send_email", *last]
        assert run.tools == expected, path
        assert all(step.ok is not False for step in run.tool_steps), path


def test_two_and_two_asked_for_together() -> None:
    for path in recordings("parallel"):
        run = only_run(path)
        last = ENDS_WITH_A_TOOL.get(path.parent.name, [])
        groups: dict[int, set[str]] = {}
        for step in run.tool_steps:
            groups.setdefault(step.group, set()).add(step.name)
        expected = [{"lookup_order", "check_policy"}, {"refund_create", "send_email"}]
        if path.parent.name in NO_MODEL_TURN:
            expected = [{"lookup_order"}, {"check_policy"}, {"refund_create"}, {"send_email"}]
        assert list(groups.values()) == [*expected, *({name} for name in last)], path


def test_the_third_fails_and_no_mail_is_sent() -> None:
    for path in recordings("fail"):
        run = only_run(path)
        last = ENDS_WITH_A_TOOL.get(path.parent.name, [])
        assert run.tools == ["lookup_order", "check_policy", "refund_create", *last], path
        assert run.tool_steps[2].ok is False, path
        assert all(step.ok is not False for step in run.tool_steps[:2]), path
