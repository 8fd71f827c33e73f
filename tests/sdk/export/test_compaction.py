"""Many small files become few; no span is lost or doubled, wherever it is interrupted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sdk.export.refunds import files_below, rows_below, spans_of
from trackway.export.parquet import Compaction, ParquetSpanExporter, compact
from trackway.export.parquet.store import LocalStore
from trackway.export.spool import locked


class Interrupted(Exception):
    pass


def write_files(folder: Path, count: int = 4, **spans: Any) -> None:
    exporter = ParquetSpanExporter(folder)
    for number in range(count):
        exporter.export(spans_of([f"run-{number % 3}"], **spans))
        exporter.force_flush()
    exporter.shutdown()


def span_ids(folder: Path) -> list[str]:
    return sorted(row["span_id"] for row in rows_below(folder))


def test_small_files_of_a_partition_become_one(tmp_path: Path) -> None:
    write_files(tmp_path, 4)
    write_files(tmp_path, 2, service="billing")
    write_files(tmp_path, 1, day=9)
    before = span_ids(tmp_path)
    assert compact(tmp_path) == Compaction(merged_files=6, new_files=2, spans=12)
    assert span_ids(tmp_path) == before
    assert len(files_below(tmp_path)) == 3
    assert not list(tmp_path.rglob("date=*/**/.*"))


def test_runs_come_together_and_the_footer_is_true(tmp_path: Path) -> None:
    write_files(tmp_path, 4)
    compact(tmp_path)
    (path,) = files_below(tmp_path)
    file = pq.ParquetFile(path)
    runs = [row["run_id"] for row in file.read().to_pylist()]
    assert runs == sorted(runs)
    footer = file.schema_arrow.metadata
    assert (footer[b"trackway.spans"], footer[b"trackway.runs"]) == (b"8", b"3")
    assert footer[b"trackway.service"] == b"refunds"


def test_large_files_stay_and_a_second_time_does_nothing(tmp_path: Path) -> None:
    write_files(tmp_path)
    assert compact(tmp_path, file_bytes=1).new_files == 0
    compact(tmp_path)
    assert compact(tmp_path) == Compaction(merged_files=0, new_files=0, spans=0)


def test_files_of_others_stay(tmp_path: Path) -> None:
    write_files(tmp_path, 2)
    folder = files_below(tmp_path)[0].parent
    pq.write_table(pa.table({"a": [1]}), folder / "theirs.parquet")
    (folder / "broken.parquet").write_bytes(b"PAR1 no, not really")
    assert compact(tmp_path).merged_files == 2
    assert {path.name for path in files_below(tmp_path)} >= {"theirs.parquet", "broken.parquet"}


def test_one_compaction_at_a_time(tmp_path: Path) -> None:
    with locked(tmp_path / ".compact.lock"), pytest.raises(BlockingIOError):
        compact(tmp_path)


@pytest.mark.parametrize("call", range(8))
def test_an_interruption_at_any_step_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    write_files(tmp_path, 4)
    before = span_ids(tmp_path)
    left = iter(range(call, -1, -1))

    def until_interrupted(action: Callable[..., None]) -> Callable[..., None]:
        def act(*arguments: Any) -> None:
            if next(left, 1) == 0:
                raise Interrupted
            action(*arguments)

        return act

    monkeypatch.setattr(LocalStore, "write", until_interrupted(LocalStore.write))
    monkeypatch.setattr(LocalStore, "delete", until_interrupted(LocalStore.delete))
    try:
        compact(tmp_path)
    except Interrupted:
        assert set(span_ids(tmp_path)) == set(before)
    monkeypatch.undo()
    compact(tmp_path)
    assert span_ids(tmp_path) == before
    assert not list(tmp_path.rglob("date=*/**/.*"))


def test_what_was_compacted_is_not_recovered_again(tmp_path: Path) -> None:
    """A writer is killed after its files are in place and before its spool is deleted."""
    exporter = ParquetSpanExporter(tmp_path)
    exporter.export(spans_of())
    (segment,) = (tmp_path / ".spool").iterdir()
    spooled = segment.read_bytes()
    exporter.shutdown()
    write_files(tmp_path, 2)
    before = span_ids(tmp_path)
    for _ in range(2):  # uncompacted, then compacted
        segment.write_bytes(spooled)
        assert ParquetSpanExporter(tmp_path).force_flush()
        assert not segment.exists()
        assert span_ids(tmp_path) == before
        compact(tmp_path)
    assert len(files_below(tmp_path)) == 1


def test_files_beside_the_partitions_become_one_there(tmp_path: Path) -> None:
    write_files(tmp_path / "recorded", 2)
    for number, path in enumerate(files_below(tmp_path / "recorded")):
        path.rename(tmp_path / f"{number}.parquet")
    before = span_ids(tmp_path)
    assert compact(tmp_path) == Compaction(merged_files=2, new_files=1, spans=4)
    assert span_ids(tmp_path) == before
