"""A rule that makes no sense is refused where it is written, in whole sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trackway_analyzer.rules import (
    Answer,
    AnyOrder,
    Arguments,
    Before,
    Budget,
    Called,
    Claim,
    Count,
    EntitySpec,
    Exact,
    ExpectedCall,
    Forbidden,
    Grounded,
    NoLoops,
    PartialOrder,
    Policy,
    PolicyError,
    Recovered,
    ResultUsed,
    Sequence,
    StepRegex,
    StepSpec,
    Terminal,
    ToolSpec,
)
from trackway_analyzer.rules.claim_language import compiled_pattern
from trackway_analyzer.rules.expression import compiled
from trackway_analyzer.rules.tools import merged_tools

LIMITS = "steps, tool_calls, model_calls, retries, tokens, tokens_in, tokens_out, cost_usd, seconds"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Answer(), "say what the answer must be: contains, matches, grounded or agrees"),
        (lambda: Answer(agrees={"x": "a.b"}), "'x' needs a group that holds the value"),
        (
            lambda: Arguments("a"),
            "say what the arguments must be: equals, regex, one_of, within, …",
        ),
        (lambda: Arguments("a", exact=True), "`exact` needs `equals`"),
        (
            lambda: Arguments("a", within={"x": (1,)}),  # type: ignore[dict-item]
            "`within` of x must be [number, tolerance], found (1,)",
        ),
        (
            lambda: Arguments("a", within={"x": (0, 100)}),
            "`within` of x is [number, tolerance], and (0, 100) takes everything from -100 to 100:"
            " for the range from 0 to 100 write [50, 50]",
        ),
        (
            lambda: Arguments("a", where="not " * 5000 + "x"),
            "'not not not not not not not not not not '… is nested deeper than 50 levels: write it"
            " more simply",
        ),
        (
            lambda: Arguments("a", where="not (" * 51 + "x" + ")" * 51),
            "'not (not (not (not (not (not (not (not ('… is nested deeper than 50 levels: write it"
            " more simply",
        ),
        (
            lambda: Arguments("a", within={"x": (True, 1)}),
            "`within` of x must be [number, tolerance], found (True, 1)",
        ),
        (
            lambda: Arguments("a", {"x": 1}, calls="all"),  # type: ignore[arg-type]
            "unknown calls 'all', expected one of every, any, first, last",
        ),
        (lambda: Budget(), f"a budget needs a limit: {LIMITS}"),
        (
            lambda: Budget(agent="b", seconds=1),
            "seconds are of the run: leave out `agent` or `seconds`",
        ),
        (lambda: Budget(steps=-1), "the limit of steps must be a number from 0, found -1"),
        (
            lambda: Claim(" ", "a"),
            "`says` must be a regular expression that finds the claim, found ' ':"
            " write its words, `refund.*processed`",
        ),
        (
            lambda: Claim("(?P<b>x)", "a", {"c": "d"}),
            "`arguments` names the group 'c', '(?P<b>x)' has ['b']",
        ),
        (lambda: Count("a"), "a count needs `min`, `max` or both, or `exactly`"),
        (lambda: Count("a", exactly=1, max=2), "a count needs `min`, `max` or both, or `exactly`"),
        (lambda: Called("a", times=0), "`times` must be a whole number from 1, found 0"),
        (lambda: NoLoops(identical=1), "`identical` must be 0 or a whole number from 2, found 1"),
        (lambda: PartialOrder([]), "a partial order needs edges or tools"),
        (
            lambda: PartialOrder([("a", "b"), ("b", "a")]),
            "no order is possible: a before b before a",
        ),
        (lambda: Sequence(()), "a sequence needs at least one step"),
        (lambda: StepSpec(), "a step needs `tool` or `kind`"),
        (lambda: StepSpec(kind="mutation"), "unknown kind 'mutation', did you mean 'mutate'?"),
        (
            lambda: StepSpec.of({"tol": "a"}),
            "unknown key 'tol', did you mean 'tool'?",
        ),
        (
            lambda: Sequence(("a",), extra="all"),  # type: ignore[arg-type]
            "unknown extra 'all', did you mean 'allow'?",
        ),
        (
            lambda: Sequence(("a",), extra="xyz"),  # type: ignore[arg-type]
            "unknown extra 'xyz', expected one of forbid, reads, allow",
        ),
        (lambda: Terminal(), "say what the run must end with: action, category or claimed"),
        (lambda: Forbidden([]), "forbidden needs names of tools, found []"),
        (lambda: Forbidden(["a", ""]), "forbidden needs names of tools, found ['a', '']"),
        (lambda: Exact([]), "exact needs expected calls, or references, and not both"),
        (lambda: AnyOrder([]), "any_order needs expected calls, or references, and not both"),
        (lambda: Exact([{}]), "an expected call needs `tool`, found []"),
        (lambda: Exact([{"tool": "a", "okay": 1}]), "unknown key 'okay', did you mean 'ok'?"),
        (
            lambda: Grounded("a", "x", "1"),
            "'1': expected a tool, `tool.path`, an entity type or `input`",
        ),
        (
            lambda: Grounded("a", "x", "b-c"),
            "'b-c': expected `.name` or `[…]` after the tool, found '-c'",
        ),
        (lambda: compiled("a[*] == 1"), "'a[*] == 1': a[*] may yield several values, compare one"),
        (
            lambda: merged_tools({"a": ToolSpec("lookup")}, {"a": ToolSpec("mutate")}),
            "the kind of a is said to be both 'lookup' and 'mutate'",
        ),
        (
            lambda: compiled_pattern("("),
            "'(' is no regular expression: missing ), unterminated subpattern at position 0",
        ),
        (
            lambda: StepRegex("a", extra="all"),  # type: ignore[arg-type]
            "unknown extra 'all', did you mean 'allow'?",
        ),
        (
            lambda: compiled('a == "\\q"'),
            '\'a == "\\\\q"\': "\\q" is no text that JSON can read',
        ),
        (
            lambda: Policy(Before("a", "b"), Before("b", "a")),
            "policy: before: b, a contradicts before: a, b: b could never be called:"
            " no order is possible: b before a before b",
        ),
        (lambda: StepRegex("a{1,2"), "'a{1,2' is no pattern of steps: cannot read it at 2"),
    ],
)
def test_what_makes_no_sense(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError) as raised:
        make()

    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Policy(3),  # type: ignore[arg-type]
            "expected rules, found 3: write Policy(Before(...), Claim(...)), or"
            " read a policy file with Policy.from_yaml",
        ),
        (
            lambda: Policy(Before("a", "b")).check([]),  # type: ignore[arg-type]
            "expected a RunBatch, found list: check many runs with "
            "load(source).check(policy), one with rule.assert_holds(trajectory)",
        ),
        (
            lambda: merged_tools({"a": "mutate"}, {}),  # type: ignore[dict-item]
            "tools: expected a ToolSpec for 'a', found 'mutate':"
            ' write ToolSpec(kind="mutate"), or read a policy file with Policy.from_yaml',
        ),
        (lambda: Exact("a"), "expected a list of calls, found 'a'"),
        (lambda: Exact([7]), "expected a call as a dict or a tool's name, found 7"),  # type: ignore[list-item]
        (lambda: Exact(references=7), "`references` must be References, found 7"),  # type: ignore[arg-type]
        (lambda: StepSpec.of(7), "expected a step as a dict or a tool's name, found 7"),  # type: ignore[arg-type]
    ],
)
def test_what_is_something_else(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError) as raised:
        make()

    assert str(raised.value) == message


def test_declarations_of_a_tool_add_up_and_the_first_wins() -> None:
    first = ToolSpec(None, EntitySpec("order", None, "$.id"), compiled("$.a"))
    second = ToolSpec("mutate", EntitySpec("user", "order_id", "$.key"), compiled("$.b"))
    both = ToolSpec("mutate", EntitySpec("order", "order_id", "$.id"), compiled("$.a"))

    assert merged_tools({"x": first}, {"y": second, "x": second}) == {"x": both, "y": second}
    assert list(merged_tools({"x": first}, {"y": second, "x": second})) == ["x", "y"]


def test_an_expected_call_is_read_from_a_name_or_a_dict() -> None:
    assert ExpectedCall.of("a") == ExpectedCall("a")
    assert ExpectedCall.of({"tool": "a", "arguments": {"x": 1}, "ok": False}) == ExpectedCall(
        "a", {"x": 1}, False
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Called(["w"]), "`tool` must be a text, found ['w']"),
        (lambda: Called(tool=["w"]), "`tool` must be a text, found ['w']"),
        (lambda: Called(None), "`tool` must be a text, found None"),
        (lambda: Before("w", ["x"]), "`second` must be a text, found ['x']"),
        (lambda: Before("w", "x", required="yes"), "`required` must be true or false, found 'yes'"),
        (lambda: Recovered(["w"]), "`tool` must be a text, found ['w']"),
        (lambda: Recovered(by=[["w"]]), "`by` must be a text or a list of texts, found [['w']]"),
        (lambda: Recovered(by={"w": 1}), "`by` must be a text or a list of texts, found {'w': 1}"),
        (
            lambda: Arguments("a", equals={"x": {1}}),
            "`equals` of x must be a JSON value, found {1}",
        ),
        (
            lambda: Arguments("a", one_of={"x": [1, {"y": object}]}),
            "`one_of` of x must be a JSON value, found {'y': <class 'object'>}",
        ),
        (lambda: ResultUsed("w", by=["x"]), "`by` must be a text, found ['x']"),
        (lambda: Claim("sent", ["w"]), "`needs` must be a text, found ['w']"),
        (lambda: Arguments("w", ["id"]), "`equals` must be a mapping, found ['id']"),
        (lambda: Arguments("w", absent=[1]), "`absent` must be a list of texts, found [1]"),
    ],
)
def test_a_value_of_another_kind_than_its_field_is_refused(
    make: Callable[[], Any], message: str
) -> None:
    with pytest.raises(TypeError) as refused:
        make()
    assert str(refused.value) == message


def test_nothing_and_names_from_anywhere_are_taken_where_they_may_stand() -> None:
    assert Recovered(None) == Recovered()
    assert Recovered(by=(name for name in ("a", "b"))) == Recovered(by=["a", "b"])
    assert Recovered(by="a") == Recovered(by={"a"})


@pytest.mark.parametrize("rule", ["called", "never", "first", "last", "recovered", "result_used"])
def test_a_policy_file_says_where_a_list_stands_for_a_name(rule: str) -> None:
    with pytest.raises(PolicyError, match=rf"policy:3: {rule}: `tool` must be a text, found"):
        Policy.from_yaml(f"version: 1\nrules:\n  - {rule}: [w, x]\n")
