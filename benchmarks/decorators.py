"""What does a decorated call cost over the bare call?

1. Every contender records the same call, inside an open span; spans end in a batch processor whose
   exporter discards them (`contenders.py`).
2. What is compared is a section: calls with the span by hand; calls in a run that is dropped with
   a span that is not sampled; awaited calls with plain ones; pieces of a stream with langfuse's.
3. Each round runs every contender in a process of its own, one after the other, so that none
   patches another and all share the machine's mood. A figure is the median of the rounds, without
   the bare call; time of the calling thread on the processor stands beside wall time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from benchmarks import contenders
from benchmarks.contenders import PIECES, Contender

WARM_UP: Final = 1_000


@dataclass(frozen=True, slots=True)
class Section:
    """Contenders that are compared with the first of them."""

    title: str
    unit: str
    entries: Sequence[tuple[str, str, str]]
    """Contender, the bare one whose time is subtracted, and what the table calls it."""


SECTIONS: Final = (
    Section(
        "Cost of a decorated call",
        "a call costs",
        (
            ("by_hand", "bare", "OpenTelemetry span by hand + 2 × `json.dumps`"),
            ("ours", "bare", "`trackway.tool`"),
            ("ours_kept_if_failed", "bare", "`trackway.tool`, kept only if its run fails"),
            ("openinference", "bare", "`openinference` `tracer.tool`"),
            ("logfire", "bare", "`logfire.instrument(record_return=True)`"),
            ("langfuse", "bare", '`langfuse.observe(as_type="tool")`'),
        ),
    ),
    Section(
        "With entities and a success predicate",
        "a call costs",
        (
            ("by_hand_with_entities", "bare", "the span by hand, with these attributes too"),
            ("ours_with_entities", "bare", "`trackway.tool(entity=…, returns=…, success=…)`"),
        ),
    ),
    Section(
        "In a run that is dropped at its head",
        "a call costs",
        (
            ("by_hand_dropped", "bare", "OpenTelemetry span by hand, not sampled"),
            ("ours_dropped", "bare", "`trackway.tool` in such a run"),
            ("ours_dropped_runs", "bare", "`trackway.agent`, each call such a run"),
        ),
    ),
    Section(
        "Awaited",
        "a call costs",
        (
            ("ours", "bare", "`trackway.tool`, called"),
            ("ours_awaited", "bare_awaited", "`trackway.tool`, awaited"),
        ),
    ),
    Section(
        f"Streamed, {PIECES} pieces a stream",
        "a piece costs",
        (
            ("langfuse_stream", "bare_stream", '`langfuse.observe(as_type="tool")`'),
            ("ours_stream", "bare_stream", "`trackway.tool`"),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds a call takes over the bare call."""

    title: str
    wall: float
    cpu: float
    rounds: tuple[float, ...]
    """Wall time of each round."""


def measure(rounds: int = 5, calls: int = 10_000) -> list[tuple[Section, list[Cost]]]:
    """Run every contender once a round; return the medians, section by section."""
    names = {name for one in SECTIONS for entry in one.entries for name in entry[:2]}
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in sorted(names)}
    for _ in range(rounds):
        for name, figures in seen.items():
            figures.append(_in_a_process(name, calls))
    return [
        (section, [_cost(title, seen[name], seen[bare]) for name, bare, title in section.entries])
        for section in SECTIONS
    ]


def _cost(title: str, seen: list[tuple[float, float]], bare: list[tuple[float, float]]) -> Cost:
    bare_wall, bare_cpu = (median(side) for side in zip(*bare, strict=True))
    walls, cpus = zip(*seen, strict=True)
    rounds = tuple(wall - bare_wall for wall in walls)
    return Cost(title, median(rounds), median(cpus) - bare_cpu, rounds)


def _in_a_process(name: str, calls: int) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.decorators", name, str(calls)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr}")
    wall, cpu = json.loads(done.stdout.splitlines()[-1])
    return wall, cpu


def run_one(name: str, calls: int) -> tuple[float, float]:
    """Microseconds a unit of one contender, wall time and thread time."""
    contender: Contender = getattr(contenders, name)
    with contender() as work:
        work(WARM_UP)
        started, started_cpu = time.perf_counter(), time.thread_time()
        work(calls)
        wall, cpu = time.perf_counter() - started, time.thread_time() - started_cpu
    return wall / calls * 1e6, cpu / calls * 1e6


if __name__ == "__main__":
    print(json.dumps(run_one(sys.argv[1], int(sys.argv[2]))), flush=True)
