"""What counts as a claim, and claims held against what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib.resources import files
from typing import Any

import pytest
import yaml

from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import Claim, InsufficientEvidenceError, RuleViolationError
from trackway_analyzer.rules.actions import action_claim
from trackway_analyzer.rules.amounts import agrees, as_number
from trackway_analyzer.rules.claim_language import claims, sentences

SAYS = r"refund (?:of \$(?P<amount>[\d.,]+) )?.*(?:processed|on its way|issued)"


def table() -> Iterator[tuple[str, str, bool]]:
    text = files("trackway_analyzer.rules").joinpath("claim_table.yaml").read_text("utf-8")
    for block in yaml.safe_load(text):
        for sentence in block["claimed"]:
            yield block["says"], sentence, True
        for sentence in block["not_claimed"]:
            yield block["says"], sentence, False


def test_the_shipped_table_has_sixty_sentences_both_ways() -> None:
    expected = [claimed for _, _, claimed in table()]

    assert len(expected) >= 60
    assert min(expected.count(True), expected.count(False)) >= 30


@pytest.mark.parametrize(
    ("says", "sentence", "claimed"), list(table()), ids=lambda value: str(value)[:60]
)
def test_the_shipped_table(says: str, sentence: str, claimed: bool) -> None:
    assert bool(claims(sentence, says)) is claimed


def test_a_negation_in_another_sentence_or_clause_takes_nothing_back() -> None:
    assert claims("I could not reach the shop. Your order was refunded.", "refunded")
    assert claims("The exchange is not possible, but I refunded the order.", "refunded")
    assert not claims("I refunded nothing but the fee. No order was refunded.", "order.*refunded")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("It costs $84.00 in total. Ok.", ["It costs $84.00 in total.", "Ok."]),
        ("Order No. 5 is done. Yes.", ["Order No. 5 is done.", "Yes."]),
        ("# Done\n- **Refund** of `5`\n\n1. mail", ["Done", "Refund of 5", "mail"]),
        ("_Refund_ re_1101 of __order__ #W77.", ["Refund re_1101 of order #W77."]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == expected


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("$84.00", "84"),
        ("84", "84"),
        ("84,00 €", "84"),
        ("84 dollars", "84"),
        ("1,234.56", "1234.56"),
        ("1.234,56", "1234.56"),
        ("1 234,56 EUR", "1234.56"),
        ("1,234", "1234"),
        ("1,234,567", "1234567"),
        ("1.234.567", "1234567"),
        ("1.234.567,5", "1234567.5"),
        ("CHF 1'234.50", "1234.5"),
        ("-3.5", "-3.5"),
        ("0.123", "0.123"),
        ("between 5 and 6", None),
        ("none", None),
        (84.0, "84"),
        (True, None),
        (None, None),
    ],
)
def test_numbers_are_read_in_every_usual_notation(text: Any, number: str | None) -> None:
    assert as_number(text) == (None if number is None else Decimal(number))


@pytest.mark.parametrize(
    ("said", "value", "expected"),
    [
        ("84.00", 84.0, True),
        ("84.00", 84, True),
        ("$84", "84.00", True),
        ("84", 42.0, False),
        ("#A1.", "A1", True),
        ("a1", "A1", True),
        ("A1", "A2", False),
        ("84", True, False),
    ],
)
def test_words_agree_with_values(said: str, value: Any, expected: bool) -> None:
    assert agrees(said, value) is expected


@pytest.mark.parametrize(
    ("tool", "text", "claim"),
    [
        (
            "refund_api.create",
            "Hi! Your refund of $84.00 is on its way.",
            "Your refund of $84.00 is on its way",
        ),
        ("refund_api.create", "I've refunded $84.", "I've refunded $84"),
        ("refund_api.create", "It cannot be refunded.", None),
        ("refund_api.create", "You asked about refunds.", None),
        ("send_email", "I sent you a confirmation email.", "I sent you a confirmation email"),
        ("send_email", "A confirmation email is on its way!", "A confirmation email is on its way"),
        ("send_email", "You will get an email.", None),
        ("cancelOrder", "Your order has been canceled.", "Your order has been canceled"),
        ("cancel_order", "Your order has been placed.", None),
        ("create_ticket", "A ticket has been created.", "A ticket has been created"),
        ("lookup_order", "I found your order.", None),
        ("notify_user", "The user was notified.", "The user was notified"),
    ],
)
def test_the_name_of_a_tool_tells_which_claims_are_about_it(
    tool: str, text: str, claim: str | None
) -> None:
    assert action_claim(text, tool) == claim


def violation(run: Trajectory, says: str = SAYS, **options: Any) -> str:
    with pytest.raises(RuleViolationError) as raised:
        Claim(says, "refund_api.create", **options).assert_holds(run)
    return str(raised.value)


class TestClaimRule:
    text = "Done! Your refund of $84.00 has been processed."

    def test_a_claim_that_is_true_holds(self, refund: Any) -> None:
        run = trajectory_of(refund.healthy(), final_text=self.text)

        Claim(SAYS, "refund_api.create").assert_holds(run)

    def test_no_claim_needs_nothing(self, refund: Any) -> None:
        run = trajectory_of([refund.lookup()], final_text="It could not be processed: no refund.")

        Claim(SAYS, "refund_api.create").assert_holds(run)

    def test_a_claim_without_a_call(self, refund: Any) -> None:
        run = trajectory_of([refund.lookup()], final_text=self.text)

        assert violation(run) == (
            'the final text claims "Your refund of $84.00 has been processed",'
            " but refund_api.create was never recorded"
        )

    def test_a_claim_of_a_call_that_failed(self, refund: Any) -> None:
        run = trajectory_of([refund.refund(status="failed")], final_text=self.text)

        assert violation(run) == (
            'the final text claims "Your refund of $84.00 has been processed",'
            ' but step 1 refund_api.create did not take effect: status "failed"'
        )

    def test_a_claim_of_another_value(self, refund: Any) -> None:
        run = trajectory_of([refund.refund(amount=42.0)], final_text=self.text)

        assert violation(run) == (
            'the final text claims "Your refund of $84.00 has been processed",'
            " but step 1 refund_api.create had amount 42.0, not 84.00"
        )

    def test_a_group_may_be_an_argument_of_another_name(self, refund: Any) -> None:
        run = trajectory_of([refund.refund("A1")], final_text="Order A1 was refunded.")
        says = r"Order (?P<number>\w+) was refunded"

        Claim(says, "refund_api.create", {"number": "order_id"}).assert_holds(run)
        assert "had order_id" in violation(
            trajectory_of([refund.refund("B2")], final_text="Order A1 was refunded."),
            says,
            arguments={"number": "order_id"},
        )

    def test_each_claim_needs_a_call_of_its_own_values(self, refund: Any) -> None:
        text = "A refund of $84.00 was issued. A refund of $20 was issued."
        both = [refund.refund(), refund.refund("B2", 20)]

        Claim(SAYS, "refund_api.create").assert_holds(trajectory_of(both, final_text=text))
        assert "had amount 84.0, not 20" in violation(trajectory_of(both[:1], final_text=text))

    def test_signs_inside_a_name_belong_to_it(self, refund: Any) -> None:
        says = r"order (?P<order_id>#\w+) has been refunded"
        calls = [refund.lookup("#W_7"), refund.refund("#W_7")]

        def told(order: str) -> Trajectory:
            return trajectory_of(calls, final_text=f"The order {order} has been refunded.")

        Claim(says, "refund_api.create").assert_holds(told("#W_7"))
        assert violation(told("#W_8"), says) == (
            'the final text claims "The order #W_8 has been refunded", but step 2 refund_api.create'
            ' had order_id "#W_7", not #W_8'
        )

    @pytest.mark.parametrize(
        "text",
        [
            "Your refund\nhas been processed.",
            "Your **refund**\u00a0has been processed.",
            "Your _refund has been_ processed.",
        ],
    )
    def test_line_breaks_and_markdown_signs_hide_no_claim(self, refund: Any, text: str) -> None:
        run = trajectory_of([refund.lookup()], final_text=text)

        assert "never recorded" in violation(run, "refund has been processed")
        assert "never recorded" in violation(run, "refund.*processed")
        assert "never recorded" in violation(
            trajectory_of([refund.lookup()], final_text=f"Hello! {text}"), "^your refund"
        )

    @pytest.mark.parametrize("number", [r"[\d.]+", r"\d+", r"[\d.,]+"])
    def test_a_group_that_caught_the_beginning_of_a_number_is_the_whole(
        self, refund: Any, number: str
    ) -> None:
        says = rf"refund of \$(?P<amount>{number})"
        text = "Your refund of $1,234.50 was issued."

        Claim(says, "refund_api.create").assert_holds(
            trajectory_of([refund.refund(amount=1234.5)], final_text=text)
        )
        assert "had amount 1, not 1,234.50" in violation(
            trajectory_of([refund.refund(amount=1)], final_text=text), says
        )

    def test_groups_that_share_a_number_are_left_as_they_are(self) -> None:
        (claim,) = claims("I refunded $84.50.", r"refunded \$(?P<dollars>\d+)\.(?P<cents>\d+)")

        assert claim.groups == {"dollars": "84", "cents": "50"}

    def test_a_text_that_was_not_recorded_is_insufficient(self, refund: Any) -> None:
        with pytest.raises(InsufficientEvidenceError, match="the final text was not recorded"):
            Claim(SAYS, "refund_api.create").assert_holds(refund.healthy())

    def test_a_hidden_step_is_insufficient(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        run = gapped([refund.lookup()], Gap("missing_steps"), final_text=self.text)

        with pytest.raises(InsufficientEvidenceError, match="missing_steps may hide a call of"):
            Claim(SAYS, "refund_api.create").assert_holds(run)

    def test_hidden_arguments_are_insufficient(self, refund: Any) -> None:
        blind = refund.refund()
        del blind["arguments"]
        run = trajectory_of([blind], final_text=self.text)

        with pytest.raises(InsufficientEvidenceError, match="not recorded"):
            Claim(SAYS, "refund_api.create").assert_holds(run)

    def test_patterns_that_re2_does_not_know_work_too(self, refund: Any) -> None:
        run = trajectory_of([refund.lookup()], final_text=self.text)

        assert "never recorded" in violation(run, r"refund(?! policy).*processed")

    def test_a_wrong_pattern_is_refused(self) -> None:
        with pytest.raises(ValueError, match="is no regular expression"):
            Claim("(", "x")
        with pytest.raises(ValueError, match="`arguments` names the group 'b'"):
            Claim("(?P<a>x)", "x", {"b": "c"})


@pytest.mark.parametrize(
    "text",
    [
        "I could not call you, but it has been cancelled and refunded.",
        "I could not call you; it has, as promised, been refunded.",
        "It could not be shipped, so it was refunded.",
        "I was unable to reach you: the order was refunded.",
    ],
)
def test_what_an_earlier_clause_denies_takes_nothing_back(text: str) -> None:
    assert claims(text, "refunded")


@pytest.mark.parametrize(
    "text",
    [
        "It will be cancelled and refunded.",
        "I checked, and it will be cancelled and refunded.",
        "It has not, as promised, been refunded.",
        "Is it true that it was refunded?",
        "'Was it refunded?'",
    ],
)
def test_what_the_verb_of_the_clause_takes_back(text: str) -> None:
    assert not claims(text, "refunded")


@pytest.mark.parametrize(
    ("verb", "text"),
    [
        ("apply", "It was applied."),
        ("pay", "It was paid."),
        ("deploy", "It was deployed."),
        ("close", "It was closed."),
        ("reset", "It was reset."),
        ("cancel", "It was canceled."),
        ("ship", "It was shipped."),
    ],
)
def test_the_past_of_a_verb(verb: str, text: str) -> None:
    assert action_claim(text, f"{verb}_order") == text[:-1]
    assert action_claim("Hello.", f"{verb}_order") is None
    assert action_claim(None, verb) is None


def test_a_quote_is_short() -> None:
    (claim,) = claims(f"I refunded {'x' * 200} now!", "refunded")

    assert claim.sentence.quote == f"I refunded {'x' * 148}…"


class TestWhyAClaimIsOpen:
    """What leaves a claim open is named; what the policy got wrong is no fault of the agent."""

    def open(self, said: Any, call: dict[str, Any], says: str = "refunded", **options: Any) -> str:
        run = trajectory_of([{"tool": "refund", **call}], final_text="I refunded 84")
        ((state, sentence),) = said(Claim(says, "refund", **options), run)
        assert state == "insufficient"
        return str(sentence).removeprefix(
            'the final text claims "I refunded 84", and whether refund did it cannot be judged: '
        )

    @pytest.mark.parametrize(
        ("call", "why"),
        [
            (
                {"result": {"status": "PENDING"}},
                'step 1 refund may not have taken effect: status "PENDING"',
            ),
            ({"result": False}, "step 1 refund may not have taken effect: it answered false"),
            ({}, "a value of step 1 was not recorded"),
        ],
    )
    def test_what_leaves_the_effect_open_is_said(
        self, said: Any, call: dict[str, Any], why: str
    ) -> None:
        assert self.open(said, call) == why

    def test_a_group_that_no_call_has_as_argument_may_be_misspelt(self, said: Any) -> None:
        call = {"arguments": {"amount": 84.0}, "result": "done"}
        says = r"refunded (?P<amout>\d+)"

        assert self.open(said, call, says) == (
            "step 1 refund has no argument amout, did you mean amount?"
        )
        assert self.open(said, call, r"refunded (?P<n>\d+)", arguments={"n": "price"}) == (
            "step 1 refund has no argument price"
        )

    def test_an_argument_that_other_calls_have_is_missing_and_no_null(self, said: Any) -> None:
        calls = [
            {"tool": "refund", "arguments": {"amount": 3}, "result": "done"},
            {"tool": "refund", "arguments": {"order_id": "A1"}, "result": "done"},
        ]
        run = trajectory_of(calls, final_text="I refunded 84")
        assert said(Claim(r"refunded (?P<amount>\d+)", "refund"), run) == [
            (
                "violated",
                'the final text claims "I refunded 84", but step 2 refund had no amount, not 84',
            )
        ]


@pytest.mark.parametrize(
    ("text", "states"),
    [("I refunded A1 and A2.", []), ("I refunded A2.", []), ("I refunded A3.", ["violated"])],
)
def test_an_id_in_a_list_of_ids_is_what_the_call_was_about(
    said: Callable[..., Any], call: Any, text: str, states: list[str]
) -> None:
    rule = Claim(says=r"refunded (?P<order_id>[A-Z]\d+)", needs="pay")
    found = said(rule, [call("pay", {"order_id": ["A1", "A2"]})], final_text=text)

    assert [state for state, _ in found] == states


@pytest.mark.parametrize(
    ("says", "text", "state"),
    [
        (r"orders: (?P<order_id>[A-Z]\d+)", "Both orders: A1, A2", "violated"),
        (r"orders: (?P<order_id>[A-Z]\d+)", "Both orders: A1", None),
        ("reembolsado", "Su pedido B2 fue reembolsado.", None),
        (r"(?P<order_id>[A-Z]\d+) fue reembolsado", "Su pedido B2 fue reembolsado.", "violated"),
        ("refund.*processed", "Ihre Rückerstattung ist unterwegs.", None),
    ],
)
def test_the_pattern_alone_says_what_is_a_claim_in_any_language(
    said: Callable[..., Any], says: str, text: str, state: str | None
) -> None:
    run = [{"tool": "refund", "kind": "mutate", "ok": True, "arguments": {"order_id": "A1"}}]
    found = said(Claim(says, "refund"), run, final_text=text)
    assert [one for one, _ in found] == ([] if state is None else [state])


@pytest.mark.parametrize("says", ["reembolsado", "退款", "rückerstattet"])
def test_a_claim_in_another_language_without_a_call_never_holds(
    said: Callable[..., Any], says: str
) -> None:
    found = said(Claim(says, "refund"), [{"tool": "look"}], final_text=f"A1: {says}.")
    assert [state for state, _ in found] == ["violated"]
