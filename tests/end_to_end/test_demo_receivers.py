"""The demo's spans, through real receivers, load as the demo's Parquet loads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import trackway_analyzer as ta
from end_to_end.otlp_receiver import Receiver
from end_to_end.test_receivers import free_port, rotel_to, target_of
from trackway.export.otlp import OtlpSpanExporter

REPOSITORY = Path(__file__).parents[2]
RUNS = 5
PROGRAM = """
import sys
from pathlib import Path
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from examples.support_agent.__main__ import record
from trackway.export import processors_for

provider = TracerProvider(resource=Resource({"service.name": "support-agent"}))
(otlp,) = processors_for(sys.argv[2])
provider.add_span_processor(otlp)
trace.set_tracer_provider(provider)
record(Path(sys.argv[1]))
print(otlp.force_flush())
"""
# Trace flags do not travel: the exporters of OpenTelemetry for Python send the remote bits alone.
NOT_SENT = ["flags"]


def run_demo(folder: Path, target: str) -> bool:
    """Record the demo as Parquet and to the target; True if the target took all of it."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    program = [sys.executable, "-c", PROGRAM, str(folder), target]
    run = subprocess.run(
        program, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    return run.stdout.split()[-1] == "True"


def assert_loads_alike(rows: Path, stored: Path) -> None:
    one, other = ta.load(rows), ta.load(stored)
    for found, expected, key in (
        (one.spans(), other.spans(), "span_id"),
        (one.runs(), other.runs(), "run_id"),
    ):
        pd.testing.assert_frame_equal(arranged(found, key), arranged(expected, key))
    assert len(one) == RUNS
    assert sorted(run.tools for run in one) == sorted(run.tools for run in other)


def arranged(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    unsent = [name for name in NOT_SENT if name in frame]
    return frame.drop(columns=unsent).sort_values(key).reset_index(drop=True)


@pytest.fixture(autouse=True)
def _spools_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKWAY_SPOOL_DIR", str(tmp_path / "spools"))


def test_over_grpc(tmp_path: Path) -> None:
    with Receiver(tmp_path / "stored") as receiver:
        assert run_demo(tmp_path / "rows", target_of(receiver, "grpc"))
    assert_loads_alike(tmp_path / "rows", tmp_path / "stored")


def test_over_http_and_a_collector(tmp_path: Path) -> None:
    with Receiver(tmp_path / "stored") as receiver, rotel_to(receiver, tmp_path) as ports:
        assert run_demo(tmp_path / "rows", f"otlp+http://127.0.0.1:{ports['http']}")
        receiver.wait_for(len(ta.load(tmp_path / "rows").spans()))
    assert_loads_alike(tmp_path / "rows", tmp_path / "stored")


def test_after_the_collector_was_away(tmp_path: Path) -> None:
    ports = {"grpc_port": free_port(), "http_port": free_port()}
    target = f"otlp+grpc://127.0.0.1:{ports['grpc_port']}"
    assert not run_demo(tmp_path / "rows", target)
    with Receiver(tmp_path / "stored", **ports):
        exporter = OtlpSpanExporter(target)
        assert exporter.force_flush()
        exporter.shutdown()
    assert_loads_alike(tmp_path / "rows", tmp_path / "stored")
