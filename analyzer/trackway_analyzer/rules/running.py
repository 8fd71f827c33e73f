"""An automaton run over many sequences at once.

1. A letter is what the automaton reads in a turn, a block several letters that stand one after the
   other. Which blocks there are is found once; what they lead to from each state is told once for
   each automaton, the longer ones by the shorter ones with which they begin.
2. All sequences read their first block together, then all that have a second, and so on: a step of
   all of them is one look into a table. Blocks are as long as keeps the table smaller than what is
   to be read.
3. Where a state has no next one, the sequence falls: it keeps the state and the number of letters
   that it read before.
4. Every state that can come up is told beforehand. Where these are more than `MOST_STATES`, nothing
   is run.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, TypeVar

import numpy as np

from trackway_analyzer.batch import Ints
from trackway_analyzer.stretches import Small

State = TypeVar("State", bound=Hashable)
Letter = TypeVar("Letter", bound=Hashable)
MOST_STATES: Final = 1024
LONGEST_BLOCK: Final = 8
_MOST_BLOCKS: Final = 8192
_READ_BY: Final = 8
"""There are so many times fewer blocks than sequences that read them."""
_READ_BITS: Final = 32
_ROW: Final = (1 << _READ_BITS) - 1
NEVER: Final = -1
"""Stands for the turn at which a sequence fell that did not."""


@dataclass(frozen=True)
class _Step:
    """What sequences read at once."""

    who: Ints | slice
    """Which of them; the last step is of all."""
    block: Ints
    """What each of them reads; where that is nothing, 0."""


@dataclass(frozen=True)
class Blocks:
    """Sequences of numbers, read in blocks."""

    values: Ints
    cuts: Ints
    count: int
    """How many numbers there are."""
    size: int
    """Numbers in a block; the last of a sequence may have fewer."""
    begun: Ints
    """Of each distinct block, the one with which it begins, shorter by one. The first is empty."""
    number: Ints
    """Of each distinct block, its last number."""
    lengths: Ints
    """Where the blocks of one number begin, of two, …: they are sorted by length."""
    steps: list[_Step]

    @classmethod
    def of(cls, values: Ints, cuts: Ints, count: int, size: int | None = None) -> Blocks:
        """Cut sequences of numbers below `count` into blocks."""
        size = size or _size(count, min(_MOST_BLOCKS, (len(cuts) - 1) // _READ_BY))
        lengths = np.diff(cuts)
        many = -(-lengths // size)
        last = max(int(many.max(initial=0)) - 1, 0)
        who = [np.flatnonzero(many > place) for place in range(last)]
        who.append(np.arange(len(lengths)))
        begins = np.concatenate([cuts[some] + place * size for place, some in enumerate(who)])
        left = np.concatenate([lengths[some] - place * size for place, some in enumerate(who)])
        block, begun, number, found = _distinct(values, begins, left, count, size)
        ends = np.cumsum([0, *map(len, who)])
        steps = [
            _Step(slice(None) if len(some) == len(lengths) else some, block[first:end])
            for some, (first, end) in zip(who, pairwise(ends.tolist()), strict=True)
        ]
        return cls(values, cuts, count, size, begun, number, found, steps)

    def run(
        self,
        start: State,
        letters: Sequence[Letter],
        step: Callable[[State, Letter], State],
        end: Callable[[State], int] = lambda _: NEVER,
    ) -> tuple[list[State], Small, Small] | None:
        """Run an automaton: (states, last state of each sequence, letters read where it fell).

        `letters` says what the automaton reads in each number. `step(state, letter)` gives the next
        state, something false where there is none. `end(state)` is what stands for the letters read
        where a sequence ends in a state. None: too many states.
        """
        longest = int(np.diff(self.cuts).max(initial=0))
        reached = _reached(start, dict.fromkeys(letters), step, longest)
        if reached is None:
            return None
        blocks = self
        if self.size > 1 and len(reached) * len(self.begun) > len(self.values):
            blocks = self.single
        last, fell = blocks._read(reached, letters, [end(state) for state in reached])
        return list(reached), last, fell

    @cached_property
    def single(self) -> Blocks:
        """The same, read number by number."""
        return Blocks.of(self.values, self.cuts, self.count, 1)

    def _read(
        self,
        reached: dict[State, dict[Letter, State]],
        letters: Sequence[Letter],
        ends: list[int],
    ) -> tuple[Small, Small]:
        """Of each sequence its last state, and how many letters it read where it fell."""
        many, width = len(reached), len(self.begun)
        to = self._leads(reached, letters)
        states = np.arange(many)
        here = np.zeros(len(self.cuts) - 1, dtype=np.int64)
        for place, reads in enumerate(self.steps):
            # What stands for each entry of `to`: a row and, above, the letters read by who fell.
            read = (np.repeat(np.arange(self.size), many) + place * self.size) << _READ_BITS
            if last := place == len(self.steps) - 1:
                alive, fallen = states + (np.array(ends, dtype=np.int64) << _READ_BITS), states
            else:
                alive, fallen = states * width, (states + many) * width
            meant = np.concatenate([alive, np.tile(fallen, self.size) + read])
            if place == 0:
                now = meant.take(to[0]).take(reads.block)
            else:
                table = np.empty((2 * many, width), dtype=np.int64)
                np.take(meant, to, out=table[:many], mode="clip")
                table[many:] = fallen[:, None]
                before = here[reads.who]
                now = table.ravel().take((before & _ROW) + reads.block)
                now += before & ~_ROW
            if last or isinstance(reads.who, slice):
                here = now
            else:
                here[reads.who] = now
        return (here & _ROW).astype(np.int32), (here >> _READ_BITS).astype(np.int32)

    def _leads(self, reached: dict[State, dict[Letter, State]], letters: Sequence[Letter]) -> Ints:
        """What each block leads to from each state: a state, or where and from which it fell."""
        many, count = len(reached), self.count
        place = {state: number for number, state in enumerate(reached)}
        # Of states that come up with the last letter alone nothing is told: nobody reads on there.
        following = np.full((many, count), -1, dtype=np.int64)
        for state, to in enumerate(reached.values()):
            for number, letter in enumerate(letters if to else ()):
                following[state, number] = place.get(to[letter], -1)
        found = np.empty((many, len(self.begun)), dtype=np.int64)
        found[:, 0] = np.arange(many)
        step = np.repeat(np.arange(many * (1 + self.size))[:, None], count, axis=1)
        for read, (first, end) in enumerate(pairwise(self.lengths.tolist())):
            fallen = np.arange(many)[:, None] + many * (1 + read)
            step[:many] = np.where(following < 0, fallen, following)
            at = found.take(self.begun[first:end], axis=1)
            at *= count
            at += self.number[first:end]
            found[:, first:end] = step.ravel().take(at)
        return found


def _size(count: int, most: int) -> int:
    """How long blocks may be so that there are not more than `most` of them."""
    size, blocks = 1, count + 1
    while size < LONGEST_BLOCK and blocks + count ** (size + 1) <= most:
        size += 1
        blocks += count**size
    return size


def _distinct(
    values: Ints, begins: Ints, left: Ints, count: int, size: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Number blocks by what they hold: (of each its number, `begun`, `number`, `lengths`)."""
    block = np.zeros(len(begins), dtype=np.int64)
    begun, number, lengths = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], [1]
    for place in range(size):
        some = np.flatnonzero(left > place)
        key = block[some] * count + values[begins[some] + place]
        used = np.flatnonzero(np.bincount(key, minlength=1))
        own = np.zeros(int(key.max(initial=0)) + 1, dtype=np.int64)
        own[used] = np.arange(len(used)) + lengths[-1]
        block[some] = own[key]
        begun.append(used // count)
        number.append(used % count)
        lengths.append(lengths[-1] + len(used))
    return block, np.concatenate(begun), np.concatenate(number), np.array(lengths)


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
