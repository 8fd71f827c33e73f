"""A converted file is as undecided as its source: what could not be read goes with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.analyzer.engine.odd_populations import population, write

import trackway_analyzer as ta
from trackway.export.parquet import compact
from trackway_analyzer.cli.program import run

Write = Callable[..., Path]
RUN, OTHER = "a" * 32, "b" * 32
ORDER = ("lookup_order", {"order_id": "A-17"}, {"id": "A-17"})
TARGETS = ["o.parquet", "o.jsonl", "folder"]


@pytest.fixture(autouse=True)
def out(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(exist_ok=True)


@pytest.fixture
def lossy(otlp: Write) -> Path:
    traces = otlp({RUN: [ORDER], OTHER: [ORDER]}, name="in.jsonl")
    traces.write_text(traces.read_text() + '\n{"resourceSpans":[broken\n')
    return traces


@pytest.fixture
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policy") / "policy.yaml"
    path.write_text("version: 1\nrules:\n  - forbid: [delete_account]\n")
    return path


def convert(source: Path, target: Path) -> int:
    form = "parquet" if target.suffix == ".parquet" else "atif"
    return run(["convert", str(source), str(target), "--to", form])


def put_aside(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = ta.load(path).quarantined.to_pylist()
    return rows


@pytest.mark.parametrize("name", TARGETS)
def test_a_converted_file_is_as_undecided_as_its_source(
    name: str, lossy: Path, policy: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out" / name
    assert convert(lossy, target) == 0
    assert put_aside(target) == put_aside(lossy)
    assert [row["reason"] for row in put_aside(target)] == ["broken_line"]
    checks = [run(["check", str(path), "--policy", str(policy)]) for path in (lossy, target)]
    assert checks == [2, 2]


def test_each_file_of_a_folder_of_trajectories_is_undecided_alone(
    lossy: Path, tmp_path: Path
) -> None:
    convert(lossy, tmp_path / "out")
    one, _ = sorted((tmp_path / "out").iterdir())
    assert put_aside(one) == put_aside(lossy)


def test_a_trajectory_whose_steps_were_changed_keeps_what_could_not_be_read(
    lossy: Path, tmp_path: Path
) -> None:
    target = tmp_path / "o.jsonl"
    convert(lossy, target)
    documents = [json.loads(line) for line in target.read_text().splitlines()]
    documents[0]["steps"][0]["message"] = "[redacted]"
    target.write_text("\n".join(map(json.dumps, documents)))
    assert put_aside(target) == put_aside(lossy)


@pytest.mark.parametrize("name", TARGETS)
def test_what_could_not_be_read_survives_a_second_conversion(
    name: str, lossy: Path, tmp_path: Path
) -> None:
    convert(lossy, tmp_path / "first.parquet")
    convert(tmp_path / "first.parquet", tmp_path / "out" / name)
    assert put_aside(tmp_path / "out" / name) == put_aside(lossy)


def test_chosen_runs_of_a_lossy_source_are_undecided_too(lossy: Path, tmp_path: Path) -> None:
    assert run(["convert", f"{lossy}#{RUN}", str(tmp_path / "o.parquet")]) == 0
    assert put_aside(tmp_path / "o.parquet") == put_aside(lossy)


def test_strict_input_stops_at_what_could_not_be_read_before(lossy: Path, tmp_path: Path) -> None:
    convert(lossy, tmp_path / "o.parquet")
    with pytest.raises(ValueError, match="broken_line"):
        ta.load(tmp_path / "o.parquet", strict=True).batch  # noqa: B018


def test_compaction_keeps_what_could_not_be_read(lossy: Path, otlp: Write, tmp_path: Path) -> None:
    folder = tmp_path / "spans"
    folder.mkdir()
    convert(lossy, folder / "1.parquet")
    convert(otlp({"c" * 32: [ORDER]}, name="whole.json"), folder / "2.parquet")
    assert compact(folder).merged_files == 2
    assert put_aside(folder) == put_aside(lossy)


def test_a_large_converted_file_is_undecided_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trackway_analyzer.trajectories._LARGE", 100)
    source, target = tmp_path / "source", tmp_path / "o.parquet"
    source.mkdir()
    write(population(50, [], 0, 1), source)
    (source / "cut.jsonl").write_text('{"resourceSpans":[broken\n')
    assert run(["convert", str(source), str(target)]) == 0
    runs = ta.load(target)
    assert runs.large_files is not None
    (tmp_path / "policy.yaml").write_text("version: 1\nrules:\n  - forbid: [format_disk]\n")
    report = runs.check(ta.Policy.from_yaml(tmp_path / "policy.yaml"))
    assert (report.verdict, report.unread) == ("insufficient", 1)


def test_a_whole_source_leaves_nothing_to_carry(otlp: Write, tmp_path: Path) -> None:
    convert(otlp({RUN: [ORDER]}), tmp_path / "o.parquet")
    convert(otlp({RUN: [ORDER]}), tmp_path / "o.jsonl")
    assert b"trackway.unread" not in pq.read_metadata(tmp_path / "o.parquet").metadata
    assert "unread" not in json.loads((tmp_path / "o.jsonl").read_text())["extra"]["trackway"]


@pytest.mark.parametrize("rows", [b"{", b"[1]", b'[{"file":"a","reason":"?","detail":"b"}]'])
def test_a_footer_that_nobody_can_read_is_no_pass(
    rows: bytes, otlp: Write, tmp_path: Path, policy: Path
) -> None:
    convert(otlp({RUN: [ORDER]}), tmp_path / "o.parquet")
    table = pq.read_table(tmp_path / "o.parquet")
    table = table.replace_schema_metadata({b"trackway.unread": rows})
    pq.write_table(table, tmp_path / "o.parquet")
    report = ta.load(tmp_path / "o.parquet").check(ta.Policy.from_yaml(policy))
    assert (report.verdict, report.unread) == ("insufficient", 1)
