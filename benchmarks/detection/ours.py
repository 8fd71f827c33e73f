"""What our rules say of every change of every agent, over some seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.detection.agents import AGENTS, changed, healthy
from benchmarks.detection.faults import Change
from benchmarks.detection.hidden import HIDDEN
from benchmarks.detection.judging import Said, judge
from benchmarks.detection.recording import record


@dataclass(slots=True)
class Row:
    """One change: in how many runs of each agent the rules spoke of it as they should."""

    name: str
    right: Counter[str] = field(default_factory=Counter)
    """Runs by agent: caught for a fault, left alone for a harmless change."""
    rules: Counter[str] = field(default_factory=Counter)
    """Rules that were violated, by the number of runs."""
    wrong: list[str] = field(default_factory=list)
    """Where the rules were wrong, with what they said."""


def as_should_be(change: Change, said: Said) -> bool:
    """Whether the rules said what they have to say of a changed run."""
    if change.rules:
        return bool(said.violated & change.rules)
    return not said.violated and not said.insufficient


def judged(changes: Sequence[Change], seeds: Sequence[int]) -> list[Row]:
    """Record every change of every agent and seed, and judge it."""
    rows = {change.name: Row(change.name) for change in changes}
    for agent in AGENTS:
        for seed in seeds:
            scripts = {change.name: changed(agent, change, seed) for change in changes}
            told = judge(agent, record(agent, scripts))
            for change in changes:
                row, said = rows[change.name], told[change.name]
                row.rules.update(said.violated)
                if as_should_be(change, said):
                    row.right[agent.name] += 1
                else:
                    row.wrong.append(f"{agent.name}, seed {seed}: {said.sentences or 'nothing'}")
    return list(rows.values())


def hidden(seeds: Sequence[int]) -> list[Row]:
    """Take evidence away from healthy runs; right is insufficient without a violation."""
    rows = []
    for hiding in HIDDEN:
        row = Row(hiding.name)
        for agent in AGENTS:
            for seed in seeds:
                recorded = hiding.recorded(agent, healthy(agent, seed))
                said = judge(agent, recorded)[hiding.name]
                row.rules.update(said.insufficient)
                if said.insufficient and not said.violated:
                    row.right[agent.name] += 1
                else:
                    row.wrong.append(f"{agent.name}, seed {seed}: {said.sentences or 'a pass'}")
        rows.append(row)
    return rows
