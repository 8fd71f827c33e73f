"""A result that reads like a failure: what rules say that need the call's success."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trackway_analyzer.records import batch_of
from trackway_analyzer.rules import Called, Claim, Policy


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ({"message": "Payment failed"}, 'message "Payment failed"'),
        ({"data": {"status": "failed"}, "id": 1}, 'data {"status":"failed"}'),
        ("Sorry, your payment failed.", 'it answered "Sorry, your payment failed."'),
        ([{"ok": False}], 'it answered [{"ok":false}]'),
    ],
)
def test_rules_that_need_the_success_are_undecided_and_say_why(
    said: Callable[..., Any], result: Any, why: str
) -> None:
    run = [{"tool": "pay", "kind": "mutate", "arguments": {}, "result": result}]
    sentence = f"called: pay cannot be judged: step 1 pay may not have taken effect: {why}"
    assert said(Called("pay"), run) == [("insufficient", sentence)]


def test_a_declared_success_decides() -> None:
    run = [{"tool": "pay", "arguments": {}, "result": {"message": "Payment failed"}}]
    policy = """
version: 1
tools:
  pay: {kind: mutate, success: "%s"}
rules:
  - called: pay
"""
    for success, states in (("$.message", []), ("$.id", ["violated"])):
        findings = Policy.from_yaml(policy % success).findings(batch_of(run))
        assert [finding.state for finding in findings] == states


def test_a_claim_of_what_may_have_failed_is_no_pass() -> None:
    run = [
        {"tool": "pay", "kind": "mutate", "arguments": {}, "result": {"message": "Payment failed"}}
    ]
    batch = batch_of(run, final_text="Your payment was processed.")
    findings = Policy(Claim("payment was processed", "pay")).findings(batch)
    assert [finding.state for finding in findings] == ["insufficient"]
