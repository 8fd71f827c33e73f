"""A name that no call has, in whatever rule: undecided or violated, never held in silence."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from trackway_analyzer.records import batch_of, trajectory_of
from trackway_analyzer.rules import (
    Answer,
    Approved,
    Arguments,
    Claim,
    Count,
    Grounded,
    Policy,
    ResultUsed,
    Rule,
)

LOOK = {"tool": "look", "arguments": {"order_id": "A1"}, "result": {"id": "A1", "total": 84.0}}
PAY = {
    "tool": "pay",
    "arguments": {"order_id": "A1", "amount": 84.0},
    "result": {"id": "P1", "status": "done"},
}
ASK = {"tool": "ask", "arguments": {"order_id": "A1"}, "result": {"granted": True}}
TWICE = [LOOK, ASK, PAY, PAY]


@pytest.mark.parametrize(
    ("rule", "right"),
    [
        (Count("pay", max=1, per="oder_id"), "order_id"),
        (Count("pay", max=1, per="id"), "order_id"),
        (Count("pay", max=1, per="oder_id", effects=True), "order_id"),
        (Count("pay", exactly=1, per="$.oder_id"), "order_id"),
        (Count("pay", min=3, per="oder_id"), "order_id"),
        (Arguments("pay", {"oder_id": "A1"}), "order_id"),
        (Arguments("pay", regex={"oder_id": "A"}), "order_id"),
        (Arguments("pay", one_of={"oder_id": ["A1"]}), "order_id"),
        (Arguments("pay", within={"amout": (84, 1)}), "amount"),
        (Arguments("pay", absent=["oder_id"]), "order_id"),
        (Arguments("pay", where="not (oder_id == 'B2')"), "order_id"),
        (Grounded("pay", "oder_id", "look.id"), "order_id"),
        (Grounded("pay", "order_id", "look.idd"), "id"),
        (Grounded("pay", "order_id", "lok.id"), "look"),
        (Grounded("pay", "amount", relation="amout <= look.total"), "amount"),
        (Approved("pay", "ask", argument="oder_id"), "order_id"),
        (Approved("pay", "ask", granted="$.grantd == true"), "granted"),
        (ResultUsed("look", result="idd"), "id"),
        (ResultUsed("look", result="$.totl"), "total"),
        (Claim("refund of (?P<amout>[0-9.]+) was paid", "pay"), "amount"),
        (Answer(agrees={"refund of ([0-9.]+)": "look.totl"}), "total"),
    ],
)
def test_a_name_that_no_call_has_never_holds(rule: Rule, right: str) -> None:
    batch = batch_of(TWICE, input="refund A1", final_text="The refund of 84.0 was paid.")

    assert [finding.rule for finding in Policy(rule).findings(batch)] == [rule.title], right


class TestCountsOfAnArgument:
    def test_two_calls_without_it_may_be_about_the_same(self, said: Callable[..., Any]) -> None:
        assert said(Count("pay", max=1, per="oder_id"), TWICE) == [
            (
                "insufficient",
                "step 3 pay has no argument oder_id to count it by, did you mean order_id?",
            )
        ]
        assert said(Count("pay", max=1, per="customer"), TWICE) == [
            ("insufficient", "step 3 pay has no argument customer to count it by")
        ]

    def test_one_call_without_it_cannot_be_too_many(self, said: Callable[..., Any]) -> None:
        assert said(Count("pay", max=1, per="oder_id"), [LOOK, PAY]) == []
        assert said(Count("pay", max=2, per="oder_id"), TWICE) == []

    def test_a_call_without_it_may_be_about_what_another_names(
        self, said: Callable[..., Any]
    ) -> None:
        other = PAY | {"arguments": {"amount": 3}}
        found = said(Count("pay", max=1, per="order_id"), [PAY, other])
        assert found == [("insufficient", "step 2 pay has no argument order_id to count it by")]

    def test_too_few_of_a_thing_that_nobody_names_is_undecided(
        self, said: Callable[..., Any]
    ) -> None:
        assert [state for state, _ in said(Count("pay", min=1, per="oder_id"), [PAY])] == [
            "insufficient"
        ]
        assert said(Count("pay", min=1, per="oder_id"), [LOOK]) == []


class TestAbsentArguments:
    def test_a_name_that_is_nearly_there_is_undecided(self, said: Callable[..., Any]) -> None:
        assert said(Arguments("pay", absent=["oder_id"]), [PAY]) == [
            ("insufficient", "step 1 pay has no argument oder_id, did you mean order_id?")
        ]

    def test_a_name_that_nothing_is_like_is_absent(self, said: Callable[..., Any]) -> None:
        assert said(Arguments("pay", absent=["note"]), [PAY]) == []

    def test_a_name_that_the_rule_knows_apart_is_not_meant(self, said: Callable[..., Any]) -> None:
        assert said(Arguments("pay", {"order_id": "A1"}, absent=["order_ids"]), [PAY]) == []


class TestUsedResults:
    def test_a_place_that_the_result_does_not_have_is_undecided(
        self, said: Callable[..., Any]
    ) -> None:
        assert [state for state, _ in said(ResultUsed("look", result="idd"), [LOOK, PAY])] == [
            "insufficient"
        ]

    def test_an_empty_list_has_nothing_to_use(self, said: Callable[..., Any]) -> None:
        found = LOOK | {"result": {"items": []}}
        assert said(ResultUsed("look", result="$.items[*].id"), [found, PAY]) == []
        assert said(ResultUsed("look", result="$.items[0].id"), [found, PAY]) == []


@pytest.mark.parametrize("facts", [{"contains": [""]}, {"contains": " "}, {"matches": [""]}])
def test_an_answer_that_any_text_gives_is_refused(facts: Any) -> None:
    with pytest.raises(ValueError, match="what the answer must hold cannot be empty, found"):
        Answer(**facts)


TOOLS_OF_A_POLICY = """
tools:
  look: {kind: lookup, entity: {type: order}}
  check_policy: {kind: lookup}
  pay.create: {kind: mutate, entity: {type: order, argument: order_id}}
