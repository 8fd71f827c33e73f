"""The distinct sequences of calls in a batch, each found once, and which of them have gaps.

A rule sees less than a sequence: `Shapes.seen` leaves out calls that do not matter to it, takes
those that are all the same to it for one, and finds the distinct sequences of what remains.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from math import inf
from typing import Final

import numpy as np
import pyarrow as pa

from trackway_analyzer.batch import Ints
from trackway_analyzer.model import Gap
from trackway_analyzer.rules.calls import Call, Calls, Possible, Symbol
from trackway_analyzer.rules.columns import Flags
from trackway_analyzer.rules.evidence import UNKNOWN, UNKNOWN_KIND, Evidence
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP, region
from trackway_analyzer.rules.turns import Turns, first_of_turn
from trackway_analyzer.stretches import Small, distinct, places_of, taken

UNBOUNDED: Final = 4096
"""Stands for any number of hidden steps."""


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

    @cached_property
    def calls(self) -> tuple[tuple[Call, ...], ...]:
        """The sequences as rules read them."""
        made: dict[tuple[int, int], Call] = {}
        flat = []
        for pair in zip(self.symbol.tolist(), self.group.tolist(), strict=True):
            if pair not in made:
                symbol = self.symbols[pair[0]]
                made[pair] = Call(symbol.tool, symbol.kind, symbol.ok, pair[1])
            flat.append(made[pair])
        return tuple(tuple(flat[first:last]) for first, last in pairwise(self.cuts.tolist()))

    @cached_property
    def turns(self) -> Turns | None:
        """Their turns; None: somewhere a turn has calls of others between its own."""
        return Turns.of(self.symbols, self.cuts, self.symbol, self.group)


@dataclass(frozen=True)
class Seen:
    """What a rule sees of the sequences of a batch."""

    of_run: Ints
    """Number of what it sees of each run."""
    words: Words
    begins: Ints
    """Of each run, where its calls begin in `places`."""
    places: Ints
    """Of each call that is seen, its index in the whole sequence."""

    def rows(self, evidence: Evidence, run: int) -> list[int]:
        """Rows of the calls of a run that are seen."""
        calls, first = evidence.calls(run), int(self.begins[run])
        word = int(self.of_run[run])
        size = int(self.words.cuts[word + 1] - self.words.cuts[word])
        return [calls[place] for place in self.places[first : first + size].tolist()]


@dataclass(frozen=True)
class Shapes:
    """The distinct call sequences of a batch."""

    of_run: Ints
    words: Words
    unsure: frozenset[int]
    """Runs that have a gap which may matter to a shape rule."""
    positions: Small
    """Position in its run of every call, run after run."""
    firsts: Ints
    """Of each run, the place in `positions` of its first call."""

    @property
    def known(self) -> tuple[tuple[Call, ...], ...]:
        """The sequences."""
        return self.words.calls

    @cached_property
    def sure(self) -> Flags:
        """Which runs have no such gap."""
        flags = np.ones(len(self.of_run), dtype=bool)
        flags[list(self.unsure)] = False
        return flags

    @cached_property
    def _seen(self) -> dict[tuple[Symbol | None, ...], Seen]:
        return {}

    def seen(self, letter: Callable[[Symbol], Symbol | None]) -> Seen:
        """What a rule sees that takes each call for this letter, or leaves it out."""
        letters = tuple(map(letter, self.words.symbols))
        if letters not in self._seen:
            self._seen[letters] = self._find_seen(letters)
        return self._seen[letters]

    def _find_seen(self, letters: tuple[Symbol | None, ...]) -> Seen:
        words = self.words
        places = places_of(words.cuts).astype(np.int64)
        if letters == words.symbols:
            return Seen(self.of_run, words, words.cuts[self.of_run], places)
        alphabet = tuple(dict.fromkeys(letter for letter in letters if letter is not None))
        codes = [-1 if letter is None else alphabet.index(letter) for letter in letters]
        symbol = np.array(codes, dtype=np.int32).take(words.symbol)
        known = symbol >= 0
        kept = np.flatnonzero(known)
        cuts = np.append(0, np.cumsum(known))[words.cuts]
        group = first_of_turn(words.group[kept], cuts)
        number, own = Words.numbered(alphabet, cuts, symbol[kept], group)
        return Seen(number[self.of_run], own, cuts[self.of_run], places[kept])

    def position(self, seen: Seen, runs: Ints, index: Ints) -> pa.Array:
        """Positions of calls that are seen, by run and index; null where the index is negative."""
        if index.min(initial=0) < 0:
            at = np.flatnonzero(index >= 0)
            found = np.zeros(len(runs), dtype=np.int32)
            found[at] = self.position(seen, runs[at], index[at]).to_numpy()
            return pa.array(found, mask=index < 0)
        place = seen.places[seen.begins[runs] + index]
        return pa.array(self.positions[self.firsts[runs] + place])

    def calls(self, run: int) -> Calls:
        """The calls of a run."""
        return self.known[int(self.of_run[run])]

    def possible(
        self, evidence: Evidence, run: int, tools: Collection[str] | None = None
    ) -> Possible:
        """A run that is unsure, with its gaps; with `tools`, those that may hide calls of them."""
        rows = evidence.calls(run)
        gaps = evidence.absence(run, tools)
        return Possible(
            tuple(self.calls(run)),
            tuple(evidence.succeeded(row) is None for row in rows),
            tuple(_slots(evidence, rows, gaps)),
            _hidden(gaps),
            gaps[0].name if gaps else "",
            next((_why(evidence, row) for row in rows if evidence.succeeded(row) is None), ""),
            tuple(_loose(evidence, rows)),
        )


def _why(evidence: Evidence, row: int) -> str:
    gap = evidence.why_unknown(row).gap
    return gap if gap == UNKNOWN_KIND else NOT_RECORDED_GAP


def _slots(evidence: Evidence, rows: list[int], gaps: tuple[Gap, ...]) -> Iterator[int]:
    places = [evidence.position(row) for row in rows]
    for index in range(len(rows) + 1):
        after = places[index - 1] if index else -1.0
        before = places[index] if index < len(rows) else inf
        if any(low < before and after < high for low, high in map(region, gaps)):
            yield index


def _hidden(gaps: tuple[Gap, ...]) -> int:
    if any(gap.name != "missing_steps" for gap in gaps):
        return UNBOUNDED
    return sum(gap.count for gap in gaps)


def _loose(evidence: Evidence, rows: list[int]) -> Iterator[int]:
    """Calls that are unordered with at least one other."""
    for index, row in enumerate(rows):
        others = (other for other in rows if other != row)
        if any(not isinstance(evidence.earlier(row, other), bool) for other in others):
            yield index


def shapes_of(evidence: Evidence) -> Shapes:
    """Find the distinct call sequences of a batch, once."""
    return evidence.memo("shapes", partial(_shapes, evidence))


def _shapes(evidence: Evidence) -> Shapes:
    rows = evidence.call_rows
    offsets = evidence.batch.offsets
    cuts = np.searchsorted(rows, offsets)
    group = evidence.batch.steps.column("group").to_numpy()[rows]
    symbols, symbol = _symbols(evidence, rows)
    of_run, words = Words.numbered(symbols, cuts, symbol, first_of_turn(group, cuts))
    unknown = rows[evidence.success_codes[rows] == UNKNOWN]
    unsure = (np.searchsorted(offsets, unknown, side="right") - 1).tolist()
    positions = (rows - np.repeat(offsets[:-1], np.diff(cuts))).astype(np.int32)
    return Shapes(of_run, words, frozenset(unsure) | evidence.blurred, positions, cuts[:-1])


def _symbols(evidence: Evidence, rows: Ints) -> tuple[tuple[Symbol, ...], Small]:
    """The distinct calls, but for their groups, and which of them each row is."""
    tool, kind = evidence.codes("tool"), evidence.codes("kind")
    kinds, states = len(kind.names) + 1, UNKNOWN + 1
    code = tool.codes[rows] + 1
    code *= kinds
    code += kind.codes[rows] + 1
    code *= states
    code += evidence.success_codes[rows]
    used = np.flatnonzero(np.bincount(code))
    symbols = tuple(
        Symbol(
            tool.name(number // states // kinds - 1),
            kind.name(number // states % kinds - 1),
            number % states,
        )
        for number in used.tolist()
    )
    place = np.zeros(used.max(initial=0) + 1, dtype=np.int32)
    place[used] = np.arange(len(used))
    return symbols, place.take(code)
