"""Partial orders against every choice of calls."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import PartialOrder

EDGES = [("a", "c"), ("b", "c"), ("c", "d")]


def any_choice_works(run: list[tuple[str, bool, int]], edges: list[tuple[str, str]]) -> bool:
    tools = sorted({tool for edge in edges for tool in edge})
    done = {t: [i for i, (tool, ok, _) in enumerate(run) if tool == t and ok] for t in tools}
    return any(
        all(
            dict(zip(tools, choice, strict=True))[a] < dict(zip(tools, choice, strict=True))[b]
            and run[dict(zip(tools, choice, strict=True))[a]][2]
            != run[dict(zip(tools, choice, strict=True))[b]][2]
            for a, b in edges
        )
        for choice in product(*done.values())
    )


def grouped(calls: list[tuple[str, bool, bool]]) -> list[tuple[str, bool, int]]:
    """Number the groups of calls, each of which may join the one before."""
    run: list[tuple[str, bool, int]] = []
    for tool, ok, joins in calls:
        run.append((tool, ok, run[-1][2] if joins and run else len(run)))
    return run


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.booleans()), max_size=7),
    st.lists(st.sampled_from(EDGES), min_size=1, max_size=3, unique=True),
)
def test_the_earliest_choice_works_if_any_does(
    calls: list[tuple[str, bool, bool]], edges: list[tuple[str, str]]
) -> None:
    run = grouped(calls)
    records = [{"tool": tool, "ok": ok, "group": group} for tool, ok, group in run]

    found = PartialOrder(edges).check(trajectory_of(records, final_text="").batch)
    assert (not found) is any_choice_works(run, edges)


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        ("bacd", None),
        ("abcd", None),
        ("abdc", "step 3 d did not come after c at step 4"),
        ("acbd", "step 2 c did not come after b at step 3"),
        ("abc", "d was never recorded"),
        ("abcD", "d never succeeded: d at step 4 did not succeed"),
    ],
)
def test_the_sentence(said: Callable[..., Any], call: Any, run: str, sentence: str | None) -> None:
    records = [call(letter.lower(), ok=letter.islower()) for letter in run]

    expected = [] if sentence is None else [("violated", sentence)]
    assert said(PartialOrder(EDGES), records) == expected


def test_tools_without_an_edge_must_come_too(said: Callable[..., Any], call: Any) -> None:
    rule = PartialOrder([["a", "b"]], ["x"])

    assert said(rule, [call("x"), call("a"), call("b")]) == []
    assert said(rule, [call("a"), call("b")]) == [("violated", "x was never recorded")]


def test_hidden_steps_leave_it_open(
    said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory]
) -> None:
    rule = PartialOrder([["a", "b"], ["b", "c"]])

    def states(count: int) -> list[str]:
        run = gapped([call("a")], Gap("missing_steps", count=count))
        return [state for state, _ in said(rule, run)]

    assert states(1) == ["violated"]
    assert states(2) == ["insufficient"]


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([["a", "b"], ["b", "a"]], "no order is possible"),
        ([["a"]], r"an edge is \[earlier tool, later tool\]"),
        ([], "a partial order needs edges or tools"),
    ],
)
def test_what_is_no_order_is_refused(edges: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PartialOrder(edges)


def every_pass_in_order(run: list[tuple[str, bool, int]], edges: list[tuple[str, str]]) -> bool:
    tools = {tool for edge in edges for tool in edge}
    places = {t: [g for tool, ok, g in run if tool == t and ok] for t in tools}
    if len({len(found) for found in places.values()}) != 1 or not all(places.values()):
        return False
    return all(
        first < second for a, b in edges for first, second in zip(places[a], places[b], strict=True)
    )


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.booleans()), max_size=9),
    st.lists(st.sampled_from(EDGES), min_size=1, max_size=3, unique=True),
)
def test_every_pass_is_judged_where_the_rule_says_so(
    calls: list[tuple[str, bool, bool]], edges: list[tuple[str, str]]
) -> None:
    run = grouped(calls)
    records = [{"tool": tool, "ok": ok, "group": group} for tool, ok, group in run]

    batch = trajectory_of(records, final_text="").batch
    assert (not PartialOrder(edges, every_pass=True).check(batch)) is every_pass_in_order(
        run, edges
    )


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        ("abab", None),
        ("aabb", None),
        ("abba", "step 3 b is the 2nd b, and did not come after the 2nd a"),
        ("ababab" + "ba", "step 7 b is the 4th b, and did not come after the 4th a"),
        ("ba", "step 1 b is the 1st b, and did not come after the 1st a"),
        ("aba", "step 2 b is the last b, and other steps were done more often"),
        ("a", "b was never recorded"),
        ("", "a was never recorded"),
    ],
)
def test_a_pass_out_of_order_is_named(
    said: Callable[..., Any], run: str, sentence: str | None
) -> None:
    records = [{"tool": tool, "ok": True} for tool in run]
    found = said(PartialOrder([("a", "b")], every_pass=True), records)
    assert found == ([] if sentence is None else [("violated", sentence)])
    if run in ("abba", "aba"):
        assert said(PartialOrder([("a", "b")]), records) == []


@pytest.mark.parametrize(("hidden", "state"), [(3, "insufficient"), (2, "violated")])
def test_a_step_that_is_hidden_may_be_of_any_pass(
    gapped: Callable[..., Trajectory], hidden: int, state: str
) -> None:
    records = [{"tool": "a", "ok": True} for _ in range(3)]
    run = gapped(records, Gap("missing_steps", None, hidden))
    found = PartialOrder([("a", "b")], every_pass=True).check(run.batch)
    assert [result.state.value for result in found] == [state]
