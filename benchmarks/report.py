"""The figures as Markdown tables, with what they were measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.decorators import Cost
from benchmarks.matching import Speed

PACKAGES = (
    "trackway",
    "opentelemetry-sdk",
    "openinference-instrumentation",
    "logfire",
    "langfuse",
    "agentevals",
    "pyarrow",
)


def decorator_table(unit: str, costs: Sequence[Cost]) -> str:
    """Costs, and their ratios to the first."""
    rows = [
        (
            cost.title,
            f"{cost.wall:.1f}",
            f"{cost.cpu:.1f}",
            f"{cost.wall_ratio:.2f}×",
            f"{cost.cpu_ratio:.2f}×",
            f"{min(cost.rounds):.2f}–{max(cost.rounds):.2f}" if cost.rounds else "",
        )
        for cost in costs
    ]
    return table((unit, "wall µs", "CPU µs", "wall ratio", "CPU ratio", "wall, all rounds"), rows)


def matching_table(speeds: Sequence[Speed]) -> str:
    """Pairs a second, and how many passed."""
    rows = [
        (s.operation, f"{s.cpu:,.0f}", f"{s.wall:,.0f}", f"{s.passed:,}", s.note) for s in speeds
    ]
    return table(("operation", "pairs a CPU second", "pairs a second", "passed", "figure"), rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are figures."""
    ruler = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ruler, *rows))


def setting(packages: Sequence[str] = PACKAGES) -> str:
    """Date, machine, load and versions, on a few lines."""
    cpu = next(
        (
            line.partition(":")[2].strip()
            for line in _lines("/proc/cpuinfo")
            if line.startswith("model name")
        ),
        platform.processor() or platform.machine(),
    )
    load = ", ".join(f"{figure:.1f}" for figure in os.getloadavg())
    return "\n".join(
        [
            f"- {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, "
            f"{os.cpu_count()} × {cpu}, load average {load} at the end",
            f"- {', '.join(f'{name} {version(name)}' for name in packages)}",
        ]
    )


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
