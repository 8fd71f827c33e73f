"""How many spans of a row ended, and where are they?

1. The program is a real process with `configure()`, Parquet files and a real OTLP receiver. A
   ledger of its own says what ended.
2. *At once* is what files and receiver hold when the last process of the program is gone. Where a
   spool is left, the program starts once more, the fault gone: *next start* is what that adds.
3. *Lost* ended before the program began to leave and is in a target neither way. What threads end
   while the process is leaving is not promised to anybody.
4. *Hung* is the time from the beginning of the end to the death of the process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq
from tests.end_to_end.otlp_receiver import stored_spans
from tests.end_to_end.prefork import serving

from benchmarks.loss.collectors import Ports, free_ports, up
from benchmarks.loss.ledger import Entries, read
from benchmarks.loss.rows import Row

ROOT: Final = Path(__file__).parents[2]
_TIMEOUT: Final = 90.0
_ENOUGH: Final = 100
"""Spans after which a program is at work."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one target holds of the spans that ended."""

    at_once: int
    next_start: int
    lost: int
    twice: int
    oldest_lost: float | None
    """Seconds that the oldest lost span had ended before the end began."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a row came to."""

    row: Row
    ended: int
    """Before the end began."""
    late: int
    """While the process was leaving."""
    targets: Mapping[str, Found]
    counted: int
    """Spans that the SDK itself says it lost."""
    hung: float
    said: str
    """The SDK's warnings."""

    @property
    def lost(self) -> int:
        return max(found.lost for found in self.targets.values())

    @property
    def as_promised(self) -> bool:
        return self.lost == 0 or bool(self.row.owed)


@dataclass(frozen=True, slots=True)
class _Place:
    """The files of one experiment."""

    folder: Path
    ports: Ports
    row: Row

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger"

    @property
    def disk(self) -> Path:
        """Where files and spools lie."""
        return self.folder if self.row.disk_bytes is None else self.folder / "disk"

    @property
    def ballast(self) -> Path:
        """What fills the disk."""
        return self.disk / "ballast"

    @property
    def rows(self) -> Path:
        return self.disk / "rows"

    @property
    def stored(self) -> Path:
        return self.folder / "stored"

    def environment(self) -> dict[str, str]:
        row = self.row
        targets: list[tuple[str, dict[str, str]]] = []
        if row.collector is not None:
            port = getattr(self.ports, row.protocol)
            targets.append((f"otlp+{row.protocol}://127.0.0.1:{port}", {}))
        if row.parquet:
            options = {"spool": str(self.folder / "elsewhere")} if row.in_the_way else {}
            targets.append((str(self.rows), options))
        return {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "TRACKWAY_SPOOL_DIR": str(self.disk / "spools"),
            "LOSS_LEDGER": str(self.ledger),
            "LOSS_TARGETS": json.dumps(targets),
            "LOSS_FILE_BYTES": str(row.file_bytes),
            "LOSS_BALLAST": "" if row.disk_bytes is None else str(self.ballast),
        }

    def found(self) -> dict[str, Counter[str]]:
        """Count each span in each target."""
        found: dict[str, Counter[str]] = {}
        if self.row.parquet:
            paths = sorted(self.rows.rglob("*.parquet"))
            ids = (pq.ParquetFile(path).read(columns=["span_id"])["span_id"] for path in paths)
            found["Parquet"] = Counter(str(one) for column in ids for one in column.to_pylist())
        if self.row.collector is not None:
            found["OTLP"] = Counter(str(span["spanId"]) for span in stored_spans(self.stored))
        return found


def measure(row: Row) -> Result:
    """Run one experiment.

    Raises `subprocess.TimeoutExpired` where the program never ends, and `RuntimeError` where it
    ends otherwise than it would without a recorder.
    """
    with tempfile.TemporaryDirectory(prefix="trackway-loss-") as folder, ExitStack() as stack:
        place = _Place(Path(folder), free_ports(), row)
        if row.disk_bytes is not None:
            stack.enter_context(_file_system(place.disk, row.disk_bytes))
        if row.in_the_way:
            place.rows.write_text("in the way")
        with nullcontext() if row.collector is None else row.collector(place.stored, place.ports):
            left, gone, said = _serve(place) if row.way[0] == "server" else _run(place)
        entries = read(place.ledger)
        at_once = place.found()
        if any(place.folder.rglob("*.spool")):
            if row.in_the_way:
                place.rows.unlink()
            place.ballast.unlink(missing_ok=True)
            with up(place.stored, place.ports):
                following = _start(place, "next_start")
                said_then = following.communicate(timeout=_TIMEOUT)[1]
                _expect(Row("next start", [], ""), following.returncode, said_then)
        in_the_end = place.found()
        leave = left or entries.left or 0
        return Result(
            row=row,
            ended=sum(end <= leave for end in entries.ended.values()),
            late=sum(end > leave for end in entries.ended.values()),
            targets={
                name: _compare(entries, leave, at_once[name], in_the_end[name]) for name in at_once
            },
            counted=entries.counted,
            hung=(gone - leave) / 1e9,
            said=said,
        )


def _compare(entries: Entries, leave: int, first: Counter[str], last: Counter[str]) -> Found:
    lost = [end for one, end in entries.ended.items() if end <= leave and one not in last]
    return Found(
        at_once=len(first),
        next_start=len(last) - len(first),
        lost=len(lost),
        twice=sum(count > 1 for count in last.values()),
        oldest_lost=(leave - min(lost)) / 1e9 if lost else None,
    )


@contextmanager
def _file_system(folder: Path, size: int) -> Iterator[None]:
    """Mount a file system of this size in memory; needs to be root."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def _start(place: _Place, *way: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.loss.program", *way]
    return subprocess.Popen(
        command, env=place.environment(), cwd=place.folder, text=True, stderr=subprocess.PIPE
    )


def _run(place: _Place) -> tuple[int | None, int, str]:
    """Return when the parent ended the program, when it was gone (ns), and what it said."""
    row, left = place.row, None
    processes = [_start(place, *row.way) for _ in range(row.processes)]
    if row.signal is not None:
        _wait_for_spans(place, processes[0])
        left = time.monotonic_ns()
        processes[0].send_signal(row.signal)
    said = "".join(process.communicate(timeout=_TIMEOUT)[1] for process in processes)
    gone = time.monotonic_ns()
    for process in processes:
        _expect(row, process.returncode, said)
    warnings = [line for line in said.splitlines() if line.startswith("trackway")]
    return left, gone, "\n".join(warnings)


def _serve(place: _Place) -> tuple[int, int, str]:
    environment = place.environment()
    app = "benchmarks.loss.server:app"
    with serving(app, place.folder, environment=environment) as (url, master):
        for _ in range(20):
            with urllib.request.urlopen(url, timeout=30) as answer:
                answer.read()
        left = time.monotonic_ns()
        master.send_signal(signal.SIGTERM)
        status, gone = master.wait(_TIMEOUT), time.monotonic_ns()
        _expect(place.row, status, "")
        return left, gone, ""


def _expect(row: Row, status: int, said: str) -> None:
    if status != row.exit:
        raise RuntimeError(f"{row.name}: expected exit status {row.exit}, found {status}\n{said}")


def _wait_for_spans(place: _Place, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + _TIMEOUT
    while len(read(place.ledger).ended) < _ENOUGH and time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the program ended before its time: {process.communicate()[1]}")
        time.sleep(0.01)
    time.sleep(place.row.after)
