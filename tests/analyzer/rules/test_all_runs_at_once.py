"""Rules of order judge all runs at once, by columns: each run gets what it gets by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import Gap
from trackway_analyzer.rules import (
    Accompanied,
    After,
    AtMostOnceBetween,
    Before,
    Between,
    Called,
    Count,
    First,
    Immediately,
    Last,
    Never,
    NotAfter,
    NotTogether,
    PartialOrder,
    Recovered,
    Responds,
    StepRegex,
    Together,
    Until,
)
from trackway_analyzer.rules.calls import Call
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Result, State, results_of
from trackway_analyzer.rules.worlds import ShapeRule
from trackway_analyzer.stretches import distinct, taken

ORDER_RULES: list[ShapeRule] = [
    Called("a"),
    Called("b", times=2),
    Never("a"),
    First("a"),
    Last("b"),
    Accompanied("a", "b"),
    Together("a", "b"),
    NotTogether("a", "b"),
    Before("a", "b"),
    Before("a", "b", required=True),
    After("a", "c"),
    NotAfter("b", "a"),
    Responds("a", "b"),
    Immediately("a", "b"),
    Immediately("a", "a"),
    Between("c", "a", "b"),
    AtMostOnceBetween("c", "a", "b"),
    Until(("a", "c"), "b"),
    PartialOrder([("a", "b"), ("a", "c")]),
    Recovered(),
    Recovered("a", "b"),
    StepRegex("a b* c?"),
    StepRegex("(a | b)+ c", "allow"),
    StepRegex("a* b", "forbid"),
    StepRegex(". a .*", "allow"),
    StepRegex("(a b?)* (c | d)+", "reads"),
]
COUNTS: list[Count] = [
    Count("a", exactly=1),
    Count("a", min=1, max=2),
    Count("a", max=0),
    Count("b", min=2),
]

steps = st.tuples(
    st.sampled_from(["a", "a", "b", "b", "c", "d", None]),  # None: a model call
    st.sampled_from([None, "lookup", "mutate"]),
    st.sampled_from([True, True, True, False, None]),
    st.sampled_from([None, None, None, "g", "h"]),
)
gaps = st.sampled_from(
    [
        (),
        (),
        (),
        (Gap("missing_steps", position=0),),
        (Gap("missing_steps", count=2),),
        (Gap("unfinished_span", position=1),),
        (Gap("clock_skew"),),
        (Gap("content_off"),),
        (Gap("tools_not_observable"),),
    ]
)
runs = st.tuples(st.lists(steps, max_size=6), gaps)


def steps_of(drawn: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    turns: dict[str, int] = {}
    return [
        {"operation": "llm", "ok": None}
        if tool is None
        else {
            "tool": tool,
            "kind": kind,
            "ok": ok,
            "group": position if turn is None else turns.setdefault(turn, position),
        }
        for position, (tool, kind, ok, turn) in enumerate(drawn)
    ]


def together(drawn: list[Any], run_of: Callable[..., RunBatch]) -> RunBatch:
    return RunBatch.concat(
        [run_of(steps_of(one), gaps=[asdict(gap) for gap in gaps]) for one, gaps in drawn]
    )


def calls_of(evidence: Evidence, run: int) -> list[Call]:
    """The calls of a run, read one by one."""
    calls: list[Call] = []
    rows = evidence.calls(run)
    groups = [evidence.group[row] for row in rows]
    for index, row in enumerate(rows):
        group = groups.index(groups[index])
        ok = evidence.succeeded(row) is True
        calls.append(Call(evidence.tool[row], evidence.kind[row], ok, group))
    return calls


@settings(max_examples=50, deadline=None)
@given(drawn=st.lists(runs, min_size=1, max_size=8))
def test_a_run_without_gaps_is_broken_where_its_own_sequence_is(
    run_of: Callable[..., RunBatch], drawn: list[Any]
) -> None:
    evidence = Evidence.of(together(drawn, run_of))
    known = [
        run
        for run in range(len(evidence))
        if run not in evidence.blurred
        and all(evidence.succeeded(row) is not None for row in evidence.calls(run))
    ]
    for rule in ORDER_RULES:
        found = {result.run: result for result in results_of(rule.found(3, evidence))}
        for run in known:
            broken, expected = rule.broken(calls_of(evidence, run)), None
            if broken is not None:
                row = None if broken.index is None else evidence.calls(run)[broken.index]
                position = None if row is None else evidence.position(row)
                expected = Result(run, State.VIOLATED, position, broken.detail)
            assert found.get(run) == expected, rule


@settings(max_examples=20, deadline=None)
@given(drawn=st.lists(runs, min_size=1, max_size=5), data=st.data())
def test_a_run_among_others_gets_what_it_gets_alone_gaps_and_all(
    run_of: Callable[..., RunBatch], drawn: list[Any], data: st.DataObject
) -> None:
    rules = data.draw(st.lists(st.sampled_from([*ORDER_RULES, *COUNTS]), min_size=8, unique=True))
    evidence = Evidence.of(together(drawn, run_of))
    alone = [Evidence.of(together([one], run_of)) for one in drawn]
    for rule in rules:
        expected = [
            Result(run, result.state, result.position, result.detail)
            for run, own in enumerate(alone)
            for result in rule.check(own)
        ]
        assert rule.check(evidence) == expected, rule


@settings(max_examples=50, deadline=None)
@given(drawn=st.lists(runs, min_size=1, max_size=6))
def test_counts_of_all_runs_are_those_of_each(
    run_of: Callable[..., RunBatch], drawn: list[Any]
) -> None:
    evidence = Evidence.of(together(drawn, run_of))
    for rule in COUNTS:
        rows = evidence.rows(rule.tool)
        judged = (rule.judge(evidence, run, rows.get(run, [])) for run in range(len(drawn)))
        assert rule.check(evidence) == [result for result in judged if result is not None], rule


@given(
    stretches=st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=30),
    beside=st.sampled_from(
        [[], [[10**12, 10**12]], [[1, 2, 3] * 20], [[0, 1] * 200, [1, 0] * 200]]
    ),
)
def test_stretches_have_one_number_if_they_hold_the_same(
    stretches: list[list[int]],
    beside: list[list[int]],  # one word of 64 bits does not hold these
) -> None:
    stretches = [*stretches, *beside, *stretches]
    values = np.array([value for one in stretches for value in one], dtype=np.int64)
    cuts = np.cumsum([0, *map(len, stretches)])

    number, first = distinct(values, cuts)

    order = list(dict.fromkeys(map(tuple, stretches)))
    assert [order[n] for n in number] == list(map(tuple, stretches))
    places, own = taken(cuts, first)
    assert [tuple(values[places[a:b]]) for a, b in pairwise(own)] == order
