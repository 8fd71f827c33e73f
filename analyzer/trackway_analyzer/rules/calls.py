"""The calls of a run as rules of order see them, with and without gaps.

A run with gaps is many possible runs: a call of which nobody knows whether it succeeded did or
did not; a hidden step is any call at any place where a gap opens; calls that only skewed clocks
order may stand in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Final, NamedTuple

from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP

MOST_REORDERED: Final = 6
OTHER: Final = "\0other"
"""A tool that no rule names."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a shape rule sees of an executed call."""

    tool: str | None
    kind: str | None
    ok: bool
    """It succeeded: it took effect; a call that only reads: it answered."""
    group: int
    """Index of the first call of its model turn: calls of one group are unordered."""


Calls = Sequence[Call]


class Symbol(NamedTuple):
    """A call but for its turn."""

    tool: str | None
    kind: str | None
    succeeded: int
    """0, 1, or 2: nobody knows."""

    @property
    def ok(self) -> bool:
        """Whether it is known to have succeeded."""
        return self.succeeded == 1


def earlier(calls: Calls, first: int, second: int) -> bool:
    """Whether one call comes before another."""
    return first < second and calls[first].group != calls[second].group


@dataclass(frozen=True, slots=True)
class Possible:
    """A run with gaps, as far as shape rules can see it."""

    calls: tuple[Call, ...]
    unsure: tuple[bool, ...]
    """Of each call: nobody knows whether it took effect."""
    slots: tuple[int, ...]
    """Places where hidden calls may stand: before the call of this index."""
    hidden: int
    """How many at the most."""
    gap: str
    """The gap that hides them."""
    why_unknown: str = NOT_RECORDED_GAP
    """The gap that hides whether a call succeeded."""
    loose: tuple[int, ...] = ()
    """Indices of calls that only skewed clocks order."""

    def recorded(self, tools: frozenset[str] | None) -> Calls:
        """The run as it was recorded; what may have taken effect did."""
        return [
            replace(call, ok=True) if open else call
            for call, open in zip(self.calls, self._open(tools), strict=True)
        ]

    def unknown(self, tools: frozenset[str] | None) -> bool:
        """Whether the effect of a call that matters is unknown."""
        return any(self._open(tools))

    def _open(self, tools: frozenset[str] | None) -> list[bool]:
        pairs = zip(self.calls, self.unsure, strict=True)
        return [unknown and _matters(call, tools) for call, unknown in pairs]

    def worlds(
        self, tools: frozenset[str] | None, symbols: tuple[str, ...], insertions: int
    ) -> Iterator[tuple[Calls, str]]:
        """All possible runs, each with the gap that makes it differ from the recorded one.

        `tools` are those whose calls matter (None: all), `symbols` those that may be hidden.
        """
        for calls in self._effects(tools):
            yield calls, self.why_unknown
            for reordered in self._orders(calls, tools):
                yield reordered, "clock_skew"
            for filled in self._filled(calls, symbols, insertions):
                yield filled, self.gap

    def _effects(self, tools: frozenset[str] | None) -> Iterator[list[Call]]:
        choices = [
            (True, False) if open else (call.ok,)
            for call, open in zip(self.calls, self._open(tools), strict=True)
        ]
        for oks in product(*choices):
            yield [replace(call, ok=ok) for call, ok in zip(self.calls, oks, strict=True)]

    def _orders(self, calls: list[Call], tools: frozenset[str] | None) -> Iterator[list[Call]]:
        moving = [i for i in self.loose if _matters(calls[i], tools)]
        if len(moving) > MOST_REORDERED:
            # Too many to try: the first and the last possible order stand for all.
            moving = moving[: MOST_REORDERED // 2] + moving[-MOST_REORDERED // 2 :]
        for order in permutations(moving):
            moved = list(calls)
            for place, source in zip(moving, order, strict=True):
                moved[place] = replace(calls[source], group=place)
            yield moved

    def _filled(
        self, calls: list[Call], tools: tuple[str, ...], insertions: int
    ) -> Iterator[list[Call]]:
        symbols = [(tool, ok) for tool in (*tools, OTHER) for ok in (True, False)]
        choices = [(slot, tool, ok) for slot in self.slots for tool, ok in symbols]
        for count in range(1, min(self.hidden, insertions) + 1):
            for added in product(choices, repeat=count):
                filled = _with(calls, added)
                yield filled
                if count == 1:
                    yield from _of_turns_beside(filled, added[0][0])


def _of_turns_beside(calls: list[Call], place: int) -> Iterator[list[Call]]:
    """The call at this place, as one of the turn before it and of the turn behind it."""
    beside = [calls[other].group for other in (place - 1, place + 1) if 0 <= other < len(calls)]
    for group in dict.fromkeys(beside):
        yield [*calls[:place], replace(calls[place], group=group), *calls[place + 1 :]]


def _matters(call: Call, tools: frozenset[str] | None) -> bool:
    return tools is None or call.tool in tools


def _with(calls: list[Call], added: Sequence[tuple[int, str, bool]]) -> list[Call]:
    """Insert hidden calls, each as a turn of its own."""
    filled: list[Call] = []
    for index in range(len(calls) + 1):
        filled += [
            Call(tool, None, ok, -1 - number)
            for number, (slot, tool, ok) in enumerate(added)
            if slot == index
        ]
        filled += calls[index : index + 1]
    return filled
