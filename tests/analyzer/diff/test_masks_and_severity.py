"""What is volatile, and what a user may set."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from trackway_analyzer.diff import TrajectoryDiff, diff_trajectories

Records = list[dict[str, Any]]
KINDS = {"refund_api.create": "mutate", "send_email": "notify", "lookup_order": "lookup"}


def changed(records: Records, step: int, where: str, **values: Any) -> Records:
    records = copy.deepcopy(records)
    records[step - 1][where] |= values
    return records


def diff(reference: Records, candidate: Records, **options: Any) -> TrajectoryDiff:
    return diff_trajectories(reference, candidate, kinds=KINDS, **options)


def test_a_declared_mask_leaves_a_value_out(refund: Records) -> None:
    other = changed(refund, 3, "arguments", note="other", order_id="B1")

    assert len(diff(refund, other).argument_drift) == 2
    assert len(diff(refund, other, masks={"refund_api.create": ["$.note"]}).argument_drift) == 1
    assert not diff(refund, other, masks={"*": ["$.note", "$.order_id"]}).argument_drift
    assert len(diff(refund, other, masks={"send_email": ["$.note"]}).argument_drift) == 2


def test_a_mask_also_covers_a_value_that_one_side_lacks(refund: Records) -> None:
    other = changed(refund, 3, "arguments", trace="x1")

    assert diff(refund, other).status == "fail"
    assert diff(refund, other, masks={"*": ["$.trace"]}).status == "ok"


def test_a_mask_covers_results(refund: Records) -> None:
    other = changed(refund, 1, "result", total=50.0)

    assert [d.path for d in diff(refund, other).result_drift] == ["$.total"]
    assert not diff(refund, other, masks={"lookup_order": ["$.total"]}).result_drift


def test_a_result_that_differs_is_reported_and_counts_for_nothing(refund: Records) -> None:
    found = diff(refund, changed(refund, 1, "result", total=50.0))

    assert (found.status, found.first_divergence) == ("ok", None)
    assert found.to_dict()["result_drift"] == [
        {
            "step": 1,
            "tool": "lookup_order",
            "path": "$.total",
            "reference_value": 84.0,
            "candidate_value": 50.0,
        }
    ]


@pytest.mark.parametrize(
    ("name", "reference", "candidate"),
    [
        ("trace", "0b5e5b0e-6f65-4e3c-9a9e-0d9b6e6f4b11", "7d3f1a52-31a7-4a9d-8c66-b7a2f0f6c001"),
        ("when", "2026-01-05T10:00:00Z", "2026-03-09 11:12:13.5+01:00"),
        ("created_at", 1767607201, 1767693601.5),
        ("digest", "9f86d081884c7d659a2feaa0c55ad015", "60303ae22b998861bce3b28f33eec1be"),
        ("key", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ"),
    ],
)
def test_volatile_shapes_are_left_out_of_results_and_named(
    refund: Records, name: str, reference: Any, candidate: Any
) -> None:
    found = diff(
        changed(refund, 1, "result", **{name: reference}),
        changed(refund, 1, "result", **{name: candidate}),
    )

    assert not found.result_drift
    assert len(found.masked) == 1
    assert found.masked[0].startswith(f"step 1 lookup_order: result $.{name} (")


def test_a_volatile_shape_excuses_no_argument(refund: Records) -> None:
    found = diff(
        changed(refund, 3, "arguments", due="2026-01-05T10:00:00Z"),
        changed(refund, 3, "arguments", due="2026-01-06T10:00:00Z"),
    )

    assert found.status == "fail"


def test_the_calls_own_ids_are_not_compared_under_a_name_that_says_so(refund: Records) -> None:
    reference = changed(refund, 3, "arguments", idempotency_key="op-1")
    candidate = changed(refund, 3, "arguments", idempotency_key="op-2")
    reference[2]["operation_id"], candidate[2]["operation_id"] = "op-1", "op-2"

    assert diff(reference, candidate).status == "ok"


def test_an_operation_id_made_of_the_order_hides_no_wrong_order(refund: Records) -> None:
    other = changed(refund, 3, "arguments", order_id="B1")
    refund[2]["operation_id"], other[2]["operation_id"] = "A9128", "B1"

    assert diff(refund, other).status == "fail"


def test_a_generated_id_is_followed_into_arguments_and_texts(refund: Records) -> None:
    other = changed(refund, 3, "result", refund_id="re_2202")
    other = changed(other, 4, "arguments", body="We refunded $84.00 (re_2202).")

    assert diff(refund, other).status == "ok"
    assert not diff(refund, other).result_drift


def test_the_other_runs_generated_id_is_a_difference(refund: Records) -> None:
    reference = changed(refund, 4, "arguments", refund_id="re_1101")
    candidate = changed(reference, 3, "result", refund_id="re_2202")

    assert "$.refund_id" in [d.path for d in diff(reference, candidate).argument_drift]


def test_an_id_that_a_lookup_returns_is_not_generated(refund: Records) -> None:
    refund[0]["arguments"] = {"customer": "Ann"}
    other = changed(refund, 1, "result", id="B7799")
    other = changed(other, 3, "arguments", order_id="B7799")

    assert diff(refund, other).status == "fail"


def test_a_generated_id_of_a_call_that_differs_renames_nothing(refund: Records) -> None:
    reference = changed(refund, 4, "arguments", refund_id="re_1101")
    candidate = changed(reference, 3, "arguments", amount=42.0)
    candidate = changed(candidate, 3, "result", refund_id="re_2202")
    candidate = changed(candidate, 4, "arguments", refund_id="re_2202")

    assert [d.path for d in diff(reference, candidate).argument_drift] == [
        "$.amount",
        "$.refund_id",
    ]


def test_a_level_is_set_for_an_argument_a_kind_of_difference_or_a_tool(refund: Records) -> None:
    other = changed(refund, 3, "arguments", note="other")
    tool = "refund_api.create"

    assert diff(refund, other, severity={tool: {"$.note": "fail"}}).status == "fail"
    assert diff(refund, other, severity={tool: {"$.note": "ok"}}).status == "ok"
    assert diff(refund, other, severity={tool: {"argument": "fail"}}).status == "fail"
    assert diff(refund, other, severity={tool: "ok"}).status == "ok"
    assert diff(refund, other, severity={"*": {"argument": "fail"}}).status == "fail"
    assert diff(refund, refund[:3], severity={"send_email": "ok"}).status == "fail"


def test_the_narrowest_entry_decides(refund: Records) -> None:
    other = changed(refund, 3, "arguments", note="other")
    levels = {"*": "fail", "refund_api.create": {"*": "fail", "argument": "fail", "$.note": "ok"}}

    assert diff(refund, other, severity=levels).status == "ok"


def test_a_path_covers_what_lies_below_it(refund: Records) -> None:
    reference = changed(refund, 3, "arguments", lines=[{"sku": "K1", "n": 1}])
    candidate = changed(refund, 3, "arguments", lines=[{"sku": "K2", "n": 1}])
    levels = {"refund_api.create": {"$.lines": "warning"}}

    assert diff(reference, candidate).status == "fail"
    assert diff(reference, candidate, severity=levels).status == "warning"


def test_a_result_may_be_made_to_count(refund: Records) -> None:
    other = changed(refund, 1, "result", total=50.0)

    assert diff(refund, other, severity={"lookup_order": {"result": "fail"}}).failures == (
        "step 1 lookup_order: result $.total 50.0, reference 84.0",
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"severity": {"a": "error"}}, r"severity\['a'\]: expected one of .*found 'error'"),
        ({"severity": {"a": {"argumnt": "ok"}}}, "did you mean 'argument'"),
        ({"severity": {"a": {"$[": "ok"}}}, "expected a JSONPath"),
        ({"masks": {"a": ["$["]}}, "expected a JSONPath"),
    ],
)
def test_an_option_that_is_none_is_refused(
    refund: Records, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        diff(refund, refund, **options)


def test_a_kind_that_is_none_is_refused(refund: Records) -> None:
    with pytest.raises(ValueError, match=r"kinds\['a'\]: expected one of .*'mutate'.*'write'"):
        diff_trajectories(refund, refund, kinds={"a": "write"})
