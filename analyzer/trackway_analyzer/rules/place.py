"""Where a rule of order is broken: words for its sentence."""

from __future__ import annotations

from dataclasses import dataclass

from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.refusal import undeclared
from trackway_analyzer.rules.sentences import at_step, number, step


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule is broken: words for a sentence."""

    evidence: Evidence
    run: int
    row: int | None
    """The call that breaks it; None: none of those that were made."""
    what: str

    @property
    def tool(self) -> str | None:
        """Tool of the call."""
        return None if self.row is None else self.evidence.tool[self.row]

    @property
    def number(self) -> int:
        """Number of the step, from 1."""
        assert self.row is not None, "the rule is broken by no call"
        return number(self.evidence, self.row)

    def step(self) -> str:
        """Name the call at the beginning of a sentence."""
        assert self.row is not None, "the rule is broken by no call"
        return step(self.evidence, self.row)

    def at(self, row: int) -> str:
        """Name another call inside a sentence."""
        return at_step(self.evidence, row)

    def calls(self) -> list[int]:
        """Rows of all calls of the run."""
        return self.evidence.calls(self.run)

    def rows(self, tool: str) -> list[int]:
        """Rows of a tool's calls."""
        return self.evidence.rows(tool).get(self.run, [])

    def succeeded(self, tool: str) -> list[int]:
        """Rows of a tool's calls that succeeded, or may have.

        A rule is broken in every possible run, and named where it is broken in the one in which all
        of them did.
        """
        return [row for row in self.rows(tool) if self.evidence.succeeded(row) is not False]

    def surely(self, rows: list[int]) -> list[int]:
        """Those that are known to have succeeded; all of them where none is."""
        return [row for row in rows if self.evidence.succeeded(row) is True] or rows

    def later(self, rows: list[int]) -> list[int]:
        """Those that come after the call, in another turn."""
        own = self.row or 0
        group = self.evidence.group
        return [row for row in rows if row > own and group[row] != group[own]]

    def sooner(self, rows: list[int], *, strict: bool = True) -> list[int]:
        """Those that come before the call; strictly: in another turn."""
        own = self.row or 0
        group = self.evidence.group
        return [row for row in rows if row < own and not (strict and group[row] == group[own])]

    def instead(self, tool: str) -> str:
        """Say what became of a tool that should have succeeded, before the call if there is one."""
        own, evidence = self.row, self.evidence
        for other in self.rows(tool):
            if evidence.succeeded(other) is False:
                return f": {self.at(other)} did not succeed{undeclared(evidence, other)}"
            if own is not None and evidence.group[other] == evidence.group[own]:
                return f": {self.at(other)} is of the same model turn"
            if own is not None and other > own:
                return f": {self.at(other)} came only afterwards"
        return ""
