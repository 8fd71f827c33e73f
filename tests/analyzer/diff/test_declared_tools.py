"""What is declared of tools decides what is grave and what took effect."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from trackway_analyzer.diff import diff_trajectories
from trackway_analyzer.rules import EntitySpec, ToolSpec
from trackway_analyzer.rules.expression import compiled

Records = list[dict[str, Any]]


def test_the_declared_success_decides_whether_a_call_took_effect(refund: Records) -> None:
    other = copy.deepcopy(refund)
    other[2]["result"] = {"status": "queued for review"}
    tools = {"refund_api.create": ToolSpec("mutate", success=compiled('$.status == "succeeded"'))}

    undeclared = diff_trajectories(refund, other, kinds={"refund_api.create": "mutate"})
    assert undeclared.status == "warning"  # nobody knows what that status means
    assert diff_trajectories(refund, other, tools=tools).failures == (
        'step 3 refund_api.create: did not take effect ({"status":"queued for review"}),'
        " did in the reference",
    )


def test_the_status_of_what_a_lookup_found_is_not_the_lookups(refund: Records) -> None:
    other = copy.deepcopy(refund)
    other[0]["result"]["status"] = "cancelled"

    assert diff_trajectories(refund, other).warnings
    assert diff_trajectories(refund, other, kinds={"lookup_order": "lookup"}).status == "ok"


def test_the_argument_that_names_the_entity_is_an_identifier_whatever_it_looks_like(
    refund: Records,
) -> None:
    refund[2]["arguments"] = {"who": "ann", "tone": "kind"}
    other = copy.deepcopy(refund)
    other[2]["arguments"] = {"who": "bob", "tone": "kind"}
    mutate = ToolSpec("mutate")
    named = ToolSpec("mutate", EntitySpec(argument="who"))

    assert diff_trajectories(refund, other, tools={"refund_api.create": mutate}).status == "warning"
    assert diff_trajectories(refund, other, tools={"refund_api.create": named}).status == "fail"


def test_a_recorded_kind_counts_where_nobody_declared_one(refund: Records) -> None:
    other = copy.deepcopy(refund)
    other[2]["arguments"]["amount"] = 42.0
    recorded = [{**step, "kind": "mutate"} for step in refund]

    assert diff_trajectories(recorded, other).status == "fail"
    assert (
        diff_trajectories(refund, [{**step, "kind": "mutate"} for step in other]).status == "fail"
    )
    assert (
        diff_trajectories(recorded, other, kinds={"refund_api.create": "other"}).status == "warning"
    )


def test_two_declarations_that_contradict_each_other_are_refused(refund: Records) -> None:
    with pytest.raises(ValueError, match=r"kind of refund_api\.create.*'mutate'.*'lookup'"):
        diff_trajectories(
            refund,
            refund,
            tools={"refund_api.create": ToolSpec("mutate")},
            kinds={"refund_api.create": "lookup"},
        )
