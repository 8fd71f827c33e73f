"""Claims of several things at once, of a name or number that goes on, of what was done twice."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from trackway_analyzer.rules import Claim
from trackway_analyzer.rules.claim_language import claims, sentences
from trackway_analyzer.rules.claiming_texts import claiming

ORDER = r"refunded (?P<order_id>[A-Z]\d+)"
AMOUNT = r"refund[^$]*\$(?P<amount>[\d.]+)"


def caught(text: str, says: str = ORDER, group: str = "order_id") -> list[str]:
    return [claim.groups[group] for claim in claims(text, says)]


@pytest.mark.parametrize(
    "listed",
    [
        "A1 as well as A2",
        "A1 plus A2",
        "A1 + A2",
        "A1/A2",
        "A1 & A2",
        "A1 (and A2)",
        "A1 and order A2",
        "A1, then A2",
        "A1 along with A2",
        "A1\n- A2",
        ":\n- A1\n- A2\n",
        ":\n1. A1\n2. order A2",
    ],
)
def test_each_item_of_a_list_is_claimed(listed: str) -> None:
    text = f"I refunded {listed}"

    assert caught(text) == ["A1", "A2"]
    assert claiming(pa.chunked_array([[text]]), ORDER) == [(0, text)]


@pytest.mark.parametrize(
    "text",
    [
        "A1 and cancelled A2",
        "A1, and A2 is still open",
        "A1 (see B2)",
        "A1 or A2",
        "A1.\n- A2 is open",
        "A1\n\nOpen:\n- A2",
        "A1's fees",
        "A1-related fees",
    ],
)
def test_what_is_no_item_is_not(text: str) -> None:
    assert caught(f"I refunded {text}") == ["A1"]


def test_a_group_that_caught_the_beginning_of_a_name_is_that_name() -> None:
    assert caught("I refunded A1-2.") == ["A1-2"]
    assert caught("I refunded A1_b7.") == ["A1_b7"]
    assert caught("I refunded A17.", r"refunded (?P<order_id>A\d)") == ["A17"]


def test_lines_of_text_are_sentences_still() -> None:
    text = "Done:\n- I refunded it.\n- I wrote to you on May 5."

    assert [s.text for s in sentences(text)] == [
        "Done:",
        "I refunded it.",
        "I wrote to you on May 5.",
    ]


class TestAmounts:
    def judged(self, said: Any, refund: Any, words: str, *amounts: Any) -> list[str]:
        calls = [refund.refund(amount=amount) for amount in amounts]
        text = f"A refund of {words} was issued."
        return [
            sentence
            for _, sentence in said(Claim(AMOUNT, "refund_api.create"), calls, final_text=text)
        ]

    @pytest.mark.parametrize(
        ("words", "amount"),
        [
            ("$84m", 84e6),
            ("$84 bn", 84e9),
            ("-$84.00", -84),
            ("$84 and 50 cents", 84.5),
        ],
    )
    def test_what_stands_beside_a_number_is_read(
        self, said: Any, refund: Any, words: str, amount: float
    ) -> None:
        assert self.judged(said, refund, words, amount) == []
        assert self.judged(said, refund, words, 84) == [
            f'the final text claims "A refund of {words} was issued",'
            f" but step 1 refund_api.create had amount 84, not {words}"
        ]

    @pytest.mark.parametrize("words", ["$84.00 twice", "2 x $84.00", "$84 two times", "$84 × 2"])
    def test_what_was_done_twice_needs_two_calls(self, said: Any, refund: Any, words: str) -> None:
        assert self.judged(said, refund, words, 84, 84) == []
        assert self.judged(said, refund, words, 84, 3) == [
            f'the final text claims "A refund of {words} was issued",'
            " but only step 1 refund_api.create did it, not 2 calls"
        ]

    @pytest.mark.parametrize("words", ["$84 in 2 days", "$84, 3 times what you paid,"])
    def test_other_numbers_count_nothing(self, said: Any, refund: Any, words: str) -> None:
        assert self.judged(said, refund, words, 84) == []
