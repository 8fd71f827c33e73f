"""Counts of calls and effects, and loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import Count, NoLoops, State
from trackway_analyzer.rules.necessary import Least


@pytest.mark.parametrize(
    ("rule", "calls", "sentence"),
    [
        (Count("a", max=1), "aba", "a was called 2 times, expected at most 1"),
        (Count("a", min=2), "aA", None),
        (Count("a", min=2, effects=True), "aA", "a took effect 1 time, expected at least 2"),
        (Count("a", max=1, effects=True), "aAA", None),
        (Count("a", exactly=2), "a", "a was called 1 time, expected 2"),
        (Count("a", exactly=0), "b", None),
        (Count("a", exactly=0), "a", "a was called 1 time, expected 0"),
        (Count("a", min=1, max=2), "b", "a was called 0 times, expected at least 1 and at most 2"),
        (Count("a", min=1), "", "a was called 0 times, expected at least 1"),
    ],
)
def test_counts(
    said: Callable[..., Any], call: Any, rule: Count, calls: str, sentence: str | None
) -> None:
    run = [call(letter.lower(), ok=letter.islower()) for letter in calls]

    assert said(rule, run) == ([] if sentence is None else [("violated", sentence)])


def test_calls_with_redacted_arguments_are_not_known_to_be_equal(
    said: Callable[..., Any], call: Any
) -> None:
    run = [call("a", {"id": "[redacted:key_name]"})] * 3

    assert [state for state, _ in said(Count("a", max=1, per="id"), run)] == ["insufficient"]
    assert [state for state, _ in said(NoLoops(), run)] == ["insufficient"]
    assert [state for state, _ in said(Count("a", max=1), run)] == ["violated"]


def test_each_entity_is_counted_by_itself(said: Callable[..., Any], call: Any) -> None:
    run = [call("a", {"id": n}) for n in (1, 2, 1)]

    assert said(Count("a", max=1, per="id"), run) == [
        ("violated", "a was called 2 times for id 1, expected at most 1")
    ]
    assert said(Count("a", max=2, per="id"), run) == []


@pytest.mark.parametrize(
    ("rule", "run", "state"),
    [
        (Count("a", max=1), "aa", "violated"),
        (Count("a", max=1), "a", "insufficient"),
        (Count("a", min=1), "a", None),
        (Count("a", min=2), "a", "insufficient"),
    ],
)
def test_too_many_is_seen_and_the_rest_needs_all(
    said: Callable[..., Any],
    call: Any,
    gapped: Callable[..., Trajectory],
    rule: Count,
    run: str,
    state: str | None,
) -> None:
    for name in ("missing_steps", "instrumentation_lost"):
        hidden = gapped([call(letter) for letter in run], Gap(name))

        assert [s for s, _ in said(rule, hidden)] == ([] if state is None else [state])


def test_an_effect_that_nobody_knows_of_is_insufficient(said: Callable[..., Any]) -> None:
    run = [{"tool": "a", "ok": True}, {"tool": "a"}]

    assert [s for s, _ in said(Count("a", max=1, effects=True), run)] == ["insufficient"]
    assert [s for s, _ in said(Count("a", min=2, effects=True), run)] == ["insufficient"]


def test_hidden_arguments_hide_the_entity(said: Callable[..., Any]) -> None:
    assert [s for s, _ in said(Count("a", max=1, per="id"), [{"tool": "a"}, {"tool": "a"}])] == [
        "insufficient"
    ]


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({}, "a count needs `min`, `max` or both, or `exactly`"),
        ({"min": 1, "exactly": 1}, "or `exactly`"),
        ({"min": 3, "max": 2}, "`min` 3 is more than `max` 2"),
        ({"min": -1}, "`min` must be a whole number from 0"),
    ],
)
def test_wrong_bounds_are_refused(bounds: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Count("a", **bounds)


class TestLoops:
    def test_identical_calls_in_a_row(self, said: Callable[..., Any], call: Any) -> None:
        assert said(NoLoops(), [call("a", {"x": 1})] * 3) == [
            ("violated", "step 3 a was called 3 times in a row with the same arguments")
        ]
        assert said(NoLoops(), [call("a", {"x": n % 2}) for n in range(5)]) == []
        assert said(NoLoops(identical=0), [call("a", {"x": 1})] * 5) == []

    def test_cycles(self, said: Callable[..., Any], call: Any) -> None:
        run = [call("a"), call("b")] * 3

        assert said(NoLoops(), [call("x"), *run]) == [
            ("violated", "step 7 b completes the cycle a, b for the 3rd time")
        ]
        assert said(NoLoops(), run[:-1]) == []
        assert said(NoLoops(cycles=0), run) == []

    def test_a_cycle_needs_the_same_arguments(self, said: Callable[..., Any], call: Any) -> None:
        run = [c for n in range(4) for c in (call("a", {"x": n}), call("b"))]

        assert said(NoLoops(), run) == []

    def test_stagnation(self, said: Callable[..., Any], call: Any) -> None:
        run = [call("a", {"x": n}, "nothing") for n in range(3)]

        assert said(NoLoops(), run) == []
        assert said(NoLoops(stagnation=3), run) == [
            ("violated", "step 3 a returned the same result 3 times in a row")
        ]

    def test_hidden_arguments_decide_only_where_the_tools_repeat(
        self, said: Callable[..., Any], call: Any
    ) -> None:
        blind = {"tool": "a", "result": 1}

        assert [s for s, _ in said(NoLoops(), [blind] * 3)] == ["insufficient"]
        assert said(NoLoops(), [blind, call("b"), call("c")]) == []

    def test_a_hidden_step_is_no_pass(
        self, said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        assert [s for s, _ in said(NoLoops(), gapped([call("a")], Gap("missing_steps")))] == [
            "insufficient"
        ]

    @given(st.text("ab", max_size=12), st.integers(2, 4))
    def test_every_loop_is_found(self, word: str, times: int) -> None:
        run = [{"tool": letter, "arguments": {}, "ok": True} for letter in word]
        blocks = [(i, n) for n in range(1, 7) for i in range(len(word))]
        loops = any(
            word[i : i + n] * times == word[i : i + n * times]
            for i, n in blocks
            if i + n * times <= len(word)
        )

        found = NoLoops(identical=times, cycles=times).check(
            trajectory_of(run, final_text="").batch
        )
        assert [r.state for r in found] == ([State.VIOLATED] if loops else [])


@pytest.mark.parametrize(
    ("times", "word"),
    [(2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th"), (21, "21st")],
)
def test_the_times_of_a_cycle_are_counted_in_words(
    said: Callable[..., Any], call: Any, times: int, word: str
) -> None:
    run = [call("a"), call("b")] * times

    assert said(NoLoops(cycles=times), run) == [
        ("violated", f"step {2 * times} b completes the cycle a, b for the {word} time")
    ]


@pytest.mark.parametrize(
    ("rule", "required"),
    [
        (Count("a", min=1), {"a"}),
        (Count("a", exactly=2), {"a"}),
        (Count("a", max=1), set()),
        (Count("a", min=1, per="id"), set()),
    ],
)
def test_what_must_come_at_least_once_is_required(rule: Count, required: set[str]) -> None:
    assert {fact.tool for fact in rule.necessary({}) if isinstance(fact, Least)} == required


def test_a_limit_of_one_is_no_loop() -> None:
    for wrong in (1, -1, -3):
        with pytest.raises(ValueError, match="`cycles` must be 0 or a whole number from 2, found"):
            NoLoops(cycles=wrong)


def test_a_rule_against_loops_needs_a_limit() -> None:
    with pytest.raises(ValueError, match="needs a limit: identical, cycles, stagnation"):
        NoLoops(identical=0, cycles=0)


def test_a_count_of_an_argument_that_a_call_lacks(said: Callable[..., Any], call: Any) -> None:
    run = [call("a", {"id": 1}), call("a"), call("a", {"id": [1, 2]}), call("a", {"id": 1})]

    assert said(Count("a", max=1, per="id"), run) == [
        ("violated", "a was called 3 times for id 1, expected at most 1")
    ]
    assert Count("a", max=1, per="id").title == "count: a per id"
    assert Count("a", max=1).title == "count: a"


@pytest.mark.parametrize(
    ("ids", "about"),
    [
        (([1, 2], 1), "1"),
        ((1, [2, 1]), "1"),
        (([1, 2], [3, 2]), "2"),
        (([[1], 2], [2]), "2"),
        (([1, 1], 2), None),
        (([], 1), None),
        (([1, 2], [3, 4]), None),
    ],
)
def test_of_a_list_each_element_is_counted(
    said: Callable[..., Any], call: Any, ids: tuple[Any, Any], about: str | None
) -> None:
    run = [call("a", {"id": of}) for of in ids]

    for rule, did in (
        (Count("a", max=1, per="id"), "was called"),
        (Count("a", max=1, per="id", effects=True), "took effect"),
    ):
        expected = f"a {did} 2 times for id {about}, expected at most 1"
        assert said(rule, run) == ([] if about is None else [("violated", expected)])


def test_calls_without_a_name_are_not_known_to_be_equal(
    said: Callable[..., Any], run_of: Any
) -> None:
    steps = [{"tool": "a", "arguments": "{}"}, {"arguments": "{}"}] * 3

    assert said(NoLoops(), run_of(steps)) == []


@pytest.mark.parametrize(
    ("run", "rule", "detail"),
    [
        ("aaa", NoLoops(), {"what": "identical", "length": 1, "times": 3}),
        ("ababab", NoLoops(), {"what": "cycle", "length": 2, "times": 3}),
        ("aaa", NoLoops(0, 0, 3), {"what": "stagnation", "length": 1, "times": 3}),
    ],
)
def test_which_loop_it_is(call: Any, run: str, rule: NoLoops, detail: dict[str, Any]) -> None:
    (result,) = rule.check(trajectory_of([call(letter) for letter in run], final_text="").batch)

    assert result.detail == detail


@pytest.mark.parametrize(
    ("ids", "rule", "states"),
    [
        ([17, "17"], Count("a", max=1, per="id"), ["insufficient"]),
        ([17.0, "17 "], Count("a", max=1, per="id"), ["insufficient"]),
        (["A1", "A1 "], Count("a", max=1, per="id"), ["insufficient"]),
        (["A1", "A1 "], Count("a", min=2, per="id"), ["insufficient"]),
        (["A1", "A1", "A1 "], Count("a", max=1, per="id"), ["violated"]),
        (["A1", "A1 "], Count("a", max=2, per="id"), []),
        (["A1", "A2"], Count("a", max=1, per="id"), []),
        ([True, "True"], Count("a", max=1, per="id"), []),
    ],
)
def test_values_that_are_written_alike_may_be_one(
    said: Callable[..., Any], call: Any, ids: list[Any], rule: Count, states: list[str]
) -> None:
    run = [call("a", {"id": value}) for value in ids]

    assert [state for state, _ in said(rule, run)] == states


def test_the_sentence_says_which_value_is_written_alike(
    said: Callable[..., Any], call: Any
) -> None:
    run = [call("a", {"id": 17}), call("a", {"id": "17"})]

    assert said(Count("a", max=1, per="id"), run) == [
        (
            "insufficient",
            "step 2 a: how often a came cannot be judged: a value of step 2 was written like"
            " another one, and may be the same",
        )
    ]
