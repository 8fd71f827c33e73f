"""An automaton run over many sequences at once.

1. A letter is what the automaton reads in a turn. All sequences take their first step together,
   then all that have a second, and so on: a step of all of them is one look into a table.
2. A step is a block of letters, as many as keep the table smaller than what is to be read.
3. Where a state has no next one, the sequence falls: it keeps the state and the number of letters
   that it read before.
4. The table has every state that can come up. Where these are more than `MOST_STATES`, nothing is
   run.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from trackway_analyzer.batch import Ints
from trackway_analyzer.stretches import Small

State = TypeVar("State", bound=Hashable)
Letter = TypeVar("Letter", bound=Hashable)
MOST_STATES: Final = 1024
LONGEST_BLOCK: Final = 4
_LARGEST_TABLE: Final = 2048
_READ_BY: Final = 8
"""A table is this many times smaller than what is read by it."""
_COUNT_BITS: Final = 32
_ROW: Final = (1 << _COUNT_BITS) - 1
NEVER: Final = -1
"""Stands for the turn at which a sequence fell that did not."""


@dataclass(frozen=True)
class Blocks:
    """Sequences of numbers, read in blocks."""

    width: int
    """How many numbers there are, with one that stands behind the end."""
    size: int
    """Numbers in a block."""
    order: Ints
    """The sequences, the longest first."""
    steps: list[Ints]
    """The blocks that they read first, second, …: each as one number."""
    longest: int

    @classmethod
    def of(cls, values: Ints, cuts: Ints, count: int) -> Blocks:
        """Cut sequences of numbers below `count` into blocks."""
        width, size = count + 1, 1
        most = min(_LARGEST_TABLE, len(values) // _READ_BY)
        while size < LONGEST_BLOCK and width ** (size + 1) <= most:
            size += 1
        lengths = np.diff(cuts)
        order = np.argsort(-lengths, kind="stable")
        begins, lengths = cuts[order], lengths[order]
        longest, steps = int(lengths.max(initial=0)), []
        for place in range(0, longest, size):
            reading = int(np.searchsorted(-lengths, -place))
            block = np.zeros(reading, dtype=np.int64)
            for index in range(place, place + size):
                block *= width
                some = int(np.searchsorted(-lengths[:reading], -index))
                block[:some] += values[begins[:some] + index]
                block[some:] += count
            steps.append(block)
        return cls(width, size, order, steps, longest)

    def run(
        self, start: State, letters: Sequence[Letter], step: Callable[[State, Letter], State]
    ) -> tuple[list[State], Small, Small] | None:
        """Run an automaton: (states, last state of each sequence, letters read where it fell).

        `letters` says what the automaton reads in each number. `step(state, letter)` gives the next
        state, something false where there is none. None: too many states.
        """
        reached = _reached(start, dict.fromkeys(letters), step, self.longest)
        if reached is None:
            return None
        table = self._table(reached, letters)
        state = np.zeros(len(self.order), dtype=np.int64)
        read = np.zeros(len(self.order), dtype=np.int64)
        for block in self.steps:
            now = table.take(state[: len(block)] + block)
            read[: len(block)] += now >> _COUNT_BITS
            np.bitwise_and(now, _ROW, out=state[: len(block)])
        ended = np.empty_like(state)
        ended[self.order] = (state >> self._row_bits) + (read << _COUNT_BITS)
        row, read = ended & _ROW, ended >> _COUNT_BITS
        fallen = row >= len(reached)
        last = (row - fallen * len(reached)).astype(np.int32)
        fell = ((read - NEVER) * fallen + NEVER).astype(np.int32)
        return list(reached), last, fell

    @property
    def _row_bits(self) -> int:
        """A row of the table has room for more than all blocks: a power of two."""
        return int(self.width**self.size).bit_length()

    def _table(self, reached: dict[State, dict[Letter, State]], letters: Sequence[Letter]) -> Ints:
        """What each block leads to from each state, and from where a sequence fell from it.

        An entry is where the row of the next state begins and, above, how many letters were read.
        """
        many = len(reached)
        place = {state: number for number, state in enumerate(reached)}
        rows = []
        for state, following in reached.items():
            fallen = many + place[state]
            to_of = {letter: place.get(other, fallen) for letter, other in following.items()}
            rows.append([to_of.get(letter, fallen) for letter in letters])
        single = np.repeat(np.arange(2 * many)[:, None], self.width, axis=1)
        single[:many, :-1] = np.array(rows, dtype=np.int64).reshape(many, len(letters))
        to, read = single, (single < many).astype(np.int64)
        for _ in range(self.size - 1):
            to = single[to].reshape(2 * many, -1)
            read = np.repeat(read, self.width, axis=1) + (to < many)
        table = np.zeros((2 * many, 1 << self._row_bits), dtype=np.int64)
        table[:, : to.shape[1]] = (to << self._row_bits) + (read << _COUNT_BITS)
        return table.ravel()


def _reached(
    start: State, letters: Iterable[Letter], step: Callable[[State, Letter], State], steps: int
) -> dict[State, dict[Letter, State]] | None:
    """Every state that comes up within so many steps, and what each letter leads to."""
    found: dict[State, dict[Letter, State]] = {start: {}}
    fresh = [start]
    for _ in range(steps):
        for state in fresh:
            found[state] = {letter: step(state, letter) for letter in letters}
        following = (state for known in fresh for state in found[known].values() if state)
        fresh = [state for state in dict.fromkeys(following) if state not in found]
        found |= {state: {} for state in fresh}
        if len(found) > MOST_STATES:
            return None
    return found
