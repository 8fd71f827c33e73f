"""Forbidden and allowed tools: attempts count, and a gap is no pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.rules import Allowed, Forbidden, Rule, State


def said(rule: Rule, batch: RunBatch) -> list[tuple[str, str]]:
    results = rule.check(batch)
    return [(result.state.value, rule.explain(batch, result).sentence) for result in results]


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ({}, "step 2 delete_account is forbidden"),
        ({"ok": False}, "step 2 delete_account (attempted, no effect) is forbidden"),
        ({"executed": False}, "step 2 delete_account (asked for, not executed) is forbidden"),
    ],
)
def test_every_attempt_of_a_forbidden_tool_violates(
    run_of: Callable[..., RunBatch], step: dict[str, Any], sentence: str
) -> None:
    batch = run_of([{"tool": "a"}, {"tool": "delete_account", **step}, {"tool": "delete_account"}])

    assert said(Forbidden("delete_account"), batch) == [("violated", sentence)]


def test_a_run_without_it_holds(run_of: Callable[..., RunBatch]) -> None:
    assert not said(Forbidden(["delete_account", "drop"]), run_of([{"tool": "delete"}]))


def test_stars_and_the_name_that_the_model_saw_count(run_of: Callable[..., RunBatch]) -> None:
    batch = run_of([{"tool": "admin.delete", "tool_alias": "admin_delete"}])

    assert said(Forbidden("admin.*"), batch)
    assert said(Forbidden("admin_delete"), batch)
    assert not said(Forbidden("admin"), batch)
    assert not said(Forbidden("admin?delete"), batch)


def test_a_model_of_the_same_name_is_no_tool(run_of: Callable[..., RunBatch]) -> None:
    assert not said(Forbidden("gpt"), run_of([{"operation": "llm", "tool": "gpt"}]))


def test_only_allowed_tools_may_be_attempted(run_of: Callable[..., RunBatch]) -> None:
    rule = Allowed(["lookup_*", "refund"])

    assert not said(rule, run_of([{"tool": "lookup_order"}, {"tool": "refund"}]))
    assert said(rule, run_of([{"tool": "refund"}, {"tool": "delete_account"}])) == [
        ("violated", "step 2 delete_account is not allowed: only lookup_*, refund")
    ]


def test_an_unnamed_tool_is_not_allowed(run_of: Callable[..., RunBatch]) -> None:
    assert said(Allowed("a"), run_of([{"tool": None}])) == [
        ("violated", "step 1 unnamed tool is not allowed: only a")
    ]


@pytest.mark.parametrize("name", ["missing_steps", "unfinished_span", "tools_not_observable"])
def test_a_gap_that_may_hide_a_call_is_insufficient(
    gapped: Callable[..., Trajectory], name: str
) -> None:
    batch = gapped([{"tool": "a"}], Gap(name)).batch

    assert said(Forbidden("b"), batch) == [
        ("insufficient", f"b was not seen, but {name} may hide it")
    ]
    assert said(Allowed("a"), batch) == [
        ("insufficient", f"no other tool than a was seen, but {name} may hide one")
    ]
    assert [state for state, _ in said(Forbidden("a"), batch)] == ["violated"]


def test_other_gaps_hide_no_call(gapped: Callable[..., Trajectory]) -> None:
    batch = gapped([{"tool": "a"}], Gap("content_off"), Gap("clock_skew")).batch

    assert not said(Forbidden("b"), batch)


def test_results_are_of_the_run_that_they_name(run_of: Callable[..., RunBatch]) -> None:
    batch = RunBatch.concat([run_of([{"tool": name}]) for name in "abab"])

    results = Forbidden("b").check(batch)
    assert [(r.run, r.state, r.position) for r in results] == [
        (1, State.VIOLATED, 0),
        (3, State.VIOLATED, 0),
    ]


def test_names_are_needed() -> None:
    with pytest.raises(ValueError, match="forbidden needs names of tools"):
        Forbidden([])


def test_several_tools_are_listed_in_the_sentences(run_of: Callable[..., RunBatch]) -> None:
    gaps = [{"name": "missing_steps", "position": None, "count": None, "detail": None}]
    batch = run_of([{"tool": "a"}], gaps=gaps)

    assert said(Forbidden(["b", "c"]), batch) == [
        ("insufficient", "b or c was not seen, but missing_steps may hide it")
    ]
    assert said(Allowed(["a", "c"]), batch) == [
        ("insufficient", "no other tool than a, c was seen, but missing_steps may hide one")
    ]


def test_only_the_agents_own_attempts_count(run_of: Callable[..., RunBatch]) -> None:
    batch = run_of([{"tool": "a", "agent": "x"}, {"tool": "a", "agent": "y"}, {"tool": "a"}])

    assert said(Forbidden("a", agent="y"), batch) == [("violated", "step 2 a is forbidden")]
    assert said(Forbidden("b", agent="z"), batch) == []
    assert said(Allowed("b", agent="x"), batch) == [("violated", "step 1 a is not allowed: only b")]


def test_an_attempt_of_which_nobody_recorded_whose_it_is_may_be_the_agents(
    run_of: Callable[..., RunBatch],
) -> None:
    batch = run_of([{"tool": "a", "agent": "x"}, {"tool": "a"}])

    assert said(Forbidden("a", agent="y"), batch) == [
        ("insufficient", "a was called, but whether agent y called it was not recorded")
    ]
    assert said(Allowed("b", agent="y"), batch) == [
        (
            "insufficient",
            "another tool than b was called, but whether agent y called it was not recorded",
        )
    ]
    assert [state for state, _ in said(Forbidden("a", agent="x"), batch)] == ["violated"]
    assert not said(Allowed("a", agent="y"), batch)
