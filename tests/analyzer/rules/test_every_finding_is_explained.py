"""Whatever is missing in a run, each finding on it has a sentence: no sentence ends a report."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from hypothesis import HealthCheck, given, settings
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
    Sequence,
    Together,
    Until,
)
from trackway_analyzer.rules.catalogue import RULES
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import results_of
from trackway_analyzer.rules.policy import Policy
from trackway_analyzer.rules.sequence import UnknownKind

TOOLS = """
version: 1
tools:
  lookup: {kind: lookup, entity: {type: order, result: $.id}}
  refund: {kind: mutate, entity: {type: order, argument: order_id}}
  pay: {kind: mutate, success: $.status == "succeeded"}
rules:
"""
RULE_LINES = (
    """
sequence: [lookup, {tool: ask, optional: true}, refund, email]
sequence: {steps: [lookup, {tool: pay, guard: lookup.total > 1}, refund], extra: allow}
sequence: {steps: [{tool: lookup, guard: $.eligible}, refund], extra: forbid}
sequence: [lookup, {tool: refund, where: $.amount == lookup.total}]
exact: [lookup, refund]
in_order: [lookup, {tool: refund, arguments: {order_id: A1}}]
any_order: [refund, lookup]
at_least: [lookup, {tool: refund, arguments: {order_id: A1, amount: 84.0}}]
at_most: [lookup, refund, email]
called: refund
called: {tool: ask, times: 2}
never: ask
first: lookup
last: email
accompanied: [refund, email]
together: [lookup, refund]
not_together: [ask, refund]
before: [ask, refund]
before: {first: lookup, second: email, required: true}
after: [email, refund]
not_after: [lookup, email]
responds: [refund, email]
immediately: [lookup, ask]
between: {tool: ask, start: lookup, end: refund, required: true}
between: {tool: ask, start: lookup, end: refund, required: false}
partial_order: {edges: [[ask, lookup]], every_pass: true}
at_most_once_between: [ask, lookup, refund]
at_most_once_between: [refund, refund, ask]
until: {allowed: [lookup, ask], until: refund, required: true}
partial_order: {edges: [[lookup, refund], [ask, refund]]}
step_regex: 'lookup+ (ask | pay)* refund email?'
step_regex: {pattern: 'lookup refund', extra: forbid}
count: {tool: refund, max: 1, per: order_id}
count: {tool: refund, min: 1, max: 1, per: order_id, effects: true}
count: {tool: ask, exactly: 1, effects: true}
no_loops: {identical: 2, cycles: 2, stagnation: 3}
budget: {steps: 3, tool_calls: 2, model_calls: 1, retries: 0, tokens: 500, seconds: 1}
budget: {cost_usd: 0.02}
arguments: {tool: refund, equals: {order_id: A1}, one_of: {amount: [84.0]}, calls: last}
arguments: {tool: refund, where: $.amount <= lookup.total, calls: any}
arguments: {tool: refund, regex: {order_id: A.}, within: {amount: [80, 5]}, calls: first}
arguments: {tool: refund, absent: [note]}
arguments: {tool: refund, schema: {required: [order_id]}, exact: true, equals: {order_id: A1}}
grounded: {tool: refund, argument: order_id, from: order}
grounded: {tool: refund, argument: amount, from: lookup.total}
grounded: {tool: refund, argument: amount, relation: amount <= lookup.total}
grounded: {tool: refund, argument: order_id, from: user}
forbid: [ask]
allow: [lookup, refund]
approved: {tool: refund, by: ask, argument: order_id, granted: $.ok == true, once: true}
no_secrets: {}
recovered: {tool: refund, by: pay}
recovered: {}
executed: {}
admits_failure: {}
result_used: {tool: lookup}
result_used: {tool: lookup, result: $.total, by: refund}
claim: {says: refund, needs: refund}
claim: {says: 'refunded (?P<order_id>A\\d)', needs: refund}
claim: {says: 'refunded .*with \\$(?P<amount>[\\d.]+)', needs: refund}
answer: {contains: ['$84'], matches: [A1], grounded: true, agrees: {'with \\$(\\S+)': lookup.total}}
outcome: {}
effects: {tool: refund}
effects: {ids: true}
continuity: {required: customer}
routed: {resumed: true}
deadline: {}
terminal: {action: email, claimed: true}
terminal: {category: refund, claimed: false}
""".strip()
    .replace("\\\\", "\\")
    .splitlines()
)
ORDERS = [
    Called("a", times=2),
    Never("a"),
    First("a"),
    Last("a"),
    Accompanied("a", "b"),
    Together("a", "b"),
    NotTogether("a", "b"),
    Before("a", "b", required=True),
    After("a", "b"),
    NotAfter("a", "b"),
    Responds("a", "b"),
    Immediately("a", "b"),
    Between("a", "b", "c"),
    AtMostOnceBetween("a", "b", "c"),
    AtMostOnceBetween("a", "a", "b"),
    Until(("a",), "b", required=True),
    PartialOrder([("a", "b"), ("a", "c")]),
    Recovered("a", "b"),
    Count("a", exactly=1, effects=True),
    Sequence([{"tool": "a"}, {"tool": "b"}], extra="forbid"),
    Sequence([{"tool": "a"}, {"tool": "b"}]),
]
POLICIES = [Policy.from_yaml(f"{TOOLS}  - {line}\n") for line in RULE_LINES]  # one rule each
DECLARED = POLICIES[0].tools
RULES_OF_ALL = [rule for policy in POLICIES for rule in policy.rules]

ARGUMENTS = [
    '{"order_id":"A1","amount":84.0}',
    '{"order_id":"B2","amount":42.0}',
    '{"order_id":["A1","B2"]}',
    '{"order_id":null}',
    '{"order_id":"[redacted:key_name]"}',
    '{"order_id":"A…[truncated 9 chars]"}',
    '{"order_id":',
    "{}",
    "[3]",
    None,
]
RESULTS = [
    '{"id":"A1","total":84.0,"eligible":true,"status":"succeeded"}',
    '{"id":"A1","total":84.0,"eligible":false,"ok":true}',
    '{"status":"failed"}',
    '{"status":"pending"}',
    '{"status":"PENDING"}',
    '{"id":["A1",2],"ok":false}',
    '{"error":{"code":7}}',
    '"[redacted:email]"',
    '"A1…[truncated 9 chars]"',
    '{"…":"[truncated 4 keys]"}',
    "false",
    "null",
    '"sent"',
    "[]",
    None,
]
TEXTS = [
    "I refunded A1 with $84.00 and sent you an email.",
    "I refunded A1. I refunded B2 with $42.",
    "Nothing was refunded.",
    "[redacted:key_name]",
    "Done. [redacted:email]",
    "I refunded [redacted:card] today.",
    "Your re…[truncated 9 chars]",
    '"<app.Reply>"',
    "",
    None,
]
TOOL_NAMES = ["lookup", "refund", "ask", "email", "pay", None]


def steps_of(tools: list[str | None]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Steps of a few tools: what is done again and again needs few of them."""
    step = st.fixed_dictionaries(
        {
            "tool": st.sampled_from(tools),
            "kind": st.sampled_from([None, None, "lookup", "mutate", "notify"]),
            "ok": st.sampled_from([True, True, False, None]),
            "executed": st.sampled_from([True, True, True, None, False]),
            "requested": st.sampled_from([None, True, False]),
            "error_type": st.sampled_from([None, None, None, "TimeoutError", "_OTHER"]),
            "operation_id": st.sampled_from([None, None, "op1", "r1:1"]),
            "arguments": st.sampled_from(ARGUMENTS),
            "result": st.sampled_from(RESULTS),
            "group": st.sampled_from([None, None, None, "g"]),
            "truncated": st.sampled_from([None, None, ["result"], ["arguments"]]),
            "tokens_in": st.sampled_from([None, 400]),
            "attempt": st.sampled_from([None, 1, 2]),
        }
    )
    return st.lists(step, max_size=8)


