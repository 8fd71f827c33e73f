"""The turns of sequences of calls, and what comes after what, in all sequences at once.

A turn is what a model asked for together: its calls are unordered. Turns that hold the same calls
have the same content, and are one letter to an automaton (`running`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trackway_analyzer.batch import Ints
from trackway_analyzer.rules.calls import Symbol
from trackway_analyzer.rules.running import Blocks
from trackway_analyzer.stretches import Small, distinct, places_of


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

    def calls(self, turn: Small, inside: Sequence[int]) -> Small:
        """Of each sequence, the call that stands for one of its turns; negative stays as it is.

        `inside`: which call of a turn that is, by content.
        """
        some = np.flatnonzero(turn >= 0)
        at = self.cuts[some] + turn[some]
        index = turn.copy()
        index[some] = self.index[at] + np.array(inside, dtype=np.int32)[self.turn[at]]
        return index

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
