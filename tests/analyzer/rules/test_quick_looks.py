"""What is judged once for many runs, or cleared by a quick look, is what a single look says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trackway_analyzer.records import batch_of_runs
from trackway_analyzer.rules import EntitySpec, Grounded, Sequence, State, StepSpec, ToolSpec
from trackway_analyzer.rules.claim_language import claims, sentences
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.rule import ToolRule
from trackway_analyzer.rules.sequence import UnknownKind
from trackway_analyzer.rules.tools import merged_tools

TOOLS = {
    "lookup_order": ToolSpec("lookup", EntitySpec("order", None, "$.id")),
    "refund": ToolSpec("mutate", EntitySpec("order", "order_id", None)),
}
ids = st.sampled_from(["A1", "B2", 1, 1.0, True, None, ["A1", "B2"]])
statuses = st.sampled_from(["succeeded", "failed", "pending"])

lookups = st.builds(
    lambda value, group: {"tool": "lookup_order", "result": {"id": value}, "group": group},
    ids,
    st.sampled_from([None, "g"]),
)
refunds = st.builds(
    lambda value, status, group, operation: {
        "tool": "refund",
        "arguments": {"order_id": value, "amount": 84.0},
        "result": {"status": status},
        "group": group,
        "operation_id": operation,
    },
    ids,
    statuses,
    st.sampled_from([None, "g"]),
    st.sampled_from([None, "op"]),
)
SEARCH = {"tool": "search", "kind": "lookup", "result": {"id": "A1"}}
CHARGE = {"tool": "charge", "kind": "mutate", "arguments": {"order_id": "A1"}, "result": "done"}
others = st.sampled_from(
    [
        {"tool": "check_policy", "kind": "lookup", "result": {"eligible": True}},
        {"tool": "check_policy", "kind": "lookup", "result": {"eligible": False}},
        {"tool": "email", "kind": "notify", "result": "sent"},
        {"tool": "ponder", "result": {"id": "A1"}},
        SEARCH,
        {"tool": "browse", "kind": "lookup", "result": {"id": "B2"}, "group": "g"},
        CHARGE,
        {"tool": "lookup_order"},
    ]
)
runs = st.lists(st.one_of(lookups, refunds, others), max_size=5)
rules = st.sampled_from(
    [
        Sequence(("lookup_order", "refund")),
        Sequence(("lookup_order", "refund", StepSpec("email", optional=True)), "forbid"),
        Sequence(("lookup_order", "refund"), "allow"),
        Sequence(("lookup_order", StepSpec("refund", guard="check_policy.eligible"))),
        Sequence(("lookup_order", "charge")),
        Sequence((StepSpec("charge", kind="mutate"),)),
        Sequence((StepSpec("charge", entity_arg="order_id"),), "allow"),
        Sequence((StepSpec(kind="lookup"), "refund")),
        Sequence((StepSpec("refund", where="amount == 84"),)),
        Sequence((StepSpec("refund", success='$.status == "succeeded"'), "refund")),
        Grounded("refund", "order_id", "order"),
        Grounded("refund", "order_id", "lookup_order.id"),
        Grounded("refund", "order_id", ("lookup_order.id", "ponder.id")),
    ]
)


@settings(max_examples=80, deadline=None)
@given(st.lists(runs, min_size=1, max_size=6), rules)
@example([[SEARCH, CHARGE], [CHARGE]], Sequence((StepSpec("charge"),)))
@example([[SEARCH, CHARGE], [CHARGE]], Sequence((StepSpec("charge", entity_arg="order_id"),)))
def test_a_batch_says_of_each_run_what_the_run_says_alone(
    calls: list[list[dict[str, Any]]], rule: Any
) -> None:
    evidence = Evidence.of(batch_of_runs([*calls, *calls]), {**TOOLS, **rule.declares()})
    found = {result.run: result for result in rule.check(evidence)}
    rows = evidence.rows(rule.tool) if isinstance(rule, ToolRule) else {}
    for run in range(len(evidence)):
        if isinstance(rule, ToolRule):
            alone = rule.judge(evidence, run, rows.get(run, []))
        else:
            alone = rule.judge(evidence, run)
        assert found.get(run) == alone


@settings(max_examples=60, deadline=None)
@given(st.lists(runs, min_size=1, max_size=4))
def test_extras_of_unknown_kind_are_found_in_every_run(calls: list[list[dict[str, Any]]]) -> None:
    evidence = Evidence.of(batch_of_runs(calls), TOOLS)
    sequence = Sequence(("lookup_order", "refund"))

    found = [result.run for result in UnknownKind(sequence).check(evidence)]
    assert found == [n for n, run in enumerate(calls) if any(c["tool"] == "ponder" for c in run)]


def lookup(order: Any = "A1", **more: Any) -> dict[str, Any]:
    return {"tool": "lookup_order", "result": {"id": order, "total": 84, "open": True, **more}}


def refund(order: Any = "A1", amount: Any = 84, **result: Any) -> dict[str, Any]:
    arguments = {"order_id": order, "amount": amount}
    return {"tool": "refund", "arguments": arguments, "result": {"status": "succeeded", **result}}


GUARDED = StepSpec("refund", guard="lookup_order.open")
RIGHT = [lookup(), refund()]


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        (Sequence(("lookup_order", "refund")), RIGHT, [lookup(), refund("B2")]),
        (Sequence(("lookup_order", "refund")), RIGHT, [lookup("B2"), refund()]),
        (Sequence(("lookup_order", GUARDED)), RIGHT, [lookup(open=False), refund()]),
        (
            Sequence(("lookup_order", StepSpec("refund", where="amount <= lookup_order.total"))),
            RIGHT,
            [lookup(), refund(amount=85)],
        ),
        (
            Sequence((StepSpec("lookup_order", where="$.total == 84"), "refund")),
            RIGHT,
            [lookup(total=85), refund()],
        ),
        (
            Sequence(("lookup_order", StepSpec("refund", success="$.sent"))),
            [lookup(), refund(sent=True)],
            [lookup(), refund(sent=False)],
        ),
        (
            Sequence(("lookup_order", GUARDED, StepSpec("refund", optional=True))),
            [lookup(), lookup("B2"), refund("A1"), refund("B2")],
            [lookup(open=False), lookup("B2"), refund("A1"), refund("B2")],
        ),
        (
            Sequence(("lookup_order", "refund"), "allow"),
            [lookup(), lookup("B2"), refund(), refund("B2")],
            [lookup(), lookup("B2"), refund(), refund()],
        ),
        (
            Sequence(("lookup_order", "refund"), "forbid"),
            [lookup(), refund(status="failed"), refund()],
            [lookup(), refund("B2", status="failed"), refund("B2")],
        ),
        (Grounded("refund", "order_id", "order"), RIGHT, [lookup(), refund("B2")]),
        (Grounded("refund", "order_id", "lookup_order.id"), RIGHT, [lookup("B2"), refund()]),
        (Grounded("refund", "amount", "lookup_order.total"), RIGHT, [lookup(total="84"), refund()]),
        (Grounded("refund", "amount", "lookup_order.total"), RIGHT, [lookup(total=84.5), refund()]),
        (
            Grounded("refund", "amount", relation="amount <= lookup_order.total"),
            RIGHT,
            [lookup(), refund(amount=85)],
        ),
    ],
)
def test_runs_of_one_sequence_are_told_apart_by_their_values(
    rule: Any, right: list[dict[str, Any]], wrong: list[dict[str, Any]]
) -> None:
    tools = merged_tools(rule.declares(), TOOLS)
    evidence = Evidence.of(batch_of_runs([right, wrong, right, wrong, right]), tools)

    assert [(result.run, result.state) for result in rule.check(evidence)] == [
        (1, State.VIOLATED),
        (3, State.VIOLATED),
    ]


def test_a_source_that_failed_or_came_in_the_same_turn_or_later_clears_nothing() -> None:
    failed = {"tool": "lookup_order", "result": {"id": "A1", "error": "gone"}}
    together = [call | {"group": "g"} for call in RIGHT]
    runs = [RIGHT, [failed, refund()], together, RIGHT[::-1], RIGHT]
    evidence = Evidence.of(batch_of_runs(runs), TOOLS)

    for rule in (
        Grounded("refund", "order_id", "order"),
        Grounded("refund", "order_id", "lookup_order.id"),
        Sequence(("refund",)),
    ):
        assert [result.run for result in rule.check(evidence)] == [1, 2, 3]


def test_what_a_mutation_returned_clears_nothing_of_its_type() -> None:
    tools = TOOLS | {"reopen": ToolSpec("mutate", EntitySpec("order", None, "$.id"))}
    runs = [RIGHT, [{"tool": "reopen", "result": {"id": "A1"}}, refund()]]
    evidence = Evidence.of(batch_of_runs(runs), tools)

    assert [r.run for r in Grounded("refund", "order_id", "order").check(evidence)] == [1]


texts = st.lists(
    st.sampled_from(
        [
            "I refunded 84.",
            "It could not be refunded.",
            "Order No. 12 was refunded!",
            "1. Refund of $5",
        ]
    ),
    max_size=3,
).map(" ".join)


@given(
    texts,
    st.sampled_from([r"refund\w*", r"refund(?:ed|) (?:of )?\$?(?P<n>\d+)", r"No\. (?P<n>1[0-9])"]),
)
def test_claims_of_texts_that_differ_in_digits_alone(text: str, pattern: str) -> None:
    found = [(claim.sentence.text, claim.groups) for claim in claims(text, pattern)]
    single = [
        (claim.sentence.text, claim.groups)
        for sentence in sentences(text)
        for claim in claims(sentence.text, pattern)
    ]

    assert found == single
    assert all(value in text for _, groups in found for value in groups.values())
