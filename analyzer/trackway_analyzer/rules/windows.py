"""What may come while something is open?

| rule | holds if |
|---|---|
| `Between(x, a, b)` | each attempted x has an earlier successful a, and no successful b since |
| `AtMostOnceBetween(x, a, b)` | from each successful a to the next b, x succeeds once at most |
| `Until(allowed, b)` | until b succeeded, only `allowed` tools are attempted |

"Earlier" is strict: a call of the same model turn opens and closes nothing for the others of its
turn. An end that never comes leaves the window open to the end of the run; where `Between` says
`required`, each successful x needs a successful b behind it. Gaps: see `worlds`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trackway_analyzer.rules.calls import Calls, earlier
from trackway_analyzer.rules.named_tools import attempts, came_without, successes
from trackway_analyzer.rules.necessary import Fact, Follows, Least, all_but, only
from trackway_analyzer.rules.place import Place
from trackway_analyzer.rules.rule import Said
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.rules.verdicts import Broken
from trackway_analyzer.rules.worlds import ShapeRule


@dataclass(frozen=True)
class _Window(ShapeRule):
    tool: str
    start: str
    end: str

    short = ("tool", "start", "end")

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return f"{self.key}: {self.tool}, {self.start}, {self.end}"

    @property
    def alphabet(self) -> tuple[str, ...]:
        """All three tools."""
        return (self.tool, self.start, self.end)

    @property
    def insertions(self) -> int:
        """One that closes and one that comes after."""
        return 2


@dataclass(frozen=True)
class Between(_Window):
    """Each attempted `tool` has an earlier successful `start`, and no successful `end` since.

    Whether an end must come is for the policy to say: `required` demands one after each `tool`
    that succeeded.
    """

    required: bool | None = None
    """None: not demanded, and a policy file that leaves it so is told of."""

    @property
    def insertions(self) -> int:
        """One that closes, one that comes after, and where the end is demanded, one behind it."""
        return 3 if self.required else 2

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """`tool` follows `start`."""
        yield Follows(only(self.tool), self.start)

    def broken(self, calls: Calls) -> Broken | None:
        """The first call outside."""
        ends = successes(calls, self.end)
        for index in attempts(calls, self.tool):
            opened = [i for i in successes(calls, self.start) if earlier(calls, i, index)]
            closed = [i for i in ends if earlier(calls, i, index)]
            if not opened:
                return Broken(index, "before")
            if closed and closed[-1] > opened[-1]:
                return Broken(index, "after")
            if (
                self.required
                and calls[index].ok
                and not any(earlier(calls, index, i) for i in ends)
            ):
                return Broken(index, "open")
        return None

    def sentence(self, at: Place) -> Said:
        """Say on which side it stands, or that the end never came."""
        if at.what == "before":
            return came_without(at, self.start)
        if at.what == "open":
            why = at.instead(self.end)
            return Said(
                sentence=f"{at.step()} was not followed by a successful {self.end}{why}",
                expected=f"{self.end} after step {at.number}",
            )
        ends = at.surely(at.sooner(at.succeeded(self.end)))
        return Said(
            sentence=f"{at.step()} came after {at.at(ends[-1])},"
            f" expected between {self.start} and {self.end}"
        )


@dataclass(frozen=True)
class AtMostOnceBetween(_Window):
    """From each successful `start` to the next successful `end`, `tool` succeeds once at most."""

    @property
    def insertions(self) -> int:
        """One that opens and two that come after."""
        return 3

    def broken(self, calls: Calls) -> Broken | None:
        """The second success in one window."""
        done = successes(calls, self.tool)
        starts, ends = successes(calls, self.start), successes(calls, self.end)
        for number, index in enumerate(done):
            for other in done[:number]:
                opened = [i for i in starts if earlier(calls, i, other)]
                closed = [
                    i
                    for i in ends
                    if opened and earlier(calls, opened[-1], i) and earlier(calls, i, index)
                ]
                if opened and not closed:
                    return Broken(index)
        return None

    def sentence(self, at: Place) -> Said:
        """Name both calls."""
        before = at.at(at.surely(at.sooner(at.succeeded(self.tool), strict=False))[-1])
        return Said(
            sentence=f"{at.step()} succeeded again after {before},"
            f" expected once between {self.start} and {self.end}",
            expected=1,
            got=2,
        )


@dataclass(frozen=True)
class Until(ShapeRule):
    """Until `until` succeeded, only `allowed` tools are attempted."""

    allowed: tuple[str, ...] | str
    until: str
    required: bool = False
    """Also demand that `until` succeeds at all."""

    short = ("allowed", "until")
    every_call = True

    def __post_init__(self) -> None:
        allowed = (self.allowed,) if isinstance(self.allowed, str) else tuple(self.allowed)
        object.__setattr__(self, "allowed", allowed)

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return f"{self.key}: {self.until}"

    @property
    def alphabet(self) -> tuple[str, ...]:
        """All tools that are named."""
        return (*self.allowed, self.until)

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """Other tools follow `until`, which is demanded or not."""
        yield Follows(all_but(*self.allowed, self.until), self.until)
        if self.required:
            yield Least(self.until)

    def broken(self, calls: Calls) -> Broken | None:
        """The first other call before."""
        done = successes(calls, self.until)
        for index, call in enumerate(calls):
            if any(earlier(calls, other, index) for other in done):
                return None
            if call.tool != self.until and call.tool not in self.allowed:
                return Broken(index)
        return Broken(None) if self.required and not done else None

    def sentence(self, at: Place) -> Said:
        """Name the call that came too early."""
        if at.row is None:
            why = at.instead(self.until)
            return Said(sentence=f"{self.until} never succeeded{why}", expected=self.until)
        listed = ", ".join(self.allowed)
        return Said(
            sentence=f"{at.step()} came before {self.until} succeeded,"
            f" expected only {listed} until then",
            expected=list(self.allowed),
            got=at.tool,
        )
