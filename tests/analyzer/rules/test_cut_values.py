"""A value with the recorder's mark of a cut is cut evidence, wherever it comes from.

Plain records have no list of what was cut: the mark inside the value alone says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trackway_analyzer.rules import (
    AdmitsFailure,
    Answer,
    Approved,
    Arguments,
    Claim,
    Count,
    Effects,
    Exact,
    Grounded,
    NoLoops,
    NoSecrets,
    Outcome,
    ResultUsed,
    Rule,
    Sequence,
    Terminal,
)

MARK = "…[truncated 9 chars]"
CUT = f"A1{MARK}"
Call = dict[str, Any]
Judge = Callable[..., list[tuple[str, str]]]


def call(tool: str, arguments: Any, result: Any = "ok", **more: Any) -> Call:
    return {"tool": tool, "arguments": arguments, "result": result, **more}


REFUND = {"tool": "refund", "kind": "mutate", "entity_arg": "order_id", "entity_type": "order"}
FIND = {"tool": "find", "kind": "lookup", "entity_type": "order"}

OPEN: list[tuple[Rule, list[Call], dict[str, Any]]] = [
    (Arguments("refund", {"order_id": "A1234"}), [call("refund", {"order_id": CUT})], {}),
    (Arguments("refund", regex={"order_id": r"A\d+"}), [call("refund", {"order_id": CUT})], {}),
    (Arguments("refund", where="order_id == 'A12'"), [call("refund", {"order_id": CUT})], {}),
    (Arguments("refund", absent=["x"]), [call("refund", {"…": "[truncated 3 keys]"})], {}),
    (Arguments("refund", {"x": 1}), [call("refund", {"…": "[truncated 3 keys]"})], {}),
    (
        Grounded("refund", "order_id", "find.id"),
        [call("find", {}, {"id": "A123"}), call("refund", {"order_id": CUT})],
        {},
    ),
    (
        Grounded("refund", "order_id", "find.id"),
        [call("find", {}, {"id": CUT}), call("refund", {"order_id": "A123"})],
        {},
    ),
    (
        Grounded("refund", "order_id", "find.id"),
        [call("find", {}, '{"id": "A123", "to'), call("refund", {"order_id": "A123"})],
        {},
    ),
    (
        Sequence((FIND, REFUND)),
        [call("find", {}, {"id": "A123"}), call("refund", {"order_id": CUT})],
        {},
    ),
    (
        Sequence((FIND, REFUND)),
        [call("find", {}, {"id": CUT}), call("refund", {"order_id": CUT})],
        {},
    ),
    (
        Sequence(({**FIND, "where": "region == 'EU'"},)),
        [call("find", {"region": f"E{MARK}"}, {"id": "A1"})],
        {},
    ),
    (
        Sequence(({"tool": "refund", "kind": "mutate", "success": "$.state == 'done'"},)),
        [call("find", {}, {"id": "A1"}), call("refund", {}, {"state": f"do{MARK}"})],
        {},
    ),
    (
        Sequence((FIND, {"tool": "refund", "kind": "mutate"})),
        [call("find", {}, {"id": "A1"}), call("refund", {}, {"status": MARK})],
        {},
    ),
    (
        Exact([{"tool": "refund", "arguments": {"order_id": "A12"}}]),
        [call("refund", {"order_id": CUT})],
        {},
    ),
    (Count("refund", max=1, per="order_id"), [call("refund", {"order_id": CUT})] * 2, {}),
    (NoLoops(identical=3), [call("find", {"q": CUT})] * 3, {}),
    (
        NoLoops(identical=0, cycles=0, stagnation=3),
        [call("find", {"q": n}, CUT) for n in "abc"],
        {},
    ),
    (
        Approved("refund", by="ask", argument="order_id"),
        [call("ask", {"order_id": "A123"}, True), call("refund", {"order_id": CUT})],
        {},
    ),
    (NoSecrets(), [call("mail", {"text": f"dear{MARK}"})], {}),
    (ResultUsed("find", "$.id"), [call("find", {}, {"id": CUT}), call("refund", {"x": 1})], {}),
    (ResultUsed("find"), [call("find", {}, f"see{MARK}"), call("refund", {"x": 1})], {}),
    (ResultUsed("find"), [call("find", {}, {"id": "A1234"}), call("refund", {"x": CUT})], {}),
    (ResultUsed("find"), [call("find", {}, {"id": "A1234"})], {"final_text": CUT}),
    (Answer(contains=["A1234"]), [call("find", {})], {"final_text": CUT}),
    (
        Claim(r"order (?P<order_id>A\d+) was refunded", needs="refund"),
        [call("refund", {"order_id": CUT})],
        {"final_text": "Your order A1234 was refunded."},
    ),
    (Claim("was refunded", needs="refund"), [call("find", {})], {"final_text": f"Hello{MARK}"}),
    (
        AdmitsFailure(),
        [call("refund", {}, {"error": "declined"})],
        {"final_text": f"Hello{MARK}"},
    ),
    (Terminal("refund", claimed=True), [call("refund", {})], {"final_text": f"Hello{MARK}"}),
    (Terminal("refund", claimed=False), [call("refund", {})], {"final_text": f"Hello{MARK}"}),
]


@pytest.mark.parametrize(("rule", "run", "about"), OPEN, ids=[str(r)[:70] for r, _, _ in OPEN])
def test_what_was_cut_away_leaves_a_rule_open(
    said: Judge, rule: Rule, run: list[Call], about: dict[str, Any]
) -> None:
    ((state, sentence),) = said(rule, run, **about)
    assert state == "insufficient", sentence


SEEN: list[tuple[Rule, list[Call], dict[str, Any], str]] = [
    # What a cut value still shows stands, and what is whole beside it.
    (Arguments("refund", {"x": 2}), [call("refund", {"x": 1, "note": CUT})], {}, "violated"),
    (Arguments("refund", {"x": 1}), [call("refund", {"x": 1, "note": CUT})], {}, "holds"),
    (NoLoops(identical=3), [call("find", {"q": f"{n}{MARK}"}) for n in "abc"], {}, "insufficient"),
    (NoLoops(identical=3), [call("find", {"q": CUT})] * 2, {}, "holds"),
    (NoSecrets(), [call("x", {"password": "hunter2!", "text": CUT})], {}, "violated"),
    (
        ResultUsed("find"),
        [call("find", {}, {"id": "A1234"}), call("refund", {"x": f"A1234 and{MARK}"})],
        {},
        "holds",
    ),
    (
        AdmitsFailure(),
        [call("refund", {}, {"error": "declined"})],
        {"final_text": f"Your refund was issued. Bye{MARK}"},
        "violated",
    ),
    # A person's own dots, and a mark in the middle of a text, are no cut.
    (Arguments("refund", {"x": "a"}), [call("refund", {"x": "a…"})], {}, "violated"),
    (
        Arguments("refund", {"x": "a"}),
        [call("refund", {"x": "[truncated 9 chars] was there"})],
        {},
        "violated",
    ),
]


@pytest.mark.parametrize(("rule", "run", "about", "state"), SEEN)
def test_what_a_cut_value_still_shows_stands(
    said: Judge, rule: Rule, run: list[Call], about: dict[str, Any], state: str
) -> None:
    assert ([found for found, _ in said(rule, run, **about)] or ["holds"]) == [state]


def test_the_gap_is_named_with_its_step(said: Judge) -> None:
    run = [call("find", {}), call("refund", {"order_id": CUT})]
    assert said(Arguments("refund", {"order_id": "A1234"}), run) == [
        (
            "insufficient",
            "step 2 refund: arguments cannot be judged: a value of step 2 was cut off"
            " (truncated_value)",
        )
    ]


@pytest.mark.parametrize("mark", ["…[truncated: too deep]", "…[truncated integer of 9000 bits]"])
def test_what_was_too_deep_or_too_long_a_number_is_cut_too(said: Judge, mark: str) -> None:
    ((state, _),) = said(Arguments("a", {"x": 1}), [call("a", {"x": mark})])
    assert state == "insufficient"


def test_a_recorded_step_is_judged_like_a_plain_record(
    said: Judge, run_of: Callable[..., Any]
) -> None:
    step = {"tool": "refund", "arguments": f'{{"order_id":"{CUT}"}}'}
    rule = Arguments("refund", {"order_id": "A1234"})
    found = said(rule, run_of([step]))
    assert found == said(rule, run_of([{**step, "truncated": ["arguments"]}]))
    assert found == said(rule, [call("refund", {"order_id": CUT})])


def test_an_operation_id_that_was_cut_is_none(said: Judge) -> None:
    calls = [call("refund", {"operation_id": CUT}, kind="mutate")] * 2
    assert said(Effects(ids=True), calls) == [
        (
            "insufficient",
            "no operation was seen to take effect twice, but the operation id of step 1 was cut off"
            " (truncated_value)",
        )
    ]


def test_a_final_state_that_was_cut_decides_nothing(
    said: Judge, run_of: Callable[..., Any]
) -> None:
    def judged(state: str) -> list[str]:
        run = run_of([{"tool": "a"}], outcome_success=True, outcome_state=state)
        return [found for found, _ in said(Outcome(where="$.status == 'refunded'"), run)]

    assert judged('{"status":"ref…[truncated 5 chars]"}') == ["insufficient"]
    assert judged('{"status":"open","note":"x…[truncated 5 chars]"}') == ["violated"]


def test_no_member_is_lost_where_only_texts_were_cut(said: Judge) -> None:
    run = [call("refund", {"note": CUT})]
    assert said(Arguments("refund", absent=["x"]), run) == []
    ((state, _),) = said(Arguments("refund", {"amount": 84}), run)
    assert state == "violated"
