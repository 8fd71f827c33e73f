"""What must be so of every run that keeps a rule: small facts that `contradictions` sets together.

1. `Least` and `Most`: so many calls of a tool, attempts or those that took effect. `Altogether`:
   so many calls of all tools.
2. `Follows`: an attempt of one of these tools has an earlier success of another one.
   `Accompanies`: where one occurs, another does.
   `OneOf`: one of these tools is attempted.
3. `Order`: one moment is not later than another, or earlier, where certain calls occur.
   `Outermost`: no call comes in a turn before (after) all those of this tool.

A rule states only what holds of every run that keeps it, whatever the values and whoever acts. A
rule about one agent states nothing. Nor do rules that a run without any call keeps and that ask for
no other tool where one is called: of values (`grounded`, whose argument may be left out,
`no_secrets`, `result_used`), of failures (`recovered`, `effects`, `no_loops`, `executed`), of texts
and of what the run recorded itself (`claim`, `admits_failure`, `answer`, `outcome`, `routed`,
`continuity`, `deadline`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from trackway_analyzer.rules.tools import MUTATE, NOTIFY, Tools
from trackway_analyzer.tool_names import meant_by


@dataclass(frozen=True, slots=True)
class Names:
    """Some tools: these, or all but these."""

    listed: frozenset[str]
    others: bool = False

    def covers(self, tool: str) -> bool:
        """Whether a tool is one of them."""
        return (tool in self.listed) is not self.others


@dataclass(frozen=True, slots=True)
class Matching:
    """Tools that a rule means by these names, or all others."""

    names: frozenset[str]
    others: bool = False

    def covers(self, tool: str) -> bool:
        """Whether a tool is one of them."""
        return (meant_by(self.names, tool, None) is not None) is not self.others


@dataclass(frozen=True, slots=True)
class Occurs:
    """A call of a tool: an attempt, or one that took effect."""

    tool: str
    took_effect: bool = False


class When(Enum):
    """Which call of a tool a moment is that of."""

    FIRST_ATTEMPT = "first attempt"
    LAST_ATTEMPT = "last attempt"
    FIRST_SUCCESS = "first success"
    LAST_SUCCESS = "last success"
    CHOSEN = "chosen"


@dataclass(frozen=True, slots=True)
class Moment:
    """The turn of a call."""

    tool: str
    when: When
    step: tuple[int, int] = (0, 0)
    """Of a chosen call: the rule that chose it, and its place there."""


@dataclass(frozen=True, slots=True)
class Least:
    """So many calls at least."""

    tool: str
    number: int = 1
    took_effect: bool = True


@dataclass(frozen=True, slots=True)
class Most:
    """So many calls of each of these tools at most, where `given` occurs."""

    tools: Names | Matching
    number: int = 0
    took_effect: bool = False
    given: Occurs | None = None


@dataclass(frozen=True, slots=True)
class Altogether:
    """So many attempts of all tools at most."""

    number: float


@dataclass(frozen=True, slots=True)
class Follows:
    """Each attempt of these tools has a success of another in an earlier turn."""

    tools: Names
    first: str


@dataclass(frozen=True, slots=True)
class Accompanies:
    """Where one call occurs, the other does."""

    given: Occurs
    then: Occurs


@dataclass(frozen=True, slots=True)
class Order:
    """One moment is not later than another; strictly: in an earlier turn."""

    earlier: Moment
    later: Moment
    strictly: bool = False
    given: tuple[Occurs, ...] = ()


@dataclass(frozen=True, slots=True)
class Outermost:
    """The first (or last) turn with a call has one of this tool."""

    tool: str
    first: bool


@dataclass(frozen=True, slots=True)
class OneOf:
    """An attempt of one of these tools at least."""

    tools: tuple[str, ...]


Fact: TypeAlias = OneOf | Least | Most | Altogether | Follows | Accompanies | Order | Outermost


def only(*tools: str) -> Names:
    """These tools."""
    return Names(frozenset(tools))


def all_but(*tools: str) -> Names:
    """All tools but these."""
    return Names(frozenset(tools), others=True)


def first_attempt(tool: str) -> Moment:
    """The turn of a tool's first attempt."""
    return Moment(tool, When.FIRST_ATTEMPT)


def last_attempt(tool: str) -> Moment:
    """The turn of its last attempt."""
    return Moment(tool, When.LAST_ATTEMPT)


def first_success(tool: str) -> Moment:
    """The turn of its first call that took effect."""
    return Moment(tool, When.FIRST_SUCCESS)


def last_success(tool: str) -> Moment:
    """The turn of its last call that took effect."""
    return Moment(tool, When.LAST_SUCCESS)


def chosen(rule: object, place: int, tool: str, took_effect: bool) -> tuple[Moment, list[Fact]]:
    """The call that a rule chooses for one of its steps, and where it can stand."""
    moment = Moment(tool, When.CHOSEN, (id(rule), place))
    ends = (first_success, last_success) if took_effect else (first_attempt, last_attempt)
    return moment, [Order(ends[0](tool), moment), Order(moment, ends[1](tool))]


def counted(tools: Iterable[Occurs]) -> list[Fact]:
    """As many calls of each tool as are listed."""
    found: list[Fact] = []
    listed = list(tools)
    for tool in dict.fromkeys(call.tool for call in listed):
        own = [call for call in listed if call.tool == tool]
        done = sum(call.took_effect for call in own)
        found.append(Least(tool, len(own), took_effect=False))
        found += [Least(tool, done)] if done else []
    return found


def no_others(wanted: Iterable[Occurs], tools: Tools, *, only_changes: bool) -> list[Fact]:
    """No success beside those that are wanted; only of tools that are declared to change things."""
    listed = [call.tool for call in wanted if call.took_effect]
    changing = {name for name, spec in tools.items() if spec.kind in (MUTATE, NOTIFY)}
    found: list[Fact] = [
        Most(only(tool), listed.count(tool), took_effect=True)
        for tool in dict.fromkeys([*listed, *sorted(changing)])
        if tool in changing or not only_changes
    ]
    return found if only_changes else [*found, Most(all_but(*listed), took_effect=True)]
