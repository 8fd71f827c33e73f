"""Words that all findings share: steps, hidden values, near names."""

from __future__ import annotations

from typing import Any

import pytest

from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Result, State
from trackway_analyzer.rules.sentences import (
    at_step,
    cannot_judge,
    hidden_value,
    nearest_name,
    number,
    step,
)
from trackway_analyzer.rules.terms import Hidden


def test_a_step_has_its_number_and_its_tool(run_of: Any, behind: Any) -> None:
    for batch, first in (
        (run_of([{"tool": "a"}, {}]), 0),
        (behind(run_of([{"tool": "a"}, {}])), 3),
    ):
        evidence = Evidence.of(batch)

        assert [step(evidence, first + n) for n in (0, 1)] == ["step 1 a", "step 2 unnamed tool"]
        assert [at_step(evidence, first + n) for n in (0, 1)] == [
            "a at step 1",
            "unnamed tool at step 2",
        ]
        assert number(evidence, first + 1) == 2


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        ("not_recorded", "it was not recorded"),
        ("absent", "it was absent where it was looked for (is its name right?)"),
        ("content_off", "it was not recorded (content_off)"),
        ("truncated_value", "it was cut off (truncated_value)"),
        ("redacted", "it was redacted"),
        ("unparsable_arguments", "it was no JSON object (unparsable_arguments)"),
        ("missing_steps", "missing_steps hides it"),
    ],
)
def test_why_a_value_cannot_be_seen(gap: str, expected: str) -> None:
    assert hidden_value(Hidden(gap), "it") == expected


@pytest.mark.parametrize(
    ("position", "at", "gap", "what", "expected"),
    [
        (None, None, "missing_steps", None, "the run cannot be judged: missing_steps hides what"),
        (None, 0, "redacted", "it", "it cannot be judged: a value of step 1 was redacted"),
        (1, None, "redacted", None, "step 2 b cannot be judged: a value was redacted"),
        (1, 0, "redacted", "it", "step 2 b: it cannot be judged: a value of step 1 was redacted"),
    ],
)
def test_why_a_run_or_a_step_cannot_be_judged(
    run_of: Any, position: int | None, at: int | None, gap: str, what: str | None, expected: str
) -> None:
    evidence = Evidence.of(run_of([{"tool": "a"}, {"tool": "b"}]))
    result = Result(0, State.INSUFFICIENT, position, {"gap": gap, "at": at})

    assert cannot_judge(evidence, result, what).removesuffix(" decides") == expected


def test_the_nearest_name_looks_alike() -> None:
    assert nearest_name("refund", ["lookup", "refunds", "reference"]) == "refunds"
    assert nearest_name("refund", ["lookup"]) is None
    assert nearest_name("abcde", ["abcxy"]) == "abcxy"
    assert nearest_name("abcde", ["abxyz"]) is None
