"""A policy mined from passing runs: what held, with its support, and nothing that did not hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.records import RunFacts, batch_of_runs
from trackway_analyzer.rules import Policy
from trackway_analyzer.rules.mine import mine

KINDS = {
    "lookup_order": "lookup",
    "check_policy": "lookup",
    "refund_api.create": "mutate",
    "send_email": "notify",
}


def refunds(refund: Any, *orders: str) -> RunBatch:
    runs = []
    for number, order in enumerate(orders):
        total = 100.0 + number
        calls = [
            refund.lookup(order, total),
            refund.policy(order=order),
            refund.refund(order, total),
            refund.email(),
        ]
        runs.append([call | {"kind": KINDS[call["tool"]]} for call in calls])
    return batch_of_runs(runs, [RunFacts(o, "Done.", f"Refund {o}, please") for o in orders])


def test_the_whole_proposal(refund: Any) -> None:
    assert mine(refunds(refund, "A11", "A12", "A13")).to_yaml() == (
        """\
# Mined from 3 runs (nobody judged them; without an error).
version: 1
tools:
  check_policy: {kind: lookup}  # 3 of 3 calls say so
  lookup_order: {kind: lookup}  # 3 of 3 calls say so
  refund_api.create: {kind: mutate}  # 3 of 3 calls say so
  send_email: {kind: notify}  # 3 of 3 calls say so
rules:
  - called: check_policy  # in 3 of 3 runs
  - called: lookup_order  # in 3 of 3 runs
  - called: refund_api.create  # in 3 of 3 runs
  - called: send_email  # in 3 of 3 runs
  - before: [check_policy, refund_api.create]  # in 3 of 3 runs
  - before: [lookup_order, check_policy]  # in 3 of 3 runs
  - before: [refund_api.create, send_email]  # in 3 of 3 runs
  - grounded: {tool: check_policy, argument: order_id, from: lookup_order.id}"""
        """  # in 3 of 3 calls; also from input
  - grounded: {tool: lookup_order, argument: order_id, from: input}  # in 3 of 3 calls
  - grounded: {tool: refund_api.create, argument: amount, from: lookup_order.total}"""
        """  # in 3 of 3 calls
  - grounded: {tool: refund_api.create, argument: order_id, from: lookup_order.id}"""
        """  # in 3 of 3 calls; also from input
  - count: {tool: refund_api.create, max: 1}  # the most of 3 runs
  - terminal: send_email  # all of 3 runs
  - budget: {steps: 4}  # the most of 3 runs
"""
    )


def test_the_proposal_catches_what_deviates(refund: Any) -> None:
    policy = Policy.from_yaml(mine(refunds(refund, "A11", "A12", "A13")).to_yaml())
    wrong = refunds(refund, "A14")
    calls = [
        refund.lookup("A14", 100.0),
        refund.policy(order="A14"),
        refund.refund("B99", 50.0),
        refund.email(),
    ]
    bad = batch_of_runs([calls], [RunFacts("x", "Done.", "Refund A14, please")])

    assert policy.findings(wrong) == []
    assert [finding.rule for finding in policy.findings(bad)] == [
        "grounded: refund_api.create amount",
        "grounded: refund_api.create order_id",
    ]


runs = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c.d", "e f"]),
            st.booleans(),
            st.sampled_from([7, 123, "X99"]),
        ),
        max_size=4,
    ),
    min_size=3,
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(runs)
def test_every_run_that_was_mined_keeps_the_proposal(
    calls: list[list[tuple[str, bool, Any]]],
) -> None:
    records = [
        [
            {"tool": tool, "ok": ok, "arguments": {"x": value}, "result": {"y": [value]}}
            for tool, ok, value in run
        ]
        for run in calls
    ]
    about = [RunFacts(str(n), "Done.", "about X99") for n in range(len(records))]
    batch = batch_of_runs(records, about)
    if any(calls):
        assert Policy.from_yaml(mine(batch).to_yaml()).findings(batch) == []
    else:
        with pytest.raises(ValueError, match="have nothing in common"):
            mine(batch)


class TestWhichRuns:
    def test_runs_that_the_oracle_passed(self, run_of: Callable[..., RunBatch]) -> None:
        passed = run_of([{"tool": "a"}], outcome_success=True)
        failed = run_of([{"tool": "b"}], outcome_success=False)
        mined = mine(RunBatch.concat([passed, failed, passed, passed]))

        assert (mined.runs, mined.chosen) == (3, "passed by the task's oracle")
        assert "called: b" not in mined.to_yaml()

    def test_runs_without_an_error_where_nobody_judged(
        self, run_of: Callable[..., RunBatch]
    ) -> None:
        fine, bad = run_of([{"tool": "a"}]), run_of([{"tool": "b"}], error_type="TimeoutError")

        assert mine(RunBatch.concat([fine, bad, fine, fine])).runs == 3

    def test_runs_that_may_hide_steps_are_left_out(
        self, run_of: Callable[..., RunBatch], gapped: Callable[..., Trajectory]
    ) -> None:
        whole = run_of([{"tool": "a"}])
        hidden = gapped([{"tool": "b"}], Gap("missing_steps")).batch

        assert mine(RunBatch.concat([whole, hidden, whole, whole])).runs == 3

    def test_too_few_runs_are_refused(self, run_of: Callable[..., RunBatch]) -> None:
        with pytest.raises(ValueError, match="expected at least 3 runs to mine, found 1"):
            mine(run_of([{"tool": "a"}]))
        assert mine(run_of([{"tool": "a"}]), least=1).runs == 1


def test_a_pair_that_follows_from_two_others_is_left_out(run_of: Callable[..., RunBatch]) -> None:
    batch = RunBatch.concat([run_of([{"tool": "a"}, {"tool": "b"}, {"tool": "c"}])] * 3)
    text = mine(batch).to_yaml()

    assert "before: [a, b]" in text
    assert "before: [b, c]" in text
    assert "before: [a, c]" not in text


def test_an_unknown_kind_is_only_guessed_in_a_comment(run_of: Callable[..., RunBatch]) -> None:
    batch = RunBatch.concat([run_of([{"tool": "get_order"}, {"tool": "refund"}])] * 3)
    text = mine(batch).to_yaml()

    assert "  get_order: {}  # kind not recorded; reads like lookup\n" in text
    assert "  refund: {}  # kind not recorded; reads like mutate?\n" in text


@pytest.mark.parametrize(
    ("totals", "support"),
    [
        ((19.99, 42.5, 99.99, 84.0), "in 4 of 4 calls"),
        ((19.99, 142.5, 199.99, 84.0), "in 4 of 4 calls"),
        ((19.99, 19.99, 19.99, 19.99), None),
        ((1, 2, 3, 4), None),
    ],
)
def test_small_amounts_that_differ_are_support(
    refund: Any, totals: tuple[float, ...], support: str | None
) -> None:
    runs = [
        [refund.lookup(f"A1{n}", total), refund.refund(f"A1{n}", total)]
        for n, total in enumerate(totals)
    ]
    lines = mine(batch_of_runs(runs, [RunFacts(str(n), "") for n in range(len(runs))])).rules
    found = [line for line in lines if "argument: amount" in line.text]

    assert [line.support for line in found] == ([] if support is None else [support])
