"""How often does `find_ungrounded` list something in runs in which nothing went wrong?

    python -m benchmarks.ungrounded [FOLDER]

FOLDER holds runs with outcomes, such as the published results of tau-bench; without one, the folder
`public/tau-bench` of `TRACKWAY_CORPUS`. What is listed in a run that the oracle rewarded counts as
a false alarm, whether or not somebody could defend it. The runs that failed stand beside it.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.report import table
from trackway_analyzer.load import load
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.identifiers import identifiers
from trackway_analyzer.rules.terms import Source
from trackway_analyzer.rules.ungrounded import find_ungrounded
from trackway_analyzer.trajectories import Trajectories

HEAD = ("runs", "number", "with a listed value", "share", "identifiers", "listed", "share")


def false_alarms(runs: Trajectories) -> str:
    """A table of what is listed in runs that were rewarded and in those that were not."""
    rows = [
        _row(name, runs.filter(outcome_success=success))
        for name, success in (("rewarded", True), ("not rewarded", False))
    ]
    return table(HEAD, rows)


def most_listed(runs: Trajectories, count: int = 5) -> str:
    """What is listed most in rewarded runs."""
    listed = find_ungrounded(runs.filter(outcome_success=True))
    found = listed.groupby(["tool", "argument"]).size().sort_values(ascending=False).head(count)
    rows = [
        (f"`{place[0]}` {place[1]}", str(size))
        for place, size in zip(found.index.to_list(), found.to_list(), strict=True)
    ]
    return table(("in rewarded runs", "listed"), rows)


def _row(name: str, runs: Trajectories) -> tuple[str, ...]:
    listed = find_ungrounded(runs)
    alarmed, values = listed["run_id"].nunique(), _looked_at(runs)
    return (
        name,
        f"{len(runs):,}",
        f"{alarmed:,}",
        f"{alarmed / len(runs):.1%}" if len(runs) else "–",
        f"{values:,}",
        f"{len(listed):,}",
        f"{len(listed) / values:.2%}" if values else "–",
    )


def _looked_at(runs: Trajectories) -> int:
    """How many identifiers stand in arguments of executed calls."""
    evidence = Evidence.of(runs.batch)
    sources = (evidence.arguments(row) for row in evidence.call_rows.tolist())
    return sum(
        len(list(identifiers(source.value))) for source in sources if isinstance(source, Source)
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ungrounded", description=__doc__)
    parser.add_argument("folder", nargs="?")
    folder = parser.parse_args().folder
    if folder is None and "TRACKWAY_CORPUS" not in os.environ:
        sys.exit("no folder given, and TRACKWAY_CORPUS names none")
    runs = load(folder or Path(os.environ["TRACKWAY_CORPUS"]) / "public" / "tau-bench")
    print(f"{false_alarms(runs)}\n\n{most_listed(runs)}")


if __name__ == "__main__":
    main()
