"""What could not be read of a source is told by a frame of the converted file, whoever read it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import trackway_analyzer as ta
from analyzer.read.session_lines import verdict
from trackway_analyzer.read.carried import UNREAD_SOURCE, without_unread_rows
from trackway_analyzer.read.quarantine import Quarantine

SAMPLE = Path(__file__).parents[2] / "data" / "frameworks" / "langgraph-openinference" / "fail.json"
READERS: dict[str, Callable[[Path], Any]] = {
    "pyarrow": pq.read_table,
    "pyarrow.dataset": lambda path: ds.dataset(path).to_table(),
    "pandas": pd.read_parquet,
    "pandas of Arrow": lambda path: pd.read_parquet(path, dtype_backend="pyarrow"),
    "polars": pl.read_parquet,
    "duckdb": lambda path: duckdb.sql(f"FROM '{path}'").arrow(),
    "duckdb as pandas": lambda path: duckdb.sql(f"FROM '{path}'").df(),
    "feather": lambda path: feather(pd.read_parquet(path)),
}


def feather(frame: pd.DataFrame) -> bytes:
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pandas(frame)
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def converted(tmp_path: Path, *lines: str) -> Path:
    document = json.dumps(json.loads(SAMPLE.read_text()))
    (tmp_path / "traces.jsonl").write_text("\n".join([document, *lines, ""]))
    ta.load(tmp_path / "traces.jsonl").to_parquet(tmp_path / "spans.parquet")
    return tmp_path / "spans.parquet"


@pytest.mark.parametrize("reader", READERS)
def test_a_check_of_a_frame_is_as_undecided_as_one_of_its_file(reader: str, tmp_path: Path) -> None:
    path = converted(tmp_path, "{a broken line}")
    frame = READERS[reader](path)
    runs = ta.load(frame)
    assert runs.quarantined.to_pylist() == ta.load(path).quarantined.to_pylist() != []
    assert len(runs.span_table) == len(ta.load(path).span_table)
    assert [run.steps for run in runs] == [run.steps for run in ta.load(path)]
    assert verdict(path) == "insufficient"
    assert verdict(READERS[reader](path)) == "insufficient"


@pytest.mark.parametrize("of", [lambda runs: runs.span_table, lambda runs: runs.spans()])
def test_what_is_handed_on_in_memory_is_as_undecided(of: Any, tmp_path: Path) -> None:
    converted(tmp_path, "{a broken line}")
    source = tmp_path / "traces.jsonl"
    runs = ta.load(of(ta.load(source)))
    assert runs.quarantined.to_pylist() == ta.load(source).quarantined.to_pylist() != []
    assert verdict(of(ta.load(source))) == "insufficient"


@pytest.mark.parametrize(
    "source",
    [
        pa.array([b"\xff"]),
        pa.array([["a"]]),
        pa.array([1]),
        pa.array([{"a": 1}]),
        pa.array([None]),
        pa.array([b"\xff"]).dictionary_encode(),
        pa.array(["a"], pa.string_view()),
    ],
)
def test_a_column_of_another_kind_under_that_name_raises_nothing(source: pa.Array) -> None:
    table = pa.table({"source": source, "attributes": ["{}"]})
    quarantine = Quarantine("a table")
    assert without_unread_rows(table, quarantine).equals(table)
    twice = pa.Table.from_arrays([source, source, source], ["source", "source", "attributes"])
    assert without_unread_rows(twice, quarantine).equals(twice)
    assert quarantine.take() == ()


def test_a_file_without_losses_has_no_row_of_them(tmp_path: Path) -> None:
    path = converted(tmp_path)
    assert UNREAD_SOURCE not in pq.read_table(path)["source"].to_pylist()
    assert verdict(pd.read_parquet(path)) == "pass"


def test_the_row_stretches_no_time_and_counts_once_however_often_it_is_copied(
    tmp_path: Path,
) -> None:
    path = converted(tmp_path, "{a broken line}")
    table = pq.read_table(path)
    starts = table["start"].to_pylist()
    assert starts[-1] in starts[:-1]
    ta.load(pa.concat_tables([table, table])).to_parquet(tmp_path / "again.parquet")
    again = pq.read_table(tmp_path / "again.parquet")
    assert again["source"].to_pylist().count(UNREAD_SOURCE) == 1
    assert (
        len(ta.load(tmp_path).quarantined.filter(pa.compute.field("reason") == "broken_line")) == 2
    )


@pytest.mark.parametrize("text", [None, "{", "[]", '{"trackway.unread": 5}'])
def test_a_damaged_row_of_losses_is_a_loss(text: str | None, tmp_path: Path) -> None:
    frame = pd.read_parquet(converted(tmp_path, "{a broken line}"))
    frame.loc[frame["source"] == UNREAD_SOURCE, "attributes"] = text
    assert ta.load(frame).quarantined["reason"].to_pylist() == ["broken_value"]


@pytest.mark.parametrize("target", ["all.parquet", "all.jsonl"])
def test_what_loses_nothing_goes_with_a_converted_file_too(target: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    step = {"source": "agent", "message": "Done."}
    version = {"schema_version": "ATIF-v2.0", "agent": {"name": "a"}, "steps": [step]}
    (source / "new.json").write_text(json.dumps(version))
    (source / "notes.log").write_text("nothing of it\n")
    found = ta.load(source)
    path = tmp_path / target
    if target.endswith(".parquet"):
        found.to_parquet(path)
    else:
        found.to_atif(path)
    rows = found.quarantined.to_pylist()
    assert {row["reason"] for row in rows} == {"unknown_version", "passed_over"}
    again = ta.load(path)
    assert sorted(map(str, again.quarantined.to_pylist())) == sorted(map(str, rows))
    if target.endswith(".parquet"):
        assert UNREAD_SOURCE not in pq.read_table(path)["source"].to_pylist()
