"""A full disk, a folder that cannot be written: nobody is harmed, and all of it is told."""

from __future__ import annotations

import logging
import multiprocessing
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from sdk.export.refunds import files_below, rows_below, spans_of
from trackway.export import BatchingProcessor
from trackway.export.parquet import ParquetSpanExporter
from trackway.export.parquet.store import LocalStore


def in_child(work: Callable[[Path, Connection], None], folder: Path) -> Any:
    """Run in a process of its own and return what it sends."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=work, args=(folder, writer))
    process.start()
    assert reader.poll(60)
    answer = reader.recv()
    process.join(60)
    return answer


def fill_the_disk(folder: Path, said: Connection) -> None:
    """A file-size limit is what a full disk is to the exporter: a write that fails half-way."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, most))
    exporter = ParquetSpanExporter(folder)
    for run in range(20):
        exporter.export(spans_of([f"{run}-{n}" for n in range(40)]))
    full = exporter.force_flush(), exporter.counts.delivered, exporter.counts.failed
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    said.send((full, exporter.force_flush(), exporter.counts.delivered))
    exporter.shutdown()


def test_what_a_full_disk_refuses_waits_and_is_written_when_there_is_room(tmp_path: Path) -> None:
    full, flushed, delivered = in_child(fill_the_disk, tmp_path)
    assert full == (False, 0, 0)
    assert (flushed, delivered) == (True, 1600)
    assert len({row["span_id"] for row in rows_below(tmp_path)}) == 1600
    assert not list((tmp_path / ".spool").iterdir())
    assert not list(tmp_path.rglob(".*.tmp"))


def fill_the_disk_to_the_end(folder: Path, said: Connection) -> None:
    """Small batches still fit into the spool when large ones and files do not."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, most))
    processor = BatchingProcessor(ParquetSpanExporter(folder))
    for spans in (spans_of(["small"]), spans_of([str(n) for n in range(200)]), spans_of(["late"])):
        for span in spans:
            processor.on_end(span)
        processor.force_flush()
    processor.shutdown()
    said.send((processor.counts.ended, processor.counts.delivered, processor.counts.failed))


def test_of_what_a_full_disk_refused_only_that_is_lost_which_no_spool_has(tmp_path: Path) -> None:
    ended, delivered, failed = in_child(fill_the_disk_to_the_end, tmp_path)
    following = ParquetSpanExporter(tmp_path)
    following.export(spans_of(["new"]))
    assert following.force_flush()
    assert (ended, delivered) == (404, 0)
    assert failed == 400
    assert (following.counts.recovered, following.counts.delivered) == (4, 2)
    assert not list((tmp_path / ".spool").iterdir())


@pytest.fixture
def blocked(tmp_path: Path) -> Path:
    """A target that cannot be a directory."""
    (tmp_path / "file").write_text("in the way")
    return tmp_path / "file"


def test_an_unwritable_folder_is_told_once_and_counted(
    blocked: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = ParquetSpanExporter(blocked, rotate_rows=2)
    for run in range(5):
        exporter.export(spans_of([str(run)]))
    assert not exporter.force_flush()
    exporter.shutdown()
    assert (exporter.counts.ended, exporter.counts.failed) == (10, 10)
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert [text.partition(":")[0] for text in said] == [
        "trackway cannot write its Parquet spool",
        "trackway cannot write its Parquet file",
    ]


def test_what_waits_in_memory_is_bounded_and_the_oldest_goes_first(blocked: Path) -> None:
    exporter = ParquetSpanExporter(blocked, rotate_rows=2, memory_bytes=20_000)
    for run in range(200):
        exporter.export(spans_of([str(run)]))
    waiting = exporter.counts.ended - exporter.counts.failed
    assert 0 < waiting < 200
    blocked.unlink()
    assert not exporter.force_flush()  # some were lost
    assert exporter.counts.delivered == waiting
    runs = sorted({int(row["run_id"]) for row in rows_below(blocked)})
    assert runs == list(range(200 - waiting // 2, 200))


def test_a_store_that_is_away_costs_no_memory_while_the_spool_can_be_written(
    tmp_path: Path, blocked: Path
) -> None:
    exporter = ParquetSpanExporter(blocked, rotate_rows=2, memory_bytes=1, spool=tmp_path / "spool")
    for run in range(20):
        exporter.export(spans_of([str(run)]))
    assert not exporter.force_flush()
    assert exporter.counts.failed == 0
    assert sum(len(chunk.batches) for chunk in exporter._waiting) == 0
    blocked.unlink()
    assert exporter.force_flush()
    assert len(rows_below(blocked)) == 40


def test_what_was_still_spooled_at_the_end_is_written_by_the_next_process(
    tmp_path: Path, blocked: Path
) -> None:
    exporter = ParquetSpanExporter(blocked, spool=tmp_path / "spool")
    exporter.export(spans_of())
    exporter.shutdown()
    assert exporter.counts.failed == 0
    blocked.unlink()
    following = ParquetSpanExporter(blocked, spool=tmp_path / "spool")
    following.poll()
    assert following.counts.recovered == 2
    assert len(files_below(blocked)) == 1


def test_a_crash_between_two_files_of_a_segment_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = LocalStore.write

    def only_the_first(store: LocalStore, name: str, content: Any) -> None:
        if files_below(tmp_path):
            raise OSError("killed here")
        write(store, name, content)

    exporter = ParquetSpanExporter(tmp_path)
    exporter.export(spans_of(["a"], service="one") + spans_of(["b"], service="two"))
    monkeypatch.setattr(LocalStore, "write", only_the_first)
    exporter.shutdown()
    assert len(files_below(tmp_path)) == 1
    monkeypatch.undo()
    assert ParquetSpanExporter(tmp_path).force_flush()
    assert sorted(row["run_id"] for row in rows_below(tmp_path)) == ["a", "a", "b", "b"]


def export_in_child(folder: Path, said: Connection) -> None:
    exporter = _EXPORTERS[-1]
    exporter.export(spans_of(["child"]))
    said.send((exporter.force_flush(), exporter.counts.delivered))


_EXPORTERS: list[ParquetSpanExporter] = []


def test_a_forked_child_writes_its_own_spans_and_leaves_its_parents_alone(tmp_path: Path) -> None:
    exporter = ParquetSpanExporter(tmp_path)
    _EXPORTERS.append(exporter)
    exporter.export(spans_of(["parent"]))
    assert in_child(export_in_child, tmp_path) == (True, 2)
    assert [row["run_id"] for row in rows_below(tmp_path)] == ["child", "child"]
    assert exporter.force_flush()
    assert sorted(row["run_id"] for row in rows_below(tmp_path)) == ["child"] * 2 + ["parent"] * 2
