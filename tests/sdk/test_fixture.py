"""The pytest fixture of the package, as a user's test suite finds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import trackway

SUITE = """
import trackway

@trackway.tool
def lookup(order_id): return order_id

def test_one(trackway_spans):
    lookup("A1")
    span = trackway_spans.tool("lookup")
    assert trackway_spans.value(span, "gen_ai.tool.call.arguments") == {"order_id": "A1"}

def test_two(trackway_spans):
    assert trackway_spans.all == []
    trackway_spans.configure(capture_content=False)
    lookup("A1")
    assert "gen_ai.tool.call.arguments" not in trackway_spans.tool("lookup").attributes

def test_three():
    lookup("A1")
"""


def test_a_suite_gets_spans_in_memory(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(SUITE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "trackway.testing.fixtures"]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout
    assert list(tmp_path.rglob("*.parquet")) == []


def test_a_configure_amid_the_test_is_named_where_no_span_is_found(recorded: Any) -> None:
    with pytest.raises(AssertionError) as plain:
        recorded.one("run")
    assert "configure" not in str(plain.value)
    trackway.configure(export=InMemorySpanExporter())
    with trackway.run():
        pass
    with pytest.raises(AssertionError, match="give its arguments to the configure\\(\\) of this"):
        recorded.one("run")
