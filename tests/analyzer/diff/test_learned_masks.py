"""Masks learned from several runs of one task."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from trackway_analyzer.diff import diff_trajectories, learn_masks

Records = list[dict[str, Any]]
KINDS = {"lookup_order": "lookup", "refund_api.create": "mutate", "send_email": "notify"}
IDS = [
    "0b5e5b0e-6f65-4e3c-9a9e-0d9b6e6f4b11",
    "7d3f1a52-31a7-4a9d-8c66-b7a2f0f6c001",
    "3e1d5a34-9d2c-4d5f-8b1e-2f6f1f3a9d77",
]


def runs(refund: Records, where: str, step: int, name: str, values: list[Any]) -> list[Records]:
    made = [copy.deepcopy(refund) for _ in values]
    for run, value in zip(made, values, strict=True):
        run[step - 1][where][name] = value
    return made


def test_a_result_on_which_no_two_runs_agree_is_volatile(refund: Records) -> None:
    given = runs(refund, "result", 1, "latency_ms", [12, 15, 11])
    masks = learn_masks(given, kinds=KINDS)

    assert masks == {"lookup_order": {"result": ["$.latency_ms"]}}
    assert diff_trajectories(given[0], given[1], kinds=KINDS).result_drift
    assert not diff_trajectories(given[0], given[1], kinds=KINDS, masks=masks).result_drift


def test_a_result_on_which_two_runs_agree_means_something(refund: Records) -> None:
    assert learn_masks(runs(refund, "result", 1, "stock", [12, 15, 12]), kinds=KINDS) == {}


def test_a_trace_id_in_the_arguments_of_a_lookup_is_volatile(refund: Records) -> None:
    given = runs(refund, "arguments", 1, "trace", list(IDS))
    masks = learn_masks(given, kinds=KINDS)

    assert masks == {"lookup_order": {"arguments": ["$.trace"]}}
    assert diff_trajectories(given[0], given[1], kinds=KINDS).status == "warning"
    assert diff_trajectories(given[0], given[1], kinds=KINDS, masks=masks).status == "ok"


def test_no_argument_of_a_mutation_is_learned_away(refund: Records) -> None:
    given = runs(refund, "arguments", 3, "order_uuid", list(IDS))

    assert learn_masks(given, kinds=KINDS) == {}
    undeclared = runs(refund, "arguments", 1, "trace", list(IDS))
    assert learn_masks(undeclared) == {}


def test_nothing_is_learned_from_calls_that_asked_for_different_things(refund: Records) -> None:
    given = runs(refund, "arguments", 1, "order_id", ["A1", "B2", "C3"])
    for run, name in zip(given, ["Ann", "Bob", "Cy"], strict=True):
        run[0]["result"]["customer"] = name

    assert learn_masks(given, kinds=KINDS) == {}


def test_a_mask_holds_for_the_side_that_it_names(refund: Records) -> None:
    other = copy.deepcopy(refund)
    other[2]["arguments"]["order_id"] = "B7"
    result_only = {"refund_api.create": {"result": ["$.order_id"]}}

    assert diff_trajectories(refund, other, kinds=KINDS, masks=result_only).status == "fail"
    with pytest.raises(ValueError, match=r"expected one of .*found 'results'"):
        diff_trajectories(refund, other, masks={"a": {"results": ["$.x"]}})
    with pytest.raises(ValueError, match="expected a list of paths"):
        diff_trajectories(refund, other, masks={"a": "$.x"})


def test_two_runs_teach_nothing(refund: Records) -> None:
    with pytest.raises(ValueError, match="at least 3 runs of one task, found 2"):
        learn_masks([refund, refund])
