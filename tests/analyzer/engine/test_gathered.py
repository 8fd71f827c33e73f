"""Unsorted files are read without a sort of all rows, and it is no guess what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analyzer.engine.odd_populations import population, write

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.check import check
from trackway_analyzer.check_files import check_files
from trackway_analyzer.engine import gathered as gathering
from trackway_analyzer.engine import groups as grouping
from trackway_analyzer.engine import store as storing
from trackway_analyzer.engine.gathered import gathered
from trackway_analyzer.engine.groups import grouped
from trackway_analyzer.engine.native_files import NativeFiles
from trackway_analyzer.engine.roles import ROOT, STEP
from trackway_analyzer.engine.store import store_of
from trackway_analyzer.reconstruct import reconstruct
from trackway_analyzer.rules.policy import Policy

POLICY = Policy.from_yaml("""
version: 1
tools:
  lookup_order: {kind: lookup, entity: {type: order, result: $.id}}
rules:
  - before: [check_policy, refund_api.create]
  - grounded: {tool: refund_api.create, argument: order_id, from: order}
  - budget: {steps: 5, tokens: 20000}
  - claim: {says: 'refund.*processed', needs: refund_api.create}
""")
ROWS = 2_048
"""The fewest that DuckDB hands out at a time."""


def files_of(spans: pa.Table, folder: Path) -> NativeFiles:
    write(spans, folder)
    found = NativeFiles.of(sorted(folder.glob("*.parquet")))
    assert found is not None
    return found


def assert_judged_as_in_memory(files: NativeFiles, spans: pa.Table) -> None:
    report = check_files(files, POLICY, everything=RunBatch.empty, threads=1)
    assert report.table.to_pylist() == check(reconstruct(spans), POLICY).table.to_pylist()


def split_runs(files: NativeFiles) -> int:
    looks = POLICY.looks()
    assert looks is not None
    with store_of(files, threads=1) as store:
        return grouped(store, looks).split


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "DIGEST_ROWS", ROWS)


@pytest.mark.usefixtures("in_parts")
def test_in_the_order_in_which_spans_ended_no_run_comes_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "SPLIT", 1.0)
    spans = population(900, [], 0, 3)
    shift = np.array([int(run[-6:], 16) for run in spans["run_id"].to_pylist()]) * 1_000_000
    for name in ("start", "end"):
        field = spans.schema.field(name)
        moved = pa.array(spans[name].cast(pa.int64()).to_numpy() + shift).cast(field.type)
        spans = spans.set_column(spans.schema.get_field_index(name), field, moved)
    spans = spans.sort_by("end")
    assert len(spans) > ROWS
    files = files_of(spans, tmp_path)
    assert split_runs(files) == 0
    assert_judged_as_in_memory(files, spans)


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("few_enough", [0.01, 1.0])
def test_runs_whose_spans_lie_far_apart_are_judged_as_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few_enough: float
) -> None:
    """Either all rows are sorted after all, or what came apart is put together again."""
    monkeypatch.setattr(grouping, "SPLIT", few_enough)
    spans = population(900, [], 0, 3)
    spans = spans.take(np.random.default_rng(1).permutation(len(spans)))
    files = files_of(spans, tmp_path)
    assert (split_runs(files) > 0) is (few_enough == 1.0)
    assert_judged_as_in_memory(files, spans)


def test_when_too_many_rows_wait_they_are_taken_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gathering, "WAITING", 3)
    (found,) = gathered(batches([(1, 5, STEP), (2, 6, STEP), (1, 3, STEP), (2, 2, STEP)]))
    assert rows_of(found) == [(1, 3), (1, 5), (2, 2), (2, 6)]


def batches(*parts: list[tuple[int, int, int]]) -> Iterator[pa.RecordBatch]:
    for part in parts:
        run, start, role = zip(*part, strict=True)
        yield pa.record_batch(
            {
                "run": pa.array(run, pa.uint64()),
                "start": pa.array(start, pa.int64()),
                "role": pa.array(role, pa.uint8()),
            }
        )


def rows_of(batch: pa.RecordBatch) -> list[tuple[int, int]]:
    return list(zip(batch["run"].to_pylist(), batch["start"].to_pylist(), strict=True))


SPANS = st.tuples(
    st.integers(0, 6), st.integers(-(2**62), 2**62) | st.integers(0, 9), st.sampled_from([ROOT, 1])
)


@given(st.lists(st.lists(SPANS, min_size=1, max_size=30), max_size=4))
def test_every_row_comes_once_by_run_and_start(parts: list[list[tuple[int, int, int]]]) -> None:
    found = [rows_of(batch) for batch in gathered(batches(*parts))]
    assert sorted(row for rows in found for row in rows) == sorted(
        (run, start) for part in parts for run, start, _ in part
    )
    for rows in found:
        runs = list(dict.fromkeys(run for run, _ in rows))
        assert rows == sorted(rows, key=lambda row: (runs.index(row[0]), row[1]))
