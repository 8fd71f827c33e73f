"""What the record does not say is no equality, and no difference either."""

from __future__ import annotations

import copy
from typing import Any

import pyarrow as pa
import pytest

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.diff import diff_trajectories
from trackway_analyzer.model import Trajectory
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import InsufficientEvidenceError

Records = list[dict[str, Any]]
MUTATE = {"refund_api.create": "mutate"}


def without(records: Records, step: int, key: str) -> Records:
    records = copy.deepcopy(records)
    del records[step - 1][key]
    return records


def with_gap(records: Records, name: str, position: int | None = None) -> Trajectory:
    batch = trajectory_of(records).batch
    gap = {"name": name, "position": position, "count": 1, "detail": None}
    index = batch.runs.schema.get_field_index("gaps")
    field = batch.runs.schema.field(index)
    runs = batch.runs.set_column(index, field, pa.array([[gap]], field.type))
    return RunBatch.of(runs, batch.steps).trajectory(0)


def test_arguments_that_one_side_does_not_record_cannot_be_compared(refund: Records) -> None:
    found = diff_trajectories(refund, without(refund, 3, "arguments"))

    assert found.status == "warning"
    assert found.insufficient == (
        "step 3 refund_api.create: arguments cannot be compared, not recorded in the candidate",
    )
    assert (found.matched_steps, found.drifted_steps) == (3, 0)
    assert not found.argument_drift


def test_arguments_that_neither_side_records_are_not_equal(refund: Records) -> None:
    silent = without(refund, 3, "arguments")
    found = diff_trajectories(silent, silent)

    assert found.insufficient == (
        "step 3 refund_api.create: arguments cannot be compared,"
        " not recorded in the reference and the candidate",
    )
    assert (found.status, found.matched_steps) == ("warning", 3)


def test_a_cut_value_is_not_equal_to_itself(refund: Records) -> None:
    batch = trajectory_of(refund).batch
    index = batch.steps.schema.get_field_index("truncated")
    field = batch.steps.schema.field(index)
    cut = pa.array([None, None, ["arguments"], None], field.type)
    run = RunBatch.of(batch.runs, batch.steps.set_column(index, field, cut)).trajectory(0)

    assert diff_trajectories(run, run).insufficient == (
        "step 3 refund_api.create: arguments cannot be compared,"
        " cut in the reference and the candidate",
    )


def test_redacted_values_are_neither_equal_nor_different(refund: Records) -> None:
    reference, candidate = copy.deepcopy(refund), copy.deepcopy(refund)
    for records in (reference, candidate):
        records[2]["arguments"]["amount"] = "[redacted:key_name]"
    why = "step 3 refund_api.create: arguments cannot be compared, $.amount redacted or cut"

    both = diff_trajectories(reference, candidate, kinds=MUTATE)
    one = diff_trajectories(refund, candidate, kinds=MUTATE)
    assert (both.insufficient, both.status) == ((why,), "warning")
    assert (one.insufficient, one.status) == ((why,), "warning")

    masked = diff_trajectories(
        reference, candidate, kinds=MUTATE, masks={"refund_api.create": ["$.amount"]}
    )
    assert (masked.insufficient, masked.status) == ((), "ok")


def test_drift_beside_a_redacted_value_is_told(refund: Records) -> None:
    reference, candidate = copy.deepcopy(refund), copy.deepcopy(refund)
    for records in (reference, candidate):
        records[2]["arguments"]["amount"] = "[redacted:key_name]"
    candidate[2]["arguments"]["order_id"] = "B2"

    found = diff_trajectories(reference, candidate, kinds=MUTATE)
    assert [drift.path for drift in found.argument_drift] == ["$.order_id"]
    assert found.status == "fail"


def test_a_redacted_result_is_no_drift(refund: Records) -> None:
    candidate = copy.deepcopy(refund)
    candidate[0]["result"]["total"] = "[redacted:key_name]"

    assert diff_trajectories(refund, candidate, kinds=MUTATE).status == "ok"


