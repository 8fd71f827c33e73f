"""Outcomes that lie beside the traces find their runs, or say why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.outcomes import joined, outcome_rows
from trackway_analyzer.tables import RUN_SCHEMA, STEP_SCHEMA


def batch(*runs: dict[str, Any]) -> RunBatch:
    rows = [{"run_id": f"r{number}"} | run for number, run in enumerate(runs)]
    return RunBatch.of(pa.Table.from_pylist(rows, schema=RUN_SCHEMA), STEP_SCHEMA.empty_table())


def outcomes(found: RunBatch) -> list[bool | None]:
    return list(found.runs.column("outcome_success").to_pylist())


def test_rows_find_runs_by_run_session_or_task_and_trial() -> None:
    runs = batch({}, {"session_id": "s"}, {"task_id": "7", "trial": 2})
    rows = outcome_rows(
        [
            {"run_id": "r0", "success": True},
            {"session_id": "s", "task_id": 3, "trial": 0, "reward": 0.0},
            {"task_id": 7, "trial": 2, "reward": 1, "label": "refunded"},
            {"run_id": "elsewhere", "success": False},
        ]
    )
    found = joined(runs, rows)
    assert outcomes(found.batch) == [True, False, True]
    assert found.batch.runs.column("task_id").to_pylist() == [None, "3", "7"]
    assert found.batch.runs.column("trial").to_pylist() == [None, 0, 2]
    assert found.batch.runs.column("outcome_label").to_pylist() == [None, None, "refunded"]
    assert found.batch.runs.column("outcome_state").to_pylist()[1] == '{"reward":0.0}'
    assert found.unused == 1
    found.batch.validate()


@pytest.mark.parametrize("reward", [0.999, 0.5, 0, -1, 2])
def test_a_reward_of_one_is_a_success(reward: float) -> None:
    found = joined(batch({}), outcome_rows([{"run_id": "r0", "reward": reward}]))
    assert outcomes(found.batch) == [reward == 2]


def test_a_null_judges_nothing() -> None:
    for row in ({"reward": None}, {"success": None}):
        found = joined(batch({}), outcome_rows([{"run_id": "r0"} | row]))
        assert outcomes(found.batch) == [None]
        assert found.unused == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("o.jsonl", '{"run_id": "r0", "success": true}\n{"run_id": "r1", "reward": 0}\n'),
        ("o.json", '[{"run_id": "r0", "success": true}, {"run_id": "r1", "reward": 0}]'),
        ("o.csv", "run_id,success,reward\nr0,True,\nr1,false,\n"),
        ("p.csv", "run_id,reward\nr0,1.0\nr1,0.0\n"),
    ],
)
def test_rows_come_from_json_lines_a_list_or_csv(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert outcomes(joined(batch({}, {}), outcome_rows(path)).batch) == [True, False]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"success": True, "task_id": 1}, "outcome row 1 names no run: .* found success, task_id"),
        ({"run_id": "r0"}, "outcome row 1 has neither success nor reward"),
        ({"run_id": "r0", "success": "maybe"}, "expected success true or false, found 'maybe'"),
        ({"run_id": "r0", "reward": "high"}, "expected a number as reward, found 'high'"),
        ({"task_id": 1, "trial": "x", "success": True}, "a whole number as trial, found 'x'"),
        (["r0", True], "expected an object, found list"),
    ],
)
def test_a_row_that_judges_nothing_says_what_is_missing(row: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        outcome_rows([row])


def test_a_row_that_fits_several_runs_is_refused() -> None:
    runs = batch({"session_id": "s"}, {"session_id": "s"})
    with pytest.raises(ValueError, match=r"session_id=s\) fits 2 runs: .* --by session"):
        joined(runs, outcome_rows([{"session_id": "s", "success": True}]))


def test_a_row_that_contradicts_the_record_is_refused() -> None:
    runs = batch({"outcome_success": False})
    with pytest.raises(ValueError, match="says outcome_success True, the run recorded False"):
        joined(runs, outcome_rows([{"run_id": "r0", "success": True}]))
    agreeing = joined(runs, outcome_rows([{"run_id": "r0", "success": False}]))
    assert outcomes(agreeing.batch) == [False]
