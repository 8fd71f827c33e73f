"""Are these steps done, in an order that a graph allows?

Each tool that the graph names has one call that succeeded, and for each edge `[a, b]` the chosen
call of a comes before that of b, in another model turn. Tools without an edge between them may
come in any order, and other calls anywhere. For each tool the earliest call is chosen that comes
after those of all tools before it: if any choice works, this one does.

With `every_pass` a run may go through the graph several times, and each time counts: the first
calls of all tools that succeeded are one pass, the second ones the next, and so on. Each tool
succeeds in each pass, and each edge holds in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Final

from trackway_analyzer.rules.calls import Calls, earlier
from trackway_analyzer.rules.named_tools import successes
from trackway_analyzer.rules.necessary import Fact, Least, Order, chosen
from trackway_analyzer.rules.place import Place
from trackway_analyzer.rules.rule import Said
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.rules.verdicts import Broken
from trackway_analyzer.rules.worlds import ShapeRule

_MANY: Final = 64


@dataclass(frozen=True)
class PartialOrder(ShapeRule):
    """Every named tool succeeds, and every edge `[a, b]` holds between their calls."""

    edges: Iterable[Iterable[str]]
    tools: Iterable[str] = ()
    """Further tools that must succeed, in any order."""
    every_pass: bool = False
    """Judge each pass through the graph, not that there is one."""

    short = ("edges",)
    short_of_lists = ("edges", "tools")

    def __post_init__(self) -> None:
        edges = tuple(tuple(edge) for edge in self.edges)
        for edge in edges:
            if len(edge) != 2 or not all(isinstance(tool, str) for tool in edge):
                raise ValueError(f"an edge is [earlier tool, later tool], found {list(edge)}")
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "tools", tuple(self.tools))
        if not edges and not self.tools:
            raise ValueError("a partial order needs edges or tools")
        try:
            TopologicalSorter(self._before).prepare()
        except CycleError as error:
            circle = " before ".join(reversed(error.args[1]))
            raise ValueError(f"no order is possible: {circle}") from error

    @cached_property
    def _before(self) -> dict[str, set[str]]:
        """Of each tool, the tools that come before it."""
        found: dict[str, set[str]] = {tool: set() for tool in self.tools}
        for first, second in self.edges:
            found.setdefault(first, set())
            found.setdefault(second, set()).add(first)
        return found

    @cached_property
    def alphabet(self) -> tuple[str, ...]:
        """All tools of the graph, each after those before it."""
        return tuple(TopologicalSorter(self._before).static_order())

    @property
    def insertions(self) -> int:
        """As many as may be missing; of passes nobody knows how many there were."""
        return _MANY if self.every_pass else len(self.alphabet)

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """A success of each tool, and the order of those that are chosen."""
        places = {tool: number for number, tool in enumerate(self.alphabet)}
        for tool, number in places.items():
            yield Least(tool)
            yield from chosen(self, number, tool, took_effect=True)[1]
        for first, second in self.edges:
            yield Order(
                chosen(self, places[first], first, True)[0],
                chosen(self, places[second], second, True)[0],
                strictly=True,
            )

    def broken(self, calls: Calls) -> Broken | None:
        """The tool that has no call at its place, and a call of it that stands elsewhere."""
        return self._pass_broken(calls) if self.every_pass else self._none_fits(calls)

    def _none_fits(self, calls: Calls) -> Broken | None:
        chosen: dict[str, int] = {}
        for tool in self.alphabet:
            done = successes(calls, tool)
            before = [chosen[first] for first in self._before[tool]]
            fits = [i for i in done if all(earlier(calls, first, i) for first in before)]
            if not fits:
                return Broken(done[0] if done else None, tool)
            chosen[tool] = fits[0]
        return None

    def _pass_broken(self, calls: Calls) -> Broken | None:
        done = {tool: successes(calls, tool) for tool in self.alphabet}
        passes = max(len(found) for found in done.values())
        for number in range(max(passes, 1)):
            for tool, found in done.items():
                if number >= len(found):
                    return Broken(found[-1] if found else None, tool)
                before = [done[first][number] for first in self._before[tool]]
                if not all(earlier(calls, first, found[number]) for first in before):
                    return Broken(found[number], tool)
        return None

    def sentence(self, at: Place) -> Said:
        """Say what is missing, or what it came before."""
        tool = at.what
        if at.row is None:
            if not at.rows(tool):
                return Said(sentence=f"{tool} was never recorded", expected=tool)
            return Said(sentence=f"{tool} never succeeded{at.instead(tool)}", expected=tool)
        if self.every_pass:
            return self._say_pass(at, tool)
        late = [
            (first, row)
            for first in sorted(self._before[tool])
            for row in at.succeeded(first)
            if row not in at.sooner([row])
        ]
        if not late:
            return Said(sentence=f"{at.step()} came before the steps that lead to it")
        first, row = late[0]
        return Said(
            sentence=f"{at.step()} did not come after {at.at(row)}",
            expected=f"{first} before {tool}",
        )

    def _say_pass(self, at: Place, tool: str) -> Said:
        done = at.succeeded(tool)
        number = done.index(at.row) if at.row in done else 0
        for first in sorted(self._before[tool]):
            rows = at.succeeded(first)
            if len(rows) <= number or rows[number] not in at.sooner([rows[number]]):
                return Said(
                    sentence=f"{at.step()} is the {_counted(number)} {tool}, and did not come after"
                    f" the {_counted(number)} {first}",
                    expected=f"{first} before {tool}",
                )
        return Said(
            sentence=f"{at.step()} is the last {tool}, and other steps were done more often",
            expected=f"{tool} in every pass",
        )


def _counted(number: int) -> str:
    ends = {1: "st", 2: "nd", 3: "rd"}
    place = number + 1
    return f"{place}{'th' if place // 10 % 10 == 1 else ends.get(place % 10, 'th')}"
