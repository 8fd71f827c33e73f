"""The pytest fixture of the package, as a user's test suite finds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import trackway
from trackway.testing import MemorySpans

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


def run_suite(tmp_path: Path, suite: str) -> str:
    (tmp_path / "test_mine.py").write_text(suite)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "trackway.testing.fixtures"]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_suite_gets_spans_in_memory(tmp_path: Path) -> None:
    assert "3 passed" in run_suite(tmp_path, SUITE)
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


APP = """
import trackway
trackway.configure("shop", export="traces", version="7", sample=0.0, keep_failed=False)

@trackway.tool(kind="mutate")
def pay(order): return {"ok": True}

@trackway.agent
def agent(question): return pay(question)["ok"]
"""
IMPORTING = """
def test_the_first(trackway_spans):
    import app
    app.agent("A")
    assert trackway_spans.tool("pay").attributes["trackway.agent.version"] == "7"

def test_a_later_one_is_like_it(trackway_spans):
    test_the_first(trackway_spans)

def test_a_target_given_in_the_test_gets_nothing(trackway_spans):
    import app, trackway
    trackway.configure("other", export="elsewhere")
    app.agent("A")
    assert trackway_spans.tool("pay")
    trackway.shutdown()  # as at the end of an application's life, and another one begins
    trackway.configure("other", export="elsewhere", version="8")
    app.agent("A")
    assert len(trackway_spans.named("execute_tool pay")) == 2
    trackway_spans.configure(capture_content=False)
    app.agent("A")
    assert "gen_ai.tool.call.arguments" not in trackway_spans.tool("pay").attributes

def test_afterwards_the_application_records_as_it_said_last():
    import app, trackway
    app.agent("A")
    assert trackway.flush()

def test_and_so_it_does_after_a_test_that_did_not_configure(trackway_spans):
    import app
    app.agent("A")
    assert trackway_spans.tool("pay").attributes["trackway.agent.version"] == "8"

def test_each_time():
    test_afterwards_the_application_records_as_it_said_last()
"""


def test_an_application_that_configures_itself_in_a_test_is_held_and_put_back(
    tmp_path: Path,
) -> None:
    (tmp_path / "app.py").write_text(APP)
    assert "6 passed" in run_suite(tmp_path, IMPORTING)
    ta = pytest.importorskip("trackway_analyzer", reason="the analyzer is a package of its own")
    assert list(tmp_path.glob("traces/**/*.parquet")) == []
    assert {file.parent.name for file in tmp_path.rglob("*.parquet")} == {"service=other"}
    assert len(ta.load(tmp_path / "elsewhere")) == 2


def test_a_target_that_was_there_gets_nothing_of_a_test_and_all_that_comes_after(
    recorded: Any,
) -> None:
    before = InMemorySpanExporter()
    trackway.configure(export=SimpleSpanProcessor(before), sample=0.0)
    work = trackway.tool("work")(lambda: 1 / 0)

    def fails() -> None:
        with pytest.raises(ZeroDivisionError):
            work()

    with MemorySpans().held() as spans:
        fails()
        assert len(spans.named("execute_tool work")) == 1
    fails()
    assert len(spans.all) == 1
    assert len(before.get_finished_spans()) == 1
    with trackway.run(), trackway.step("other"):
        pass
    assert len(before.get_finished_spans()) == 1, "the sampling is that of before, too"


def test_after_a_test_with_a_provider_of_its_own_the_earlier_one_records(recorded: Any) -> None:
    work = trackway.tool("work")(lambda: None)
    with MemorySpans().held() as spans:
        spans.configure(tracer_provider=TracerProvider())
        work()
        assert len(spans.all) == 1
    work()
    assert len(spans.all) == 1
    assert len(recorded.all) == 1


def test_where_nothing_recorded_nothing_does_afterwards(tmp_path: Path) -> None:
    suite = (
        SUITE
        + """
def test_four(caplog):
    lookup("A1")
    assert trackway.capture_errors() == {}
    assert trackway.flush()
    assert caplog.records == []
"""
    )
    assert "4 passed" in run_suite(tmp_path, suite)
