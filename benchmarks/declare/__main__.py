"""Compare with pm4py: `make -C benchmarks declare`. Exits 1 where the two do not agree."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.declare.logs import Trace, batch, event_log, random_traces, usual_traces
from benchmarks.declare.templates import model, rules
from benchmarks.report import setting
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.rules.evidence import Evidence

PACKAGES = ("trackway-analyzer", "pm4py", "pyarrow")
Broken = set[tuple[int, str, Any]]
"""Trace, template, activities."""


def ours(runs: RunBatch) -> Broken:
    """Judge by our rules."""
    evidence = Evidence(runs, {})
    broken: Broken = set()
    for (name, about), parts in rules().items():
        for rule in parts:
            broken.update((result.run, name, about) for result in rule.check(evidence))
    return broken


def pm4py(log: Any) -> Broken:
    """Judge by pm4py."""
    from pm4py.algo.conformance.declare import algorithm

    broken: Broken = set()
    for number, judged in enumerate(algorithm.apply(log, model())):
        broken.update((number, name, about) for name, about in judged["deviations"])
    return broken


def timed(work: Callable[[], Broken]) -> tuple[float, Broken]:
    """CPU seconds, and what was found."""
    started = time.process_time()
    found = work()
    return time.process_time() - started, found


def compare(name: str, traces: list[Trace], rounds: int) -> bool:
    """Print one row; whether both agree on every trace, template and pair."""
    runs, log = batch(traces), event_log(traces)
    theirs, expected = timed(lambda: pm4py(log))
    seconds, found = zip(*(timed(lambda: ours(runs)) for _ in range(rounds)), strict=True)
    judged = len(traces) * sum(len(about) for about in model().values())
    same = all(one == expected for one in found)
    own = median(seconds)
    print(
        f"| {name} | {len(traces):,} | {len(set(traces)):,} | {judged:,} | {len(expected):,}"
        f" | {'all' if same else f'{len(expected ^ found[0]):,} differ'} | {theirs:.2f}"
        f" | {own:.2f} | {theirs / own:.0f}× |"
    )
    return same


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.declare", description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(
        "| log | runs | variants | judgements | violations | alike | pm4py, CPU s | ours, CPU s"
        " | ratio |"
    )
    print("| --- |" + " ---: |" * 8)
    same = [
        compare("random", random_traces(given.runs), given.rounds),
        compare("usual", usual_traces(given.runs), given.rounds),
    ]
    print(f"\n{setting(PACKAGES)}")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
