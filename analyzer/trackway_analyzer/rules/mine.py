"""What do runs that passed have in common? A policy to start from, each line with its support.

1. Mined from are the runs that the task's oracle passed; where nobody judged any run, those that
   ended without an error. Runs with gaps that may hide steps are left out: they would show less
   than happened.
2. Tools: the kind that the spans say; where they say none, what the name reads like is only a
   comment.
3. `called`: tools that succeeded in every run. `before`: pairs of tools of which the first
   succeeded before each attempt of the second, wherever the second came; a pair that follows from
   two others is left out. `terminal`: where all runs ended with the same tool.
4. `grounded`: arguments whose value always stood at one place in an earlier successful result, or
   in the user's input. Plain words and numbers under 10 are no support; other small numbers are
   where they differ from call to call.
5. `count`: tools that change something, the most often that a run called them. `budget`: the most
   steps of a run.
6. A line needs `least` runs (or calls, for arguments) behind it. What holds here need not be a
   rule: the policy is there for a person to edit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import yaml

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.actions import reads_by_name
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.identifiers import identifiers
from trackway_analyzer.rules.offered import INPUT
from trackway_analyzer.rules.terminal import terminal_actions
from trackway_analyzer.rules.terms import Source
from trackway_analyzer.rules.told import told
from trackway_analyzer.rules.tools import MUTATE
from trackway_analyzer.rules.values import Key, frozen, is_number, member_path

_Seen = dict[Hashable, set[str]]
"""Places at which each value stood."""
_LEAST_NUMBER: Final = 10
"""Numbers under this stand in any result."""
LEAST: Final = 3
"""Fewest runs or calls that a mined line rests on."""


@dataclass(frozen=True, slots=True)
class Line:
    """One rule of a mined policy, as YAML text, with what speaks for it."""

    text: str
    support: str


@dataclass(frozen=True, slots=True)
class Mined:
    """A proposed policy."""

    tools: tuple[Line, ...]
    rules: tuple[Line, ...]
    runs: int
    chosen: str
    """How the runs were chosen."""

    def to_yaml(self) -> str:
        """Write the policy file, each line with its support as a comment."""
        lines = [f"# Mined from {self.runs} runs ({self.chosen}).", "version: 1"]
        lines += ["tools:", *(f"  {_beside(line)}" for line in self.tools)] if self.tools else []
        lines += ["rules:", *(f"  - {_beside(line)}" for line in self.rules)]
        return "\n".join(lines) + "\n"


def _beside(line: Line) -> str:
    return f"{line.text}  # {line.support}"


def mine(batch: RunBatch, *, least: int = LEAST) -> Mined:
    """Propose a policy from the runs of a batch that passed. Raises ValueError where none did."""
    ordinals, chosen = _passing(batch)
    evidence = Evidence.of(batch.take(ordinals))
    if len(evidence) < least:
        raise ValueError(
            f"expected at least {least} runs to mine, found {len(evidence)} ({chosen})"
        )
    runs = _Runs(evidence, least)
    rules = [
        *runs.called(),
        *runs.before(),
        *runs.grounded(),
        *runs.counts(),
        *runs.terminal(),
        *runs.budget(),
    ]
    if not rules:
        raise ValueError(f"{len(evidence)} runs have nothing in common that a rule could say")
    return Mined(tuple(runs.tools()), tuple(rules), len(evidence), chosen)


def _passing(batch: RunBatch) -> tuple[list[int], str]:
    evidence = Evidence.of(batch)
    whole = [run for run in range(len(batch)) if not evidence.absence(run)]
    success = batch.runs.column("outcome_success").to_pylist()
    if any(value is not None for value in success):
        return [run for run in whole if success[run]], "passed by the task's oracle"
    errors = batch.runs.column("error_type").to_pylist()
    return [run for run in whole if errors[run] is None], "nobody judged them; without an error"


@dataclass(slots=True)
class _Origin:
    """Where the values of an argument stood."""

    places: set[str]
    """In all calls so far."""
    calls: int = 0
    telling: int = 0
    """Calls with a value that no text holds by chance."""
    small: set[float] = field(default_factory=set)
    """Distinct small numbers: each alone may stand there by chance."""

    def add(self, value: JsonValue, places: set[str]) -> None:
        """One more call."""
        self.places = self.places & places
        self.calls += 1
        telling = any(True for _ in identifiers(value))
        self.telling += telling
        if is_number(value) and not telling and abs(value) >= _LEAST_NUMBER:
            self.small.add(value)

    @property
    def support(self) -> int:
        """Calls that speak for the places."""
        return self.telling + len(self.small)


class _Runs:
    """The runs that are mined."""

    def __init__(self, evidence: Evidence, least: int) -> None:
        self.evidence = evidence
        self.least = least
        self.names = sorted({t for r in evidence.call_rows.tolist() if (t := evidence.tool[r])})

    def __len__(self) -> int:
        return len(self.evidence)

    def tools(self) -> Iterator[Line]:
        """Tools with their kinds."""
        for name in self.names:
            kinds = Counter(self.evidence.kind[row] for row in self._rows(name))
            calls = sum(kinds.values())
            kind, count = kinds.most_common(1)[0]
            if kind is not None:
                yield Line(f"{_text(name)}: {{kind: {kind}}}", f"{count} of {calls} calls say so")
            else:
                guess = "lookup" if reads_by_name(name) else "mutate?"
                yield Line(f"{_text(name)}: {{}}", f"kind not recorded; reads like {guess}")

    def _rows(self, tool: str) -> list[int]:
        return [row for rows in self.evidence.rows(tool).values() for row in rows]

    def _succeeded(self, tool: str) -> dict[int, list[int]]:
        succeeded = self.evidence.succeeded
        found = self.evidence.rows(tool).items()
        return {run: done for run, rows in found if (done := [r for r in rows if succeeded(r)])}

    def called(self) -> Iterator[Line]:
        """Tools that succeeded in every run."""
        for name in self.names:
            if len(self._succeeded(name)) == len(self):
                yield Line(f"called: {_text(name)}", f"in {len(self)} of {len(self)} runs")

    def before(self) -> Iterator[Line]:
        """Pairs that always came in this order, without those that follow from others."""
        pairs = {
            (first, second): runs
            for first in self.names
            for second in self.names
            if first != second and (runs := self._always_before(first, second)) >= self.least
        }
        for (first, second), runs in pairs.items():
            middle = (name for name in self.names if (first, name) in pairs)
            if not any((name, second) in pairs for name in middle):
                yield Line(
                    f"before: [{_text(first)}, {_text(second)}]", f"in {runs} of {runs} runs"
                )

    def _always_before(self, first: str, second: str) -> int:
        """Runs in which `second` came, each time after a successful `first`; 0: not always."""
        done = self._succeeded(first)
        attempts = self.evidence.rows(second)
        for run, rows in attempts.items():
            for row in rows:
                if not any(self.evidence.earlier(r, row) is True for r in done.get(run, ())):
                    return 0
        return len(attempts)

    def grounded(self) -> Iterator[Line]:
        """Arguments that always came from one place."""
        for (tool, argument), origin in sorted(self._origins().items()):
            if origin.support >= self.least and origin.places:
                first, *more = sorted(origin.places, key=_preference)
                calls = origin.calls
                also = f"; also from {', '.join(more[:2])}" if more else ""
                yield Line(
                    f"grounded: {{tool: {_text(tool)}, argument: {_text(argument)},"
                    f" from: {_text(first)}}}",
                    f"in {calls} of {calls} calls{also}",
                )

    def _origins(self) -> dict[tuple[str, str], _Origin]:
        """Of each argument: places where its value always stood before, and what speaks for it."""
        found: dict[tuple[str, str], _Origin] = {}
        for run in range(len(self)):
            for row, name, value, seen in self._arguments(run):
                places = set(seen.get(frozen(value), ()))
                if any(text.holds(value) for text in told(self.evidence, run, row)):
                    places.add(INPUT)
                key = (self.evidence.tool[row] or "", name)
                found.setdefault(key, _Origin(places)).add(value, places)
        return found

    def _arguments(self, run: int) -> Iterator[tuple[int, str, JsonValue, _Seen]]:
        """Arguments of the calls of a run: (row, name, value, what stood where before)."""
        seen: _Seen = {}
        waiting: list[int] = []
        for row in self.evidence.calls(run):
            if waiting and self.evidence.group[waiting[0]] != self.evidence.group[row]:
                self._add_results(waiting, seen)
                waiting = []
            waiting.append(row)
            source = self.evidence.arguments(row)
            if isinstance(source, Source) and isinstance(source.value, dict):
                for name, value in source.value.items():
                    if source.hides(value) is None:
                        yield row, name, value, seen

    def _add_results(self, rows: list[int], seen: _Seen) -> None:
        for row in rows:
            tool, result = self.evidence.tool[row], self.evidence.result(row)
            if isinstance(result, Source) and tool is not None and self.evidence.answered(row):
                for path, item in _paths(result.value):
                    seen.setdefault(frozen(item), set()).add(f"{_tool(tool)}{path}")

    def counts(self) -> Iterator[Line]:
        """The most calls of tools that change something."""
        for name in self.names:
            if any(self.evidence.kind[row] == MUTATE for row in self._rows(name)):
                most = max(len(rows) for rows in self.evidence.rows(name).values())
                yield Line(
                    f"count: {{tool: {_text(name)}, max: {most}}}",
                    f"the most of {len(self)} runs",
                )

    def terminal(self) -> Iterator[Line]:
        """The action with which all runs ended."""
        last = {frozenset(terminal_actions(self.evidence, run)) for run in range(len(self))}
        if len(last) == 1 and len(only := next(iter(last))) == 1:
            yield Line(f"terminal: {_text(next(iter(only)))}", f"all of {len(self)} runs")

    def budget(self) -> Iterator[Line]:
        """The most steps."""
        most = int(np.diff(self.evidence.batch.offsets).max())
        if most:
            yield Line(f"budget: {{steps: {most}}}", f"the most of {len(self)} runs")


def _paths(value: JsonValue, path: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Scalars of a result with their paths; elements of a list share one path."""
    items: Iterable[tuple[Key, Any]]
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        yield path, value
        return
    for key, item in items:
        yield from _paths(item, path + (member_path(key) if isinstance(key, str) else "[*]"))


def _preference(place: str) -> tuple[bool, int, str]:
    """A result says more than the user's input, a short path more than a long one."""
    return place == INPUT, len(place), place


def _tool(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'


def _text(text: str) -> str:
    """A text as YAML writes it inside brackets."""
    dumped: str = yaml.safe_dump([text], default_flow_style=True, width=10_000)
    return dumped.strip()[1:-1]
