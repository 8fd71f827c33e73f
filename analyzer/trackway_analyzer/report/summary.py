"""Totals and tools of some runs, for a person."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from rich.console import Console

from trackway_analyzer.report.terminal import print_table
from trackway_analyzer.summary import Totals


def print_stats(totals: Totals, tools: pa.Table, to: Console) -> None:
    """Print totals, then one row a tool."""
    print_table(("", "total", ""), _rows(totals), to)
    if len(tools):
        to.print()
        header = [name.replace("_", " ") for name in tools.schema.names]
        print_table(header, [list(row.values()) for row in tools.to_pylist()], to)


def _rows(totals: Totals) -> Iterator[tuple[str, object, str]]:
    yield "runs", totals.runs, ""
    yield "sessions", totals.sessions, ""
    yield "tasks", totals.tasks, ""
    yield "succeeded", totals.succeeded, f"{totals.not_judged:,} not judged"
    yield "failed", totals.failed, ""
    yield "variants", totals.variants, ""
    yield "with gaps", totals.runs_with_gaps, ""
    for name, total in totals.summed.items():
        known = "" if total.of == totals.runs else f"recorded by {total.of:,} of {totals.runs:,}"
        yield name.replace("_", " ").replace("duration s", "seconds"), total.value, known
