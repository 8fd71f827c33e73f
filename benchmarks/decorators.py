"""What does a decorated call cost over the bare call?

1. Every contender records the same call, inside an open span; spans end in a batch processor whose
   exporter discards them (`contenders.py`).
2. What is compared is a section: calls with the span by hand; calls in a run that is dropped with
   a span that is not sampled; awaited calls with plain ones; pieces of a stream with langfuse's.
3. Each round runs every contender in a process of its own, so that none patches another. There the
   first of its section and the bare call run too, in blocks that take turns, each in a context of
   its own: a ratio is that of two blocks that follow each other, whatever the machine's mood.
4. A ratio of a round is the median of its blocks, a figure the median of the rounds, both without
   the bare call; time of the calling thread on the processor stands beside wall time.
"""

from __future__ import annotations

import contextvars
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Final

from benchmarks import contenders
from benchmarks.contenders import PIECES, Contender, Work

WARM_UP: Final = 1_000
BLOCK: Final = 250
"""Units of work that follow each other without a turn of another."""


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
    """Microseconds a call takes over the bare call, and how that compares with the first's."""

    title: str
    wall: float
    cpu: float
    wall_ratio: float
    cpu_ratio: float
    rounds: tuple[float, ...]
    """The ratio of wall time of each round; none of the first."""


@dataclass(frozen=True, slots=True)
class _Round:
    """Medians over the blocks of one process; wall time, time on the processor."""

    first: tuple[float, float]
    contender: tuple[float, float]
    ratio: tuple[float, float]


def measure(rounds: int = 5, calls: int = 10_000) -> list[tuple[Section, list[Cost]]]:
    """Run every contender once a round; return the medians, section by section."""
    seen: dict[tuple[int, int], list[_Round]] = {}
    for _ in range(rounds):
        for place, section in enumerate(SECTIONS):
            for row in range(1, len(section.entries)):
                found = _in_a_process(section.entries[0], section.entries[row], calls)
                seen.setdefault((place, row), []).append(found)
    return [
        (section, _costs(section, [seen[place, row] for row in range(1, len(section.entries))]))
        for place, section in enumerate(SECTIONS)
    ]


def _costs(section: Section, seen: Sequence[Sequence[_Round]]) -> list[Cost]:
    every = [one.first for rounds in seen for one in rounds]
    first = Cost(section.entries[0][2], *_medians(every), 1.0, 1.0, ())
    others = [
        Cost(
            title,
            *_medians([one.contender for one in rounds]),
            *_medians([one.ratio for one in rounds]),
            tuple(one.ratio[0] for one in rounds),
        )
        for (_, _, title), rounds in zip(section.entries[1:], seen, strict=True)
    ]
    return [first, *others]


def _medians(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    walls, cpus = zip(*pairs, strict=True)
    return median(walls), median(cpus)


def _in_a_process(
    first: tuple[str, str, str], contender: tuple[str, str, str], calls: int
) -> _Round:
    names = [first[1], first[0], contender[1], contender[0]]
    command = [sys.executable, "-m", "benchmarks.decorators", str(calls), *names]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{contender[0]} failed:\n{done.stderr}")
    blocks = json.loads(done.stdout.splitlines()[-1])
    sides = [
        [(one[side] - bare[side], another[side] - its[side]) for bare, one, its, another in blocks]
        for side in (0, 1)
    ]
    wall, cpu = (
        [median(side) for side in zip(*pairs, strict=True)] + [median(b / a for a, b in pairs)]
        for pairs in sides
    )
    return _Round((wall[0], cpu[0]), (wall[1], cpu[1]), (wall[2], cpu[2]))


def run_in_turns(names: Sequence[str], calls: int) -> list[list[tuple[float, float]]]:
    """Microseconds a unit of each contender, wall time and thread time, block by block."""
    with ExitStack() as stack:
        works = [_entered(name, stack) for name in names]
        for work in works:
            work(WARM_UP)
        return [[_timed(work) for work in works] for _ in range(calls // BLOCK)]


def _entered(name: str, stack: ExitStack) -> Work:
    """Enter a contender in a context of its own, where its work is done too."""
    contender: Contender = getattr(contenders, name)
    manager, context = contender(), contextvars.copy_context()
    work = context.run(manager.__enter__)
    stack.callback(context.run, manager.__exit__, None, None, None)
    return lambda units: context.run(work, units)


def _timed(work: Work) -> tuple[float, float]:
    started, started_cpu = time.perf_counter(), time.thread_time()
    work(BLOCK)
    wall, cpu = time.perf_counter() - started, time.thread_time() - started_cpu
    return wall / BLOCK * 1e6, cpu / BLOCK * 1e6


if __name__ == "__main__":
    print(json.dumps(run_in_turns(sys.argv[2:], int(sys.argv[1]))), flush=True)
