"""Waits and resumes stand among the steps that a person reads, and in what a machine reads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import Trajectory
from trackway_analyzer.report.html import trajectory_html
from trackway_analyzer.report.json import trajectory_json
from trackway_analyzer.report.pauses import duration_text
from trackway_analyzer.report.terminal import fitting, trajectory_text
from trackway_analyzer.report.trajectory import trajectory_view
from trackway_analyzer.tables import RUN_SCHEMA, STEP_SCHEMA, table_of

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
WAIT = {"owner": "alice", "reason": "refund A-1?", "resume_token": "t1", "deadline": "tonight"}


def event(name: str, second: float | None, **said: Any) -> dict[str, Any]:
    moment = None if second is None else NOON + timedelta(seconds=second)
    attributes = orjson.dumps(said).decode()
    return {"name": f"trackway.{name}", "time": moment, "attributes": attributes}


def run(*events: dict[str, Any], refund_at: float | None, on_step: Any = None) -> Trajectory:
    """A lookup, a refund and a model turn at second 0, `refund_at` and 100."""
    starts = [0, refund_at, 100]
    columns = {
        "run": [0] * 3,
        "position": [0, 1, 2],
        "group": [0, 1, 2],
        "operation": ["tool", "tool", "llm"],
        "tool": ["lookup", "refund", None],
        "executed": [True, refund_at is not None, True],
        "ok": [True, refund_at is not None, None],
        "start": [None if s is None else NOON + timedelta(seconds=s) for s in starts],
        "events": [None, on_step, None],
    }
    about = {"run_id": ["r1"], "events": [list(events)]}
    return RunBatch.of(
        table_of(RUN_SCHEMA, about, 1), table_of(STEP_SCHEMA, columns, 3)
    ).trajectory(0)


def middle(trajectory: Trajectory) -> list[str]:
    """The lines between the question and the answer, by their first words."""
    lines = [line.strip() for line in trajectory_text(trajectory).splitlines()]
    return [line for line in lines if line.startswith(("⏸", "1 ", "2 ", "3 "))]


def test_a_refusal_stands_behind_the_call_that_nobody_carried_out() -> None:
    refused = run(event("wait", 10, **WAIT), event("resume", 90, reason="no"), refund_at=None)
    first, second, wait, resume, last = middle(refused)

    assert (first.split()[0], second.split()[0], last.split()[0]) == ("1", "2", "3")
    assert wait == "⏸ waits for alice until tonight: refund A-1?"
    assert resume == "⏸ resumed after 80.0 s: no"


def test_an_approval_stands_before_the_call_that_it_allowed() -> None:
    allowed = run(event("wait", 10, **WAIT), event("resume", 50, reason="yes"), refund_at=60)

    assert [line[:9] for line in middle(allowed)[1:3]] == ["⏸ waits f", "⏸ resumed"]
    assert middle(allowed)[3].startswith("2 ")


def test_a_wait_that_nobody_ended_says_so_and_one_without_a_name_too() -> None:
    (line,) = (x for x in middle(run(event("wait", 10), refund_at=None)) if x.startswith("⏸"))

    assert line == "⏸ waits for somebody who is not named (nobody resumed it in this record)"


def test_an_event_of_a_step_stands_behind_it() -> None:
    trajectory = run(refund_at=5, on_step=[event("wait", 6, owner="bob")])

    assert [line[:1] for line in middle(trajectory)] == ["1", "2", "⏸", "3"]


def test_a_resume_ends_the_wait_of_its_token_else_the_earliest() -> None:
    trajectory = run(
        event("wait", 10, resume_token="t1"),
        event("wait", 20, resume_token="t2"),
        event("resume", 30, resume_token="t2"),
        event("resume", 40),
        event("resume", 50),
        refund_at=60,
    )
    pauses = trajectory_json(trajectory)["pauses"]

    assert [pause["seconds"] for pause in pauses] == [None, None, 10.0, 30.0, None]
    assert "nobody resumed" not in trajectory_text(trajectory)


def test_machines_get_the_same() -> None:
    trajectory = run(event("wait", 10, **WAIT), event("resume", None, reason="no"), refund_at=None)
    pauses = trajectory_json(trajectory)["pauses"]

    assert {pause["event"]: pause["after_step"] for pause in pauses} == {"wait": 2, "resume": 3}
    wait = next(pause for pause in pauses if pause["event"] == "wait")
    assert wait == {
        "event": "wait",
        "after_step": 2,
        "timestamp": "2026-11-30T12:00:10+00:00",
        "seconds": None,
        **WAIT,
    }


def test_a_page_says_what_the_terminal_says_and_escapes_it() -> None:
    html = trajectory_html(run(event("wait", 10, owner="<b>"), refund_at=5))

    assert "waits for &lt;b&gt; (nobody resumed it in this record)" in html


def test_a_pause_is_printed_where_its_step_is_left_out() -> None:
    view = trajectory_view(run(event("wait", 200), refund_at=5))
    steps = fitting(view, 1)

    assert len(steps) == 2
    assert [type(row).__name__ for row in view.rows(steps)] == ["StepLine", "StepLine", "Mark"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (119.9, "119.9 s"),
        (120, "2 min"),
        (3599, "60 min"),
        (7199, "2 h"),
        (100_000, "28 h"),
        (400_000, "5 days"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
