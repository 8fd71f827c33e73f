"""The rows of the loss table: every way out of a process, and every fault.

A row names a way of `program` and what stands around it. Where loss is owed to the row itself, it
says why; everywhere else a lost span is a defect.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.loss.collectors import (
    Collector,
    absent,
    always,
    at_first,
    hanging_up,
    silent,
    slow,
    small,
    up,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One experiment."""

    name: str
    way: Sequence[str]
    """A way of `program` and its arguments; `server` is the prefork server."""
    means: str
    collector: Collector | None = up
    """None: no OTLP target."""
    protocol: str = "http"
    parquet: bool = True
    signal: signal.Signals | None = None
    """Sent once the program is at work."""
    after: float = 0.5
    """Seconds that the program works on before the signal."""
    processes: int = 1
    file_bytes: int | None = None
    """Size above which no file grows: the disk is full."""
    disk_bytes: int | None = None
    """A file system of its own of this size holds files and spools; the program fills it."""
    in_the_way: bool = False
    """A file stands where the Parquet folder should be, until the next start."""
    exit: int = 0
    """Status with which the program must end, as if nobody recorded it."""
    owed: str = ""
    """Why spans may be lost here."""


EXITS: Final = (
    Row("end of the main module", ["end"], "the interpreter ends as it should"),
    Row("`sys.exit(3)`", ["sys_exit"], "", exit=3),
    Row("unhandled exception", ["unhandled"], "the interpreter ends with a traceback", exit=1),
    Row("SIGTERM", ["steady"], "no handler of the program's own", signal=signal.SIGTERM, exit=-15),
    Row(
        "SIGTERM, own handler",
        ["steady_with_handler"],
        "the program's handler calls `sys.exit`",
        signal=signal.SIGTERM,
        exit=7,
    ),
    Row("SIGINT", ["steady"], "Ctrl-C: `KeyboardInterrupt`", signal=signal.SIGINT, exit=-2),
    Row(
        "`os._exit(0)`",
        ["os_exit"],
        "right after the last span; no exit handler runs",
        owed="what ended in the last 0.2 s and was not yet in the spool",
    ),
    Row(
        "`kill -9`",
        ["steady"],
        "amid 1,000 spans a second",
        signal=signal.SIGKILL,
        after=2.5,
        exit=-9,
        owed="what ended in the last 0.2 s and was not yet in the spool",
    ),
    Row("daemon threads alive", ["daemon_threads"], "they go on ending spans during the exit"),
    Row("other threads alive", ["threads_that_finish"], "they work on after the main module's end"),
    Row("`os.fork`", ["fork"], "parent and child both record on"),
    *(
        Row(f"{kind}, {method}", [way, method], what)
        for way, kind, what in (
            ("process", "`Process`", "two children that end by themselves"),
            ("pool", "`Pool`", "two workers, terminated by the end of `with`"),
            ("executor", "`ProcessPoolExecutor`", "two workers, ten tasks"),
        )
        for method in ("fork", "forkserver", "spawn")
    ),
    Row(
        "gunicorn, TERM",
        ["server"],
        "two preloaded workers, 20 requests, TERM to the master",
        signal=signal.SIGTERM,
    ),
)

FAULTS: Final = (
    *(
        Row(f"collector {name}, {protocol}", [way], means, collector, protocol, parquet=False)
        for protocol in ("http", "grpc")
        for name, way, means, collector in (
            ("absent", "end", "connections are refused", absent),
            ("refusing", "end", "401 to everything, until the token is right", always(401)),
            ("silent", "end", "takes connections, never answers", silent),
            ("slow", "end", "each answer takes 2 s", slow(2)),
            ("closing mid-batch", "end", "resets the connection amid a message", hanging_up),
            ("429 for now", "a_while", "twice, with `Retry-After: 1`", at_first(429, 1, times=2)),
            ("429 for long", "end", "to everything, with `Retry-After: 60`", always(429, 60)),
            ("503", "a_while", "twice, with `Retry-After: 1`", at_first(503, 1, times=2)),
            ("413", "end", "to more than 30 spans a message", small(30)),
        )
    ),
    Row(
        "Parquet beside a silent collector", ["end"], "one target must not starve the other", silent
    ),
    Row(
        "disk full, then room, Parquet",
        ["disk_full_for_a_while"],
        "files and spool stop at 8 KB until the program's last runs",
        None,
        file_bytes=8_000,
    ),
    Row(
        "spool full, Parquet",
        ["disk_full"],
        "the spool stops at 32 KB; the file is smaller",
        None,
        file_bytes=32_000,
    ),
    Row(
        "disk full to the end, Parquet",
        ["disk_full"],
        "files and spool stop at 8 KB",
        None,
        file_bytes=8_000,
        owed="what fits nowhere",
    ),
    *(
        Row(
            f"small disk full, then room, {name}",
            ["disk_full_for_a_while"],
            "8 KB left on a tmpfs of 1 MB until the program's last runs",
            collector,
            parquet=collector is None,
            disk_bytes=1 << 20,
        )
        for name, collector in (("Parquet", None), ("OTLP", absent))
    ),
    Row(
        "small disk full to the end, Parquet",
        ["disk_full"],
        "8 KB left on a tmpfs of 1 MB",
        None,
        disk_bytes=1 << 20,
        owed="what fits nowhere",
    ),
    Row(
        "writes fail, Parquet",
        ["end"],
        "the folder cannot be made; the spool lies elsewhere",
        None,
        in_the_way=True,
    ),
    Row(
        "spool full, then room, OTLP",
        ["disk_full_for_a_while"],
        "the spool stops at 8 KB; collector absent",
        absent,
        parquet=False,
        file_bytes=8_000,
    ),
    Row(
        "spool full to the end, OTLP",
        ["disk_full"],
        "the spool stops at 8 KB; collector absent",
        absent,
        parquet=False,
        file_bytes=8_000,
        owed="what fits nowhere",
    ),
    Row("odd objects", ["hostile_objects"], "`repr`, `==`, `getattr` raise or never end"),
    Row("arguments of 200 MB", ["huge_argument"], "a text and bytes, as results too"),
    Row("10,000 nested lists", ["nested_lists"], "and a list inside itself"),
    Row("recursion", ["recursion"], "a recorded function, until `RecursionError`"),
    Row("redactor that raises", ["raising_redactor"], "a hook of the user's, on every text"),
    Row("clock going backwards", ["clock_backwards"], "an hour at every reading"),
    Row("two processes, one folder", ["end"], "and one spool", processes=2),
    Row("fork amid an export", ["fork_amid_export"], "three children, slow collector", slow(0.3)),
    Row(
        "SIGTERM during a flush",
        ["flushing"],
        "slow collector",
        slow(0.3),
        signal=signal.SIGTERM,
        exit=-15,
    ),
    Row(
        "`kill -9`, collector silent",
        ["steady"],
        "amid 1,000 spans a second",
        silent,
        parquet=False,
        signal=signal.SIGKILL,
        after=2.5,
        exit=-9,
        owed="what ended in the last second",
    ),
)

ROWS: Final = (*EXITS, *FAULTS)
