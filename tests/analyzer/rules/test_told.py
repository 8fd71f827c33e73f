"""What the agent was told: in which texts, by whom, and whether a value stands there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.told import INSTRUCTIONS, Text, hidden_input, texts_of, told

HI = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ("plain", [("user", "plain")]),
        ('"quoted"', [("user", '"quoted"')]),
        ('{"order": 7}', [("user", '{"order": 7}')]),
        ('["a", "b"]', [("user", '["a", "b"]')]),
        ([HI], [("user", "hi")]),
        ({"messages": [HI]}, [("user", "hi")]),
        ([HI, "stray", {"role": "tool", "content": "x"}], [("user", "hi"), ("tool", "x")]),
        ([{"role": "user", "parts": [{"type": "text", "content": "p"}]}], [("user", "p")]),
        ([{"role": "user", "content": [{"type": "text", "text": "t"}]}], [("user", "t")]),
        ([{"role": "user", "content": ["bare", {"content": 7}, ""]}], [("user", "bare")]),
        ([{"role": "user", "parts": ["p"], "content": "c"}], [("user", "p")]),
        ([{"role": "user"}], []),
        ("", []),
        (None, []),
    ],
)
def test_the_texts_of_an_input(recorded: Any, expected: list[tuple[str, str]]) -> None:
    text = recorded if isinstance(recorded, str | None) else json.dumps(recorded)
    evidence = Evidence.of(trajectory_of([]).batch)

    assert [(said.role, said.text) for said in texts_of(evidence, text)] == expected


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("Order A123, please", "A123", True),
        ("Order A123, please", "a123 ", True),
        ("Order A1234", "A123", False),
        ("Order XA123", "A123", False),
        ("It costs $84.00", 84, True),
        ("It costs $84.00", 8, False),
        ("It costs 84", "84", True),
        ("a.b", "a.b", True),
        ("axb", "a.b", False),
        ("anything", "", False),
        ("None", None, False),
        ("True", True, False),
        ("[]", [], False),
        ("{}", {}, False),
    ],
)
def test_a_value_stands_in_a_text_as_a_word_of_its_own(
    text: str, value: Any, expected: bool
) -> None:
    assert Text(text, "user").holds(value) is expected


def messages(*pairs: tuple[str, str]) -> str:
    return json.dumps([{"role": role, "content": content} for role, content in pairs])


def test_messages_count_from_the_model_call_that_had_them(run_of: Any) -> None:
    first = messages(("system", "rules"), ("user", "one"), ("assistant", "said"))
    second = messages(("human", "two"), ("developer", "more"), ("tool", "result"))
    steps = [
        {"operation": "llm", "input": first},
        {"tool": "a", "input": messages(("user", "to a tool"))},
        {"operation": "llm", "input": second},
    ]
    evidence = Evidence.of(run_of(steps, input="zero"))

    def heard(before: int, *roles: frozenset[str]) -> list[str]:
        return [said.text for said in told(evidence, 0, before, *roles)]

    assert heard(0) == ["zero"]
    assert heard(1) == ["zero", "one"]
    assert heard(2) == ["zero", "one"]
    assert heard(3) == ["zero", "one", "two"]
    assert heard(3, INSTRUCTIONS) == ["rules", "more"]


@pytest.mark.parametrize(
    ("about", "steps", "expected"),
    [
        ({"input": "hi"}, [], None),
        ({}, [{"operation": "llm", "input": "hi"}], None),
        ({}, [{"operation": "llm"}], "not_recorded"),
        ({"input": "hi[truncated 9 chars]"}, [], "truncated_value"),
        (
            {"input": "hi"},
            [{"operation": "llm", "input": "a…[truncated 9 chars]"}],
            "truncated_value",
        ),
        ({"input": "hi [redacted:email]"}, [], "redacted"),
        ({"input": "hi"}, [{"operation": "llm", "input": "[redacted:email]"}], "redacted"),
    ],
)
def test_why_nobody_knows_all_that_the_agent_was_told(
    run_of: Any, about: dict[str, Any], steps: Any, expected: str | None
) -> None:
    hidden = hidden_input(Evidence.of(run_of(steps, **about)), 0)

    assert (None if hidden is None else hidden.gap) == expected


def test_an_input_of_another_run_says_nothing_of_this_one() -> None:
    runs = [trajectory_of([{"tool": "a"}], run_id=name) for name in ("one", "two")]

    assert all(hidden_input(Evidence.of(run.batch), 0) is not None for run in runs)


def test_content_that_is_off_hides_what_the_agent_was_told(run_of: Any) -> None:
    gaps = [{"name": "content_off", "position": None, "count": None, "detail": None}]
    hidden = hidden_input(Evidence.of(run_of([{"operation": "llm"}], gaps=gaps)), 0)

    assert hidden is not None
    assert hidden.gap == "content_off"
