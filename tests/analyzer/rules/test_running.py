"""An automaton over many sequences at once ends where it ends over each by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackway_analyzer.rules import StepRegex
from trackway_analyzer.rules.running import MOST_STATES, NEVER, Blocks

LETTERS = "abc"
machines = st.dictionaries(
    st.tuples(st.integers(1, 4), st.sampled_from(LETTERS)), st.integers(0, 4), max_size=12
)


def alone(machine: dict[tuple[int, str], int], word: list[int]) -> tuple[int, int]:
    """Last state, and how many letters were read where there is no next one."""
    state = 1
    for read, number in enumerate(word):
        following = machine.get((state, LETTERS[number]), 0)
        if not following:
            return state, read
        state = following
    return state, ends(state)


def ends(state: int) -> int:
    """What stands for a word that ends in a state."""
    return NEVER - state


@given(
    machine=machines,
    words=st.lists(st.lists(st.integers(0, 2), max_size=9), min_size=1, max_size=40),
    often=st.sampled_from([1, 20, 100]),  # many words are read in blocks of several letters
)
def test_every_sequence_ends_where_it_ends_alone(
    machine: dict[tuple[int, str], int], words: list[list[int]], often: int
) -> None:
    words = words * often
    values = np.array([number for word in words for number in word], dtype=np.int64)
    cuts = np.cumsum([0, *map(len, words)])

    blocks = Blocks.of(values, cuts, len(LETTERS))
    run = blocks.run(1, LETTERS, lambda state, letter: machine.get((state, letter), 0), ends)

    assert run is not None
    states, last, fell = run
    found = [(states[place], read) for place, read in zip(last, fell.tolist(), strict=True)]
    assert found == [alone(machine, word) for word in words]


def test_blocks_grow_with_what_is_read() -> None:
    def size(count: int) -> int:
        values = np.zeros(8 * count, dtype=np.int64)
        return Blocks.of(values, np.arange(0, 8 * count + 1, 8), 3).size

    assert [size(1), size(128), size(512), size(100_000)] == [1, 2, 3, 7]


def test_an_automaton_with_too_many_states_is_not_run() -> None:
    values = np.zeros(MOST_STATES + 1, dtype=np.int64)
    blocks = Blocks.of(values, np.array([0, len(values)]), 1)
    assert blocks.run(1, "a", lambda state, letter: state + 1) is None


@pytest.mark.parametrize(("run", "holds"), [("a" + 13 * "b", True), ("b" + 13 * "a", False)])
def test_an_expression_with_too_many_states_is_judged_run_by_run(
    run: str, holds: bool, said: object
) -> None:
    rule = StepRegex("(a | b)* a (a | b){13}")
    calls = [{"tool": tool, "arguments": {}, "result": "ok"} for tool in run]
    assert (said(rule, calls) == []) is holds  # type: ignore[operator]
