"""The distinct sequences of calls in a batch, each found once, and which of them have gaps.

A rule sees less than a sequence: `Shapes.seen` leaves out calls that do not matter to it, takes
those that are all the same to it for one, and finds the distinct sequences of what remains.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from typing import Final

import numpy as np

from trackway_analyzer.batch import Ints
from trackway_analyzer.model import Gap
from trackway_analyzer.rules.calls import Calls, Possible, Symbol
from trackway_analyzer.rules.columns import Flags
from trackway_analyzer.rules.evidence import UNKNOWN, UNKNOWN_KIND, Evidence
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP, region
from trackway_analyzer.rules.turns import first_of_turn
from trackway_analyzer.rules.words import Words
from trackway_analyzer.stretches import Small, distinct, places_of, taken

_NONE: Final = np.empty(0, dtype=np.int64)
UNBOUNDED: Final = 4096
"""Stands for any number of hidden steps."""


@dataclass(frozen=True)
class Seen:
    """What a rule sees of the sequences of a batch."""

    of_word: Ints
    """Of each whole sequence, the number of what it sees."""
    words: Words
    cuts: Ints
    """Where the calls of each whole sequence begin in `places`, and one past the last."""
    places: Small
    """Of each call that is seen, its index in the whole sequence."""

    def rows(self, calls: Sequence[int], word: int) -> list[int]:
        """Those of the rows of a whole sequence's calls that are seen."""
        first, last = int(self.cuts[word]), int(self.cuts[word + 1])
        return [calls[place] for place in self.places[first:last].tolist()]


@dataclass(frozen=True)
class Layouts:
    """The distinct ways in which sequences of calls lie among the other steps of runs."""

    of_run: Ints
    word: Ints
    """Of each, its sequence."""
    begins: Ints
    """Of each, where its first call stands in `positions`."""
    positions: Small
    """Position in the run of every call; before those of each layout -2 and -1."""
    plain: bool
    """Each call stands at its index, for runs have no other steps between: nothing is looked up."""

    @classmethod
    def of(cls, of_run: Ints, word: Ints, cuts: Ints, positions: Small) -> Layouts:
        """Put marks before the calls of each layout, by which negative indices find themselves."""
        begins = cuts[:-1] + np.arange(2, 2 * len(word) + 1, 2)
        marked = np.empty(len(positions) + 2 * len(word), dtype=np.int32)
        marked[begins - 2], marked[begins - 1] = -2, -1
        marked[np.arange(len(positions)) + np.repeat(begins - cuts[:-1], np.diff(cuts))] = positions
        plain = bool((positions == places_of(cuts)).all())
        return cls(of_run, word, begins, marked, plain)

    @classmethod
    def of_calls(cls, of_run: Ints, words: int) -> Layouts:
        """Where runs have no steps but calls: each sequence lies in one way."""
        return cls(of_run, np.arange(words), _NONE, _NONE.astype(np.int32), True)

    def place(self, index: Small) -> Small:
        """Of each layout, the position of the call with this index in its sequence.

        -1 and -2 stand for no call and stay as they are.
        """
        index = self.of_words(index)
        return index if self.plain else self.positions.take(self.begins + index)

    def of_words(self, values: Small) -> Small:
        """Of each layout, the value of its sequence."""
        # Both are numbered as they first come: as many are the same.
        return values if len(values) == len(self.word) else values.take(self.word)


@dataclass(frozen=True)
class Shapes:
    """The distinct call sequences of a batch."""

    of_run: Ints
    words: Words
    unsure: frozenset[int]
    """Runs that have a gap which may matter to a shape rule."""
    layouts: Layouts

    @cached_property
    def sure(self) -> Flags | None:
        """Which runs have no such gap; None: all."""
        if not self.unsure:
            return None
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
        if letters == words.symbols:
            return Seen(np.arange(len(words)), words, words.cuts, words.place)
        alphabet = tuple(dict.fromkeys(letter for letter in letters if letter is not None))
        codes = [-1 if letter is None else alphabet.index(letter) for letter in letters]
        symbol = np.array(codes, dtype=np.int32).take(words.symbol)
        known = symbol >= 0
        kept = np.flatnonzero(known)
        cuts = np.append(0, np.cumsum(known))[words.cuts]
        group = first_of_turn(words.group[kept], cuts)
        number, own = Words.numbered(alphabet, cuts, symbol[kept], group)
        return Seen(number, own, cuts, words.place[kept])

    def calls(self, run: int) -> Calls:
        """The calls of a run."""
        return self.words.calls(int(self.of_run[run]))

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
    offsets = evidence.batch.offsets
    cuts = evidence.call_cuts
    calls_alone = int(cuts[-1]) == len(evidence.batch.steps)
    rows = slice(None) if calls_alone else evidence.call_rows
    group = evidence.batch.steps.column("group").to_numpy()[rows]
    symbols, symbol = _symbols(evidence, rows)
    firsts = first_of_turn(group, cuts)
    position = places_of(offsets)[rows]
    # Layouts first: there are fewer of them than runs, and words are found among them.
    stride = int(position.max(initial=0)) + 1
    turn = symbol * np.int64(stride) + firsts
    of_run, first = distinct(turn if calls_alone else turn * stride + position, cuts)
    places, own = taken(cuts, first)
    if calls_alone:  # the sequence says where its calls stand: no two layouts have one
        words = Words(symbols, own, symbol[places], firsts[places])
        layouts = Layouts.of_calls(of_run, len(words))
        of_word = of_run
    else:
        word, words = Words.numbered(symbols, own, symbol[places], firsts[places])
        layouts = Layouts.of(of_run, word, own, position[places])
        of_word = word.take(of_run)
    unknown = evidence.call_rows[evidence.success_codes[rows] == UNKNOWN]
    unsure = (np.searchsorted(offsets, unknown, side="right") - 1).tolist()
    return Shapes(of_word, words, frozenset(unsure) | evidence.blurred, layouts)


def _symbols(evidence: Evidence, rows: Ints | slice) -> tuple[tuple[Symbol, ...], Small]:
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
