"""Arguments of a tool: values, types, paths, and which calls are meant."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.rules import Arguments
from trackway_analyzer.rules.necessary import Least

SCHEMA = {
    "type": "object",
    "required": ["x"],
    "properties": {"x": {"type": "integer"}, "y": {"type": "array", "items": {"type": "string"}}},
}


@pytest.mark.parametrize(
    ("rule", "arguments", "wrong"),
    [
        ({"equals": {"x": 1}}, {"x": 1.0, "y": 2}, None),
        ({"equals": {"x": 1}}, {"x": 2}, "x 2, expected 1"),
        ({"equals": {"x": 1}}, {"x": "1"}, 'x "1" (text), expected 1'),
        ({"equals": {"x": 1}}, {"x": True}, "x true (bool), expected 1"),
        ({"equals": {"x": None}}, {}, "x absent, expected null"),
        ({"equals": {"x": None}}, {"x": None}, None),
        ({"equals": {"$.a[*].b": 1}}, {"a": [{"b": 1}, {"b": 2}]}, "$.a[*].b 2, expected 1"),
        ({"equals": {"x": 1}, "exact": True}, {"x": 1, "y": 2}, "y 2, expected none"),
        ({"equals": {"x": 1}, "exact": True}, {"x": 1}, None),
        ({"regex": {"x": "^a+$"}}, {"x": "aa"}, None),
        ({"regex": {"x": "^a+$"}}, {"x": "ab"}, 'x "ab", expected a text like ^a+$'),
        ({"regex": {"x": "1"}}, {"x": 1}, "x 1 (number), expected a text like 1"),
        ({"one_of": {"x": ["a", 1]}}, {"x": 1.0}, None),
        ({"one_of": {"x": ["a", 1]}}, {"x": "b"}, 'x "b", expected "a" or 1'),
        ({"one_of": {"x": ["a", 1]}}, {"x": True}, 'x true (bool), expected "a" or 1'),
        ({"within": {"x": [84, 0.5]}}, {"x": 84.5}, None),
        ({"within": {"x": [1, 0.1]}}, {"x": 1.1}, None),
        ({"within": {"x": [19.99, 0.01]}}, {"x": 20.0}, None),
        ({"within": {"x": [19.99, 0.01]}}, {"x": 20.01}, "x 20.01, expected 19.99 ± 0.01"),
        ({"within": {"x": [0, 0.01]}}, {"x": -0.01}, None),
        ({"equals": {"x": Decimal("84.00"), "y": (1, 2)}}, {"x": 84, "y": [1, 2]}, None),
        ({"within": {"x": [84, 0.5]}}, {"x": 83}, "x 83, expected 84 ± 0.5"),
        ({"within": {"x": [84, 0.5]}}, {"x": "84"}, 'x "84" (text), expected 84 ± 0.5'),
        ({"absent": ["x"]}, {"y": 1}, None),
        ({"absent": ["x"]}, {"x": None}, "x null, expected none"),
        ({"absent": ["x"]}, {"x": 2}, "x 2, expected none"),
        ({"schema": SCHEMA}, {"x": 1, "y": ["a"]}, None),
        ({"schema": SCHEMA}, {"x": True}, "x: True is not of type 'integer'"),
        ({"schema": SCHEMA}, {"x": 1, "y": [1]}, "y[0]: 1 is not of type 'string'"),
        ({"schema": SCHEMA}, {}, "the arguments: 'x' is a required property"),
        ({"where": "x < y"}, {"x": 1, "y": 2}, None),
        ({"where": "x < y"}, {"x": 3, "y": 2}, "x 3, expected < 2 (y)"),
        ({"where": "x == y"}, {"x": 3}, "x 3, but y is absent"),
        ({"where": "x == y"}, {"y": 3}, "x absent, expected 3 (y)"),
        ({"where": "x <= 2"}, {}, "x absent, expected <= 2"),
    ],
)
def test_what_the_arguments_must_be(
    said: Callable[..., Any], call: Any, rule: dict[str, Any], arguments: Any, wrong: str | None
) -> None:
    expected = [] if wrong is None else [("violated", f"step 1 a: {wrong}")]

    assert said(Arguments("a", **rule), [call("a", arguments)]) == expected


@pytest.mark.parametrize("where", ["amout == totl", "frozn != true", "not (frozn == true)"])
def test_a_misspelt_name_is_no_pass(said: Callable[..., Any], call: Any, where: str) -> None:
    assert said(Arguments("a", where=where), [call("a", {"amount": 3, "frozen": True})]) == [
        (
            "insufficient",
            "step 1 a: arguments cannot be judged: a value was absent where it was looked for"
            " (is its name right?)",
        )
    ]


@pytest.mark.parametrize(
    ("which", "values", "sentence"),
    [
        ("every", [1, 2], "step 2 a: x 2, expected 1"),
        ("every", [], None),
        ("any", [2, 1], None),
        ("any", [2, 3], "no call of a fits; step 2 a: x 3, expected 1"),
        ("any", [], "a was never recorded"),
        ("first", [1, 2], None),
        ("first", [2, 1], "the first call does not fit; step 1 a: x 2, expected 1"),
        ("first", [], "a was never recorded"),
        ("last", [2, 1], None),
        ("last", [1, 2], "the last call does not fit; step 2 a: x 2, expected 1"),
    ],
)
def test_which_calls_are_meant(
    said: Callable[..., Any], call: Any, which: Any, values: list[int], sentence: str | None
) -> None:
    run = [call("a", {"x": value}) for value in values]

    found = said(Arguments("a", equals={"x": 1}, calls=which), run)
    assert found == ([] if sentence is None else [("violated", sentence)])


@pytest.mark.parametrize(
    ("which", "run", "place", "state"),
    [
        ("every", [1], 0, "insufficient"),
        ("every", [2], 0, "violated"),
        ("any", [1], 0, None),
        ("any", [2], 0, "insufficient"),
        ("any", [], None, "insufficient"),
        ("first", [1, 1], 3, None),
        ("first", [1], 0, "insufficient"),
        ("first", [2], 0, "insufficient"),
        ("first", [2, 1, 1], 2, "violated"),
        ("last", [1, 1, 1], 0, None),
        ("last", [2], 0, "insufficient"),
    ],
)
def test_a_hidden_call_matters_where_it_could_be_one_of_them(
    said: Callable[..., Any],
    call: Any,
    gapped: Callable[..., Trajectory],
    which: Any,
    run: list[int],
    place: int | None,
    state: str | None,
) -> None:
    records = [call("a", {"x": value}) for value in run]
    hidden = gapped(records, Gap("missing_steps", position=place), final_text="")

    found = said(Arguments("a", equals={"x": 1}, calls=which), hidden)
    assert [s for s, _ in found] == ([] if state is None else [state])


def test_arguments_that_were_not_recorded_or_cut_are_insufficient(
    said: Callable[..., Any], run_of: Any
) -> None:
    rule = Arguments("a", equals={"x": 1})
    cut = {"tool": "a", "truncated": ["arguments"]}

    assert said(rule, [{"tool": "a"}]) == [
        ("insufficient", "step 1 a: arguments cannot be judged: a value of step 1 was not recorded")
    ]
    assert [s for s, _ in said(rule, run_of([cut | {"arguments": "{}"}]))] == ["insufficient"]
    long = '{"x":"abc…[truncated 9 chars]"}'
    assert [s for s, _ in said(rule, run_of([cut | {"arguments": long}]))] == ["insufficient"]
    assert [s for s, _ in said(rule, run_of([cut | {"arguments": '{"x":2}'}]))] == ["violated"]
    assert [s for s, _ in said(rule, run_of([{"tool": "a", "arguments": "{'x': 1"}]))] == [
        "insufficient"
    ]


SECRET = "[redacted:key_name]"


@pytest.mark.parametrize(
    "rule",
    [
        Arguments("a", where="amount == limit.most"),
        Arguments("a", where='amount == "[redacted:key_name]"'),
        Arguments("a", where="amount"),
        Arguments("a", equals={"amount": 84}),
        Arguments("a", equals={"amount": SECRET}),
        Arguments("a", regex={"amount": "redacted"}),
        Arguments("a", schema={"properties": {"amount": {"type": "string"}}}),
        Arguments("a", schema={"properties": {"amount": {"type": "number"}}}),
    ],
)
def test_a_redacted_argument_is_neither_right_nor_wrong(
    said: Callable[..., Any], call: Any, rule: Arguments
) -> None:
    run = [call("limit", {}, result={"most": SECRET}), call("a", {"amount": SECRET, "to": "b"})]

    ((state, sentence),) = said(rule, run)
    assert (state, sentence.endswith("was redacted")) == ("insufficient", True)


def test_what_stands_beside_a_redacted_argument_is_judged(
    said: Callable[..., Any], call: Any
) -> None:
    run = [call("a", {"amount": SECRET, "to": "b"})]

    assert said(Arguments("a", equals={"to": "b"}), run) == []
    assert [s for s, _ in said(Arguments("a", equals={"to": "c"}), run)] == ["violated"]
    wrong = Arguments("a", schema={"required": ["from"]})
    assert [s for s, _ in said(wrong, run)] == ["violated"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({}, "say what the arguments must be"),
        ({"exact": True}, "`exact` needs `equals`"),
        ({"equals": {"x": 1}, "calls": "all"}, "unknown calls 'all'"),
        ({"regex": {"x": "("}}, "is no regular expression"),
        ({"within": {"x": [1]}}, r"must be \[number, tolerance\]"),
        ({"schema": {"type": "nonsense"}}, "no JSON Schema"),
        ({"where": "x ="}, "write == to compare"),
        ({"equals": {"$.a[": 1}}, "is no JSONPath"),
    ],
)
def test_wrong_rules_are_refused(rule: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Arguments("a", **rule)


@pytest.mark.parametrize(("which", "gap"), [("every", 1), ("first", 2), ("last", 0)])
def test_a_hidden_call_elsewhere_replaces_none(
    said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory], which: Any, gap: int
) -> None:
    run = [call("b"), call("a", {"x": 2}), call("c")] if which != "last" else []
    run = run or [call("b"), call("c"), call("a", {"x": 2})]
    hidden = gapped(run, Gap("missing_steps", position=gap))

    if which == "first":
        run = [call("a", {"x": 2}), call("b"), call("c")]
        hidden = gapped(run, Gap("missing_steps", position=2))
    assert [state for state, _ in said(Arguments("a", {"x": 1}, calls=which), hidden)] == [
        "violated"
    ]


@pytest.mark.parametrize("calls", ["any", "first", "last"])
def test_where_there_must_be_a_call_the_tool_is_required(calls: Any) -> None:
    assert list(Arguments("a", {"x": 1}, calls=calls).necessary({})) == [Least("a", 1, False)]
    assert list(Arguments("a", {"x": 1}).necessary({})) == []


def test_a_value_that_was_cut_is_hidden_at_its_step_alone(
    said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory]
) -> None:
    run = [call("b"), call("a", {"y": "one"})]

    assert said(Arguments("a", {"x": "one"}), gapped(run, Gap("truncated_value", position=1))) == [
        (
            "insufficient",
            "step 2 a: arguments cannot be judged: a value of step 2 was cut off (truncated_value)",
        )
    ]
    assert said(Arguments("a", {"x": "one"}), gapped(run, Gap("truncated_value", position=0))) == [
        ("violated", 'step 2 a: x absent, expected "one"')
    ]
