"""A call that the model was answered, and that no span shows, hides no call of another tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.rules import (
    Allowed,
    Arguments,
    AtLeast,
    Before,
    Called,
    Claim,
    Count,
    First,
    Forbidden,
    Never,
    NotAfter,
    Responds,
    Rule,
    Sequence,
)
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.gaps import HARMLESS
from trackway_analyzer.rules.terms import Hidden

RunOf = Callable[..., RunBatch]
GAP = "tools_not_observable"
SAYS = "refund of"
TEXT = "Your refund of $84.00 is on its way."


def gap(position: int | None, name: str = GAP) -> dict[str, Any]:
    return {"name": name, "position": position, "count": 1, "detail": None}


def unseen(tool: str | None, **more: Any) -> dict[str, Any]:
    """A step that was asked for and answered, and of which no span shows that it ran."""
    step = {"tool": tool, "executed": False, "ok": None, "arguments": "{}", "result": '"no"'}
    return step | more


def of(run_of: RunOf, *steps: dict[str, Any], **about: Any) -> RunBatch:
    at = [gap(place) for place, step in enumerate(steps) if step.get("executed") is False]
    return run_of(steps, **{"gaps": at, "final_text": TEXT, **about})


def state(rule: Rule, batch: RunBatch) -> str:
    found = rule.check(batch)
    return found[0].state.value if found else "holds"


LOOKUP = {"tool": "lookup_order", "kind": "lookup"}


@pytest.mark.parametrize(
    ("rule", "other", "own"),
    [
        (Claim(SAYS, "refund_create"), "violated", "insufficient"),
        (Called("refund_create"), "violated", "insufficient"),
        (Never("refund_create"), "holds", "insufficient"),
        (Before("check_policy", "refund_create"), "holds", "insufficient"),
        (Responds("lookup_order", "refund_create"), "violated", "insufficient"),
        (Count("refund_create", exactly=0), "holds", "insufficient"),
        (Count("refund_create", min=1), "violated", "insufficient"),
        (Arguments("refund_create", {"amount": 1}), "holds", "insufficient"),
        (Arguments("refund_create", {"amount": 1}, calls="first"), "violated", "insufficient"),
        (Sequence(("lookup_order", "refund_create")), "violated", "insufficient"),
        (AtLeast(("lookup_order", "refund_create")), "violated", "insufficient"),
        (Forbidden("refund_create"), "holds", "violated"),
        (Sequence(("lookup_order",)), "insufficient", "insufficient"),
        (Forbidden("refund_create*"), "insufficient", "violated"),
    ],
    ids=str,
)
def test_rules_on_a_tool_are_decided_beside_an_unseen_call_of_another(
    run_of: RunOf, rule: Rule, other: str, own: str
) -> None:
    assert state(rule, of(run_of, LOOKUP, unseen("refund_now"))) == other
    assert state(rule, of(run_of, LOOKUP, unseen("refund_create"))) == own


@pytest.mark.parametrize(
    "step",
    [
        unseen("refunds.create_refund"),
        unseen("create"),
        unseen("Refund-Create"),
        unseen("refund_now", tool_alias="refund_create"),
        unseen("parallel", arguments='{"calls":[{"name":"refund_create"}]}'),
        unseen(None),
        unseen("退款"),
        unseen("refund_now", result=None),
        unseen("refund_now", executed=True),
        unseen("refund_now", operation="llm"),
    ],
    ids=str,
)
def test_what_may_be_the_tool_itself_or_was_not_answered_hides_as_before(
    run_of: RunOf, step: dict[str, Any]
) -> None:
    tool = "create_refund" if step["tool"] == "refunds.create_refund" else "refund_create"
    evidence = Evidence.of(of(run_of, LOOKUP, step, gaps=[gap(1)]))

    assert evidence.hides_step(0, tools=(tool,)) == Hidden(GAP, 1)


@pytest.mark.parametrize("found", [gap(None), gap(1, "missing_steps"), gap(7)], ids=str)
def test_gaps_without_the_name_of_a_call_hide_every_tool(
    run_of: RunOf, found: dict[str, Any]
) -> None:
    evidence = Evidence.of(of(run_of, LOOKUP, unseen("refund_now"), gaps=[gap(1), found]))

    hidden = Hidden(found["name"], found["position"])
    assert evidence.hides_step(0, tools=("refund_create",)) == hidden
    assert evidence.hides_step(0) == Hidden(GAP, 1)


def test_a_rule_on_every_tool_stays_open(run_of: RunOf) -> None:
    batch = of(run_of, LOOKUP, unseen("refund_now"))

    assert state(Allowed(("lookup_order", "refund_now")), batch) == "insufficient"


def test_the_sentence_names_what_was_claimed_and_what_may_hide_it(run_of: RunOf) -> None:
    rule = Claim(SAYS, "refund_create")
    batch = of(run_of, LOOKUP, unseen("refund_now"))
    (result,) = rule.check(batch)
    assert rule.explain(batch, result).sentence == (
        'the final text claims "Your refund of $84.00 is on its way", but refund_create was never'
        " recorded"
    )

    batch = of(run_of, LOOKUP, unseen("refund_create"))
    (result,) = rule.check(batch)
    assert rule.explain(batch, result).sentence == (
        'the final text claims "Your refund of $84.00 is on its way", and whether refund_create'
        " did it cannot be judged: tools_not_observable at step 2 may hide a call of refund_create"
    )


RULES: tuple[Rule, ...] = (
    Called("a"),
    Never("a"),
    Before("a", "b"),
    NotAfter("a", "b"),
    Responds("a", "b"),
    First("a"),
    Count("a", max=1),
    Sequence(("a", "b"), extra="allow"),
)
calls = st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=4)


@pytest.mark.parametrize("rule", RULES, ids=str)
@settings(max_examples=15, deadline=None)
@given(run=calls, tool=st.sampled_from("abz"), data=st.data())
def test_an_unseen_call_leaves_open_what_it_could_change_and_another_tool_nothing_more(
    run_of: RunOf, rule: Rule, run: list[tuple[str, bool]], tool: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(run)))
    seen = [{"tool": name, "ok": ok, "kind": "lookup"} for name, ok in run]
    before, after = seen[:place], seen[place:]
    closed = {
        state(rule, of(run_of, *before, *between, *after))
        for between in ([], *([{"tool": tool, "ok": ok, "kind": "lookup"}] for ok in (True, False)))
    }
    found = state(rule, of(run_of, *before, unseen(tool), *after))

    assert found == "insufficient" or {found} == closed
    if tool == "z" and not isinstance(rule, First):  # the first may be any tool
        assert {found} == closed


def test_gaps_that_hide_nothing_hide_nothing_of_a_tool(run_of: RunOf) -> None:
    evidence = Evidence.of(of(run_of, LOOKUP, gaps=[gap(None, name) for name in HARMLESS]))

    assert evidence.absence(0, ("refund_create",)) == ()
