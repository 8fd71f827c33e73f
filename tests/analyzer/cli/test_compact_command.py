"""`trackway compact DIR` merges what the recorder wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import trackway_analyzer as ta
from sdk.export.refunds import files_below, spans_of
from trackway.export.parquet import ParquetSpanExporter
from trackway_analyzer.cli.program import run


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    exporter = ParquetSpanExporter(tmp_path)
    for number in range(3):
        exporter.export(spans_of([f"run-{number}"]))
        exporter.force_flush()
    exporter.shutdown()
    return tmp_path


def test_small_files_become_one_and_the_runs_stay(
    traces: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compact", str(traces)]) == 0
    assert capsys.readouterr().out == "3 files became 1: 6 spans\n"
    assert len(files_below(traces)) == 1
    assert len(ta.load(traces)) == 3


def test_it_says_when_there_is_nothing_to_do(
    traces: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["compact", str(traces)])
    capsys.readouterr()
    assert run(["compact", str(traces)]) == 0
    assert capsys.readouterr().out == "nothing to merge\n"
    assert run(["compact", str(traces), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"merged_files": 0, "new_files": 0, "spans": 0}


def test_a_folder_that_is_not_there_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compact", str(tmp_path / "nowhere")]) == 4
    assert capsys.readouterr().err == f"error: {tmp_path / 'nowhere'} is no folder\n"
