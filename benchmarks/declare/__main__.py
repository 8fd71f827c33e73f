"""Compare with pm4py: `make -C benchmarks declare`. Exits 1 where the two do not agree."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.declare.logs import USUAL, Trace, batch, random_traces, usual_traces
from benchmarks.declare.sides import apart, ours, ours_on, theirs_on
from benchmarks.declare.templates import About, everything, rules_of
from benchmarks.report import setting

PACKAGES = ("trackway-analyzer", "pm4py", "pyarrow")


def compare(name: str, traces: list[Trace], constraints: Sequence[About], rounds: int) -> bool:
    """Print one row; whether both agree on every trace and constraint."""
    theirs, expected = apart(theirs_on, traces, constraints)
    own, found = apart(ours_on, traces, constraints, rounds)
    differ = int((found != expected).sum())
    print(
        f"| {name} | {len(traces):,} | {len(set(traces)):,} | {len(constraints)}"
        f" | {int(expected.sum()):,} | {f'{differ:,} differ' if differ else 'all'}"
        f" | {theirs:.2f} | {own:.2f} | {theirs / own:.1f}× |",
        flush=True,
    )
    return not differ


def kept(trace: Trace) -> list[About]:
    """The constraints that a trace keeps: what somebody would demand of the others."""
    rules = {about: rules_of(about) for about in everything()}
    return [about for about, broken in ours(batch([trace]), rules).items() if not len(broken)]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.declare", description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
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
