"""An answer that says no, or that nothing was found, permits no later step."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from trackway_analyzer.answers_no import MAY_ANSWER_NO, answers_no
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import Policy

NO = [
    {"valid": False},
    {"verified": "no", "reason": "wrong pin"},
    {"isAuthenticated": False},
    {"eligible": False, "id": "B2"},
    {"match": False},
    {"found": False, "id": "B2"},
    {"id": "B2", "status": "not_found"},
    {"code": 404, "id": "B2"},
    {"statusCode": "404"},
    {"message": "Order B2 not found"},
    {"result": "no"},
    "No",
    "false",
    "Identity not verified",
    "Order 'B2' does not exist",
    "No order found with id B2",
    "Could not find order B2",
    "We have no record of B2",
    "B2: unknown order",
    "0 results for B2",
]
YES = [
    {"valid": True},
    {"fraud": False},
    {"exists": False},
    {"id": "B2", "note": "do not call"},
    {"id": "B2", "error": None},
    {"status": "cancelled"},
    {"code": 200},
    {"valid_from": False},
    "ok",
    "Notified",
    "Verified. " + "Nothing was not found. " * 20,
    [],
    {},
]
TOOLS = """version: 1
tools:
  check: {kind: lookup, entity: {type: order, result: $.id}}
  refund: {kind: mutate, entity: {type: order, argument: order_id}}
rules:
"""
PERMITTING = [
    "before: [check, refund]",
    "after: [refund, check]",
    "sequence: [check, refund]",
    "grounded: {tool: refund, argument: order_id, from: check}",
]


def states(rule: str, answer: Any) -> list[str]:
    policy = Policy.from_yaml(f"{TOOLS}  - {rule}\n")
    calls = [
        {"tool": "check", "arguments": {"order_id": "B2"}, "result": answer},
        {"tool": "refund", "arguments": {"order_id": "B2"}, "result": {"ok": True}},
    ]
    return [finding.state.value for finding in policy.findings(trajectory_of(calls).batch)]


@pytest.mark.parametrize("answer", NO, ids=repr)
def test_an_answer_that_says_no_is_told(answer: Any) -> None:
    assert answers_no(answer) is not None
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    assert re.search(MAY_ANSWER_NO, text), "the check of files would not look at it"


@pytest.mark.parametrize("answer", YES, ids=repr)
def test_another_answer_says_no_such_thing(answer: Any) -> None:
    assert answers_no(answer) is None


@pytest.mark.parametrize("rule", PERMITTING)
@pytest.mark.parametrize("answer", NO, ids=repr)
def test_it_permits_no_later_step(rule: str, answer: Any) -> None:
    assert states(rule, answer) in (["insufficient"], ["violated"])


@pytest.mark.parametrize("rule", PERMITTING)
def test_a_yes_permits_it(rule: str) -> None:
    assert states(rule, {"id": "B2", "valid": True}) == []


@pytest.mark.parametrize("answer", NO[:5], ids=repr)
def test_the_call_itself_was_made(answer: Any) -> None:
    assert states("called: check", answer) == []


def test_a_declared_success_decides() -> None:
    tools = TOOLS.replace("kind: lookup,", "kind: lookup, success: $.valid == false,")
    policy = Policy.from_yaml(f"{tools}  - before: [check, refund]\n")
    calls = [{"tool": "check", "result": {"valid": False}}, {"tool": "refund", "result": "ok"}]
    assert policy.findings(trajectory_of(calls).batch) == []


def test_the_sentence_says_what_it_answered() -> None:
    policy = Policy.from_yaml(f"{TOOLS}  - before: [check, refund]\n")
    calls = [{"tool": "check", "result": {"valid": False}}, {"tool": "refund", "result": "ok"}]
    (finding,) = policy.findings(trajectory_of(calls).batch)
    assert finding.sentence == (
        "before: check, refund cannot be judged: step 1 check may not have taken effect:"
        " valid false"
    )
