"""Rules of order: their meaning on known runs against a slow reading, and behind gaps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.records import batch_of_runs, trajectory_of
from trackway_analyzer.rules import (
    Accompanied,
    After,
    AtMostOnceBetween,
    Before,
    Between,
    Called,
    First,
    Immediately,
    Last,
    Never,
    NotAfter,
    NotTogether,
    Responds,
    Rule,
    State,
    Together,
    Until,
)
from trackway_analyzer.rules.contradictions import contradiction
from trackway_analyzer.rules.necessary import Least

Turn = list[tuple[str, bool]]
"""Calls of one model turn: (tool, it succeeded)."""


def calls(turns: list[Turn]) -> list[dict[str, Any]]:
    return [
        {"tool": tool, "ok": ok, "group": number}
        for number, turn in enumerate(turns)
        for tool, ok in turn
    ]


def word(text: str) -> list[dict[str, Any]]:
    """Letters are successful calls, upper case failed ones, letters in brackets one turn."""
    turns: list[Turn] = []
    inside = False
    for letter in text:
        if letter in "()":
            inside = letter == "("
            turns += [[]] if inside else []
        elif inside:
            turns[-1].append((letter.lower(), letter.islower()))
        else:
            turns.append([(letter.lower(), letter.islower())])
    return calls(turns)


def holds(rule: Rule, run: list[dict[str, Any]] | Trajectory) -> str:
    trajectory = run if isinstance(run, Trajectory) else trajectory_of(run, final_text="")
    results = rule.check(trajectory.batch)
    return results[0].state.value if results else State.HOLDS.value


def sentence(rule: Rule, run: list[dict[str, Any]] | Trajectory) -> str:
    trajectory = run if isinstance(run, Trajectory) else trajectory_of(run, final_text="")
    (result,) = rule.check(trajectory.batch)
    return rule.explain(trajectory.batch, result).sentence


# Each rule with a slow reading of its meaning over turns: s(i, a) a call of a in turn i succeeded,
# t(i, a) it was attempted.
Reading = Callable[[Callable[[int, str], bool], Callable[[int, str], bool], range, Any], bool]

READINGS: list[tuple[Rule, Reading]] = [
    (Called("a"), lambda s, t, n, all_: any(s(i, "a") for i in n)),
    (Never("a"), lambda s, t, n, all_: not any(t(i, "a") for i in n)),
    (First("a"), lambda s, t, n, all_: any(t(i, "a") for i in n[:1])),
    (Last("a"), lambda s, t, n, all_: any(t(i, "a") for i in n[-1:])),
    (
        Before("a", "b"),
        lambda s, t, n, all_: all(any(s(j, "a") for j in n[:i]) for i in n if t(i, "b")),
    ),
    (
        Before("a", "b", required=True),
        lambda s, t, n, all_: (
            all(any(s(j, "a") for j in n[:i]) for i in n if t(i, "b")) and any(s(i, "a") for i in n)
        ),
    ),
    (
        After("b", "a"),
        lambda s, t, n, all_: all(any(s(j, "a") for j in n[:i]) for i in n if t(i, "b")),
    ),
    (
        Responds("a", "b"),
        lambda s, t, n, all_: all(any(s(j, "b") for j in n[i + 1 :]) for i in n if s(i, "a")),
    ),
    (
        Immediately("a", "b"),
        lambda s, t, n, all_: all(any(t(j, "b") for j in n[i + 1 : i + 2]) for i in n if s(i, "a")),
    ),
    (
        NotAfter("b", "a"),
        lambda s, t, n, all_: not any(t(j, "b") for i in n if s(i, "a") for j in n[i + 1 :]),
    ),
    (
        Accompanied("a", "b"),
        lambda s, t, n, all_: not any(s(i, "a") for i in n) or any(s(i, "b") for i in n),
    ),
    (
        Together("a", "b"),
        lambda s, t, n, all_: any(s(i, "a") for i in n) == any(s(i, "b") for i in n),
    ),
    (
        NotTogether("a", "b"),
        lambda s, t, n, all_: not (any(t(i, "a") for i in n) and any(t(i, "b") for i in n)),
    ),
    (
        Until(("a",), "b"),
        lambda s, t, n, all_: all(
            tool in ("a", "b")
            for i in n
            if not any(s(j, "b") for j in n[:i])
            for tool, _ in all_[i]
        ),
    ),
]

turns = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=2), max_size=5
)


@pytest.mark.parametrize(("rule", "reading"), READINGS, ids=[str(rule) for rule, _ in READINGS])
@settings(max_examples=40, deadline=None)
@given(run=turns)
def test_a_rule_means_what_its_slow_reading_says(
    rule: Rule, reading: Reading, run: list[Turn]
) -> None:
    def succeeded(i: int, tool: str) -> bool:
        return (tool, True) in run[i]

    def attempted(i: int, tool: str) -> bool:
        return any(name == tool for name, _ in run[i])

    expected = reading(succeeded, attempted, range(len(run)), run)
    assert (holds(rule, calls(run)) == "holds") is expected


@pytest.mark.parametrize(
    ("rule", "run", "expected"),
    [
        (Between("x", "a", "b"), "axb", True),
        (Between("x", "a", "b"), "x", False),
        (Between("x", "a", "b"), "abx", False),
        (Between("x", "a", "b"), "abax", True),
        (Between("x", "a", "b"), "aBx", True),
        (Between("x", "a", "b"), "Ax", False),
        (Between("x", "a", "b"), "(ax)", False),
        (Between("x", "a", "b"), "a(xb)", True),
        (Between("x", "a", "b"), "aXb", True),
        (Between("x", "a", "b"), "abX", False),
        (Between("x", "a", "b"), "", True),
        (Between("x", "a", "b", required=True), "axb", True),
        (Between("x", "a", "b", required=True), "ax", False),
        (Between("x", "a", "b", required=True), "axB", False),
        (Between("x", "a", "b", required=True), "aXxb", True),
        (Between("x", "a", "b", required=True), "aX", True),
        (Between("x", "a", "b", required=True), "a(xb)", False),
        (Between("x", "a", "b", required=True), "axbax", False),
        (Between("x", "a", "b", required=True), "ab", True),
        (AtMostOnceBetween("x", "a", "b"), "axb", True),
        (AtMostOnceBetween("x", "a", "b"), "axxb", False),
        (AtMostOnceBetween("x", "a", "b"), "axXb", True),
        (AtMostOnceBetween("x", "a", "b"), "axbx", True),
        (AtMostOnceBetween("x", "a", "b"), "axbaxx", False),
        (AtMostOnceBetween("x", "a", "b"), "xx", True),
        (AtMostOnceBetween("x", "a", "b"), "axax", False),
        (AtMostOnceBetween("x", "a", "b"), "a(xx)", False),
        (Called("a", times=2), "aA", False),
        (Called("a", times=2), "aa", True),
        (Until("a", "b", required=True), "aa", False),
        (Until("a", "b", required=True), "aab", True),
    ],
)
def test_windows_and_counts(rule: Rule, run: str, expected: bool) -> None:
    assert (holds(rule, word(run)) == "holds") is expected


@pytest.mark.parametrize(
    ("rule", "run", "expected"),
    [
        (Called("a"), "b", "a was never recorded"),
        (Called("a"), "A", "a never succeeded: a at step 1 did not succeed"),
        (Called("a", times=3), "aab", "a succeeded 2 times, expected 3"),
        (Never("a"), "ba", "step 2 a must never be called"),
        (First("a"), "ba", "step 1 b is the first call, expected a"),
        (First("a"), "", "no call was recorded, expected a first"),
        (Last("a"), "ab", "step 2 b is the last call, expected a"),
        (Last("a"), "", "no call was recorded, expected a last"),
        (Before("a", "b"), "b", "step 1 b came without an earlier successful a"),
        (
            Before("a", "b"),
            "ba",
            "step 1 b came without an earlier successful a: a at step 2 came only afterwards",
        ),
        (
            Before("a", "b"),
            "(ab)",
            "step 2 b came without an earlier successful a: a at step 1 is of the same model turn",
        ),
        (
            Before("a", "b"),
            "Ab",
            "step 2 b came without an earlier successful a: a at step 1 did not succeed",
        ),
        (Before("a", "b", required=True), "c", "a never succeeded"),
        (After("b", "a"), "b", "step 1 b came without an earlier successful a"),
        (NotAfter("b", "a"), "cab", "step 3 b came after a at step 2, where it must not"),
        (Responds("a", "b"), "ba", "step 2 a was not followed by a successful b"),
        (
            Responds("a", "b"),
            "aB",
            "step 1 a was not followed by a successful b: b at step 2 did not succeed",
        ),
        (Immediately("a", "b"), "acb", "step 1 a was followed by c at step 2, expected b"),
        (Immediately("a", "b"), "ca", "step 2 a was followed by nothing, expected b"),
        (Accompanied("a", "b"), "a", "step 1 a succeeded without b"),
        (Together("a", "b"), "Ab", "step 2 b succeeded without a: a at step 1 did not succeed"),
        (NotTogether("a", "b"), "ba", "step 2 a must not go together with b at step 1"),
        (
            Between("x", "a", "b"),
            "abx",
            "step 3 x came after b at step 2, expected between a and b",
        ),
        (Between("x", "a", "b"), "x", "step 1 x came without an earlier successful a"),
        (
            Between("x", "a", "b", required=True),
            "axB",
            "step 2 x was not followed by a successful b: b at step 3 did not succeed",
        ),
        (
            AtMostOnceBetween("x", "a", "b"),
            "axx",
            "step 3 x succeeded again after x at step 2, expected once between a and b",
        ),
        (Until("a", "b"), "ac", "step 2 c came before b succeeded, expected only a until then"),
        (
            Until("a", "b", required=True),
            "aB",
            "b never succeeded: b at step 2 did not succeed",
        ),
    ],
)
def test_the_sentence_of_each_rule(rule: Rule, run: str, expected: str) -> None:
    assert sentence(rule, word(run)) == expected


RULES = [rule for rule, _ in READINGS]


def answers(rule: Rule, runs: list[list[dict[str, Any]]]) -> str:
    """What all these runs say together."""
    states = {holds(rule, run) for run in runs}
    return states.pop() if len(states) == 1 else "insufficient"


@pytest.mark.parametrize("rule", RULES, ids=str)
@settings(max_examples=12, deadline=None)
@given(run=st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=3), data=st.data())
def test_a_hidden_step_leaves_open_what_it_could_change(
    gapped: Callable[..., Trajectory], rule: Rule, run: list[tuple[str, bool]], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, max(len(run) - 1, 0)))
    plain = calls([[call] for call in run])
    hidden = gapped(plain, Gap("missing_steps", position=place), final_text="")
    beside = [place, place + 1] if run else [place]
    turns = [[call] for call in run]
    closed = [
        calls([*turns[: slot - before], [*beside_it, (tool, ok), *behind], *turns[slot + after :]])
        for slot in beside
        for tool, ok in product("abz", (True, False))
        # A turn of its own, or of the turn before or behind it.
        for before, after in ((0, 0), (1, 0), (0, 1))
        if before <= slot <= len(run) - after
        for beside_it, behind in [(run[slot - before : slot], run[slot : slot + after])]
    ]

    assert holds(rule, hidden) == answers(rule, [plain, *closed])


@pytest.mark.parametrize("rule", RULES, ids=str)
@settings(max_examples=12, deadline=None)
@given(
    run=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([True, False, None])), max_size=4)
)
def test_an_unknown_success_leaves_open_what_it_could_change(
    rule: Rule, run: list[tuple[str, bool | None]]
) -> None:
    closed = [
        calls([[(tool, ok)] for (tool, _), ok in zip(run, oks, strict=True)])
        for oks in product(*[(True, False) if ok is None else (ok,) for _, ok in run])
    ]
    recorded = [{"tool": tool, "ok": ok} for tool, ok in run]

    assert holds(rule, recorded) == answers(rule, closed)


@pytest.mark.parametrize(
    ("rule", "run", "expected"),
    [
        (Before("a", "b"), "ab", "insufficient"),
        (Before("a", "b"), "ba", "insufficient"),
        (Before("a", "b"), "b", "violated"),
        (Called("a"), "a", "holds"),
        (Never("a"), "a", "violated"),
        (First("a"), "ab", "insufficient"),
    ],
)
def test_skewed_clocks_leave_open_what_another_order_could_change(
    gapped: Callable[..., Trajectory], rule: Rule, run: str, expected: str
) -> None:
    assert holds(rule, gapped(word(run), Gap("clock_skew"), final_text="")) == expected


def test_a_run_without_any_trace_is_insufficient_for_every_rule() -> None:
    for rule in RULES:
        assert holds(rule, trajectory_of([])) == "insufficient"


def test_a_status_of_an_unknown_kind_leaves_open_whether_the_call_succeeded(
    gapped: Callable[..., Trajectory],
) -> None:
    def run(kind: str | None, **result: Any) -> Trajectory:
        return trajectory_of([{"tool": "a", "kind": kind, "result": result}], final_text="")

    assert sentence(Called("a"), run(None, status="failed")) == (
        "called: a cannot be judged: the status of a call may be that of what it found, declare"
        " its kind"
    )
    assert holds(Called("a"), run("mutate", status="failed")) == "violated"
    assert holds(Called("a"), run("lookup", status="failed")) == "holds"
    assert holds(Called("a"), run(None, error="x")) == "violated"
    assert holds(Never("a"), run(None, status="failed")) == "violated"


def test_the_gap_is_named(gapped: Callable[..., Trajectory]) -> None:
    unknown = [{"tool": "b"}]

    assert sentence(Called("a"), gapped(word("b"), Gap("missing_steps"))) == (
        "called: a cannot be judged: missing_steps may hide a step"
    )
    assert sentence(Called("b"), unknown) == (
        "called: b cannot be judged: whether a call took effect was not recorded"
    )
    assert sentence(Before("a", "b"), gapped(word("ab"), Gap("clock_skew"))) == (
        "before: a, b cannot be judged: clock_skew hides the order"
    )


def test_the_finding_points_to_the_step_among_other_steps(run_of: Callable[..., RunBatch]) -> None:
    batch = run_of([{"operation": "llm"}, {"tool": "b", "span_id": "s"}, {"tool": "a"}])
    rule = Before("a", "b")
    (result,) = rule.check(batch)

    finding = rule.explain(batch, result)
    assert (finding.step, finding.span_id) == (2, "s")


def test_calls_of_one_turn_with_others_between_them_are_unordered(
    run_of: Callable[..., RunBatch],
) -> None:
    batch = run_of(
        [{"tool": "a", "group": 0}, {"tool": "c", "group": 1}, {"tool": "b", "group": 0}]
    )

    assert Before("a", "b").check(batch)
    assert Before("c", "b").check(batch) == []


@settings(max_examples=40, deadline=None)
@given(runs=st.lists(turns, max_size=6), rule=st.sampled_from(RULES))
def test_each_run_of_a_batch_is_judged_for_itself(runs: list[list[Turn]], rule: Rule) -> None:
    batch = batch_of_runs([calls(run) for run in runs])
    together = {result.run: (result.state, result.position) for result in rule.check(batch)}
    alone = {
        number: (result.state, result.position)
        for number, run in enumerate(runs)
        for result in rule.check(batch_of_runs([calls(run)]))
    }

    assert together == alone


def test_the_sentence_of_several_allowed_tools() -> None:
    assert sentence(Until(("a", "x"), "b"), word("axc")) == (
        "step 3 c came before b succeeded, expected only a, x until then"
    )


@pytest.mark.parametrize(
    ("rule", "required"),
    [
        (Called("a"), {"a"}),
        (Before("a", "b"), set()),
        (Before("a", "b", required=True), {"a"}),
        (Until("a", "b", required=True), {"b"}),
        (Until("a", "b"), set()),
    ],
)
def test_what_is_required(rule: Rule, required: set[str]) -> None:
    assert {fact.tool for fact in rule.necessary({}) if isinstance(fact, Least)} == required
    found = contradiction([Never("a"), rule], {})
    assert (found is not None) == ("a" in required)


def test_what_leaves_an_effect_open_is_said() -> None:
    pending = [{"tool": "b", "kind": "mutate", "result": {"status": "Queued"}}]
    assert sentence(Called("b"), pending) == (
        'called: b cannot be judged: step 1 b may not have taken effect: status "Queued"'
    )
    assert sentence(Called("b"), [{"tool": "b", "kind": "mutate", "result": False}]) == (
        "called: b cannot be judged: step 1 b may not have taken effect: it answered false"
    )
