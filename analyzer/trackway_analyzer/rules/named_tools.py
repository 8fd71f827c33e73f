"""What rules about one or two named tools share: their titles, and words for what went wrong."""

from __future__ import annotations

from dataclasses import dataclass

from trackway_analyzer.rules.calls import Calls
from trackway_analyzer.rules.place import Place
from trackway_analyzer.rules.rule import Said
from trackway_analyzer.rules.worlds import ShapeRule


def successes(calls: Calls, tool: str) -> list[int]:
    """Indices of the successful calls of a tool."""
    return [i for i, call in enumerate(calls) if call.tool == tool and call.ok]


def attempts(calls: Calls, tool: str) -> list[int]:
    """Indices of all calls of a tool."""
    return [i for i, call in enumerate(calls) if call.tool == tool]


def came_without(at: Place, first: str) -> Said:
    """Say that a call came without an earlier one, and what became of that one."""
    return Said(
        sentence=f"{at.step()} came without an earlier successful {first}{at.instead(first)}",
        expected=f"{first} before step {at.number}",
    )


@dataclass(frozen=True)
class OneTool(ShapeRule):
    """A rule about one tool."""

    tool: str

    short = ("tool",)

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return f"{self.key}: {self.tool}"

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The tool."""
        return (self.tool,)


@dataclass(frozen=True)
class TwoTools(ShapeRule):
    """A rule about two tools."""

    first: str
    second: str

    short = ("first", "second")

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return f"{self.key}: {self.first}, {self.second}"

    @property
    def alphabet(self) -> tuple[str, ...]:
        """Both tools."""
        return (self.first, self.second)
