"""How reliably does a set of runs succeed at its tasks? pass^1, pass^2, … for each set.

1. A set is the runs of one suite, variant and agent version, as recorded. A set without any judged
   run is in no row.
2. Trials of a task are its runs, whatever trial index they bear. pass^k is computed for each task
   and then averaged over the tasks: k goes up to the number of trials that every task has.
3. A run that nobody judged is a trial still: `low` takes it for a failure, `high` for a success.
4. Where runs of the set have no task id, no pass^k is given (`refused`): a rate over unknown tasks
   would be one over trials, and those are no repeats of anything.
5. One task and trial twice is named in `repeated`: several runs of one cell, perhaps several sets
   that nothing tells apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.stats import pass_hat_k

SET: Final = ("suite_id", "variant", "agent_version")
"""Columns of the runs table that tell sets apart."""


@dataclass(frozen=True, slots=True)
class PassRate:
    """pass^k of a set, with what the runs that nobody judged leave open."""

    k: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PassSet:
    """One set of runs."""

    suite_id: str | None
    variant: str | None
    agent_version: str | None
    tasks: int
    runs: int
    succeeded: int
    failed: int
    not_judged: int
    fewest_trials: int
    most_trials: int
    repeated: int
    """Runs beyond the first of a task and trial."""
    passes: tuple[PassRate, ...]
    refused: str | None
    """Why there is no pass^k."""


def pass_sets(batch: RunBatch) -> tuple[PassSet, ...]:
    """Return one row a set, in the order of names."""
    names = (*SET, "task_id", "trial", "outcome_success")
    columns = [batch.runs.column(name).to_pylist() for name in names]
    members: dict[tuple[str | None, ...], list[_Cell]] = defaultdict(list)
    for *key, task, trial, success in zip(*columns, strict=True):
        members[tuple(key)].append(_Cell(task, trial, success))
    judged = {key: cells for key, cells in members.items() if any(c.judged for c in cells)}
    ordered = sorted(judged, key=lambda key: tuple((part is not None, part or "") for part in key))
    return tuple(_set(key, judged[key]) for key in ordered)


@dataclass(frozen=True, slots=True)
class _Cell:
    task: str | None
    trial: int | None
    success: bool | None

    @property
    def judged(self) -> bool:
        return self.success is not None


def _set(key: tuple[str | None, ...], cells: list[_Cell]) -> PassSet:
    homeless = sum(cell.task is None for cell in cells)
    by_task: dict[str, list[bool | None]] = defaultdict(list)
    for cell in cells:
        if cell.task is not None:
            by_task[cell.task].append(cell.success)
    trials = [len(outcomes) for outcomes in by_task.values()]
    refused = f"{homeless} of {len(cells)} runs have no task id" if homeless else None
    suite, variant, version = key
    return PassSet(
        suite_id=suite,
        variant=variant,
        agent_version=version,
        tasks=len(by_task),
        runs=len(cells),
        succeeded=sum(cell.success is True for cell in cells),
        failed=sum(cell.success is False for cell in cells),
        not_judged=sum(not cell.judged for cell in cells),
        fewest_trials=min(trials, default=0),
        most_trials=max(trials, default=0),
        repeated=_repeated(cells),
        passes=() if refused else tuple(_rates(list(by_task.values()), min(trials))),
        refused=refused,
    )


def _repeated(cells: list[_Cell]) -> int:
    known = Counter((c.task, c.trial) for c in cells if None not in (c.task, c.trial))
    return sum(known.values()) - len(known)


def _rates(tasks: list[list[bool | None]], most: int) -> list[PassRate]:
    return [
        PassRate(k, _mean(tasks, k, unjudged=False), _mean(tasks, k, unjudged=True))
        for k in range(1, most + 1)
    ]


def _mean(tasks: list[list[bool | None]], k: int, *, unjudged: bool) -> float:
    counted = (True, None) if unjudged else (True,)
    return fmean(
        pass_hat_k(len(outcomes), sum(outcome in counted for outcome in outcomes), k) or 0.0
        for outcomes in tasks
    )
