"""`kill -9` at any moment: what is on disk is readable, and the next start finds the rest, once."""

from __future__ import annotations

import multiprocessing
import random
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq

from end_to_end.killed_writer import record_until_killed
from trackway.export.parquet import ParquetSpanExporter

KILLS = 50
# Every writer is a process of its own, forked from a clean one that has imported what it needs
# (pyarrow loads pandas, where it is installed, with the first array).
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["trackway.export.parquet", "pandas"])


def test_fifty_kills_leave_readable_files_and_lose_nothing_that_was_spooled(tmp_path: Path) -> None:
    moments = random.Random(7)
    finished = recovered = 0
    for kill in range(KILLS):
        folder = tmp_path / str(kill)
        # The moment is a position in what the writer reports, and a little more: no clock decides.
        safe = killed_after(moments.randrange(1, 40), folder, spin=moments.randrange(20_000))
        before = span_ids(folder)
        assert len(before) == len(set(before))

        exporter = ParquetSpanExporter(folder)
        assert exporter.force_flush()
        exporter.shutdown()
        after = span_ids(folder)
        assert len(after) == len(set(after))
        assert set(before) | safe <= set(after)
        assert exporter.counts.recovered == len(after) - len(before)
        assert not list((folder / ".spool").iterdir())
        assert not list(folder.rglob(".*.tmp"))
        finished += len(before)
        recovered += exporter.counts.recovered
    assert finished > 0
    assert recovered > 0


def killed_after(batches: int, folder: Path, *, spin: int) -> set[str]:
    """Kill a writer once it has reported so many batches; return the spans it said were safe."""
    reader, writer = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=record_until_killed, args=(folder, writer))
    process.start()
    writer.close()
    safe = set[str]()
    for _ in range(batches):
        safe.update(reader.recv())
    for _ in range(spin):
        pass
    process.kill()
    process.join()
    with suppress(EOFError):
        while True:
            safe.update(reader.recv())
    return safe


def span_ids(folder: Path) -> list[str]:
    """Read every Parquet file whole; a broken one raises."""
    paths = sorted(folder.rglob("*.parquet"))
    return [row for path in paths for row in pq.ParquetFile(path).read()["span_id"].to_pylist()]
