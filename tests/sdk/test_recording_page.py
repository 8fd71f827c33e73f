"""The page on recording: every block runs, in order."""

from __future__ import annotations

from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

import trackway

PAGE = Path(__file__).parents[2] / "docs" / "recording.md"


def test_every_block_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = Sybil(parsers=[PythonCodeBlockParser()]).parse(PAGE)
    blocks = list(document.examples())
    assert len(blocks) > 10
    try:
        for block in blocks:
            block.evaluate()
    finally:
        assert trackway.shutdown(20)
    assert list(Path("traces").rglob("*.parquet"))
    assert trackway.capture_errors().get("redaction hook") is None
