"""The turns of sequences of calls, and what comes after what, in all sequences at once.

A turn is what a model asked for together: its calls are unordered. Turns that hold the same calls
have the same content, and are one letter to an automaton (`running`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trackway_analyzer.batch import Ints
from trackway_analyzer.rules.calls import Symbol
from trackway_analyzer.rules.running import Blocks
from trackway_analyzer.stretches import Small, distinct, places_of


@dataclass(frozen=True)
class Asking:
    """Turns of some contents, and what came after them."""

    word: Ints
    """Of each, its sequence."""
    index: Small
    """Of each, the index there of its first call."""
    turn: Ints
    """Of each, its content."""
    following: Ints
    """Of each, the content of the next turn; one more than there are: it is the last."""


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
    def of(cls, symbols: tuple[Symbol, ...], cuts: Ints, symbol: Small, group: Small) -> Turns:
        """Cut sequences into turns, each of which goes on to the first call of the next."""
        index = places_of(cuts)
        heads = np.flatnonzero(group == index)
        if len(heads) == len(symbol):
            return cls(tuple((one,) for one in symbols), cuts, symbol.astype(np.int64), index)
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

    def asking(self, flags: tuple[bool, ...]) -> Asking:
        """Turns that hold one of these contents."""
        if flags not in self._asking:
            at = np.flatnonzero(np.array(flags, dtype=bool).take(self.turn))
            after = np.append(self.turn, len(self.contents)).take(at + 1)
            after[at + 1 == self.cuts[self.owner[at] + 1]] = len(self.contents)
            found = Asking(self.owner[at], self.index[at], self.turn[at], after)
            self._asking[flags] = found
        return self._asking[flags]

    @cached_property
    def _asking(self) -> dict[tuple[bool, ...], Asking]:
        return {}

    @cached_property
    def blocks(self) -> Blocks:
        """What an automaton reads."""
        return Blocks.of(self.turn, self.cuts, len(self.contents))

    @cached_property
    def single(self) -> bool:
        """Whether every turn is one call."""
        return all(len(turn) == 1 for turn in self.contents)


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
