"""What holds for any two runs."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.diff import diff_trajectories

Records = list[dict[str, Any]]
KINDS = {"get": "lookup", "pay": "mutate", "tell": "notify"}

VALUE = st.one_of(
    st.sampled_from(["A1", "B2", "C3", "gold", ""]),
    st.integers(0, 100),
    st.booleans(),
    st.none(),
    st.lists(st.sampled_from(["A1", "B2"]), max_size=2),
)
RECORD = st.fixed_dictionaries(
    {
        "tool": st.sampled_from(["get", "pay", "tell", "misc"]),
        "arguments": st.dictionaries(st.sampled_from(["id", "n", "text"]), VALUE, max_size=3),
        "result": st.one_of(VALUE, st.dictionaries(st.sampled_from(["id", "total"]), VALUE)),
    }
)
RUN = st.lists(RECORD, min_size=1, max_size=8)


@st.composite
def grouped_runs(draw: st.DrawFn) -> Records:
    """A run of which some neighbours were asked for by one model turn."""
    run = [dict(record) for record in draw(RUN)]
    group = 0
    for record in run:
        group += draw(st.booleans())
        record["group"] = group
    return run


@given(grouped_runs())
@settings(max_examples=60, deadline=None)
def test_a_run_does_not_differ_from_itself(run: Records) -> None:
    found = diff_trajectories(run, run, kinds=KINDS)

    assert (found.status, found.differences) == ("ok", ())
    assert found.matched_steps == len(run)


@given(grouped_runs(), grouped_runs())
@settings(max_examples=60, deadline=None)
def test_both_directions_count_alike(a: Records, b: Records) -> None:
    forth, back = diff_trajectories(a, b, kinds=KINDS), diff_trajectories(b, a, kinds=KINDS)

    assert forth.missing_in_candidate == back.unexpected_in_candidate
    assert forth.unexpected_in_candidate == back.missing_in_candidate
    assert forth.matched_steps == back.matched_steps
    assert forth.drifted_steps == back.drifted_steps
    assert len(forth.argument_drift) == len(back.argument_drift)
    assert len(forth.result_drift) == len(back.result_drift)
    assert len(forth.reordered) == len(back.reordered)
    assert forth.terminal_action_changed == back.terminal_action_changed


@given(grouped_runs(), grouped_runs(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_inside_a_parallel_group_changes_nothing(
    a: Records, b: Records, chance: random.Random
) -> None:
    shuffled = sorted(b, key=lambda record: (record["group"], chance.random()))
    before, after = (diff_trajectories(a, run, kinds=KINDS) for run in (b, shuffled))

    def without_numbers(found: Any) -> list[tuple[Any, ...]]:
        return sorted(
            (d.what.value, d.tool, d.level.value, d.path or "", repr(d.reference_value))
            for d in found.differences
        )

    assert without_numbers(before) == without_numbers(after)
    assert before.candidate_terminal == after.candidate_terminal


@given(RUN, RECORD, st.integers(0, 8))
@settings(max_examples=60, deadline=None)
def test_one_inserted_step_is_one_unexpected_call_and_nothing_else(
    run: Records, extra: dict[str, Any], place: int
) -> None:
    found = diff_trajectories(run, [*run[:place], extra, *run[place:]], kinds=KINDS)

    assert found.unexpected_in_candidate == (extra["tool"],)
    assert found.missing_in_candidate == ()
    assert found.argument_drift == ()
    assert found.reordered == ()
    assert found.matched_steps == len(run)


@given(RUN, st.data())
@settings(max_examples=60, deadline=None)
def test_a_changed_amount_of_a_mutation_always_fails(run: Records, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(run)))
    paid = {"tool": "refund", "arguments": {"amount": 84.0}, "result": 1}
    halved = {**paid, "arguments": {"amount": 42.0}}
    found = diff_trajectories(
        [*run[:place], paid, *run[place:]],
        [*run[:place], halved, *run[place:]],
        kinds={**KINDS, "refund": "mutate"},
    )

    assert found.status == "fail"
    assert [(d.tool, d.path) for d in found.argument_drift] == [("refund", "$.amount")]
