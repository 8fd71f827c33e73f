"""Sequences of calls in columns, and where in all of them the calls of one sort stand.

1. A sequence is a stretch of columns: of each call its symbol (tool, kind, success) and the index
   of the first call of its turn.
2. A sort is a set of symbols. `Words.stands` finds its calls in all sequences at once, and of each
   sequence the first, the last and the number of them; what was found once is kept.
3. A sequence is tangled where a turn has calls of others between its own. There, a call with a
   later turn may come first; whoever compares turns by their first calls leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from trackway_analyzer.batch import Ints
from trackway_analyzer.rules.calls import Call, Symbol
from trackway_analyzer.rules.columns import Flags
from trackway_analyzer.rules.turns import Turns
from trackway_analyzer.stretches import Small, distinct, places_of, taken

FAR: Final = int(np.iinfo(np.int32).max)
"""The place of the first call where there is none."""
BEFORE: Final = -1
"""The place of the last call where there is none."""


@dataclass(frozen=True)
class Stands:
    """Where the calls of one sort stand in sequences, one sequence after the other."""

    word: Ints
    """Of each call, its sequence."""
    place: Small
    """Of each call, its index there."""
    group: Small
    """Of each call, the index of the first call of its turn."""
    cuts: Ints
    """Where those of each sequence begin, and one past the last."""
    words: Ints
    """The same of all calls, whatever their sort."""

    @cached_property
    def count(self) -> Ints:
        """How many calls each sequence has."""
        return np.diff(self.cuts)

    @cached_property
    def first(self) -> Small:
        """Of each sequence, the index of the first; `FAR`: there is none."""
        return self._ends(self.place, self.cuts[:-1], FAR)

    @cached_property
    def first_group(self) -> Small:
        """The same of its turn."""
        return self._ends(self.group, self.cuts[:-1], FAR)

    @cached_property
    def last_group(self) -> Small:
        """Of each sequence, the turn of the last; `BEFORE`: there is none."""
        return self._ends(self.group, self.cuts[1:] - 1, BEFORE)

    def _ends(self, values: Small, at: Ints, none: int) -> Small:
        if not len(values):
            return np.full(len(at), none, dtype=np.int32)
        found: Small = values.take(at, mode="clip")
        np.putmask(found, self.count == 0, none)
        return found

    def first_from(self, index: Small) -> tuple[Flags, Small]:
        """Whether each sequence has one from this index on, and the index of the first."""
        begin = self._words[:-1] + index
        found = self._next.take(begin)
        return found < self._words[1:], found - self._words[:-1]

    @cached_property
    def _words(self) -> Small:
        return self.words.astype(np.int32)

    @cached_property
    def _next(self) -> Small:
        """Of each call of whatever sort, the next of this one, counted over all sequences."""
        last = self.words[-1]
        at = np.append(self.words.take(self.word) + self.place, last).astype(np.int32)
        return np.repeat(at, np.diff(at, prepend=-1))

    def first_where(self, chosen: Flags) -> Small:
        """Of each sequence, the index of the first of the chosen calls; `FAR`: there is none."""
        found = np.full(len(self.cuts) - 1, FAR, dtype=np.int32)
        at = np.flatnonzero(chosen)[::-1]
        found[self.word[at]] = self.place[at]
        return found


@dataclass(frozen=True)
class Words:
    """Sequences of calls, one after the other in columns."""

    symbols: tuple[Symbol, ...]
    cuts: Ints
    """Where each sequence begins, and one past the last."""
    symbol: Small
    """Of each call, its place in `symbols`."""
    group: Small
    """Of each call, the index in its sequence of the first call of its turn."""

    def __len__(self) -> int:
        return len(self.cuts) - 1

    @classmethod
    def numbered(
        cls, symbols: tuple[Symbol, ...], cuts: Ints, symbol: Small, group: Small
    ) -> tuple[Ints, Words]:
        """Keep each sequence once: (the number of each, those that are kept)."""
        stride = int(group.max(initial=0)) + 1
        number, first = distinct(symbol * stride + group, cuts)
        places, own = taken(cuts, first)
        return number, cls(symbols, own, symbol[places], group[places])

    def calls(self, word: int) -> tuple[Call, ...]:
        """A sequence as rules read it."""
        if word not in self._calls:
            first, last = int(self.cuts[word]), int(self.cuts[word + 1])
            columns = self.symbol[first:last].tolist(), self.group[first:last].tolist()
            self._calls[word] = tuple(map(self._call, *columns))
        return self._calls[word]

    def _call(self, symbol: int, group: int) -> Call:
        if (symbol, group) not in self._made:
            tool, kind, _ = self.symbols[symbol]
            self._made[symbol, group] = Call(tool, kind, self.symbols[symbol].ok, group)
        return self._made[symbol, group]

    @cached_property
    def _calls(self) -> dict[int, tuple[Call, ...]]:
        return {}

    @cached_property
    def _made(self) -> dict[tuple[int, int], Call]:
        return {}

    @cached_property
    def place(self) -> Small:
        """Of each call, its index in its sequence."""
        places = places_of(self.cuts)
        return self.group if np.array_equal(places, self.group) else places

    @cached_property
    def word(self) -> Ints:
        """Of each call, its sequence."""
        return np.repeat(np.arange(len(self)), np.diff(self.cuts))

    @cached_property
    def tangled(self) -> Ints:
        """Sequences in which a turn has calls of others between its own."""
        back = np.flatnonzero((self.group[1:] < self.group[:-1]) & (self.place[1:] > 0)) + 1
        return np.unique(self.word[back])

    @cached_property
    def turns(self) -> Turns:
        """Their turns; of tangled sequences, something else."""
        return Turns.of(self.symbols, self.cuts, self.symbol, self.group)

    def stands(self, sort: Callable[[Symbol], bool]) -> Stands:
        """Where the calls of these symbols stand."""
        flags = tuple(map(sort, self.symbols))
        if flags not in self._stands:
            at = np.flatnonzero(np.array(flags, dtype=bool).take(self.symbol))
            word, place = self.word.take(at), self.place.take(at)
            cuts = np.append(0, np.cumsum(np.bincount(word, minlength=len(self))))
            group = place if self.group is self.place else self.group.take(at)
            self._stands[flags] = Stands(word, place, group, cuts, self.cuts)
        return self._stands[flags]

    @cached_property
    def _stands(self) -> dict[tuple[bool, ...], Stands]:
        return {}

    def successes(self, tool: str) -> Stands:
        """Where the successful calls of a tool stand."""
        return self.stands(lambda symbol: symbol.tool == tool and symbol.ok)

    def attempts(self, tool: str) -> Stands:
        """Where all calls of a tool stand."""
        return self.stands(lambda symbol: symbol.tool == tool)