drawn_steps = st.lists(st.sampled_from(TOOL_NAMES), min_size=1, max_size=4).flatmap(steps_of)
gaps = st.sampled_from(
    [
        Gap("missing_steps", position=0),
        Gap("missing_steps", count=2),
        Gap("unfinished_span", position=1),
        Gap("clock_skew"),
        Gap("content_off"),
        Gap("tools_not_observable"),
        Gap("truncated_value", position=0),
    ]
)


def damaged(drawn: list[dict[str, Any]], run_of: Callable[..., RunBatch], **run: Any) -> RunBatch:
    turns: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    for position, step in enumerate(drawn):
        group = position
        if step["group"] is not None:
            group = turns.setdefault(step["group"], position)
        row = {**step, "group": group, "span_id": str(position)}
        if step["tool"] is None:
            row |= {"operation": "llm", "ok": None, "executed": None}
            row |= {"output": step["result"] and json.dumps([{"content": step["result"]}])}
        rows.append(row)
    return run_of(rows, **run)


def test_every_rule_is_among_them() -> None:
    keys = {rule.key for rule in RULES_OF_ALL if not isinstance(rule, UnknownKind)}
    assert keys == set(RULES)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    drawn=drawn_steps,
    holes=st.lists(gaps, max_size=2),
    text=st.sampled_from(TEXTS),
    action=st.sampled_from([None, None, "refund", "email"]),
)
def test_every_finding_on_a_damaged_run_is_explained(
    run_of: Callable[..., RunBatch],
    drawn: list[dict[str, Any]],
    holes: list[Gap],
    text: str | None,
    action: str | None,
) -> None:
    gaps_of = [asdict(gap) for gap in holes]
    batch = damaged(drawn, run_of, final_text=text, final_action=action, gaps=gaps_of)
    evidence = Evidence.of(batch, DECLARED)

    for rule in RULES_OF_ALL:
        for result in results_of(rule.found(0, evidence)):
            assert rule.explain(evidence, result).sentence


@given(
    steps=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from([True, True, False, None])), max_size=7
    ),
    together=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_every_broken_order_is_explained_where_nobody_knows_what_succeeded(
    run_of: Callable[..., RunBatch], steps: list[tuple[str, bool | None]], together: bool
) -> None:
    rows = [
        {"tool": tool, "kind": "mutate", "ok": ok, "group": n - (together and n % 2)}
        for n, (tool, ok) in enumerate(steps)
    ]
    evidence = Evidence.of(run_of(rows))

    for rule in ORDERS:
        for result in rule.check(evidence):
            assert rule.explain(evidence, result).sentence


def test_an_effect_that_surely_came_twice_is_named_beside_one_that_may_have(
    run_of: Callable[..., RunBatch],
) -> None:
    rule = AtMostOnceBetween("ask", "lookup", "refund")
    steps = [("lookup", True), ("ask", None), ("ask", True), ("ask", True)]
    evidence = Evidence.of(run_of([{"tool": tool, "ok": ok} for tool, ok in steps]))

    (result,) = rule.check(evidence)
    assert result.state == "violated"
    assert rule.explain(evidence, result).sentence == (
        "step 3 ask succeeded again after ask at step 2, expected once between lookup and refund"
    )
