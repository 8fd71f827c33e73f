"""The final text holds required facts, and nothing that the run did not show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.rules import Answer
from trackway_analyzer.rules.answers import quantities

TEXT = (
    "Your refund of $84.00 for order A123 arrives in 5 days. Questions? help@shop.example"
    " or https://shop.example/help."
)


@pytest.mark.parametrize(
    ("fact", "holds"),
    [
        ("order A123", True),
        ("ORDER  a123", True),
        ("order A12", False),
        ("$84", True),
        ("84 dollars", True),
        ("84.00 USD", True),
        (84, True),
        ("€84", False),
        ("5 days", True),
        ("1 day", False),
        ("5 weeks", False),
        (6, False),
    ],
)
def test_required_facts(
    said: Callable[..., Any], call: Any, fact: str | float, holds: bool
) -> None:
    found = said(Answer(contains=[fact]), [call("a")], final_text=TEXT)

    assert (found == []) is holds
    if not holds:
        assert found[0][1].startswith("the final text does not say ")


def test_regular_expressions(said: Callable[..., Any], call: Any) -> None:
    assert said(Answer(matches="refund of .84"), [call("a")], final_text=TEXT) == []
    assert said(Answer(matches=["refund", "thank you"]), [call("a")], final_text=TEXT) == [
        ("violated", "the final text has nothing like thank you")
    ]


@pytest.mark.parametrize(
    ("text", "made_up"),
    [
        ("Order A123 comes to $84.00, or 84 dollars.", None),
        ("I wrote to mia@shop.example on 2026-01-05.", None),
        ("You asked about T-77.", None),
        ("It takes 3 to 5 days.", None),
        ("Order A124 is fine.", '"A124"'),
        ("It comes to $12.", "12.0"),
        ("It comes to 840.", "840.0"),
        ("See https://evil.example/x.", '"https://evil.example/x"'),
        ("Write to joe@shop.example.", '"joe@shop.example"'),
        ("I wrote to mia@shop.com.", None),
        ("Write to <joe@shop.com>, please.", '"joe@shop.com"'),
        ("We ship on 2026-02-01.", '"2026-02-01"'),
    ],
)
def test_nothing_is_made_up(
    said: Callable[..., Any], call: Any, text: str, made_up: str | None
) -> None:
    mails = ["mia@shop.example", "mia@shop.com"]
    order = {"id": "A123", "total": 84.0, "mails": mails, "day": "2026-01-05"}
    run = [call("find", result=order), call("bad", result={"error": "A124 840 $12"})]
    found = said(Answer(grounded=True), run, final_text=text, input="about T-77")

    expected = (
        f"the final text names {made_up}, which stands in no successful result and not in the"
        " user's input"
    )
    assert found == ([] if made_up is None else [("violated", expected)])


def test_it_agrees_with_what_a_tool_returned_last(said: Callable[..., Any], call: Any) -> None:
    run = [call("find", result={"total": 42}), call("find", result={"total": 84})]
    rule = Answer(agrees={r"refund of (\S+)": "find.total"})

    assert said(rule, run, final_text=TEXT) == []
    assert said(rule, run[:1], final_text=TEXT) == [
        ("violated", 'the final text says "$84.00", expected 42 (find.total from find at step 1)')
    ]
    assert said(rule, [call("a")], final_text=TEXT) == [
        ("violated", 'the final text says "$84.00", but find.total was never returned')
    ]
    assert said(rule, run, final_text="No refund.") == []


class TestSeveralThings:
    RULE = Answer(agrees={r"total is (\S+)": "lookup_order.total"})

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Your total is $84.00.", None),
            ("Your total is $5.", None),
            ("Your total is $7.", "expected 5 (lookup_order.total from lookup_order at step 2)"),
            ("For A1 your total is $84.", None),
            (
                "For A1 your total is $5.",
                "expected 84 (lookup_order.total from lookup_order at step 1)",
            ),
            ("A1 is ready. For A2 your total is $5. Bye, A1.", None),
            (
                "A1 is ready. For A2 your total is $84. Bye, A1.",
                "expected 5 (lookup_order.total from lookup_order at step 2)",
            ),
            ("The total is $84.00 for A1 and the total is $5 for A2.", None),
        ],
    )
    def test_a_sentence_may_speak_of_any_thing_or_names_it(
        self, said: Callable[..., Any], refund: Any, text: str, expected: str | None
    ) -> None:
        run = [refund.lookup("A1", 84), refund.lookup("A2", 5)]
        found = [sentence for _, sentence in said(self.RULE, run, final_text=text)]

        assert [s.partition(", ")[2] for s in found] == ([] if expected is None else [expected])

    def test_of_one_thing_the_last_result_counts(
        self, said: Callable[..., Any], refund: Any, call: Any
    ) -> None:
        run = [refund.lookup("A1", 84), refund.lookup("A1", 5)]
        assert len(said(self.RULE, run, final_text="Your total is $84.")) == 1

        asked = [call("lookup_order", {"q": q}, {"total": t}) for q, t in (("x", 84), ("x", 5))]
        assert len(said(self.RULE, asked, final_text="Your total is $84.")) == 1
        asked[0]["arguments"] = {"q": "y"}
        assert said(self.RULE, asked, final_text="Your total is $84.") == []

    def test_a_hidden_result_may_have_been_the_one(
        self, said: Callable[..., Any], refund: Any
    ) -> None:
        run = [refund.lookup("A1", "[redacted:key]"), refund.lookup("A2", 5)]

        assert [s for s, _ in said(self.RULE, run, final_text="Your total is $7.")] == [
            "insufficient"
        ]
        assert said(self.RULE, run, final_text="Your total is $5.") == []


def test_hidden_evidence_is_no_pass_and_no_violation(
    said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory]
) -> None:
    rule = Answer(grounded=True)
    blind: dict[str, Any] = {"tool": "find", "ok": True}
    about = {"final_text": "Order A124.", "input": "hello"}

    assert said(rule, [call("a")], final_text=None) == [
        ("insufficient", "the final text was not recorded: nobody knows what it says")
    ]
    assert [s for s, _ in said(rule, [blind], **about)] == ["insufficient"]
    assert [s for s, _ in said(rule, [call("a")], final_text="Order A124.")] == ["insufficient"]
    hidden = gapped([call("a")], Gap("missing_steps"), **about)
    assert [s for s, _ in said(rule, hidden)] == ["insufficient"]
    cut = "Order A1…[truncated 20 chars]"
    assert [s for s, _ in said(Answer(contains="thanks"), [call("a")], final_text=cut)] == [
        "insufficient"
    ]


@pytest.mark.parametrize(
    ("result", "asked", "text"),
    [
        ("A1", "hello", "It is A1…[truncated 174 chars]"),  # neither 174 nor half a word is named
        ("…", "hello", "Order A124."),
        ({"note": "see…[truncated 90 chars]"}, "hello", "Order A124."),
        ({"note": "[redacted:custom]"}, "hello", "Order A124."),
        ("A1", "I am…[truncated 90 chars]", "Order A124."),
        ("A1", [{"role": "user", "content": "I…[truncated 9 chars]"}], "Order A124."),
    ],
)
def test_what_was_cut_may_hold_what_the_answer_names(
    said: Callable[..., Any], run_of: Any, result: Any, asked: Any, text: str
) -> None:
    def batch(result: Any, asked: Any, text: str) -> Any:
        cut = ["result"] if "truncated" in str(result) or result == "…" else None
        step = {"tool": "find", "arguments": "{}", "truncated": cut}
        told = asked if isinstance(asked, str) else orjson.dumps(asked).decode()
        return run_of(
            [step | {"result": orjson.dumps(result).decode()}], final_text=text, input=told
        )

    rule = Answer(grounded=True)
    assert [s for s, _ in said(rule, batch(result, asked, text))] == ["insufficient"]
    assert [s for s, _ in said(rule, batch("A1", "hello", "Order A124."))] == ["violated"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({}, "say what the answer must be"),
        ({"matches": "("}, "is no regular expression"),
        ({"agrees": {"total": "find.total"}}, "needs a group"),
        ({"agrees": {"(total)": "find total"}}, "expected `.name`"),
    ],
)
def test_wrong_rules_are_refused(rule: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Answer(**rule)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 days", [(5, "day")]),
        ("2 Weeks", [(2, "week")]),
        ("84 DOLLARS and 84 Euro", [(84, "usd"), (84, "eur")]),
        ("$84.50", [(84.5, "usd")]),
        ("84 £", [(84, "gbp")]),
        ("€ 7", [(7, "eur")]),
        ("3% or 3 percent", [(3, "%"), (3, "%")]),
        ("1,234.50 GBP", [(1234.5, "gbp")]),
        ("-3.5 pounds", [(-3.5, "gbp")]),
        ("7", [(7, None)]),
        ("7 s", [(7, None)]),
        ("none", []),
    ],
)
def test_quantities_of_a_text(text: str, expected: list[tuple[float, str | None]]) -> None:
    assert [(float(q.number), q.unit) for q in quantities(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Write to mia@shop.example.",
        "See https://shop.example/a.",
        "See www.shop.example,",
        "It costs 84 EUR.",
        "It costs €84.",
        "Order A-77.",
        "It is 1234.",
        "It is 1,234.",
    ],
)
def test_what_is_named_must_have_been_shown(said: Callable[..., Any], call: Any, text: str) -> None:
    shown = "mia@shop.example https://shop.example/a www.shop.example 84 A-77 1234"

    assert len(said(Answer(grounded=True), [call("a")], final_text=text, input="hi")) == 1
    assert said(Answer(grounded=True), [call("a", result=shown)], final_text=text, input="hi") == []
    assert said(Answer(grounded=True), [call("a")], final_text=text, input=shown) == []
    failed = call("a", result={"error": shown})
    assert len(said(Answer(grounded=True), [failed], final_text=text, input="hi")) == 1


SHOWN = {
    "order_id": "A-1001", "total": 84.5, "fee": 15.5, "when": "2026-12-04T15:30:00Z",
    "phone": "+14155550123", "version": "1.2.3", "rows": 1234567, "price": 1234.5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ('{"order_id":"A-1001","total":84.5}', None),
        ("Your “A-1001”, A-1001’s total, A‑1001, <b>A-1001</b>, order_id:A-1001.", None),
        ("Within 3-5 business days, 24/7, 10-15 minutes, 9am-5pm, the 1st, a 30-day window.", None),
        ("At 3:30 PM, that is 15:30, on December 4.", None),
        ("Call (415) 555-0123, or 415-555-0123.", None),
        ("Version v1.2.3", None),
        ("CHF 1'234.50", None),
        ("It is about $1.2 million.", "insufficient"),
        ("In all $100.", "insufficient"),
        ("At 4:45 PM.", "insufficient"),
        ("Order A1001", "insufficient"),
        ("GPT-4 and MP3, see section 4.2.1.2.", "violated"),
        ("Ask GPT-4 for an MP3.", "insufficient"),
        ("Version 1.2.4", "violated"),
        ("The host is 10.0.0.2.", "violated"),
        ("Order A-1002", "violated"),
        ("It costs $48.00.", "violated"),
    ],
)
def test_ranges_times_units_and_sums_are_not_made_up(
    said: Callable[..., Any], call: Any, text: str, state: str | None
) -> None:
    found = said(Answer(grounded=True), [call("find", result=SHOWN)], final_text=text, input="?")
    assert [state for state, _ in found] == ([] if state is None else [state])


@pytest.mark.parametrize(
    ("fact", "text", "state"),
    [
        ("Order A1", "Your order **A1** is here.", None),
        ("don't", "We don’t ship.", None),
        ("approved", "It was not approved.", "insufficient"),
        ("approved", "It wasn't yet approved.", "insufficient"),
        ("approved", "It was not open, and is approved.", None),
        ("not approved", "It was not approved.", None),
        ("approved", "It was denied.", "violated"),
    ],
)
def test_a_fact_behind_a_negation_is_undecided(
    said: Callable[..., Any], fact: str, text: str, state: str | None
) -> None:
    found = said(Answer(contains=fact), [], final_text=text)
    assert [state for state, _ in found] == ([] if state is None else [state])
