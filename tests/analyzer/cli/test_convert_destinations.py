"""Where `convert` writes, and where not: never over its source, never under a wrong name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from trackway_analyzer.cli.program import run

Write = Callable[..., Path]
RUN = "a" * 32
ORDER = ("lookup_order", {"order_id": "A-17"}, {"id": "A-17"})


@pytest.fixture
def source(otlp: Write) -> Path:
    return otlp({RUN: [ORDER]}, name="traces.jsonl")


def convert(*arguments: object) -> int:
    return run(["convert", *map(str, arguments)])


@pytest.mark.parametrize("form", ["parquet", "atif"])
@pytest.mark.parametrize("named", ["traces.jsonl", "link.jsonl", "./sub/../traces.jsonl"])
def test_the_source_is_never_replaced(
    form: str, named: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (source.parent / "sub").mkdir()
    (source.parent / "link.jsonl").symlink_to(source)
    before = source.read_bytes()
    assert convert(source, source.parent / named, "--to", form) == 4
    assert convert(f"{source}#{RUN}", source.parent / named, "--to", form) == 4
    assert source.read_bytes() == before


def test_a_parquet_source_is_never_replaced(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces.parquet"
    assert convert(source, target) == 0
    before = target.read_bytes()
    assert convert(target, target) == 4
    assert convert(target, tmp_path) == 4
    assert target.read_bytes() == before


def test_a_file_that_a_pattern_finds_is_never_replaced(source: Path, tmp_path: Path) -> None:
    assert convert(source, tmp_path / "traces.parquet") == 0
    before = (tmp_path / "traces.parquet").read_bytes()
    assert convert(tmp_path / "traces.*", tmp_path / "traces.parquet") == 4
    assert (tmp_path / "traces.parquet").read_bytes() == before


@pytest.mark.parametrize("form", ["parquet", "atif"])
def test_nothing_is_written_into_the_source(form: str, source: Path) -> None:
    assert convert(source.parent, source.parent / "out", "--to", form) == 4
    assert [path.name for path in source.parent.iterdir()] == [source.name]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("o.json", "its name says .json: name a file that ends in .parquet, or give --to atif"),
        ("o.JSONL", "its name says .JSONL"),
        ("o.jsonl.gz", "its name says .gz"),
        ("new/", "is no folder that exists: make it, or name a file"),
    ],
)
def test_a_name_that_says_something_else_is_refused(
    name: str, words: str, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert convert(source, f"{tmp_path}/{name}") == 4
    assert words in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


@pytest.mark.parametrize("form", ["parquet", "atif"])
def test_a_dash_is_no_file(
    form: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert convert(source, "-", "--to", form) == 4
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


@pytest.mark.parametrize("name", ["o.parquet", "o.PARQUET", "o", "o.v1"])
def test_other_names_are_taken(name: str, source: Path, tmp_path: Path) -> None:
    assert convert(source, tmp_path / name) == 0
    assert (tmp_path / name).read_bytes().startswith(b"PAR1")
