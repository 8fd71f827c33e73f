"""Spoilt inputs through every reader, until as many as asked for are through.

    python -m benchmarks.fuzz --count 1000000 --processes 2 --state fuzz-state

1. Batches are numbered; process p of n takes the batches p, p + n, p + 2n, ... What a process has
   done is written into the state folder; the same command begun again goes on from there.
2. `--slice 150` stops after as many seconds, to be gone on with later.
3. It ends with 1 if an input raised, hung (the process ends with the place where it hangs) or took
   too much memory. Inputs that fail are kept in the state folder.
"""

from __future__ import annotations

import argparse
import sys
from multiprocessing import get_context
from pathlib import Path

from benchmarks.fuzz.campaign import report, work

DATA = Path(__file__).parents[2] / "tests" / "data"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slice", type=float, default=float("inf"), help="seconds")
    parser.add_argument("--state", type=Path, default=Path("fuzz-state"))
    parser.add_argument("--seeds", type=Path, nargs="+", default=[DATA])
    given = parser.parse_args()
    processes = [
        get_context("spawn").Process(target=work, args=(number, given))
        for number in range(given.processes)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    text, fine = report(given)
    print(text)
    sys.exit(0 if fine and all(process.exitcode == 0 for process in processes) else 1)


if __name__ == "__main__":
    main()
