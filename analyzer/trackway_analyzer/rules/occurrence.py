"""Does a tool come at all, first, last, or together with another?

| rule | holds if | Declare |
|---|---|---|
| `Called(a)` | a succeeded, `times` times at least | Existence |
| `Never(a)` | a was not attempted | Absence |
| `First(a)`, `Last(a)` | the first (last) turn has a call of a | Init, End |
| `Accompanied(a, b)` | if a succeeded, b succeeded, before or after | RespondedExistence |
| `Together(a, b)` | both succeeded or neither | CoExistence |
| `NotTogether(a, b)` | not both were attempted | NotCoExistence |

Rules speak of executed calls. What must come must succeed; what must not come counts when it is
attempted. Gaps: see `worlds`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from trackway_analyzer.rules.calls import Calls
from trackway_analyzer.rules.named_tools import OneTool, TwoTools, attempts, successes
from trackway_analyzer.rules.necessary import (
    Accompanies,
    Fact,
    Least,
    Most,
    Occurs,
    Outermost,
    only,
)
from trackway_analyzer.rules.place import Place
from trackway_analyzer.rules.rule import Said
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.rules.verdicts import NOWHERE, Broken, Verdicts
from trackway_analyzer.rules.words import FAR, Words


@dataclass(frozen=True)
class Called(OneTool):
    """The tool succeeded, `times` times at least. `Existence` in Declare."""

    times: int = 1

    declare = "Existence"

    def __post_init__(self) -> None:
        if self.times < 1:
            raise ValueError(f"`times` must be a whole number from 1, found {self.times!r}")

    @property
    def insertions(self) -> int:
        """As many as may be missing."""
        return self.times

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """So many successes."""
        yield Least(self.tool, self.times)

    def broken(self, calls: Calls) -> Broken | None:
        """Too few successful calls."""
        return None if len(successes(calls, self.tool)) >= self.times else Broken(None)

    def at_once(self, words: Words) -> Verdicts:
        """Count the successes."""
        return Verdicts.where(words.successes(self.tool).count < self.times, NOWHERE)

    def sentence(self, at: Place) -> Said:
        """Say how often it succeeded instead."""
        rows = at.rows(self.tool)
        done = sum(at.evidence.succeeded(row) is True for row in rows)
        if not rows:
            text = f"{self.tool} was never recorded"
        elif not done:
            text = f"{self.tool} never succeeded{at.instead(self.tool)}"
        else:
            text = f"{self.tool} succeeded {done} time{'s' * (done > 1)}, expected {self.times}"
        return Said(sentence=text, expected=self.times, got=done)


@dataclass(frozen=True)
class Never(OneTool):
    """The tool is not attempted. `Absence` in Declare."""

    declare = "Absence"
    stands = True

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """No attempt."""
        yield Most(only(self.tool))

    def broken(self, calls: Calls) -> Broken | None:
        """The first attempt."""
        found = attempts(calls, self.tool)
        return Broken(found[0]) if found else None

    def at_once(self, words: Words) -> Verdicts:
        """Find the first attempt."""
        return Verdicts.first(words.attempts(self.tool).first)

    def sentence(self, at: Place) -> Said:
        """Name the attempt."""
        return Said(sentence=f"{at.step()} must never be called", got=self.tool)


@dataclass(frozen=True)
class First(OneTool):
    """The first turn has a call of the tool. `Init` in Declare."""

    declare = "Init"
    every_call = True

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """An attempt that no other comes before."""
        yield Least(self.tool, took_effect=False)
        yield Outermost(self.tool, first=True)

    def broken(self, calls: Calls) -> Broken | None:
        """The first call, where none of its turn is of the tool."""
        turn = [call.tool for call in calls if call.group == calls[0].group]
        return None if self.tool in turn else Broken(0 if calls else None)

    def at_once(self, words: Words) -> Verdicts:
        """Look whether the first attempt is of the first turn."""
        there = np.where(np.diff(words.cuts), 0, NOWHERE)
        return Verdicts.where(words.attempts(self.tool).first_group != 0, there)

    def sentence(self, at: Place) -> Said:
        """Name the first call."""
        wanted = self.tool
        if at.row is None:
            return Said(sentence=f"no call was recorded, expected {wanted} first", expected=wanted)
        text = f"{at.step()} is the first call, expected {wanted}"
        return Said(sentence=text, expected=wanted, got=at.tool)


@dataclass(frozen=True)
class Last(OneTool):
    """The last turn has a call of the tool. `End` in Declare."""

    declare = "End"
    every_call = True

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """An attempt that no other comes after."""
        yield Least(self.tool, took_effect=False)
        yield Outermost(self.tool, first=False)

    def broken(self, calls: Calls) -> Broken | None:
        """The last call, where none of its turn is of the tool."""
        turn = [call.tool for call in calls if call.group == calls[-1].group]
        return None if self.tool in turn else Broken(len(calls) - 1 if calls else None)

    def at_once(self, words: Words) -> Verdicts:
        """Look whether the last attempt is of the last turn."""
        last = words.stands(lambda _: True).last_group
        attempted = words.attempts(self.tool)
        lacks = (attempted.count == 0) | (attempted.last_group != last)
        return Verdicts.where(lacks, np.diff(words.cuts) - 1)

    def sentence(self, at: Place) -> Said:
        """Name the last call."""
        wanted = self.tool
        if at.row is None:
            return Said(sentence=f"no call was recorded, expected {wanted} last", expected=wanted)
        text = f"{at.step()} is the last call, expected {wanted}"
        return Said(sentence=text, expected=wanted, got=at.tool)


@dataclass(frozen=True)
class Accompanied(TwoTools):
    """If `first` succeeded, `second` succeeded too. `RespondedExistence` in Declare."""

    declare = "RespondedExistence"

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """The second tool succeeds where the first does."""
        yield Accompanies(Occurs(self.first, True), Occurs(self.second, True))

    def broken(self, calls: Calls) -> Broken | None:
        """The first success that stands alone."""
        done = successes(calls, self.first)
        return Broken(done[0]) if done and not successes(calls, self.second) else None

    def at_once(self, words: Words) -> Verdicts:
        """Find first successes that stand alone."""
        one, two = words.successes(self.first).first, words.successes(self.second).first
        return Verdicts.where((one != FAR) & (two == FAR), one)

    def sentence(self, at: Place) -> Said:
        """Name the call that stands alone."""
        other = self.second if at.tool == self.first else self.first
        return Said(
            sentence=f"{at.step()} succeeded without {other}{at.instead(other)}", expected=other
        )


@dataclass(frozen=True)
class Together(Accompanied):
    """Both tools succeeded or neither. `CoExistence` in Declare."""

    declare = "CoExistence"

    @property
    def alike(self) -> Hashable:
        """Which tool is named first makes no difference."""
        return type(self), frozenset({self.first, self.second})

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """Each succeeds where the other does."""
        yield Accompanies(Occurs(self.first, True), Occurs(self.second, True))
        yield Accompanies(Occurs(self.second, True), Occurs(self.first, True))

    def broken(self, calls: Calls) -> Broken | None:
        """The first success that stands alone."""
        one, two = successes(calls, self.first), successes(calls, self.second)
        return None if bool(one) == bool(two) else Broken((one or two)[0])

    def at_once(self, words: Words) -> Verdicts:
        """Find first successes that stand alone."""
        one, two = words.successes(self.first).first, words.successes(self.second).first
        return Verdicts.where((one == FAR) != (two == FAR), np.minimum(one, two))


@dataclass(frozen=True)
class NotTogether(TwoTools):
    """Not both tools are attempted. `NotCoExistence` in Declare."""

    declare = "NotCoExistence"
    stands = True

    @property
    def insertions(self) -> int:
        """One of each."""
        return 2

    @property
    def alike(self) -> Hashable:
        """Which tool is named first makes no difference."""
        return type(self), frozenset({self.first, self.second})

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """No attempt of the one where the other is attempted."""
        yield Most(only(self.second), given=Occurs(self.first))
        yield Most(only(self.first), given=Occurs(self.second))

    def broken(self, calls: Calls) -> Broken | None:
        """The attempt that made it both."""
        one, two = attempts(calls, self.first), attempts(calls, self.second)
        return Broken(max(one[0], two[0])) if one and two else None

    def at_once(self, words: Words) -> Verdicts:
        """Find the later of both first attempts."""
        one, two = words.attempts(self.first).first, words.attempts(self.second).first
        return Verdicts.first(np.maximum(one, two))

    def sentence(self, at: Place) -> Said:
        """Name both calls."""
        other = self.second if at.tool == self.first else self.first
        return Said(sentence=f"{at.step()} must not go together with {at.at(at.rows(other)[0])}")
