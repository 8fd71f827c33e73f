"""Spans land in Parquet files: complete, partitioned, sorted, once."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from opentelemetry.sdk.trace.export import SpanExportResult

from sdk.export.refunds import files_below, rows_below, spans_of
from trackway import schema
from trackway.export.parquet import ParquetSpanExporter
from trackway.export.parquet.table import FILE_SCHEMA


@pytest.fixture
def exporter(tmp_path: Path) -> ParquetSpanExporter:
    return ParquetSpanExporter(tmp_path)


def test_flush_makes_everything_readable(tmp_path: Path, exporter: ParquetSpanExporter) -> None:
    spans = spans_of()
    assert exporter.export(spans) is SpanExportResult.SUCCESS
    assert files_below(tmp_path) == []
    assert exporter.force_flush()
    assert {row["span_id"] for row in rows_below(tmp_path)} == {
        f"{span.context.span_id:016x}" for span in spans if span.context
    }
    assert list((tmp_path / ".spool").iterdir()) == []


def test_files_are_parted_by_date_and_service(
    tmp_path: Path, exporter: ParquetSpanExporter
) -> None:
    exporter.export(spans_of(service="a b/c", day=1))
    exporter.export(spans_of(["r2"], service=None, day=2))
    exporter.export(spans_of(["r3"], service="", day=2))
    exporter.shutdown()
    assert [path.parent.relative_to(tmp_path).as_posix() for path in files_below(tmp_path)] == [
        "date=2026-01-01/service=a%20b%2Fc",
        "date=2026-01-02/service=unknown_service",
    ]
    assert set(pd.read_parquet(tmp_path)["service"]) == {"a b/c", "unknown_service"}


def test_a_run_that_crosses_midnight_stays_in_one_file(
    tmp_path: Path, exporter: ParquetSpanExporter
) -> None:
    exporter.export(spans_of(["night"], day=2) + spans_of(["night", "early"], day=1))
    exporter.shutdown()
    (path,) = files_below(tmp_path)
    assert "date=2026-01-01" in path.as_posix()


def test_rows_are_sorted_by_run_and_start(tmp_path: Path, exporter: ParquetSpanExporter) -> None:
    exporter.export(spans_of(["b", "a", "c"], steps=3))
    exporter.shutdown()
    (path,) = files_below(tmp_path)
    rows = pq.read_table(path).to_pylist()
    assert [(row["run_id"], row["name"]) for row in rows] == [
        (run, f"step {step}") for run in "abc" for step in range(3)
    ]


def test_a_file_has_the_shared_schema_and_says_what_it_holds(
    tmp_path: Path, exporter: ParquetSpanExporter
) -> None:
    exporter.export(spans_of(["a", "b"]))
    exporter.shutdown()
    (path,) = files_below(tmp_path)
    file = pq.ParquetFile(path)
    assert file.schema_arrow.equals(FILE_SCHEMA)
    assert sorted([*file.schema_arrow.names, "service"]) == sorted(
        column.name for column in schema.SPAN_COLUMNS
    )
    footer = file.schema_arrow.metadata
    assert (footer[b"trackway.spans"], footer[b"trackway.runs"]) == (b"4", b"2")
    assert footer[b"trackway.schema.version"] == schema.SCHEMA_VERSION.encode()
    assert footer[b"trackway.service"] == b"refunds"
    columns = [file.metadata.row_group(0).column(n) for n in range(file.metadata.num_columns)]
    assert {column.compression for column in columns} == {"ZSTD"}
    coded = {column.path_in_schema for column in columns if column.has_dictionary_page}
    assert {"name", "scope"} <= coded
    assert not {"trace_id", "span_id", "attributes", "start"} & coded


def test_every_usual_reader_takes_the_directory(
    tmp_path: Path, exporter: ParquetSpanExporter
) -> None:
    exporter.export(spans_of(service="refunds") + spans_of(service="billing", day=2))
    exporter.shutdown()
    expected = {"refunds", "billing"}
    assert set(pd.read_parquet(tmp_path)["service"]) == expected
    dataset = ds.dataset(tmp_path, partitioning="hive").to_table()
    assert set(dataset["service"].to_pylist()) == expected
    found = duckdb.sql(f"select distinct service from read_parquet('{tmp_path}/**/*.parquet')")
    assert {service for (service,) in found.fetchall()} == expected


@pytest.mark.parametrize(
    "limit", [{"rotate_rows": 4}, {"rotate_bytes": 1}, {"rotate_seconds": 0.0}], ids=str
)
def test_files_are_finished_at_each_limit(tmp_path: Path, limit: dict[str, Any]) -> None:
    exporter = ParquetSpanExporter(tmp_path, **limit)
    exporter.export(spans_of(["a", "b"]))
    assert len(files_below(tmp_path)) == 1
    exporter.export(spans_of(["c", "d"]))
    assert len(files_below(tmp_path)) == 2


def write_in_process(folder: Path) -> None:
    exporter = ParquetSpanExporter(folder, rotate_rows=2)
    for run in range(5):
        exporter.export(spans_of([str(run)]))
    exporter.shutdown()


def test_two_processes_share_a_directory(tmp_path: Path) -> None:
    processes = multiprocessing.get_context("fork")
    writers = [processes.Process(target=write_in_process, args=(tmp_path,)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    rows = rows_below(tmp_path)
    assert len(rows) == len({row["span_id"] for row in rows}) == 20


def test_without_pyarrow_the_error_says_what_to_type(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from trackway.export import processors_for\n"
        "try: processors_for(sys.argv[1])\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert run.stdout == (
        "export to Parquet needs pyarrow, which is not installed: pip install 'trackway[parquet]'\n"
    )


def test_pandas_is_not_needed(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "class NoPandas:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'pandas': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, NoPandas())\n"
        "import trackway\n"
        "trackway.configure('alone', export=sys.argv[1])\n"
        "with trackway.run('task'): pass\n"
        "sys.exit(0 if trackway.flush(20) else 'not written')"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert len(rows_below(tmp_path)) == 1
