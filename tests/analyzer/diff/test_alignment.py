"""Which call is which: against every possible pairing, on small runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, permutations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.diff.align import Alignment, align, common_subsequence, pair_gain
from trackway_analyzer.diff.calls import Call, Masked, calls_of
from trackway_analyzer.records import trajectory_of

Records = list[dict[str, Any]]

RECORD = st.builds(
    lambda tool, x, y, ok: {"tool": tool, "arguments": {"x": x, "y": y}, "result": 1, "ok": ok},
    st.sampled_from("ab"),
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from([True, True, False]),
)
RUN = st.lists(RECORD, max_size=5)


def calls(records: Records) -> list[Call]:
    return calls_of(trajectory_of(records), {}, Masked(None))


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "result": 1}


def numbers(alignment: Alignment) -> list[tuple[int, int]]:
    return [(pair.reference.number, pair.candidate.number) for pair in alignment.pairs]


def same(left: Call, right: Call) -> bool:
    mine = left.tool, left.argument_leaves, left.step.ok
    return mine == (right.tool, right.argument_leaves, right.step.ok)


def every_pairing(left: Sequence[Call], right: Sequence[Call]) -> Iterator[list[tuple[Call, Call]]]:
    """All ways to pair as many calls of one tool as there are."""
    size = min(len(left), len(right))
    for chosen in combinations(left, size):
        for ordered in permutations(right, size):
            yield list(zip(chosen, ordered, strict=True))


@given(RUN, RUN)
@settings(max_examples=60, deadline=None)
def test_every_tool_is_paired_as_often_as_both_sides_have_it(a: Records, b: Records) -> None:
    found = align(calls(a), calls(b))
    left, right = (Counter(step["tool"] for step in run) for run in (a, b))

    assert Counter(pair.reference.tool for pair in found.pairs) == left & right
    assert Counter(one.tool for one in found.missing) == left - right
    assert Counter(one.tool for one in found.unexpected) == right - left
    assert all(pair.reference.tool == pair.candidate.tool for pair in found.pairs)


@given(RUN, RUN)
@settings(max_examples=60, deadline=None)
def test_as_many_equal_calls_as_possible_are_paired(a: Records, b: Records) -> None:
    def counted(run: Records) -> Counter[str]:
        return Counter(repr((s["tool"], s["arguments"], s["ok"])) for s in run)

    found = align(calls(a), calls(b))
    equal = [pair for pair in found.pairs if same(pair.reference, pair.candidate)]
    assert len(equal) == (counted(a) & counted(b)).total()


@given(RUN, RUN)
@settings(max_examples=60, deadline=None)
def test_changed_calls_are_paired_as_well_as_any_pairing_could(a: Records, b: Records) -> None:
    found = align(calls(a), calls(b))
    changed = [pair for pair in found.pairs if not same(pair.reference, pair.candidate)]
    for tool in "ab":
        mine = [pair for pair in changed if pair.reference.tool == tool]
        left = [p.reference for p in mine] + [c for c in found.missing if c.tool == tool]
        right = [p.candidate for p in mine] + [c for c in found.unexpected if c.tool == tool]
        best = max(sum(pair_gain(*both) for both in way) for way in every_pairing(left, right))
        gained = sum(pair_gain(pair.reference, pair.candidate) for pair in mine)
        assert abs(gained - best) < 1e-6


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
@settings(max_examples=100, deadline=None)
def test_the_common_subsequence_is_the_longest(left: str, right: str) -> None:
    pairs = list(common_subsequence(left, right))

    assert all(left[i] == right[j] for i, j in pairs)
    assert pairs == sorted(pairs)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(pairs))
    longest = max(
        size
        for size in range(len(left) + 1)
        if any(_is_subsequence(some, right) for some in combinations(left, size))
    )
    assert len(pairs) == longest


def _is_subsequence(some: Sequence[str], text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in some)


@given(RUN, RUN)
@settings(max_examples=60, deadline=None)
def test_which_side_is_the_reference_changes_no_pair(a: Records, b: Records) -> None:
    forth, back = align(calls(a), calls(b)), align(calls(b), calls(a))

    assert sorted(numbers(forth)) == sorted((left, right) for right, left in numbers(back))


def test_a_missing_first_call_leaves_the_rest_in_place() -> None:
    reference = [call("get", id="1"), call("get", id="2"), call("get", id="3")]
    found = align(calls(reference), calls(reference[1:]))

    assert numbers(found) == [(2, 1), (3, 2)]


def test_a_repeated_call_pairs_in_order_and_not_across() -> None:
    reference = [call("get", id="1"), call("pay", id="1"), call("get", id="1")]
    found = align(calls(reference), calls(reference[1:]))

    assert numbers(found) == [(2, 1), (3, 2)]


def test_equal_calls_that_moved_are_paired_before_changed_ones() -> None:
    reference = [call("get", id="1"), call("pay", n=1), call("get", id="2")]
    candidate = [call("pay", n=1), call("get", id="1"), call("get", id="9")]

    assert numbers(align(calls(reference), calls(candidate))) == [(2, 1), (1, 2), (3, 3)]


def test_changed_calls_are_paired_by_agreement_not_by_position() -> None:
    reference = [call("set", id="1", n=1), call("set", id="2", n=2)]
    candidate = [call("set", id="2", n=5), call("set", id="1", n=6)]

    assert numbers(align(calls(reference), calls(candidate))) == [(2, 1), (1, 2)]


def test_success_counts_before_agreement() -> None:
    failed = {**call("set", id="2", n=2), "ok": False}
    reference, candidate = [call("set", id="1", n=1), failed], [call("set", id="2", n=9)]

    assert numbers(align(calls(reference), calls(candidate))) == [(1, 1)]


def test_calls_that_agree_on_nothing_are_paired_by_position() -> None:
    a, b, c = (call("get", q=n) for n in (1, 2, 3))
    reference = [a, call("x"), b, call("y"), c]
    candidate = [call("x"), call("get", q=9), call("y")]

    assert numbers(align(calls(reference), calls(candidate))) == [(2, 1), (3, 2), (4, 3)]


def test_calls_without_recorded_arguments_are_paired_by_position() -> None:
    silent = [{"tool": "get", "result": 1}] * 3

    assert numbers(align(calls(silent), calls(silent))) == [(1, 1), (2, 2), (3, 3)]
