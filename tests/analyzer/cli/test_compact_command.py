"""`trackway compact` merges what recorders left in many small files."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sdk.export.refunds import files_below, rows_below, spans_of
from trackway.export.parquet import ParquetSpanExporter
from trackway_analyzer.cli.program import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    exporter = ParquetSpanExporter(tmp_path / "traces")
    for number in range(3):
        exporter.export(spans_of([f"run-{number}"]))
        exporter.force_flush()
    exporter.shutdown()
    return tmp_path / "traces"


def test_small_files_become_one_and_the_spans_stay(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {row["span_id"] for row in rows_below(folder)}
    assert run(["compact", str(folder)]) == 0
    assert capsys.readouterr().out == "3 files became 1, 6 spans in them\n"
    (path,) = files_below(folder)
    assert set(pq.ParquetFile(path).read()["span_id"].to_pylist()) == before
    assert run(["compact", str(folder)]) == 0
    assert capsys.readouterr().out == "nothing to merge\n"


def test_files_above_the_size_stay_and_machines_read_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compact", str(folder), "--file-mb", "0.001", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"merged": 0, "written": 0, "spans": 0}
    assert run(["compact", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"merged": 3, "written": 1, "spans": 6}


def test_a_folder_that_is_not_there_is_an_error_and_is_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compact", str(tmp_path / "trcaes")]) == 4
    assert "is no folder" in capsys.readouterr().err
    assert not (tmp_path / "trcaes").exists()
