"""A day, and an identifier, that a final text names stands in what the run showed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import Answer, Policy
from trackway_analyzer.rules.dates import Day, days_in, days_recorded

FOURTH = [
    "Arrives Dec 4.",
    "It ships on December 4",
    "It ships on December 4, 2026.",
    "It ships on the 4th of December 2026.",
    "Tuesday, 4 December works.",
    "It ships 2026-12-04.",
    "It ships on 12/04/2026",
    "It ships on 04.12.2026.",
]


def told(text: str, result: Any, **about: Any) -> list[tuple[str, str]]:
    calls = [{"tool": "look", "arguments": {}, "result": result}]
    batch = trajectory_of(calls, final_text=text, **about).batch
    findings = Policy(Answer(grounded=True)).findings(batch)
    return [(finding.state.value, finding.sentence) for finding in findings]


@pytest.mark.parametrize("text", FOURTH)
def test_a_made_up_day_is_told_and_one_that_was_shown_is_not(text: str) -> None:
    for shown in ("2026-12-04T10:00:00Z", "Dec 4, 2026", "2026-12-04", 1796382000, 1796382000123):
        assert told(text, {"ships": shown}, input="When?") == []
    for other in ("2026-12-05", "Dec 5", 1796900000, 4):
        assert [state for state, _ in told(text, {"ships": other}, input="When?")] == ["violated"]
    assert told(text, {"ships": None}, input="Will it come on December 4?") == []


def test_the_sentence_has_the_day_as_it_was_written() -> None:
    assert told("It ships on December 4, 2026.", {"ok": True}, input="When?") == [
        (
            "violated",
            'the final text names "December 4, 2026", which stands in no successful result and'
            " not in the user's input",
        )
    ]


def test_today_stands_in_the_instructions() -> None:
    messages = [
        {"role": "system", "content": "Today is 2026-11-30."},
        {"role": "user", "content": "What day is it?"},
    ]
    assert told("It is November 30.", {"ok": True}, input=json.dumps(messages)) == []
    assert told("It is November 29.", {"ok": True}, input=json.dumps(messages)) != []


@pytest.mark.parametrize(
    "text", ["You may 5 times try.", "I counted 12/04 of it.", "March on, 17!", "No date."]
)
def test_what_is_no_day(text: str) -> None:
    assert list(days_in(text)) == []


def test_days_recorded() -> None:
    assert days_recorded("on 2026-12-04, or May 5") == {Day(2026, 12, 4), Day(None, 5, 5)}
    assert Day(2026, 12, 4) in days_recorded('{"at":1796382000}')
    assert days_recorded('{"at":17963820001,"id":"x1796382000"}') == frozenset()


def test_an_id_that_only_an_error_names_is_undecided() -> None:
    error = "{'error': 'no order Z9999'}"
    assert [state for state, _ in told("Refunded Z9999", error, input="x")] == ["insufficient"]
    assert [state for state, _ in told("Refunded Z9998", error, input="x")] == ["violated"]
