"""Numbers and money of a final text, and claims that name several things at once."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import Claim
from trackway_analyzer.rules.amounts import agrees, currency_of, may_be_same, readings
from trackway_analyzer.rules.claim_language import claims
from trackway_analyzer.rules.dates import days

AMOUNT = r"refund(?:ed)? \D*(?P<amount>[\d.,]+)"
WITH_CURRENCY = r"refunded (?P<currency>[$€£]|EUR|USD) ?(?P<amount>[\d.,]+)"
WHOLE = r"refunded (?P<amount>[$€£]?[\d.,]+(?: ?(?:EUR|USD|cents))?)"
ORDER = r"refunded (?:order )?(?P<order_id>A\d+)"
LAST_ORDER = r"refunded.* order (?P<order_id>\w+)"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("$84.00", ["84"]),
        ("84 dollars", ["84"]),
        ("84 cents", ["0.84"]),
        ("84¢", ["0.84"]),
        ("$84k", ["84000"]),
        ("1.5 million EUR", ["1500000"]),
        ("1.234 EUR", ["1.234", "1234"]),
        ("1,234", ["1.234", "1234"]),
        ("0.123", ["0.123"]),
        ("1 234,50 EUR", ["1234.50"]),
        ("1.234,50", ["1234.50"]),
        ("A1", []),
        ("re_1101", []),
        ("W-77", []),
        ("", []),
        (True, []),
        (84.0, ["84.0"]),
    ],
)
def test_what_number_a_text_names(text: Any, numbers: list[str]) -> None:
    assert readings(text) == frozenset(map(Decimal, numbers))


@pytest.mark.parametrize(
    ("said", "value", "expected"),
    [
        ("$", "USD", True),
        ("$", "cad", True),
        ("$", "EUR", False),
        ("€", "EUR", True),
        ("£", "gbp", True),
        ("euros", "EUR", True),
        ("€84", "84.00 USD", False),
        ("€84", "84 EUR", True),
        ("€84", 84.0, True),
        ("A1", "B1", False),
        ("a1", "A1", True),
        ("#1001", 1001, True),
        ("CAD", "USD", False),
    ],
)
def test_words_agree_with_a_value_if_number_and_currency_do(
    said: str, value: Any, expected: bool
) -> None:
    assert agrees(said, value) is expected


def test_what_counts_in_cents_agrees_with_cents() -> None:
    assert agrees("$84", 8400, minor=True)
    assert not agrees("$84", 8400)
    assert not agrees("$84", 84.001)


def test_a_text_of_two_currencies_names_none() -> None:
    assert currency_of("USD or EUR") is None
    assert may_be_same(None, "eur")


@pytest.mark.parametrize(
    ("says", "text", "arguments", "holds"),
    [
        (WITH_CURRENCY, "I refunded $84.00.", {"amount": 84.0, "currency": "USD"}, True),
        (WITH_CURRENCY, "I refunded €84.", {"amount": 84.0, "currency": "EUR"}, True),
        (WITH_CURRENCY, "I refunded €84.", {"amount": 84.0, "currency": "USD"}, False),
        (WHOLE, "I refunded €84.", {"amount": 84.0, "currency": "USD"}, False),
        (WHOLE, "I refunded €84.", {"amount": 84.0}, True),
        (WHOLE, "I refunded 84 EUR.", {"amount": 84.0, "currency_code": "usd"}, False),
        (WHOLE, "I refunded 84 cents.", {"amount": 84.0}, False),
        (WHOLE, "I refunded 84 cents.", {"amount": 0.84}, True),
        (AMOUNT, "I refunded 84 cents.", {"amount": 84.0}, False),
        (AMOUNT, "I refunded 84 cents.", {"amount": 0.84}, True),
        (AMOUNT, "I refunded $84k.", {"amount": 84.0}, False),
        (AMOUNT, "I refunded $84k.", {"amount": 84000}, True),
        (AMOUNT, "I refunded €84.00.", {"amount": 84.0, "currency": "USD"}, False),
        (AMOUNT, "I refunded 84,00 EUR.", {"amount": 84.0, "currency": "EUR"}, True),
        (AMOUNT, "I refunded 1.234 EUR.", {"amount": 1234.0}, True),
        (AMOUNT, "I refunded 1.234 EUR.", {"amount": 1.234}, True),
        (AMOUNT, "I refunded 1 234,50 EUR.", {"amount": 1234.5}, True),
        (AMOUNT, "I refunded 1 234,50 EUR.", {"amount": 234.5}, False),
        (AMOUNT, "I refunded eighty dollars.", {"amount": 80}, True),
    ],
)
def test_a_claimed_amount_is_the_one_of_the_call(
    says: str, text: str, arguments: dict[str, Any], holds: bool
) -> None:
    run = trajectory_of(
        [{"tool": "refund", "arguments": arguments, "result": "ok"}], final_text=text
    )
    assert (Claim(says, "refund").check(run.batch) == []) is holds


def test_a_group_of_cents_may_be_an_argument_that_counts_in_cents() -> None:
    call = {"tool": "refund", "arguments": {"amount_cents": 8400}, "result": "ok"}
    run = trajectory_of([call], final_text="I refunded $84.00 to you.")
    Claim(AMOUNT, "refund", {"amount": "amount_cents"}).assert_holds(run)


@pytest.mark.parametrize(
    ("says", "text", "values"),
    [
        (ORDER, "I refunded A1 and A2.", ["A1", "A2"]),
        (ORDER, "I refunded A1, A2 and A3.", ["A1", "A2", "A3"]),
        (ORDER, "I refunded order A1 and order A2.", ["A1", "A2"]),
        (LAST_ORDER, "I refunded order A1 and order A2.", ["A2", "A1"]),
        (ORDER, "I refunded A1. I refunded A2.", ["A1", "A2"]),
        (ORDER, "I refunded A1 and refunded A2.", ["A1", "A2"]),
        (AMOUNT, "I refunded $84.00 and $42.00.", ["84.00", "42.00"]),
        (AMOUNT, "I refunded 84 EUR and 42 EUR.", ["84", "42"]),
        (AMOUNT, "I refunded $84.00 and 5 days later you wrote.", ["84.00"]),
        (ORDER, "I refunded A1 and A2 is still open.", ["A1"]),
        (ORDER, "I refunded A1 and sent a mail.", ["A1"]),
        (r"refunded (?P<order_id>\w+)", "I refunded A1 and sent 3 mails.", ["A1"]),
        (r"refunded (?P<order_id>\w+)", "I refunded A1 and 3 others.", ["A1"]),
        (r"refunded (?P<what>\w+)", "I refunded all and more.", ["all"]),
    ],
)
def test_each_item_of_a_list_is_a_claim_of_its_own(says: str, text: str, values: list[str]) -> None:
    assert [value for claim in claims(text, says) for value in claim.groups.values()] == values


def test_a_listed_order_that_was_not_refunded_is_named(refund: Any, said: Any) -> None:
    run = trajectory_of([refund.refund("A1")], final_text="I refunded A1 and A2.")
    assert said(Claim(ORDER, "refund_api.create"), run) == [
        (
            "violated",
            'the final text claims "I refunded A1 and A2", but step 1 refund_api.create had'
            ' order_id "A1", not A2',
        )
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I refunded $42.00.", "had amount 84.0, not 42.00"),
        ("I refunded $84k.", "had amount 84.0, not $84k"),
    ],
)
def test_a_quoted_value_ends_before_the_stop_of_its_sentence(
    refund: Any, said: Any, text: str, why: str
) -> None:
    run = trajectory_of([refund.refund()], final_text=text)
    ((_, sentence),) = said(Claim(AMOUNT, "refund_api.create"), run)
    assert sentence.endswith(why)


@pytest.mark.parametrize(
    "said",
    [
        "December 1, 2026",
        "Dec. 1st 2026",
        "1 December 2026",
        "Tuesday, the 1st of December, 2026",
        "December 1",
        "12/01/2026",
        "01.12.2026",
        "2026-12-01T08:30:00Z",
    ],
)
def test_a_day_is_the_same_however_it_is_written(said: str) -> None:
    assert agrees(said, "2026-12-01")
    assert agrees(said, "2026-12-01T00:00:00+00:00")
    assert not agrees(said, "2026-12-02")


@pytest.mark.parametrize("said", ["December 32, 2026", "December", "12/13/14", "1 of 2", "may"])
def test_other_words_are_no_day(said: str) -> None:
    assert days(said) == frozenset()
