"""Compare with pm4py: `make -C benchmarks declare`. Exits 1 where the two do not agree."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, TypeVar

import pyarrow as pa

from benchmarks.declare.logs import USUAL, Trace, batch, event_log, random_traces, usual_traces
from benchmarks.declare.templates import About, Rules, everything, model_of, rules_of
from benchmarks.report import setting
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.rules.evidence import Evidence

PACKAGES = ("trackway-analyzer", "pm4py", "pyarrow")
Said = TypeVar("Said")
Broken = set[tuple[int, str, Any]]
"""Trace, template, activities."""


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


def broken_by_ours(found: Mapping[About, pa.Table]) -> Broken:
    """Who breaks what."""
    return {
        (run, *about)
        for about, table in found.items()
        for run in table.column("run").unique().to_pylist()
    }


def broken_by_pm4py(said: Sequence[Mapping[str, Any]]) -> Broken:
    """The same of pm4py."""
    return {
        (number, *deviation) for number, of in enumerate(said) for deviation in of["deviations"]
    }


def compare(name: str, traces: list[Trace], constraints: Sequence[About], rounds: int) -> bool:
    """Print one row; whether both agree on every trace and constraint."""
    runs, log = batch(traces), event_log(traces)
    theirs, said = timed(lambda: pm4py(log, constraints))
    rules = {about: rules_of(about) for about in constraints}
    rounds_of_ours = [timed(lambda: ours(runs, rules)) for _ in range(rounds)]
    own = median(seconds for seconds, _ in rounds_of_ours)
    expected, found = broken_by_pm4py(said), broken_by_ours(rounds_of_ours[-1][1])
    print(
        f"| {name} | {len(traces):,} | {len(set(traces)):,} | {len(constraints)}"
        f" | {len(expected):,}"
        f" | {'all' if found == expected else f'{len(expected ^ found):,} differ'}"
        f" | {theirs:.2f} | {own:.2f} | {theirs / own:.1f}× |",
        flush=True,
    )
    return found == expected


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
