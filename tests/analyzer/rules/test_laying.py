"""Laying expected calls over actual ones, against every way there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.rules.laying import (
    FREE,
    UNKNOWN,
    VIOLATES,
    Answer,
    Question,
    ordered,
    unordered,
)

Taken = tuple[tuple[int, int], ...]


@st.composite
def questions(draw: st.DrawFn) -> Question:
    def groups(most: int) -> list[list[int]]:
        made: list[list[int]] = []
        for number in range(draw(st.integers(0, most))):
            if made and draw(st.booleans()):
                made[-1].append(number)
            else:
                made.append([number])
        return made

    expected, actual = groups(4), groups(5)
    numbers = [n for group in expected for n in group]
    rows = [row for group in actual for row in group]
    fits = {pair: draw(st.sampled_from([True, None, False])) for pair in product(numbers, rows)}
    return Question(
        expected=expected,
        actual=actual,
        fits={pair: fit for pair, fit in fits.items() if fit is not False},
        missing=draw(st.sampled_from([FREE, UNKNOWN, VIOLATES])),
        extras={row: draw(st.sampled_from([FREE, UNKNOWN, VIOLATES])) for row in rows},
        reads=frozenset(row for row in rows if draw(st.booleans())),
    )


def every_way(question: Question) -> Iterator[Taken]:
    """All ways to give expected calls rows of their own that fit, or none."""
    numbers = [n for group in question.expected for n in group]
    rows = [None, *(row for group in question.actual for row in group)]
    for chosen in product(rows, repeat=len(numbers)):
        taken = tuple((n, r) for n, r in zip(numbers, chosen, strict=True) if r is not None)
        used = [row for _, row in taken]
        if len(set(used)) == len(used) and all(pair in question.fits for pair in taken):
            yield taken


def cost(question: Question, taken: Taken) -> tuple[int, int, int]:
    numbers = [n for group in question.expected for n in group]
    rows = [row for group in question.actual for row in group]
    prices = [UNKNOWN if question.fits[pair] is None else FREE for pair in taken]
    prices += [question.missing] * (len(numbers) - len(taken))
    prices += [question.extras[row] for row in rows if row not in {r for _, r in taken}]
    return prices.count(VIOLATES), prices.count(UNKNOWN), -len(taken)


def in_order(question: Question, taken: Taken) -> bool:
    place = {n: i for i, group in enumerate(question.expected) for n in group}
    turn = {row: i for i, group in enumerate(question.actual) for row in group}
    for first, second in product(taken, taken):
        if place[first[0]] < place[second[0]] and not (
            turn[first[1]] < turn[second[1]]
            or (
                turn[first[1]] == turn[second[1]]
                and all(r in question.reads for _, r in taken if turn[r] == turn[first[1]])
            )
        ):
            return False
    return True


def assert_adds_up(question: Question, answer: Answer) -> None:
    def flat(groups: Sequence[Sequence[int]]) -> list[int]:
        return [number for group in groups for number in group]

    numbers = sorted([*(n for n, _ in answer.taken), *answer.missing])
    assert numbers == flat(question.expected)
    assert sorted([*(row for _, row in answer.taken), *answer.extra]) == flat(question.actual)


@given(questions())
@settings(max_examples=150, deadline=None)
def test_without_order_no_way_is_cheaper(question: Question) -> None:
    answer = unordered(question)

    assert_adds_up(question, answer)
    best = min(cost(question, taken) for taken in every_way(question))
    assert cost(question, answer.taken) == best


@given(questions())
@settings(max_examples=150, deadline=None)
def test_in_order_no_way_is_cheaper(question: Question) -> None:
    answer = ordered(question)

    assert_adds_up(question, answer)
    assert in_order(question, answer.taken)
    ways = (taken for taken in every_way(question) if in_order(question, taken))
    assert cost(question, answer.taken) == min(cost(question, taken) for taken in ways)
