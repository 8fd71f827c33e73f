"""The row that helps is told of what could not be read, and so is a missing folder."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from trackway_analyzer.cli.program import run

GOOD = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "done"}]


Capsys = pytest.CaptureFixture[str]


def failed(capsys: Capsys, *arguments: object) -> str:
    """Run a command that fails and return what it says."""
    assert run([str(argument) for argument in arguments]) == 4
    return capsys.readouterr().err


def archive(path: Path, mode: Any) -> Path:
    with tarfile.open(path, mode) as tape:
        content = json.dumps(GOOD).encode()
        member = tarfile.TarInfo("traces.json")
        member.size = len(content)
        tape.addfile(member, io.BytesIO(content))
    return path


def test_a_form_with_a_name_is_told_before_what_is_no_trace(capsys: Capsys, tmp_path: Path) -> None:
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s", "tools": []},
        {"type": "assistant", "session_id": "s", "message": {"role": "assistant", "content": []}},
    ]
    path = tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    err = failed(capsys, "steps", path)
    assert "give the session file below ~/.claude/projects" in err


@pytest.mark.parametrize(("name", "mode"), [("t.tar.gz", "w:gz"), ("t.json", "w")])
def test_an_archive_is_to_be_unpacked(capsys: Capsys, tmp_path: Path, name: str, mode: str) -> None:
    path = archive(tmp_path / name, mode)
    err = failed(capsys, "steps", path)
    assert "unreadable: a tar archive: unpack it, and give its folder" in err
    assert ta.load(path).quarantined["reason"].to_pylist() == ["unreadable"]


@pytest.mark.parametrize("more", [[], ["--to", "atif"]])
def test_a_folder_that_is_missing_is_named(capsys: Capsys, tmp_path: Path, more: list[str]) -> None:
    path = tmp_path / "good.json"
    path.write_text(json.dumps(GOOD))
    target = tmp_path / "none" / ("x.jsonl" if more else "x.parquet")
    err = failed(capsys, "convert", path, target, *more)
    assert f"no folder {tmp_path / 'none'}: make it, or choose another place" in err
