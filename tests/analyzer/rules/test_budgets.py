"""Limits on what a run may take: too much is seen, within the limit needs all of it recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.rules import Budget, State

MODEL = {"operation": "llm", "tokens_in": 900, "tokens_out": 100, "cost": 0.02}
TOOL = {"tool": "a"}


def said(rule: Budget, batch: RunBatch) -> list[tuple[str, str]]:
    results = rule.check(batch)
    return [(result.state.value, rule.explain(batch, result).sentence) for result in results]


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ({"steps": 3}, "the run took 4 steps, allowed 3 (reached at step 4)"),
        ({"tool_calls": 1}, "the run took 2 tool calls, allowed 1 (reached at step 4)"),
        ({"model_calls": 1}, "the run took 2 model calls, allowed 1 (reached at step 3)"),
        ({"retries": 0}, "the run took 1 retry, allowed 0 (reached at step 4)"),
        ({"tokens": 1500}, "the run took 2,000 tokens, allowed 1,500 (reached at step 3)"),
        ({"tokens_in": 1}, "the run took 1,800 tokens in, allowed 1 (reached at step 1)"),
        ({"tokens_out": 199}, "the run took 200 tokens out, allowed 199 (reached at step 3)"),
        (
            {"cost_usd": 0.03},
            "the run took $0.04, allowed $0.03 (reached at step 3)",
        ),
        ({"seconds": 60}, "the run took 61.5 seconds, allowed 60"),
        (
            {"steps": 2, "tokens": 1999},
            "the run took 4 steps, allowed 2; 2,000 tokens, allowed 1,999 (reached at step 3)",
        ),
    ],
)
def test_too_much_violates(
    run_of: Callable[..., RunBatch], limit: dict[str, Any], sentence: str
) -> None:
    batch = run_of([MODEL, TOOL, MODEL, TOOL | {"attempt": 2}], duration_s=61.5)

    assert said(Budget(**limit), batch) == [("violated", sentence)]


def test_exactly_the_limit_holds(run_of: Callable[..., RunBatch]) -> None:
    batch = run_of([MODEL, TOOL, MODEL], duration_s=60.0)
    rule = Budget(
        steps=3, tool_calls=1, model_calls=2, retries=0, tokens=2000, cost_usd=0.04, seconds=60
    )

    assert not said(rule, batch)


def test_sums_of_cents_are_no_violation(run_of: Callable[..., RunBatch]) -> None:
    models = [MODEL | {"cost": 0.1}] * 3

    assert not said(Budget(cost_usd=0.3), run_of(models))


def test_requests_that_nobody_ran_do_not_count(run_of: Callable[..., RunBatch]) -> None:
    assert not said(Budget(steps=1), run_of([TOOL, TOOL | {"executed": False}]))


@pytest.mark.parametrize(
    ("limit", "steps", "run", "sentence"),
    [
        ({"tokens": 9999}, [MODEL | {"tokens_out": None}], {}, "tokens were not recorded"),
        ({"cost_usd": 1}, [MODEL | {"cost": None}], {}, "cost was not recorded"),
        ({"seconds": 9}, [MODEL], {"duration_s": None}, "seconds were not recorded"),
        ({"tokens": 9}, [TOOL], {}, "tokens were not recorded"),
        ({"model_calls": 9}, [TOOL], {}, "model calls were not recorded"),
        (
            {"steps": 9},
            [TOOL],
            {"gaps": [{"name": "missing_steps", "count": 1}]},
            "missing_steps may hide more",
        ),
    ],
)
def test_what_was_not_recorded_is_no_pass(
    run_of: Callable[..., RunBatch],
    limit: dict[str, Any],
    steps: list[dict[str, Any]],
    run: dict[str, Any],
    sentence: str,
) -> None:
    assert said(Budget(**limit), run_of(steps, **run)) == [
        ("insufficient", f"no limit was seen exceeded, but {sentence}")
    ]


def test_too_much_is_too_much_although_more_is_hidden(run_of: Callable[..., RunBatch]) -> None:
    batch = run_of([MODEL, MODEL | {"tokens_out": None}], gaps=[{"name": "missing_steps"}])

    assert [state for state, _ in said(Budget(tokens=1000), batch)] == ["violated"]


def test_steps_of_nobody_knows_whom_may_be_the_agents(run_of: Callable[..., RunBatch]) -> None:
    batch = run_of([MODEL | {"agent": "a"}, MODEL])

    assert said(Budget(tokens=1500, agent="b"), batch) == []
    assert said(Budget(tokens=1500, agent="a"), batch) == [
        (
            "insufficient",
            "no limit was seen exceeded, but whether more is of agent a was not recorded",
        )
    ]
    assert said(Budget(model_calls=2, agent="a"), batch) == []
    assert [state for state, _ in said(Budget(model_calls=0, agent="b"), batch)] == ["insufficient"]


def test_one_agents_share(run_of: Callable[..., RunBatch]) -> None:
    batch = run_of([MODEL | {"agent": "a"}, MODEL | {"agent": "b"}, MODEL | {"agent": "b"}])

    assert said(Budget(tokens=1500, agent="b"), batch) == [
        ("violated", "agent b spent 2,000 tokens, allowed 1,500 (reached at step 3)")
    ]
    assert not said(Budget(tokens=1500, agent="a"), batch)


@given(st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=5), st.integers(0, 9))
def test_each_run_of_a_batch_is_summed_for_itself(spent: list[list[int]], limit: int) -> None:
    from trackway_analyzer.tables import RUN_SCHEMA, STEP_SCHEMA, table_of

    rows = [(run, place, n) for run, tokens in enumerate(spent) for place, n in enumerate(tokens)]
    batch = RunBatch.of(
        table_of(RUN_SCHEMA, {"run_id": [str(n) for n in range(len(spent))]}, len(spent)),
        table_of(
            STEP_SCHEMA,
            {
                "run": [run for run, _, _ in rows],
                "position": [place for _, place, _ in rows],
                "group": [place for _, place, _ in rows],
                "operation": ["llm"] * len(rows),
                "tokens_in": [n for _, _, n in rows],
                "tokens_out": [0] * len(rows),
            },
            len(rows),
        ),
    )
    results = Budget(tokens=limit).check(batch)

    over = [run for run, tokens in enumerate(spent) if sum(tokens) > limit]
    assert [r.run for r in results if r.state is State.VIOLATED] == over
    assert [r.run for r in results if r.state is State.INSUFFICIENT] == [
        run for run, tokens in enumerate(spent) if not tokens
    ]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "a budget needs a limit: steps,"),
        ({"steps": -1}, "the limit of steps must be a number from 0, found -1"),
        ({"seconds": float("nan")}, "the limit of seconds must be a number from 0, found nan"),
        ({"cost_usd": float("inf")}, "the limit of cost_usd must be a number from 0, found inf"),
        ({"seconds": 3, "agent": "a"}, "seconds are of the run"),
    ],
)
def test_wrong_limits_are_refused(limits: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as raised:
        Budget(**limits)
    assert str(raised.value).startswith(message)
