"""Small tables over runs: gaps, sessions, variants, tools, totals."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.report.summary import print_stats
from trackway_analyzer.summary import (
    Total,
    gap_table,
    sequence_text,
    session_table,
    tool_table,
    totals,
    variant_table,
)
from trackway_analyzer.tables import RUN_SCHEMA, STEP_SCHEMA, table_of

Call = tuple[str, int, bool | None, bool]
"""Tool, group, ok, executed."""


def batch(runs: dict[str, list[Call]], **columns: list[Any]) -> RunBatch:
    rows = [
        {"run": run, "position": position, "operation": "tool", "tool": tool, "group": group}
        | {"ok": ok, "executed": executed}
        for run, calls in enumerate(runs.values())
        for position, (tool, group, ok, executed) in enumerate(calls)
    ]
    names = ("run", "position", "operation", "tool", "group", "ok", "executed")
    steps = table_of(STEP_SCHEMA, {name: [row[name] for row in rows] for name in names}, len(rows))
    return RunBatch.of(table_of(RUN_SCHEMA, {"run_id": list(runs), **columns}, len(runs)), steps)


def calls(*tools: str) -> list[Call]:
    return [(tool, group, True, True) for group, tool in enumerate(tools)]


def test_a_sequence_prints_groups_failures_and_what_never_ran() -> None:
    run = batch(
        {
            "r": [
                ("lookup", 0, True, True),
                ("policy", 0, None, True),
                ("refund", 1, False, True),
                ("mail", 2, None, False),
            ]
        }
    )
    assert sequence_text(run.trajectory(0)) == "(lookup ∥ policy) → refund ✗ → mail ?"
    assert sequence_text(batch({"r": []}).trajectory(0)) == "no tool call"


def test_variants_count_runs_that_print_the_same() -> None:
    runs = batch(
        {
            "r1": calls("a", "b"),
            "r2": [("b", 0, True, True), ("c", 0, True, True)],
            "r3": calls("a", "b"),
            "r4": [("c", 0, True, True), ("b", 0, None, True)],
            "r5": [("a", 0, False, True), ("b", 1, True, True)],
        },
        outcome_success=[True, None, False, None, None],
    )
    assert variant_table(runs).to_pylist() == [
        {
            "sequence": "(b ∥ c)",
            "runs": 2,
            "share": 0.4,
            "succeeded": 0,
            "failed": 0,
            "example": "r2",
        },
        {
            "sequence": "a → b",
            "runs": 2,
            "share": 0.4,
            "succeeded": 1,
            "failed": 1,
            "example": "r1",
        },
        {
            "sequence": "a ✗ → b",
            "runs": 1,
            "share": 0.2,
            "succeeded": 0,
            "failed": 0,
            "example": "r5",
        },
    ]


def test_gaps_name_their_run_and_count_steps_from_one() -> None:
    gaps = [
        None,
        [
            {"name": "content_off", "position": 2, "count": 1, "detail": "no arguments"},
            {"name": "no_root", "position": None, "count": 1, "detail": None},
        ],
        [],
    ]
    runs = batch({"r1": [], "r2": calls("a", "b", "c"), "r3": []}, gaps=gaps)
    assert gap_table(runs).to_pylist() == [
        {"run_id": "r2", "name": "content_off", "step": 3, "count": 1, "detail": "no arguments"},
        {"run_id": "r2", "name": "no_root", "step": None, "count": 1, "detail": None},
    ]


def test_sessions_join_runs_and_leave_out_those_without_one() -> None:
    days = [datetime(2026, 1, day, tzinfo=UTC) for day in (2, 1, 3)]
    runs = batch(
        {"r1": [], "r2": [], "r3": []},
        session_id=["s", "s", None],
        start=days,
        end=days,
        tool_calls=[1, 2, 4],
    )
    (row,) = session_table(runs).to_pylist()
    assert row["session_id"] == "s"
    assert row["runs"] == 2
    assert row["tool_calls"] == 3
    assert row["start"] == days[1]
    assert row["end"] == days[0]
    assert row["tokens_in"] is None


def test_tools_count_calls_failures_and_what_never_ran() -> None:
    runs = batch(
        {
            "r1": [("a", 0, True, True), ("a", 1, False, True), ("b", 2, None, False)],
            "r2": [("a", 0, None, True)],
        }
    )
    columns = ("tool", "calls", "failed", "never_executed", "runs")
    table = [tuple(row[name] for name in columns) for row in tool_table(runs).to_pylist()]
    assert table == [("a", 3, 1, 0, 2), ("b", 0, 0, 1, 1)]


def test_a_total_says_how_many_runs_recorded_it() -> None:
    runs = batch(
        {"r1": [], "r2": [], "r3": []},
        tokens_in=[10, None, 5],
        outcome_success=[True, False, None],
        gaps=[[{"name": "no_root", "position": None, "count": 1, "detail": None}], [], None],
    )
    counted = totals(runs)
    assert counted.summed["tokens_in"] == Total(15, 2)
    assert counted.summed["cost"] == Total(None, 0)
    assert (counted.succeeded, counted.failed, counted.not_judged) == (1, 1, 1)
    assert (counted.runs, counted.runs_with_gaps, counted.variants) == (3, 1, 1)


def test_a_total_says_how_many_model_calls_it_knows_nothing_of() -> None:
    runs = batch(
        {"r1": [], "r2": [], "r3": []},
        tokens_in=[10, None, 5],
        calls_without_tokens=[2, None, 1],
        cost=[None, None, 0.5],
        calls_without_cost=[None, None, 0],
    )
    counted = totals(runs)
    assert counted.summed["tokens_in"] == Total(15, 2, lacking_calls=3)
    assert counted.summed["cost"] == Total(0.5, 1)
    shown = io.StringIO()
    print_stats(counted, tool_table(runs), Console(file=shown, width=120))
    (line,) = (line for line in shown.getvalue().splitlines() if "tokens in" in line)
    assert " ".join(line.split()) == (
        "tokens in 15 recorded by 2 of 3, without 3 model calls that recorded none"
    )


@pytest.mark.parametrize("table", [gap_table, session_table, variant_table, tool_table])
def test_no_run_gives_an_empty_table(table: Any) -> None:
    assert len(table(RunBatch.empty())) == 0
    assert totals(RunBatch.empty()).runs == 0
