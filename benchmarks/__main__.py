"""Run the comparison and print its tables: `python -m benchmarks`.

Run it with `make bench`, which installs the peers into an environment of their own.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.decorators import measure
from benchmarks.generate import pairs, record
from benchmarks.matching import agentevals, assert_equal_counts, trackway
from benchmarks.report import decorator_table, matching_table, setting


def decorators(rounds: int) -> str:
    """Measure decorators, one table a comparison."""
    return "\n\n".join(
        f"## {section.title}\n\n{decorator_table(section.unit, costs)}"
        for section, costs in measure(rounds)
    )


def matching(count: int, rounds: int) -> str:
    """Generate pairs, match them on both sides, compare the counts."""
    made = list(pairs(count))
    with tempfile.TemporaryDirectory() as folder:
        record(made, Path(folder))
        ours = trackway(Path(folder), rounds)
    peer = agentevals(made)
    assert_equal_counts(peer, ours)
    return matching_table([*peer, *ours])


def main() -> None:
    """Print one section a comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("what", nargs="?", choices=["decorators", "matching", "all"], default="all")
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    if given.what in ("decorators", "all"):
        print(f"{decorators(given.rounds)}\n", flush=True)
    if given.what in ("matching", "all"):
        print(f"## Matching\n\n{matching(given.pairs, given.rounds)}\n", flush=True)
    print(setting())


if __name__ == "__main__":
    main()