def test_a_mutation_without_a_result_may_not_have_happened(refund: Records) -> None:
    found = diff_trajectories(refund, without(refund, 3, "result"), kinds=MUTATE)

    assert found.insufficient == (
        "step 3 refund_api.create: the candidate does not say whether it took effect",
    )
    assert (found.status, found.failures) == ("warning", ())


def test_a_read_without_a_result_is_compared_by_its_arguments(refund: Records) -> None:
    assert diff_trajectories(refund, without(refund, 1, "result"), kinds=MUTATE).status == "ok"


def test_a_pending_mutation_on_both_sides_is_no_difference(refund: Records) -> None:
    refund[2]["result"] = {"status": "pending"}

    assert diff_trajectories(refund, refund, kinds=MUTATE).status == "ok"


def test_steps_that_a_gap_hides_are_not_missing(refund: Records) -> None:
    hidden = with_gap([refund[0], refund[1], refund[3]], "missing_steps")
    found = diff_trajectories(refund, hidden, kinds=MUTATE)

    assert found.failures == ()
    assert found.missing_in_candidate == ("refund_api.create",)
    assert found.insufficient[0].endswith(
        "is missing in the candidate, but a gap hides steps there"
    )


def test_a_mutation_that_a_gap_of_the_reference_may_hide_is_not_new(refund: Records) -> None:
    reference = with_gap([refund[0], refund[1], refund[3]], "tools_not_observable")
    found = diff_trajectories(reference, refund, kinds=MUTATE)

    assert (found.status, found.failures) == ("warning", ())


def test_a_gap_that_may_hide_calls_leaves_no_clean_answer(refund: Records) -> None:
    found = diff_trajectories(refund, with_gap(refund, "missing_steps"))

    assert found.insufficient == (
        "the candidate may have made calls that are not recorded (missing_steps)",
    )
    assert found.status == "warning"


def test_other_gaps_change_nothing(refund: Records) -> None:
    assert diff_trajectories(refund, with_gap(refund, "no_root")).status == "ok"


def test_skewed_clocks_leave_order_open(refund: Records) -> None:
    early = with_gap([refund[0], refund[2], refund[1], refund[3]], "clock_skew")
    found = diff_trajectories(refund, early)

    assert (found.warnings, len(found.insufficient)) == ((), 1)


def test_strict_is_not_satisfied_where_evidence_may_hide_a_failure(refund: Records) -> None:
    silent = without(refund, 3, "arguments")
    with pytest.raises(InsufficientEvidenceError, match="arguments cannot be compared"):
        diff_trajectories(refund, silent, strict=True, kinds=MUTATE)

    assert diff_trajectories(refund, silent, strict=True).status == "warning"


def test_two_runs_that_called_nothing_are_equal_if_that_was_recorded() -> None:
    silent = trajectory_of([], final_text="I cannot help with that.")

    assert diff_trajectories(silent, silent).status == "ok"


def test_two_runs_of_which_nothing_was_recorded_are_no_evidence() -> None:
    found = diff_trajectories([], [])

    assert found.status == "warning"
    assert found.insufficient == (
        "nothing was recorded of the reference",
        "nothing was recorded of the candidate",
    )


def test_a_candidate_without_a_call_misses_everything(refund: Records) -> None:
    found = diff_trajectories(refund, [])

    assert found.status == "fail"
    assert found.missing_in_candidate == tuple(step["tool"] for step in refund)
    assert (found.terminal_action_changed, found.candidate_terminal) == (True, None)


def test_a_final_action_that_only_the_candidate_records_is_not_compared_with_a_tool(
    refund: Records,
) -> None:
    recorded = _with_final_action(refund, "refunded")

    assert not diff_trajectories(refund, recorded).terminal_action_changed
    assert diff_trajectories(recorded, refund).terminal_action_changed
    assert not diff_trajectories(recorded, recorded).terminal_action_changed


def _with_final_action(records: Records, action: str) -> Trajectory:
    batch = trajectory_of(records).batch
    index = batch.runs.schema.get_field_index("final_action")
    field = batch.runs.schema.field(index)
    runs = batch.runs.set_column(index, field, pa.array([action], pa.string()))
    return RunBatch.of(runs, batch.steps).trajectory(0)
