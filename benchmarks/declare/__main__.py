"""Compare with pm4py: `make -C benchmarks declare`. Exits 1 where the two do not agree."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.declare.logs import USUAL, Trace, batch, event_log, random_traces, usual_traces
from benchmarks.declare.templates import About, Rules, everything, model_of, rules_of
from benchmarks.report import setting
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.rules.evidence import Evidence

PACKAGES = ("trackway-analyzer", "pm4py", "pyarrow")
PART = 20_000
"""Traces that pm4py judges at once; each by itself, so that it takes as long for all of them."""
Said = TypeVar("Said")
Broken = npt.NDArray[np.bool_]
"""Of each constraint, the traces that break it."""


def ours(runs: RunBatch, constraints: Mapping[About, Rules]) -> dict[About, pa.Table]:
    """Judge by our rules: findings as a check gives them, by constraint."""
    evidence = Evidence.of(runs, {})
    return {
        about: pa.concat_tables(rule.found(number, evidence) for number, rule in enumerate(rules))
        for about, rules in constraints.items()
    }


def pm4py(log: Any, constraints: Sequence[About]) -> list[dict[str, Any]]:
    """Judge by pm4py: what it says of each trace."""
    from pm4py.algo.conformance.declare import algorithm

    said: list[dict[str, Any]] = algorithm.apply(log, model_of(constraints))
    return said


def timed(work: Callable[[], Said]) -> tuple[float, Said]:
    """CPU seconds, and what was found. What lies in memory beforehand is not looked through."""
    gc.collect()
    gc.freeze()
    started = time.process_time()
    found = work()
    return time.process_time() - started, found


def broken_by_ours(found: Mapping[About, pa.Table], runs: int) -> Broken:
    """Who breaks what."""
    broken = np.zeros((len(found), runs), dtype=bool)
    for number, table in enumerate(found.values()):
        broken[number, table.column("run").to_numpy()] = True
    return broken


def broken_by_pm4py(said: Sequence[Mapping[str, Any]], constraints: Sequence[About]) -> Broken:
    """The same of pm4py."""
    place = {about: number for number, about in enumerate(constraints)}
    broken = np.zeros((len(constraints), len(said)), dtype=bool)
    for run, of in enumerate(said):
        broken[[place[name, activities] for name, activities in of["deviations"]], run] = True
    return broken


def compare(name: str, traces: list[Trace], constraints: Sequence[About], rounds: int) -> bool:
    """Print one row; whether both agree on every trace and constraint."""
    theirs, expected = theirs_on(traces, constraints)
    runs = batch(traces)
    rules = {about: rules_of(about) for about in constraints}
    seconds_of_ours: list[float] = []
    said: dict[About, pa.Table] = {}
    for _ in range(rounds):
        said.clear()  # room for what is found next, as after each part of pm4py's
        seconds, said = timed(lambda: ours(runs, rules))
        seconds_of_ours.append(seconds)
    own = median(seconds_of_ours)
    found = broken_by_ours(said, len(traces))
    differ = int((found != expected).sum())
    print(
        f"| {name} | {len(traces):,} | {len(set(traces)):,} | {len(constraints)}"
        f" | {int(expected.sum()):,} | {f'{differ:,} differ' if differ else 'all'}"
        f" | {theirs:.2f} | {own:.2f} | {theirs / own:.1f}× |",
        flush=True,
    )
    return not differ


def theirs_on(traces: list[Trace], constraints: Sequence[About]) -> tuple[float, Broken]:
    """CPU seconds of pm4py and who breaks what, part by part: what it says of all takes 4 GB."""
    seconds, broken = 0.0, []
    for first in range(0, len(traces), PART):
        log = event_log(traces[first : first + PART])
        more, said = timed(lambda log=log: pm4py(log, constraints))  # type: ignore[misc]  # a default of its own type
        seconds += more
        broken.append(broken_by_pm4py(said, constraints))
    return seconds, np.concatenate(broken, axis=1)


def kept(trace: Trace) -> list[About]:
    """The constraints that a trace keeps: what somebody would demand of the others."""
    rules = {about: rules_of(about) for about in everything()}
    return [about for about, broken in ours(batch([trace]), rules).items() if not len(broken)]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.declare", description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(
        "| log | runs | variants | constraints | violations | alike | pm4py, CPU s | ours, CPU s"
        " | ratio |"
    )
    print("| --- |" + " ---: |" * 8)
    usual = usual_traces(given.runs)
    same = [
        compare("random", random_traces(given.runs), everything(), given.rounds),
        compare("usual", usual, everything(), given.rounds),
        compare("usual, what the usual run keeps", usual, kept(USUAL), given.rounds),
    ]
    print(f"\n{setting(PACKAGES)}")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
