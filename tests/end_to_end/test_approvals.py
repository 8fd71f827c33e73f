"""A run that an approval interrupts and another process continues is one trajectory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from scripted_model import ANSWER, scripted_model

HERE = Path(__file__).parent
BY_HAND = """
import json, sys
from pathlib import Path
import trackway

trackway.configure("refunds", export="traces")

@trackway.tool(kind="lookup", returns="id", entity_type="order")
def lookup_order(order_id): return {"id": order_id}

@trackway.tool(kind="mutate", entity="order_id", entity_type="order")
def refund_create(order_id): return {"status": "succeeded"}

if sys.argv[1] == "ask":
    with trackway.run("refund-approval", trial=3):
        lookup_order("A9128")
        trackway.wait("alice", resume_token="t-18")
        Path("waiting.json").write_text(json.dumps(trackway.carrier()))
else:
    with trackway.run(resume_from=json.loads(Path("waiting.json").read_text())):
        trackway.resume("t-18")
        refund_create("A9128")
        trackway.outcome(True)
"""


def process(directory: Path, phase: str, script: Path, url: str = "") -> str:
    environment = {**os.environ, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url}
    command = [sys.executable, str(script), phase]
    done = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def by_framework(tmp_path_factory: pytest.TempPathFactory) -> Any:
    directory = tmp_path_factory.mktemp("approval")
    with scripted_model() as url:
        agent = HERE / "approval_agent.py"
        assert process(directory, "ask", agent, url) == "waits"
        assert process(directory, "approve", agent, url) == ANSWER
    return ta.load(directory / "traces")


def test_decorated_tools_on_both_sides_of_a_wait(tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(BY_HAND)
    process(tmp_path, "ask", script)
    process(tmp_path, "approve", script)
    (trajectory,) = ta.load(tmp_path / "traces")
    assert trajectory.tools == ["lookup_order", "refund_create"]
    assert [step.step_index for step in trajectory.steps] == [1, 2]
    assert trajectory.outcome.success is True
    assert trajectory.run["trial"] == 3
    assert trajectory.gaps == ()


def test_a_langgraph_interrupt_is_one_trajectory(by_framework: Any) -> None:
    (trajectory,) = by_framework
    assert trajectory.task_id == "refund-approval"
    assert trajectory.tools == ["lookup_order", "refund_create"]
    assert trajectory.gaps == ()


def test_the_wait_says_who_and_for_what(by_framework: Any) -> None:
    events = [event for row in by_framework.spans()["events"].dropna() for event in row]
    (wait,) = [event for event in events if event["name"] == "trackway.wait"]
    (resume,) = [event for event in events if event["name"] == "trackway.resume"]
    assert '"owner":"alice"' in wait["attributes"].replace(" ", "")
    assert "A9128" in wait["attributes"]
    assert "approved by alice" in resume["attributes"]


def test_the_refund_that_waited_was_carried_out_once(by_framework: Any) -> None:
    (trajectory,) = by_framework
    refunds = [step for step in trajectory.tool_steps if step.tool == "refund_create"]
    assert [step.result for step in refunds] == [
        {"refund_id": "re_1", "status": "succeeded", "amount": 84.0}
    ]
