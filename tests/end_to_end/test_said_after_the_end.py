"""An oracle judges a run when it is over: what it says counts as if it had been said in the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.dataset as ds
import pytest

import trackway
import trackway_analyzer as ta
from trackway import Run
from trackway_analyzer import Trajectory


@trackway.tool(kind="mutate")
def refund(order_id: str) -> str:
    return f"{order_id} paid"


def over(say: Callable[[Run], object], *, within: Callable[[Run], object] | None = None) -> Run:
    """Record a run, then say something of it."""
    with trackway.run("refund-1") as run:
        refund("A9128")
        if within is not None:
            within(run)
    say(run)
    return run


@pytest.fixture
def read(tmp_path: Path) -> Callable[[], list[Trajectory]]:
    trackway.configure("agent", export=tmp_path)

    def read() -> list[Trajectory]:
        assert trackway.shutdown(60)
        return list(ta.load(tmp_path))

    return read


def test_a_late_outcome_is_the_outcome(read: Callable[[], list[Trajectory]]) -> None:
    before = trackway.capture_errors()
    over(
        lambda run: run.outcome(False, label="not_paid", failure_mode="silent", state={"paid": 0}),
        within=lambda run: run.final("Your refund was paid."),
    )
    (found,) = read()
    assert (found.outcome.success, found.outcome.label) == (False, "not_paid")
    assert (found.outcome.failure_mode, found.outcome.state) == ("silent", '{"paid":0}')
    assert found.final_text == "Your refund was paid."
    assert found.gaps == ()
    assert [step.name for step in found.steps] == ["refund"]
    assert trackway.capture_errors() == before


def test_the_last_word_stands(read: Callable[[], list[Trajectory]]) -> None:
    def judged_twice(run: Run) -> None:
        run.outcome(False, label="not_paid")
        run.outcome(None, label="unclear")

    over(judged_twice, within=lambda run: run.outcome(True, label="paid"))
    (found,) = read()
    assert (found.outcome.success, found.outcome.label) == (False, "unclear")


def test_a_late_final_text_is_the_final_text(read: Callable[[], list[Trajectory]]) -> None:
    over(
        lambda run: run.final("Your refund was paid.", action="close", arguments={"now": True}),
        within=lambda run: run.final("Wait."),
    )
    (found,) = read()
    assert found.final_text == "Wait.\n\nYour refund was paid."
    assert (found.final_action, found.run["final_arguments"]) == ("close", '{"now":true}')


def test_the_time_until_a_verdict_is_not_the_time_of_the_run(tmp_path: Path) -> None:
    trackway.configure("agent", export=tmp_path)
    over(lambda run: run.outcome(True))
    assert trackway.shutdown(60)
    (found,) = ta.load(tmp_path)
    spans = ds.dataset(tmp_path, partitioning="hive").to_table(columns=["name", "end"]).to_pylist()
    assert len(spans) == found.run["spans"] == 3
    (end,) = (span["end"] for span in spans if span["name"] == "run refund-1")
    assert found.run["end"] == end


def test_a_run_that_was_dropped_is_kept_with_the_verdict_for_which_it_is(tmp_path: Path) -> None:
    trackway.configure("agent", export=tmp_path, sample=0.0)
    wrong = over(lambda run: run.outcome(False, label="not_paid"))
    over(lambda run: run.outcome(True))
    assert trackway.shutdown(60)
    (found,) = ta.load(tmp_path)
    assert (found.run_id, found.outcome.success, found.outcome.label) == (
        *(wrong.id, False),
        "not_paid",
    )
    assert found.gaps == ()


def test_with_content_off_what_is_said_later_is_hashed_too(tmp_path: Path) -> None:
    trackway.configure("agent", export=tmp_path, capture_content=False)
    over(lambda run: run.final("Anna was paid."))
    assert trackway.shutdown(60)
    (found,) = ta.load(tmp_path)
    assert found.final_text is None
    assert "Anna" not in str(ds.dataset(tmp_path, partitioning="hive").to_table().to_pylist())


def test_where_the_process_freezes_a_verdict_is_delivered_like_the_end(tmp_path: Path) -> None:
    trackway.configure("agent", export=tmp_path, flush_at_run_end=30)
    over(lambda run: run.outcome(True))
    (found,) = ta.load(tmp_path)
    assert found.outcome.success is True
    assert trackway.shutdown(60)


def test_after_a_shutdown_it_is_counted_as_lost(read: Callable[[], list[Trajectory]]) -> None:
    run = over(lambda run: None)
    read()
    run.outcome(True)
    assert not trackway.flush()
