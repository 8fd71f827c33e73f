"""How many runs a second does a policy check, from Parquet files to findings, on one core?

    python -m benchmarks.checking --runs 500000
    python -m benchmarks.checking --runs 1000000 --only arrival

1. The policy is the one of the guide: a sequence, an order, grounding, a forbidden tool, a budget
   and a claim. The runs are those of `run_population`: eight steps each, the arguments of every
   run its own, one in twelve faulty.
2. A figure is of a process of its own with one thread: files are opened, runs told, judged and
   counted; no sentence is made. The first check warms the files up and is not counted.
3. Faults that were planted are counted against what the rules found, or there is no figure.
4. `yardstick` is the least that a check of files can do on this machine: DuckDB lists the tools of
   each run in order, a Python function looks whether the refund came after the lookup.
5. `sort` is what any check of unsorted files has to do, and no more: DuckDB reads the tool, two
   values and the numbers of each span and sorts them by run and start.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.report import setting, table
from benchmarks.run_population import SPANS_IN_RUN, Order, Population, write_population

POLICY = r"""
version: 1
tools:
  lookup_order: {kind: lookup, entity: {type: order, result: $.id}}
  refund_api.create:
    kind: mutate
    entity: {type: order, argument: order_id}
    success: $.status == "succeeded"
rules:
  - sequence: [lookup_order, check_policy, refund_api.create, send_email]
  - before: [check_policy, refund_api.create]
  - grounded: {tool: refund_api.create, argument: order_id, from: order}
  - forbid: [delete_account]
  - budget: {steps: 8, tokens: 20000, cost_usd: 0.05, seconds: 60}
  - claim: {says: 'refund.*processed', needs: refund_api.create}
"""
PLANTED = {
    "before: check_policy, refund_api.create": (
        "policy check skipped",
        "refund before the policy check",
    ),
    "grounded: refund_api.create order_id": ("refund of another order",),
    "forbidden": ("account deleted",),
    "budget": ("too many tokens",),
    "claim: refund_api.create": ("refund declined, success claimed",),
}
"""Faults that a rule must find, all of them and nothing else."""
PACKAGES = ("trackway", "duckdb", "pyarrow", "numpy")

_HEAD: Final = (
    "population",
    "runs",
    "runs a CPU second",
    "runs a second",
    "µs a run",
    "× yardstick",
    "MB at most",
)


@dataclass(frozen=True, slots=True)
class Speed:
    """One measurement."""

    runs: int
    wall: float
    cpu: float
    megabytes: float
    found: dict[str, int]

    def row(self, name: str, least: Speed) -> tuple[str, ...]:
        """A row of the table; `least` is the yardstick."""
        return (
            name,
            f"{self.runs:,}",
            f"{self.runs / self.cpu:,.0f}",
            f"{self.runs / self.wall:,.0f}",
            f"{self.cpu / self.runs * 1e6:.2f}",
            f"{self.cpu / self.runs / (least.cpu / least.runs):.1f}",
            f"{self.megabytes:,.0f}",
        )


class MissedFaultsError(AssertionError):
    """The rules found something else than what was planted."""


def checked(folder: Path) -> Speed:
    """Check a folder twice in a process of its own and time the second check."""
    return _apart(_check, str(folder))


def yardstick(folder: Path) -> Speed:
    """List the tools of each run and look at them in Python."""
    return _apart(_least, str(folder))


def sort(folder: Path) -> Speed:
    """Read what a check needs of each span and sort it, unchecked."""
    return _apart(_sorted, str(folder))


def _apart(work: Callable[[str], tuple[int, float, float, dict[str, int]]], place: str) -> Speed:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as pool:
        (runs, wall, cpu, found), memory = pool.submit(_measured, work, place).result()
    return Speed(runs, wall, cpu, memory, found)


def _measured(work: Callable[[str], Any], place: str) -> tuple[Any, float]:
    import pyarrow as pa

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    return work(place), _peak()


def _peak() -> float:
    """Most memory of this process in MB. `ru_maxrss` would count that of the parent, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def _check(place: str) -> tuple[int, float, float, dict[str, int]]:
    from trackway_analyzer.batch import RunBatch
    from trackway_analyzer.check_files import check_files
    from trackway_analyzer.engine.native_files import NativeFiles
    from trackway_analyzer.rules.policy import Policy

    policy = Policy.from_yaml(POLICY)
    for _ in range(2):
        started = time.perf_counter(), time.process_time()
        files = NativeFiles.of(sorted(Path(place).glob("*.parquet")))
        assert files is not None
        report = check_files(files, policy, everything=RunBatch.empty, threads=1)
        found = {count.rule: count.violated for count in report.counts}
        wall, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
    return len(report.checked), wall, cpu, found


