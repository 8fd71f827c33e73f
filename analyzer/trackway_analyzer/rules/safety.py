"""What a run must not do, whatever else it does.

1. A tool is named by its name or by the name that the model saw (`tool_names`). An allow list
   allows a tool of an MCP server by its full name alone.
2. Attempts count: calls that failed, that were denied, and that the model asked for although nobody
   ran them.
3. With `agent`, only that agent's attempts count: an allow list is the agent's scope. An attempt
   of which nobody recorded whose it is may be that agent's: the run is insufficient.
4. Seen once, it is violated. Not seen, it holds only if no gap may hide a call.
5. A span of no kind may be a call of the tool of its name (`possible_calls`). It leaves an allow
   list open where it is named like a function and no call of the run has a span that says so.
6. A call that was only asked for bears the name that the model saw: where a gap may hide its span,
   it may be of an allowed tool with another name.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from re import compile
from typing import Final

import numpy as np

from trackway.schema import GapName, Operation
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.model import MORE_NAMES, JsonValue
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Layer, Result
from trackway_analyzer.rules.gaps import AGENT_GAP
from trackway_analyzer.rules.looked_at import SHAPE
from trackway_analyzer.rules.necessary import Fact, Matching, Most
from trackway_analyzer.rules.rule import Rule, Said, insufficient, violated
from trackway_analyzer.rules.sentences import step
from trackway_analyzer.rules.terms import Hidden
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.tool_names import fits, has_star, meant_by

_FUNCTION: Final = compile(r"(?:[a-z_][\w\-]*[./:])*[a-z_][\w\-]*")
"""How a span is named after a function, and not after a class or a method of one."""


@dataclass(frozen=True)
class _NamedTools(Rule):
    """A rule about attempts of tools that it names."""

    tool_names: str | Iterable[str]
    agent: str | None = None
    """Only this agent's attempts count."""

    layer = Layer.SAFETY
    short = ("tool_names",)

    def __post_init__(self) -> None:
        names = self.tool_names
        listed = (names,) if isinstance(names, str) else tuple(names)
        if not listed or not all(isinstance(name, str) and name for name in listed):
            raise ValueError(f"{self.key} needs names of tools, found {list(listed)}")
        object.__setattr__(self, "tool_names", listed)

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return self.key if self.agent is None else f"{self.key}: {self.agent}"

    def names_tools(self) -> frozenset[str]:
        """The tools that are named without a `*`."""
        return frozenset(name for name in self.tool_names if not has_star(name))

    def means(self) -> frozenset[str]:
        """Nothing: whoever may attempt which tool is looked up by their own names."""
        return frozenset()

    def _names(self, tool: str | None, alias: str | None) -> bool:
        return meant_by(frozenset(self.tool_names), tool, alias) is not None

    def looks(self, tools: Tools) -> Looks | None:
        """The shape alone: tools, their names and agents."""
        return SHAPE

    @abstractmethod
    def _breaks(self, tool: str | None, alias: str | None) -> bool:
        """Whether an attempt of this tool violates the rule."""

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run that breaks the rule, or may have behind a gap."""
        evidence = self.evidence(batch)
        first: dict[int, int] = {}
        unnamed: dict[int, Hidden] = {}
        for row in self._rows(evidence):
            run = evidence.run[row]
            if self.agent is not None and evidence.codes("agent").codes[row] < 0:
                unnamed.setdefault(run, Hidden(AGENT_GAP, evidence.position(row)))
            elif run not in first and (gap := self._may_be_another(evidence, row)) is not None:
                unnamed.setdefault(run, gap)
            else:
                first.setdefault(run, row)
        results = [violated(run, evidence.position(row)) for run, row in first.items()]
        results += [
            insufficient(run, gap.gap)
            for run in evidence.gaps.keys() | unnamed.keys()
            if run not in first
            and (gap := unnamed.get(run) or self._hides(evidence, run)) is not None
        ]
        return sorted(results, key=lambda result: result.run)

    def _hides(self, evidence: Evidence, run: int) -> Hidden | None:
        """What may hide an attempt that breaks the rule."""
        gap = evidence.hides_step(run, tools=self._hidden)
        if gap is None and any(self._may_break(evidence, run, n) for n in evidence.traced(run)):
            return Hidden(GapName.POSSIBLE_CALLS)
        return gap

    @abstractmethod
    def _may_break(self, evidence: Evidence, run: int, names: Sequence[str]) -> bool:
        """Whether a span of these names, which may be a call, would break the rule as one."""

    def _rows(self, evidence: Evidence) -> list[int]:
        """Rows of attempts that break the rule; decided once per pair of names."""
        names, alias = evidence.codes("tool"), evidence.codes("tool_alias")
        is_tool = evidence.is_operation(Operation.TOOL).copy()
        width = len(alias.names) + 1
        pairs = (names.codes + 1) * width + alias.codes + 1
        broken = [
            pair
            for pair in np.unique(pairs[is_tool])
            if self._breaks(names.name(pair // width - 1), alias.name(pair % width - 1))
        ]
        if self.agent is not None:
            agents = evidence.codes("agent").codes
            is_tool &= (agents == evidence.codes("agent").code(self.agent)) | (agents < 0)
        rows: list[int] = np.flatnonzero(is_tool & np.isin(pairs, broken)).tolist()
        return rows

    def _may_be_another(self, evidence: Evidence, row: int) -> Hidden | None:
        """What hides that an attempt is of a tool with another name than it was asked for by."""
        return None

    @property
    def _hidden(self) -> Collection[str] | None:
        """Tools of which a hidden call would break the rule; None: any may."""
        return None

    def _whose(self) -> str:
        return f"whether agent {self.agent} called it was not recorded"

    @property
    def _listed(self) -> list[JsonValue]:
        return list(self.tool_names)


@dataclass(frozen=True)
class Forbidden(_NamedTools):
    """None of these tools is attempted. `Absence` in Declare."""

    declare = "Absence"

    @property
    def _hidden(self) -> Collection[str] | None:
        """Its tools, where they are named in full."""
        return None if any(map(has_star, self.tool_names)) else self._listed

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """No attempt of tools that are named in full; whoever makes it."""
        if self.agent is None:
            yield Most(Matching(frozenset(self.tool_names)))

    def _breaks(self, tool: str | None, alias: str | None) -> bool:
        return self._names(tool, alias)

    def _may_break(self, evidence: Evidence, run: int, names: Sequence[str]) -> bool:
        return MORE_NAMES in names or any(self._breaks(name, None) for name in names)

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        listed = " or ".join(self.tool_names)
        if result.position is None:
            gap = result.detail["gap"]
            if gap == AGENT_GAP:
                return Said(sentence=f"{listed} was called, but {self._whose()}")
            return Said(sentence=f"{listed} was not seen, but {gap} may hide it")
        return _attempt(evidence, result, "is forbidden")


@dataclass(frozen=True)
class Allowed(_NamedTools):
    """No other tool than these is attempted."""

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """No attempt of any other tool, whoever makes it."""
        if self.agent is None:
            yield Most(Matching(frozenset(self.tool_names), others=True))

    def _breaks(self, tool: str | None, alias: str | None) -> bool:
        own = frozenset(filter(None, (tool, alias)))
        stars = filter(has_star, self.tool_names)
        return own.isdisjoint(self.tool_names) and not any(fits(name, own) for name in stars)

    def _may_break(self, evidence: Evidence, run: int, names: Sequence[str]) -> bool:
        first, last = evidence.batch.bounds(run)
        allowed = any(not self._breaks(name, None) for name in names)
        if allowed or any(evidence.is_call[first:last]):
            return False
        return MORE_NAMES in names or _FUNCTION.fullmatch(names[0]) is not None

    def _may_be_another(self, evidence: Evidence, row: int) -> Hidden | None:
        if evidence.is_call[row] or evidence.codes("tool_alias").codes[row] >= 0:
            return None
        return evidence.hides_step(evidence.run[row])

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        listed = ", ".join(self.tool_names)
        if result.position is None:
            gap = result.detail["gap"]
            if gap == AGENT_GAP:
                return Said(sentence=f"another tool than {listed} was called, but {self._whose()}")
            return Said(sentence=f"no other tool than {listed} was seen, but {gap} may hide one")
        return _attempt(evidence, result, f"is not allowed: only {listed}")


def _attempt(evidence: Evidence, result: Result, why: str) -> Said:
    assert result.position is not None
    row = int(evidence.batch.offsets[result.run]) + result.position
    ran = evidence.batch.steps.column("executed")[row].as_py() is not False
    how = "" if ran and evidence.ok[row] is not False else " (attempted, no effect)"
    how = how if ran else " (asked for, not executed)"
    return Said(sentence=f"{step(evidence, row)}{how} {why}", got=evidence.tool[row])
