"""Print the loss table: `python -m benchmarks.loss [WORD …]`; words choose rows by name.

Exits with 1 where a span is lost that the row does not owe.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from benchmarks.loss.measure import Found, Result, measure
from benchmarks.loss.rows import EXITS, FAULTS, Row
from benchmarks.report import setting, table

PACKAGES = ("trackway", "opentelemetry-sdk", "pyarrow", "grpcio", "gunicorn")
HEAD = ("", "ended", "late", "Parquet", "OTLP", "lost", "counted", "twice", "hung s")


def cells(result: Result) -> tuple[str, ...]:
    """The cells of a row; of `150 + 50`, 150 were found at once and 50 by the next start."""
    twice = max(found.twice for found in result.targets.values())
    return (
        f"{result.row.name}: {result.row.means}" if result.row.means else result.row.name,
        str(result.ended),
        str(result.late),
        _found(result.targets.get("Parquet")),
        _found(result.targets.get("OTLP")),
        str(result.lost) if result.as_promised else f"**{result.lost}**",
        str(result.counted),
        str(twice),
        f"{result.hung:.1f}",
    )


def _found(found: Found | None) -> str:
    if found is None:
        return ""
    return f"{found.at_once} + {found.next_start}" if found.next_start else str(found.at_once)


def notes(results: Sequence[Result]) -> list[str]:
    """Say of every loss how old it was, and why it is owed."""
    said = []
    for result in results:
        ages = [found.oldest_lost for found in result.targets.values() if found.oldest_lost]
        if ages:
            owed = result.row.owed or "NOT OWED"
            said.append(
                f"- {result.row.name}: {owed}; the oldest lost span had ended "
                f"{max(ages):.2f} s before"
            )
    return said


def section(title: str, rows: Sequence[Row]) -> list[Result]:
    """Measure and print one table."""
    results = []
    for row in rows:
        if row.disk_bytes is not None and os.geteuid() != 0:
            print(f"{row.name}: not measured, only root may mount a disk", file=sys.stderr)
            continue
        result = measure(row)
        results.append(result)
        print(" ".join(cells(result)), result.said, sep="\n", file=sys.stderr, flush=True)
    if results:
        print(f"## {title}\n\n{table(HEAD, map(cells, results))}\n", flush=True)
    return results


def main() -> int:
    """Measure the chosen rows, all by default."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loss", description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of the names of rows")
    words = parser.parse_args().words

    def chosen(rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if not words or any(word in row.name for word in words)]

    results = [
        *section("Ways out of a process", chosen(EXITS)),
        *section("Faults", chosen(FAULTS)),
    ]
    print("\n".join([*notes(results), "", setting(PACKAGES)]))
    return 0 if all(result.as_promised for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
