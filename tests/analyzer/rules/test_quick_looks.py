"""What is judged once for many runs, or cleared by a quick look, is what a single look says."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.records import batch_of_runs
from trackway_analyzer.rules import EntitySpec, Grounded, Sequence, StepSpec, ToolSpec
from trackway_analyzer.rules.claim_language import claims, sentences
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.rule import ToolRule
from trackway_analyzer.rules.sequence import UnknownKind

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
others = st.sampled_from(
    [
        {"tool": "check_policy", "kind": "lookup", "result": {"eligible": True}},
        {"tool": "check_policy", "kind": "lookup", "result": {"eligible": False}},
        {"tool": "email", "kind": "notify", "result": "sent"},
        {"tool": "ponder", "result": {"id": "A1"}},
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
        Sequence((StepSpec("refund", where="amount == 84"),)),
        Sequence((StepSpec("refund", success='$.status == "succeeded"'), "refund")),
        Grounded("refund", "order_id", "order"),
        Grounded("refund", "order_id", "lookup_order.id"),
        Grounded("refund", "order_id", ("lookup_order.id", "ponder.id")),
    ]
)


@settings(max_examples=80, deadline=None)
@given(st.lists(runs, min_size=1, max_size=6), rules)
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
