"""The turns of sequences of calls, and an automaton run over all sequences at once.

1. A turn is what a model asked for together: its calls are unordered. Turns that hold the same
   calls are one letter to an automaton.
2. All sequences take their first step together, then all that have a second, and so on: a step of
   all of them is one look into a table. What the table lacks is worked out when it first comes up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

import numpy as np

from trackway_analyzer.batch import Ints
from trackway_analyzer.rules.calls import Symbol
from trackway_analyzer.stretches import Small, distinct, places_of

State = TypeVar("State", bound=Hashable)
_UNSEEN: Final = -1


@dataclass(frozen=True)
class Turns:
    """The turns of sequences, one after the other."""

    contents: tuple[tuple[Symbol, ...], ...]
    """The distinct turns."""
    cuts: Ints
    """Where the turns of each sequence begin, and one past the last."""
    turn: Ints
    """Of each turn, its place in `contents`."""
    index: Small
    """Of each turn, the index in its sequence of its first call."""

    @classmethod
    def of(
        cls, symbols: tuple[Symbol, ...], cuts: Ints, symbol: Small, group: Small
    ) -> Turns | None:
        """Cut sequences into turns; None where a turn has calls of others between its own."""
        index = places_of(cuts)
        starts = np.arange(len(symbol), dtype=np.int32) - index
        begins = group == index
        if not np.array_equal(
            np.maximum.accumulate(np.where(begins, index + starts, 0)) - starts, group
        ):
            return None
        heads = np.flatnonzero(begins)
        turn, first = distinct(symbol, np.append(heads, len(symbol)))
        ends = np.append(heads[1:], len(symbol))
        contents = tuple(
            tuple(symbols[code] for code in symbol[heads[at] : ends[at]].tolist())
            for at in first.tolist()
        )
        return cls(contents, np.searchsorted(heads, cuts), turn, index[heads])

    @cached_property
    def owner(self) -> Ints:
        """Of each turn, its sequence."""
        return np.repeat(np.arange(len(self.cuts) - 1), np.diff(self.cuts))

    @cached_property
    def _width(self) -> int:
        """Of a row of the table: more than there are letters, a power of two."""
        return 1 << len(self.contents).bit_length()

    @cached_property
    def _steps(self) -> tuple[Ints, list[Small]]:
        """Sequences, the longest first, and the turns that they take first, second, …"""
        lengths = np.diff(self.cuts)
        order = np.argsort(-lengths, kind="stable")
        begin = self.cuts[order]
        some = np.bincount(lengths)[::-1].cumsum()[::-1][1:]
        turn = self.turn.astype(np.int32)
        return order, [turn[begin[:count] + place] for place, count in enumerate(some)]

    def run(
        self, start: State, step: Callable[[State, int], State]
    ) -> tuple[list[State], Small, Small]:
        """Run an automaton over every sequence: (states, last state of each, turn it fell at).

        `step(state, turn)` gives the next state, something false where there is none; then the
        sequence falls and its last state is the one before. The turn is -1 where it never does.
        """
        # A state is the place of its row in the table; the row behind it is that of all who fell
        # from it, and leads nowhere else.
        width, states = self._width, [start]
        table = self._two_rows(0)
        order, steps = self._steps
        state = np.zeros(len(order), dtype=np.int32)
        survived = np.zeros(len(order), dtype=np.int32)
        for turn in steps:
            now = state[: len(turn)]
            reached = table.take(now + turn)
            if reached.min() == _UNSEEN:
                for used in np.flatnonzero(np.bincount(now // width)).tolist():
                    if table[used * width] == _UNSEEN:
                        table = self._filled(table, used, states, step)
                reached = table.take(now + turn)
            survived[: len(turn)] += (reached & width) == 0
            state[: len(turn)] = reached
        row = state // width
        last, fell = np.empty_like(row), np.empty_like(row)
        last[order], fell[order] = row // 2, np.where(row % 2, survived, -1)
        return states, last, fell

    def _two_rows(self, row: int) -> Small:
        width = self._width
        return np.repeat(np.array([_UNSEEN, (row + 1) * width], dtype=np.int32), width)

    def _filled(
        self, table: Small, row: int, states: list[State], step: Callable[[State, int], State]
    ) -> Small:
        """Work out what each turn leads to from the state of a row."""
        following = [step(states[row // 2], turn) for turn in range(len(self.contents))]
        fresh = [state for state in dict.fromkeys(following) if state and state not in states]
        rows = [
            self._two_rows(2 * number) for number in range(len(states), len(states) + len(fresh))
        ]
        states += fresh
        place = {state: 2 * number * self._width for number, state in enumerate(states)}
        table = np.concatenate([table, *rows])
        first = row * self._width
        table[first : first + len(following)] = [
            place.get(state, first + self._width) for state in following
        ]
        return table


def first_of_turn(group: Small, cuts: Ints) -> Small:
    """Of each call, the index in its stretch of the first call of its group."""
    index = places_of(cuts)
    heads = index == 0
    if (heads[1:] | (group[1:] > group[:-1])).all():
        return index
    starts = np.arange(len(group), dtype=np.int32) - index
    if (heads[1:] | (group[1:] >= group[:-1])).all():
        heads[1:] |= group[1:] > group[:-1]
        firsts: Small = np.maximum.accumulate(np.where(heads, index + starts, 0)) - starts
        return firsts
    # Calls of one turn with others between them.
    pairs = np.stack([starts, group], axis=1)
    _, first, inverse = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    found: Small = first[inverse.reshape(-1)].astype(np.int32) - starts
    return found
