"""Which call must come before, after or right behind which?

| rule | holds if | Declare |
|---|---|---|
| `Before(a, b)` | each attempted b has an earlier successful a | Precedence |
| `After(b, a)` | the same, said the other way round | Precedence |
| `Responds(a, b)` | each successful a has a later successful b | Response |
| `Immediately(a, b)` | the turn after each successful a has a call of b | ChainResponse |
| `NotAfter(b, a)` | no b is attempted after a successful a | NotSuccession |

1. Rules speak of executed calls. What must have come must have succeeded; what must not come counts
   when it is attempted.
2. "Earlier" is strict: two calls of one model turn are unordered, neither is earlier.
3. A rule without its trigger holds; `required` demands that what comes first succeeds at all.
4. Gaps: see `worlds`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from trackway_analyzer.rules.calls import Calls, Symbol, earlier
from trackway_analyzer.rules.named_tools import TwoTools, attempts, came_without, successes
from trackway_analyzer.rules.necessary import (
    Accompanies,
    Fact,
    Follows,
    Least,
    Occurs,
    Order,
    first_success,
    last_attempt,
    last_success,
    only,
)
from trackway_analyzer.rules.place import Place
from trackway_analyzer.rules.rule import Said
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.rules.verdicts import HOLDS, NOWHERE, Broken, Verdicts
from trackway_analyzer.rules.words import FAR, Stands, Words
from trackway_analyzer.rules.worlds import ShapeRule


def _unpreceded(calls: Calls, first: str, second: str) -> int | None:
    """The first attempted `second` without an earlier successful `first`."""
    done = successes(calls, first)
    for index in attempts(calls, second):
        if not any(earlier(calls, other, index) for other in done):
            return index
    return None


def unpreceded(done: Stands, attempted: Stands) -> Verdicts:
    """Of all sequences at once, the first attempt where no success of another turn came before."""
    first = attempted.first
    return Verdicts.where((first != FAR) & (done.first_group >= attempted.first_group), first)


@dataclass(frozen=True)
class Before(TwoTools):
    """Each attempted `second` has an earlier successful `first`. `Precedence` in Declare."""

    required: bool = False
    """Also demand that `first` succeeds at all."""

    declare = "Precedence"

    @property
    def permits(self) -> tuple[str, ...]:
        """What comes first."""
        return (self.first,)

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """`second` follows `first`, which is demanded or not."""
        yield Follows(only(self.second), self.first)
        if self.required:
            yield Least(self.first)

    def broken(self, calls: Calls) -> Broken | None:
        """The first call that came too early."""
        index = _unpreceded(calls, self.first, self.second)
        if index is not None:
            return Broken(index)
        return Broken(None) if self.required and not successes(calls, self.first) else None

    def at_once(self, words: Words) -> Verdicts:
        """Compare the turns of the first calls."""
        done = words.successes(self.first)
        found = unpreceded(done, words.attempts(self.second))
        if not self.required:
            return found
        missing = (done.first == FAR) & (found.index == HOLDS)
        return Verdicts(found.index + missing * np.int32(NOWHERE - HOLDS))

    def sentence(self, at: Place) -> Said:
        """Say what became of `first`."""
        if at.row is None:
            why = at.instead(self.first)
            return Said(sentence=f"{self.first} never succeeded{why}", expected=self.first)
        return came_without(at, self.first)


@dataclass(frozen=True)
class _ToolAfter(ShapeRule):
    tool: str
    after: str

    short = ("tool", "after")

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return f"{self.key}: {self.tool}, {self.after}"

    @property
    def alphabet(self) -> tuple[str, ...]:
        """Both tools."""
        return (self.tool, self.after)


@dataclass(frozen=True)
class After(_ToolAfter):
    """Each attempted `tool` has an earlier successful `after`. `Precedence` in Declare."""

    declare = "Precedence"

    @property
    def permits(self) -> tuple[str, ...]:
        """What comes first."""
        return (self.after,)

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """`tool` follows `after`."""
        yield Follows(only(self.tool), self.after)

    def broken(self, calls: Calls) -> Broken | None:
        """The first call that came too early."""
        index = _unpreceded(calls, self.after, self.tool)
        return None if index is None else Broken(index)

    def at_once(self, words: Words) -> Verdicts:
        """Compare the turns of the first calls."""
        return unpreceded(words.successes(self.after), words.attempts(self.tool))

    def sentence(self, at: Place) -> Said:
        """Say what became of `after`."""
        return came_without(at, self.after)


@dataclass(frozen=True)
class NotAfter(_ToolAfter):
    """No `tool` is attempted after a successful `after`. `NotSuccession` in Declare."""

    declare = "NotSuccession"
    stands = True

    @property
    def insertions(self) -> int:
        """One of each."""
        return 2

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """The last attempt is not later than the first success of `after`."""
        given = (Occurs(self.tool), Occurs(self.after, True))
        yield Order(last_attempt(self.tool), first_success(self.after), given=given)

    def broken(self, calls: Calls) -> Broken | None:
        """The first attempt that came afterwards."""
        done = successes(calls, self.after)
        for index in attempts(calls, self.tool):
            if any(earlier(calls, other, index) for other in done):
                return Broken(index)
        return None

    def at_once(self, words: Words) -> Verdicts:
        """Find attempts whose turn is later than the first success."""
        attempted = words.attempts(self.tool)
        opened = words.successes(self.after).first_group
        return Verdicts.first(attempted.first_where(attempted.group > opened[attempted.word]))

    def sentence(self, at: Place) -> Said:
        """Name both calls."""
        first = at.at(at.surely(at.sooner(at.succeeded(self.after)))[0])
        return Said(sentence=f"{at.step()} came after {first}, where it must not")


@dataclass(frozen=True)
class Responds(TwoTools):
    """Each successful `first` has a later successful `second`. `Response` in Declare."""

    declare = "Response"

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """`second` succeeds after the last success of `first`."""
        given = Occurs(self.first, True)
        yield Accompanies(given, Occurs(self.second, True))
        yield Order(last_success(self.first), last_success(self.second), True, (given,))

    def broken(self, calls: Calls) -> Broken | None:
        """The first call that nothing answered."""
        done = successes(calls, self.second)
        for index in successes(calls, self.first):
            if not any(earlier(calls, index, other) for other in done):
                return Broken(index)
        return None

    def at_once(self, words: Words) -> Verdicts:
        """Find successes whose turn is not earlier than the last answer."""
        done = words.successes(self.first)
        answered = words.successes(self.second).last_group
        return Verdicts.where(*done.first_from(np.maximum(answered, 0)))

    def sentence(self, at: Place) -> Said:
        """Name the call that nothing answered."""
        later = at.later(at.rows(self.second))
        failed = f": {at.at(later[0])} did not succeed" if later else ""
        return Said(
            sentence=f"{at.step()} was not followed by a successful {self.second}{failed}",
            expected=self.second,
        )


_FREE: Final = 1
_ASKED: Final = 2


def _answered(state: int, turn: tuple[bool, bool]) -> int:
    """Read a turn that asks or answers: what was asked before must be answered here."""
    asks, answers = turn
    if state == _ASKED and not answers:
        return 0
    return _ASKED if asks else _FREE


@dataclass(frozen=True)
class Immediately(TwoTools):
    """The turn after each successful `first` calls `second`. `ChainResponse` in Declare."""

    declare = "ChainResponse"
    every_call = True

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """`second` is attempted after the last success of `first`."""
        given = Occurs(self.first, True)
        yield Accompanies(given, Occurs(self.second))
        yield Order(last_success(self.first), last_attempt(self.second), True, (given,))

    def broken(self, calls: Calls) -> Broken | None:
        """The first call that something else followed."""
        for index in successes(calls, self.first):
            following = [i for i in range(len(calls)) if earlier(calls, index, i)]
            turn = [i for i in following if calls[i].group == calls[following[0]].group]
            if not any(calls[i].tool == self.second for i in turn):
                return Broken(index)
        return None

    def letter(self, symbol: Symbol) -> Symbol | None:
        """Every call: what follows is named."""
        return symbol

    def at_once(self, words: Words) -> Verdicts:
        """Look at each turn that asks for an answer, and at the one after it."""
        turns = words.turns
        wanted = [
            next((i for i, call in enumerate(turn) if call.tool == self.first and call.ok), -1)
            for turn in turns.contents
        ]
        answers = [any(call.tool == self.second for call in turn) for turn in turns.contents]
        letters = [(index >= 0, answer) for index, answer in zip(wanted, answers, strict=True)]
        run = turns.blocks.run(
            _FREE, letters, _answered, {_FREE: HOLDS, _ASKED: NOWHERE}.__getitem__
        )
        assert run is not None, "two states are not too many"
        _, _, fell = run
        index = fell - (fell >= 0)
        ended = np.flatnonzero(fell == NOWHERE)
        index[ended] = turns.cuts[ended + 1] - turns.cuts[ended] - 1
        return Verdicts(index if turns.single else turns.calls(index, wanted))

    def sentence(self, at: Place) -> Said:
        """Name what followed instead."""
        later = at.later(at.calls())
        got = at.at(later[0]) if later else "nothing"
        return Said(
            sentence=f"{at.step()} was followed by {got}, expected {self.second}",
            expected=self.second,
            got=got,
        )
