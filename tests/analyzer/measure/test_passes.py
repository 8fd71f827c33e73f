"""pass^k of sets of runs: per task, then the mean; what is not known widens or refuses it."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from statistics import fmean
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.measure import PassSet, pass_sets
from trackway_analyzer.tables import RUN_SCHEMA, STEP_SCHEMA

Cell = tuple[str | None, bool | None]


def batch(*runs: dict[str, Any]) -> RunBatch:
    rows = [{"run_id": str(number)} | run for number, run in enumerate(runs)]
    return RunBatch.of(pa.Table.from_pylist(rows, schema=RUN_SCHEMA), STEP_SCHEMA.empty_table())


def one_set(*cells: Cell, **columns: Any) -> PassSet:
    runs = [{"task_id": task, "outcome_success": success} | columns for task, success in cells]
    (found,) = pass_sets(batch(*runs))
    return found


def rates(found: PassSet) -> list[tuple[float, float]]:
    return [(rate.low, rate.high) for rate in found.passes]


def test_tasks_are_averaged_not_trials() -> None:
    found = one_set(*[("easy", True)] * 4, ("hard", False), ("hard", True))
    assert found.tasks == 2
    assert (found.fewest_trials, found.most_trials) == (2, 4)
    assert rates(found) == [(0.75, 0.75), (0.5, 0.5)]  # no pass^3: "hard" has two trials


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.booleans()), min_size=1, max_size=14)
)
def test_it_is_the_mean_share_of_faultless_subsets(cells: list[tuple[str, bool]]) -> None:
    tasks = defaultdict(list)
    for task, success in cells:
        tasks[task].append(success)
    found = one_set(*cells)
    assert len(found.passes) == min(map(len, tasks.values()))
    for rate in found.passes:
        shares = [fmean(map(all, combinations(trials, rate.k))) for trials in tasks.values()]
        assert rate.low == rate.high == pytest.approx(fmean(shares))


def test_a_run_that_nobody_judged_is_a_trial_still() -> None:
    found = one_set(("a", True), ("a", None))
    assert found.not_judged == 1
    assert rates(found) == [(0.5, 1.0), (0.0, 1.0)]


def test_runs_without_task_ids_refuse_the_whole_set() -> None:
    found = one_set(("a", True), (None, True), (None, None))
    assert found.passes == ()
    assert found.refused == "2 of 3 runs have no task id"


def test_sets_are_told_apart_by_suite_variant_and_version() -> None:
    judged = {"task_id": "a", "outcome_success": True}
    found = pass_sets(
        batch(
            judged | {"variant": "tuned"},
            judged,
            judged | {"variant": "base", "outcome_success": False},
            judged | {"suite_id": "s", "variant": "base"},
            {"task_id": "a", "agent_version": "2"},  # nobody judged any run of it
        )
    )
    assert [(each.suite_id, each.variant, each.succeeded) for each in found] == [
        (None, None, 1),
        (None, "base", 0),
        (None, "tuned", 1),
        ("s", "base", 1),
    ]


def test_a_task_and_trial_twice_is_named() -> None:
    runs = [{"task_id": "a", "trial": trial, "outcome_success": True} for trial in (0, 1, 1)]
    (found,) = pass_sets(batch(*runs))
    assert found.repeated == 1


def test_no_outcome_no_set() -> None:
    assert pass_sets(batch({"task_id": "a"}, {})) == ()
    assert pass_sets(RunBatch.empty()) == ()