"""
UNREAD = "is no tool and no entity type that is declared, did you mean"


@pytest.mark.parametrize(
    ("rule", "doubt"),
    [
        ("effects: {tool: pay.creat}", "pay.creat is not declared under tools, did you mean"),
        ("terminal: {action: pay.creat}", "pay.creat is not declared under tools, did you mean"),
        ("grounded: {tool: pay.create, argument: id, from: ordr}", f"ordr {UNREAD} order?"),
        ("grounded: {tool: pay.create, argument: id, from: chek_policy.id}", "chek_policy is no"),
        ("grounded: {tool: pay.create, argument: id, from: pay.creat}", "pay.creat is no tool"),
        ("grounded: {tool: pay.create, argument: id, from: [look.id, order, input]}", None),
        ("grounded: {tool: pay.create, argument: n, relation: n <= ordr.n}", "ordr is no tool"),
        ("arguments: {tool: pay.create, where: n <= ordr.n}", f"ordr {UNREAD} order?"),
        ("arguments: {tool: pay.create, where: n <= payment.n}", None),
        ("approved: {tool: pay.create, by: check_policy, granted: ordr.n}", "ordr is no tool"),
        ("sequence: [look, {tool: pay.create, guard: check_polcy.ok}]", "check_polcy is no tool"),
        ("sequence: [look, {tool: pay.create, where: n <= ordr.n}]", "ordr is no tool"),
        (
            "sequence: [look, {tool: pay.create, entity_arg: ordr_id}]",
            "ordr_id is not the argument of pay.create that is declared to name its entity,"
            " did you mean order_id?",
        ),
        ("sequence: [look, {tool: pay.create, entity_arg: ticket}]", None),
        (
            "approved: {tool: pay.create, by: look, argument: ordr_id}",
            "ordr_id is not the argument",
        ),
        ("count: {tool: pay.create, max: 1, per: order_ids}", "order_ids is not the argument"),
        ("count: {tool: pay.create, max: 1, per: order_id}", None),
        ("count: {tool: look, max: 1, per: ordr_id}", None),
        ("grounded: {tool: pay.create, argument: id, from: inptu}", "did you mean input?"),
        ("answer: {agrees: {'of (.+)': ordr.total}}", f"ordr {UNREAD} order?"),
        ("executed: pay.creat", "pay.creat is not declared under tools, did you mean"),
        ("result_used: {tool: look, by: pay.creat}", "pay.creat is not declared under tools"),
        ("result_used: {tool: look, by: pay.create}", None),
        (
            "sequence: [look, {tool: pay.create, entity_type: ordr}]",
            "sequence: ordr is no entity type that a lookup returns, did you mean order?",
        ),
        ("sequence: [{tool: look, entity_type: ordr}]", "ordr is no entity type that a lookup"),
        ("sequence: [look, {tool: pay.create, entity_type: ticket}]", None),
        (
            "terminal: {category: payy}",
            "payy is no category of a tool, did you mean pay?",
        ),
        ("terminal: {category: [pay, chek_policy]}", "did you mean check_policy?"),
        ("terminal: {category: pay}", None),
        ("terminal: {category: tickets}", None),
        *(
            (
                f"terminal: {{category: {word}}}",
                f"{word} is no category of a tool: that is its name up to the first dot,"
                " while mutate is a kind",
            )
            for word in ("mutat", "mutate")
        ),
    ],
)
def test_what_a_rule_reads_may_be_misspelt(rule: str, doubt: str | None) -> None:
    text = f"version: 1{TOOLS_OF_A_POLICY}rules:\n  - {rule}\n"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        Policy.from_yaml(text)

    assert len(told) == (doubt is not None), [str(one.message) for one in told]
    if doubt is not None:
        assert str(told[0].message).startswith("policy:7: ")
        assert doubt in str(told[0].message)


@pytest.mark.parametrize(
    ("rule", "note"),
    [
        (
            "effects: {tool: payy}",
            "policy:3: effects: payy can never fire here: no run calls payy, did you mean pay?",
        ),
        ("terminal: payy", "policy:3: terminal: no run calls payy, did you mean pay?"),
        (
            "arguments: {tool: pay, where: n <= lookk.n}",
            "policy:3: arguments: pay: no run calls lookk, did you mean look?",
        ),
        ("arguments: {tool: pay, where: n <= payment.n}", None),
        (
            "terminal: {category: loook}",
            "policy:3: terminal: loook is no category of a tool, did you mean look?",
        ),
        ("terminal: {category: look}", None),
    ],
)
def test_a_name_that_no_run_has_is_told_with_the_nearest(rule: str, note: str | None) -> None:
    policy = Policy.from_yaml(f"version: 1\nrules:\n  - {rule}\n")
    run = trajectory_of([{"tool": "look"}, {"tool": "pay"}], final_text="done")

    assert policy.notes(run.batch) == ([] if note is None else [note])


@pytest.mark.parametrize(
    ("written", "near"), [("ordr", "order"), ("orders", "order"), ("order", None), ("card", None)]
)
def test_a_type_that_no_lookup_returns_is_told_with_its_line(
    written: str, near: str | None
) -> None:
    text = (
        "version: 1\ntools:\n  look: {kind: lookup, entity: {type: order}}\n"
        f"  pay: {{kind: mutate, entity: {{type: {written}, argument: order_id}}}}\n"
        "rules:\n  - called: pay\n"
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        policy = Policy.from_yaml(text)

    doubt = (
        f"policy:4: tools: pay: {written} is no entity type that a lookup returns,"
        f" did you mean {near}?"
    )
    assert [str(one.message) for one in told] == ([] if near is None else [doubt])
    run = trajectory_of([{"tool": "look"}, {"tool": "pay"}], final_text="done")
    assert policy.notes(run.batch) == ([] if near is None else [doubt])


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        (["between: [x, a, b]"], True),
        (["between: {tool: x, start: a, end: b, required: true}"], False),
        (["between: {tool: x, start: a, end: b, required: false}"], False),
        (["between: [x, a, b]", "responds: [a, b]"], False),
        (["between: [x, a, b]", "called: b"], False),
        (["between: [x, a, b]", "called: a"], True),
    ],
)
def test_a_between_without_a_word_on_its_end_is_told(rules: list[str], told: bool) -> None:
    text = "version: 1\nrules:\n" + "".join(f"  - {rule}\n" for rule in rules)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        Policy.from_yaml(text)

    doubt = (
        "policy:3: between: x, a, b: a run in which b never comes keeps it: say required: true"
        " where it must come after each successful x, required: false where it need not"
    )
    assert [str(one.message) for one in found] == ([doubt] if told else [])