def _least(place: str) -> tuple[int, float, float, dict[str, int]]:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for _ in range(2):
            started = time.perf_counter(), time.process_time()
            batches = connection.sql(
                f"SELECT list(tool ORDER BY start) FROM '{place}/*.parquet'"
                " WHERE tool IS NOT NULL GROUP BY run_id"
            ).to_arrow_reader(50_000)
            early = [_early(tools) for batch in batches for tools in batch.column(0).to_pylist()]
            wall, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
    return len(early), wall, cpu, {"early": sum(early)}


def _sorted(place: str) -> tuple[int, float, float, dict[str, int]]:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for _ in range(2):
            started = time.perf_counter(), time.process_time()
            batches = connection.sql(
                "SELECT hash(run_id) AS run, start, operation, tool, tool_kind, ok,"
                " json_extract_string(arguments, '$.order_id'),"
                " json_extract_string(result, '$.id'), json_extract_string(result, '$.status'),"
                f" tokens_in, tokens_out, cost FROM '{place}/*.parquet' ORDER BY run, start"
            ).to_arrow_reader(1_000_000)
            spans = sum(map(len, batches))
            wall, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
    return spans // SPANS_IN_RUN, wall, cpu, {}


def _early(tools: Sequence[str]) -> bool:
    """Whether a refund came before any lookup."""
    for tool in tools:
        if tool == "lookup_order":
            return False
        if tool == "refund_api.create":
            return True
    return False


def assert_found(population: Population, speed: Speed) -> None:
    """Raise unless the rules found what was planted."""
    for rule, faults in PLANTED.items():
        planted = sum(population.planted[fault] for fault in faults)
        if speed.found[rule] != planted:
            raise MissedFaultsError(f"{rule}: {planted} planted, {speed.found[rule]} found")


def report(runs: int) -> str:
    """Measure every population and return the tables."""
    speeds: list[tuple[str, Speed]] = []
    curve = []
    with tempfile.TemporaryDirectory(prefix="trackway-bench-") as made:
        orders: tuple[Order, ...] = ("sorted", "arrival")
        for order in orders:
            population = write_population(Path(made) / order, runs, order=order)
            speed = checked(population.folder)
            assert_found(population, speed)
            speeds.append((f"{order} files", speed))
        least = yardstick(Path(made) / "arrival")
        speeds.append(("yardstick, arrival files", least))
        speeds.append(("sort, arrival files", sort(Path(made) / "arrival")))
        own = write_population(
            Path(made) / "own", min(runs, 20_000), order="arrival", each_its_own=True
        )
        speeds.append(("as many variants as runs", checked(own.folder)))
        rows = [speed.row(name, least) for name, speed in speeds]
        for part in (runs // 8, runs // 4, runs // 2):
            small = write_population(Path(made) / str(part), part, order="arrival")
            speed = checked(small.folder)
            curve.append(speed.row(f"arrival files, {part / runs:.1%} of the runs", least))
        for share in (0.0, 0.5):
            some = write_population(
                Path(made) / f"faulty-{share}", runs // 4, order="arrival", faulty=share
            )
            curve.append(checked(some.folder).row(f"arrival files, {share:.0%} faulty", least))
    return f"{table(_HEAD, rows)}\n\n{table(_HEAD, curve)}\n\n{setting(PACKAGES)}"


def one(runs: int, order: Order) -> str:
    """Measure one population beside the yardstick on the same files."""
    with tempfile.TemporaryDirectory(prefix="trackway-bench-") as made:
        population = write_population(Path(made) / order, runs, order=order)
        speed = checked(population.folder)
        assert_found(population, speed)
        least = yardstick(population.folder)
    rows = [speed.row(f"{order} files", least), least.row("yardstick", least)]
    return f"{table(_HEAD, rows)}\n\n{setting(PACKAGES)}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checking", description=__doc__)
    parser.add_argument("--runs", type=int, default=500_000)
    parser.add_argument("--only", choices=("sorted", "arrival"), help="one population alone")
    said = parser.parse_args()
    print(one(said.runs, said.only) if said.only else report(said.runs))


if __name__ == "__main__":
    main()
