"""Regular expressions over steps agree with Python's over letters, in any order of a turn."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import StepRegex
from trackway_analyzer.rules.automaton import compile_pattern

atoms = st.sampled_from(["a", "b", "c", "."])
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} {pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} | {pair[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{,2}", "{1,}"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=5,
)


def python_pattern(text: str) -> re.Pattern[str]:
    return re.compile(text.replace(" ", "").replace("{,", "{0,"))


@settings(max_examples=150, deadline=None)
@given(patterns)
def test_an_expression_matches_what_pythons_matches(text: str) -> None:
    automaton, python = compile_pattern(text), python_pattern(text)
    for word in (w for n in range(4) for w in product("abc", repeat=n)):
        states = automaton.start
        for letter in word:
            states = automaton.advance(states, letter)
        assert automaton.accepts(states) is bool(python.fullmatch("".join(word))), word


@settings(max_examples=60, deadline=None)
@given(patterns, st.text("abc", max_size=2), st.text("abc", min_size=2, max_size=3))
def test_a_turn_matches_if_any_order_of_it_does(text: str, before: str, turn: str) -> None:
    run = [{"tool": letter, "ok": True} for letter in before]
    run += [{"tool": letter, "ok": True, "group": "one"} for letter in turn]
    words = (before + "".join(order) for order in permutations(turn))
    expected = any(python_pattern(text).fullmatch(word) for word in words)

    rule = StepRegex(text, extra="forbid")
    assert (not rule.check(trajectory_of(run).batch)) is expected


@pytest.mark.parametrize(
    ("pattern", "run", "sentence"),
    [
        ("a b", "ab", None),
        ("a b", "ba", "step 1 b: expected a"),
        ("a (b | c)", "a", "the run ended where b or c was expected"),
        ("a b", "abb", "step 3 b: after the last expected step"),
        ("a .", "a", "the run ended where any call was expected"),
    ],
)
def test_the_sentence(
    said: Callable[..., Any], call: Any, pattern: str, run: str, sentence: str | None
) -> None:
    found = said(StepRegex(pattern), [call(letter) for letter in run])

    assert found == ([] if sentence is None else [("violated", sentence)])


def test_names_with_dots_and_quotes(said: Callable[..., Any], call: Any) -> None:
    run = [call("refund_api.create"), call("my tool"), call("mcp:x/y-z")]

    assert said(StepRegex('refund_api.create "my tool" mcp:x/y-z'), run) == []


def test_failed_attempts_are_left_out(said: Callable[..., Any], call: Any) -> None:
    assert said(StepRegex("a b"), [call("a", ok=False), call("a"), call("b")]) == []


@pytest.mark.parametrize(
    ("extra", "kind", "holds"),
    [
        ("reads", None, True),
        ("reads", "lookup", True),
        ("reads", "mutate", False),
        ("reads", "notify", False),
        ("allow", "mutate", True),
        ("forbid", "lookup", False),
    ],
)
def test_calls_that_the_expression_does_not_name(
    said: Callable[..., Any], call: Any, extra: Any, kind: str | None, holds: bool
) -> None:
    found = said(StepRegex("a b", extra), [call("a"), call("x", kind=kind), call("b")])

    assert (found == []) is holds


@pytest.mark.parametrize(
    ("pattern", "extra", "state"),
    [
        ("z* y?", "reads", "insufficient"),
        ("z* y?", "forbid", "insufficient"),
        ("z* y?", "allow", None),
        ("z* .*", "reads", None),
    ],
)
def test_a_hidden_step_may_change_something_that_the_expression_does_not_name(
    said: Callable[..., Any],
    call: Any,
    gapped: Callable[..., Trajectory],
    pattern: str,
    extra: Any,
    state: str | None,
) -> None:
    run = [call("look", kind="lookup")] if extra == "reads" else []
    hidden = gapped(run, Gap("missing_steps", count=1), final_text="done")

    assert [s for s, _ in said(StepRegex(pattern, extra), hidden)] == ([state] if state else [])
    assert said(StepRegex(pattern, extra), run, final_text="done") == []


def test_a_hidden_step_leaves_it_open(
    said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory]
) -> None:
    rule = StepRegex("a b c")

    for run in ("a", "ab", "abc"):
        hidden = gapped([call(letter) for letter in run], Gap("missing_steps", count=2))
        assert [state for state, _ in said(rule, hidden)] == ["insufficient"]
    far = gapped([call("a")], Gap("missing_steps", count=1))
    assert [state for state, _ in said(rule, far)] == ["violated"]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a (b", "cannot read it at"),
        ("", "cannot read it at"),
        ("a{3,1}", "'{3,1}' is no number of repetitions"),
        ("a{,}", "'{,}' is no number of repetitions"),
        ("a{99999}", "'{99999}' is no number of repetitions up to 1000"),
    ],
)
def test_what_is_no_expression_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        StepRegex(pattern)
