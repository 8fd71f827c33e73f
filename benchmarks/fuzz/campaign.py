"""A number of batches, shared among processes, that can be stopped and gone on with."""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.fuzz.attempt import SIZE, Tally, attempt
from benchmarks.fuzz.seeds import gathered


def work(process: int, given: argparse.Namespace) -> None:
    """Put every batch of one process through."""
    folder = given.state / f"process-{process}"
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / "state.json"
    number, seconds, tally = _resumed(state, process)
    seeds = gathered(given.seeds)
    started = saved = time.monotonic()
    while number * SIZE < given.count and time.monotonic() - started < given.slice:
        attempt(seeds, given.seed, number, folder, tally)
        number += given.processes
        if time.monotonic() - saved > 5:
            saved = time.monotonic()
            _save(state, number, seconds + saved - started, tally)
    _save(state, number, seconds + time.monotonic() - started, tally)


def _resumed(state: Path, process: int) -> tuple[int, float, Tally]:
    if not state.exists():
        return process, 0.0, Tally()
    said = json.loads(state.read_text())
    tally = Tally(**said["tally"])
    tally.inputs, tally.put_aside = Counter(tally.inputs), Counter(tally.put_aside)
    return said["next"], said["seconds"], tally


def _save(state: Path, number: int, seconds: float, tally: Tally) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    before = json.loads(state.read_text())["peak_mb"] if state.exists() else 0
    said = {
        "next": number,
        "seconds": seconds,
        "peak_mb": max(peak, before),
        "tally": vars(tally),
    }
    part = state.with_suffix(".part")
    part.write_text(json.dumps(said))
    part.replace(state)


def report(given: argparse.Namespace) -> tuple[str, bool]:
    """Return what came of all processes, and whether nothing failed."""
    said = [json.loads(p.read_text()) for p in sorted(given.state.glob("process-*/state.json"))]
    inputs, aside = Counter[str](), Counter[str]()
    for one in said:
        inputs.update(one["tally"]["inputs"])
        aside.update(one["tally"]["put_aside"])
    failures = {cause: kept for one in said for cause, kept in one["tally"]["failures"].items()}

    def total(name: str) -> Any:
        return sum(one["tally"][name] for one in said)

    most = partial(max, default=0)
    lines = [
        f"{inputs.total():,} inputs of seed {given.seed}: "
        + ", ".join(f"{count:,} {kind}" for kind, count in sorted(inputs.items())),
        f"{total('spans'):,} spans and {total('runs'):,} runs were read; "
        f"{total('refused'):,} inputs refused; put aside: "
        + ", ".join(f"{count:,} {reason}" for reason, count in sorted(aside.items())),
        f"slowest batch of {SIZE}: {most(one['tally']['slowest'] for one in said):.1f} s, "
        f"peak memory of a process: {most(one['peak_mb'] for one in said):,} MB, "
        f"time: {sum(one['seconds'] for one in said):,.0f} process seconds",
        f"failures: {len(failures)}",
        *(f"{cause}\n  first seen in {kept}" for cause, kept in failures.items()),
    ]
    missing = gathered(given.seeds).missing()
    if missing:
        lines.append(f"no seed of: {', '.join(missing)}; these saw the seeds of others only")
    return "\n".join(lines), not failures
