"""`load` and the `Trajectories` it gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import trackway_analyzer as ta
from trackway_analyzer.tables import SPAN_SCHEMA, table_of

RUNS = ("run-1", "run-2", "run-3")


def spans(**columns: list[Any]) -> pa.Table:
    """Three runs: two tool calls, one failed call, one call without a run id."""
    values: dict[str, list[Any]] = {
        "run_id": ["run-1", "run-1", "run-2", None],
        "trace_id": ["1" * 32, "1" * 32, "2" * 32, "3" * 32],
        "span_id": [f"{number:016x}" for number in range(1, 5)],
        "task_id": ["refund", "refund", "refund", None],
        "trial": [1, 1, 2, None],
        "session_id": ["s", "s", "s", "t"],
        "name": ["execute_tool"] * 4,
        "operation": ["tool"] * 4,
        "tool": ["lookup_order", "refund", "refund", "lookup_order"],
        "arguments": ['{"order_id":"A-17"}'] * 4,
        "result": ['{"id":"A-17"}', '{"status":"ok"}', '{"error":"declined"}', "null"],
        "start": [1_700_000_000_000_000_000 + second * 10**9 for second in range(4)],
        "end": [1_700_000_000_500_000_000 + second * 10**9 for second in range(4)],
        "status": ["OK"] * 4,
        "attributes": ["{}"] * 4,
        "resource": ["{}"] * 4,
        "source": ["trackway"] * 4,
    }
    return table_of(SPAN_SCHEMA, values | columns, 4)


@pytest.fixture
def runs() -> ta.Trajectories:
    return ta.load(spans())


def test_nothing_is_read_before_somebody_looks(tmp_path: Path) -> None:
    missing = ta.load(tmp_path / "none.json")
    assert repr(missing) == f"Trajectories({str(tmp_path / 'none.json')!r}, not read yet)"
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        len(missing)


def test_a_source_is_read_once(tmp_path: Path, runs: ta.Trajectories) -> None:
    path = tmp_path / "spans.parquet"
    runs.to_parquet(path)
    loaded = ta.load(path)
    assert len(loaded) == 3
    path.unlink()
    assert len(loaded.filter(task="refund")) == 2
    assert len(loaded.spans()) == 4


def test_runs_are_counted_iterated_and_found_by_id(runs: ta.Trajectories) -> None:
    assert len(runs) == 3
    assert [run.run_id for run in runs] == ["run-1", "run-2", "3" * 32]
    assert runs["run-1"].tools == ["lookup_order", "refund"]
    assert runs[1].run_id == "run-2"
    assert runs[-1].run_id == "3" * 32
    assert "run-2" in runs
    assert "run-9" not in runs
    assert repr(runs) == "Trajectories('Table', 3 runs)"


def test_an_unknown_run_names_the_nearest(runs: ta.Trajectories) -> None:
    with pytest.raises(
        KeyError, match="no run 'run-9' among 3 runs of Table; the nearest is 'run-"
    ):
        runs["run-9"]
    with pytest.raises(IndexError):
        runs[3]


def test_frames_are_arrow_backed_and_compare_like_text(runs: ta.Trajectories) -> None:
    for table in (runs.runs(), runs.steps(), runs.spans()):
        assert all(isinstance(dtype, pd.ArrowDtype) for dtype in table.dtypes)
    steps = runs.steps()
    assert (steps["tool"] == "refund").sum() == 2
    assert steps["run_id"].tolist() == ["run-1", "run-1", "run-2", "3" * 32]
    assert steps.groupby("tool").size().to_dict() == {"lookup_order": 2, "refund": 2}
    assert runs.runs()["trial"].isna().tolist() == [False, False, True]


def test_filters_take_values_lists_and_short_names(runs: ta.Trajectories) -> None:
    def ids(**columns: Any) -> list[str]:
        return [run.run_id for run in runs.filter(**columns)]

    assert ids(task="refund") == ["run-1", "run-2"]
    assert ids(task_id="refund", trial=2) == ["run-2"]
    assert ids(trial=[1, 2]) == ["run-1", "run-2"]
    assert ids(trial=None) == ["3" * 32]
    assert ids(run="run-9") == []
    assert [run.run_id for run in runs.filter(task="refund").filter(trial=1)] == ["run-1"]


def test_a_filter_on_no_column_names_the_nearest(runs: ta.Trajectories) -> None:
    with pytest.raises(
        ValueError, match="'trail' is no column of the runs table; did you mean 'tria"
    ):
        runs.filter(trail=1)


def test_spans_of_a_filtered_set_are_those_of_its_runs(runs: ta.Trajectories) -> None:
    assert runs.filter(run="run-1").spans()["tool"].tolist() == ["lookup_order", "refund"]
    assert runs.filter(run="3" * 32).spans()["span_id"].tolist() == [f"{4:016x}"]
    assert runs.filter(run=[]).spans()["span_id"].tolist() == []


def test_spans_of_one_of_several_runs_in_a_trace_are_its_own(tmp_path: Path) -> None:
    two_agents = ta.load(
        spans(
            run_id=[None] * 4,
            trace_id=["1" * 32] * 4,
            parent_span_id=[None, f"{1:016x}", None, f"{3:016x}"],
            operation=["agent", "tool", "agent", "tool"],
            tool=[None, "refund", None, "lookup_order"],
        )
    )
    first, second = (run.run_id for run in two_agents)
    assert two_agents.filter(run=first).spans()["span_id"].tolist() == [f"{1:016x}", f"{2:016x}"]
    path = tmp_path / "second.parquet"
    assert two_agents.filter(run=second).to_parquet(path) == 2


def test_by_session_joins_the_runs_of_a_conversation() -> None:
    sessions = ta.load(spans(run_id=[None] * 4), by="session")
    assert [run.run_id for run in sessions] == ["s", "t"]
    assert sessions["s"].tools == ["lookup_order", "refund", "refund"]
    with pytest.raises(ValueError, match="by='day': expected 'trace' or 'session'"):
        ta.load(spans(), by="day")  # type: ignore[arg-type]


def test_sessions_variants_gaps_and_quarantine_are_frames(
    runs: ta.Trajectories, tmp_path: Path
) -> None:
    assert runs.sessions()["runs"].tolist() == [2, 1]
    assert set(runs.variants()["sequence"]) == {
        "lookup_order → refund",
        "refund ✗",
        "lookup_order",
    }
    assert list(runs.gaps().columns) == ["run_id", "name", "step", "count", "detail"]
    assert len(runs.quarantine()) == 0
    path = tmp_path / "broken.jsonl"
    path.write_text("{broken\n{}\n")
    lost = ta.load(path).quarantine()
    assert set(lost["file"]) == {str(path)}
    assert "broken_line" in lost["reason"].tolist()


def test_strict_raises_at_the_first_thing_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text("{broken\n{}\n")
    with pytest.raises(ValueError, match="broken"):
        len(ta.load(path, strict=True))


def test_parquet_holds_every_span_and_loads_the_same(runs: ta.Trajectories, tmp_path: Path) -> None:
    path = tmp_path / "spans.parquet"
    assert runs.to_parquet(path) == 4
    again = ta.load(path)
    pd.testing.assert_frame_equal(again.runs(), runs.runs())
    pd.testing.assert_frame_equal(again.steps(), runs.steps())
    assert [entry.name for entry in tmp_path.iterdir()] == ["spans.parquet"]


def test_parquet_of_a_filtered_set_holds_its_runs_only(
    runs: ta.Trajectories, tmp_path: Path
) -> None:
    path = tmp_path / "spans.parquet"
    assert runs.filter(run="run-2").to_parquet(path) == 1
    assert [run.run_id for run in ta.load(path)] == ["run-2"]


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "spans.parquet"
    path.write_bytes(b"old")
    broken = tmp_path / "broken.jsonl"
    document = {"resourceSpans": [{"scopeSpans": [{"spans": []}]}]}
    broken.write_text(json.dumps(document) + "\n{broken\n{}\n")
    with pytest.raises(ValueError, match="broken"):
        ta.load(broken, strict=True).to_parquet(path)
    assert path.read_bytes() == b"old"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["broken.jsonl", "spans.parquet"]


def test_a_set_of_runs_shows_in_a_notebook(runs: ta.Trajectories) -> None:
    html = runs._repr_html_()
    assert "3 runs" in html
    assert "lookup_order → refund" in html
    assert "run-2" in html


def test_an_empty_table_is_an_empty_result() -> None:
    empty = ta.load(SPAN_SCHEMA.empty_table())
    assert len(empty) == 0
    assert len(empty.steps()) == len(empty.variants()) == len(empty.gaps()) == 0
