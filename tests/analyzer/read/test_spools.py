"""What a killed recorder left in its spool is read; what a running one holds is its own matter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import trackway_analyzer as ta
from trackway.export.parquet import ParquetSpanExporter
from trackway.export.spool import Segment, claim_abandoned
from trackway_analyzer.rules import Count

PROGRAM = """
import sys, trackway

@trackway.tool(kind="mutate")
def refund(order): return {"status": "succeeded"}

@trackway.agent
def support(times):
    for _ in range(times):
        refund("A9128")
    return "done"
"""
KILLED = (
    PROGRAM
    + """
import os, signal
from trackway.export.parquet import ParquetSpanExporter

class Killed(ParquetSpanExporter):
    left = 2 + 3

    def export(self, spans):
        result = super().export(spans)
        self.left -= len(spans)
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

trackway.configure("refunds", export=Killed(sys.argv[1]))
support(1)
assert trackway.flush(30)
support(2)
trackway.flush(30)
"""
)
KEPT = (
    PROGRAM
    + """
trackway.configure("refunds", export="otlp+http://127.0.0.1:9")
support(1)
support(2)
trackway.shutdown()
"""
)
POLICY = ta.Policy(Count("refund", max=1))


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A folder with one run in a file and one in the spool of a process that was killed."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    return tmp_path


def spool_of(folder: Path) -> Path:
    (path,) = (folder / ".spool").glob("*.spool")
    return path


def test_a_run_that_only_the_spool_has_is_judged(left: Path) -> None:
    runs = ta.load(left)
    assert [len(run.steps) for run in runs] == [1, 2]
    assert not len(runs.quarantine())
    assert runs.check(POLICY).verdict == "violation"


def test_reading_leaves_the_spool_to_the_recorder(left: Path) -> None:
    assert len(ta.load(left)) == 2
    exporter = ParquetSpanExporter(left)
    assert exporter.force_flush(30_000)
    exporter.shutdown()
    assert not list((left / ".spool").glob("*.spool"))
    assert [len(run.steps) for run in ta.load(left)] == [1, 2]


def test_a_folder_with_nothing_but_a_spool_is_read(left: Path) -> None:
    for path in left.rglob("*.parquet"):
        path.unlink()
    assert [len(run.steps) for run in ta.load(left)] == [2]


def test_what_a_running_program_holds_is_not_read(left: Path) -> None:
    (segment,) = claim_abandoned(left / ".spool")
    assert [len(run.steps) for run in ta.load(left)] == [1]
    segment.close()
    assert [len(run.steps) for run in ta.load(left)] == [1, 2]


def test_a_frame_that_was_being_written_is_passed_over(left: Path) -> None:
    with spool_of(left).open("ab") as file:
        file.write(b"\x00\x01\x00\x00" + b"\x00" * 4 + b"the rest was never written")
    runs = ta.load(left)
    assert [len(run.steps) for run in runs] == [1, 2]
    assert not len(runs.quarantine())


@pytest.mark.parametrize("spoilt", ["frame", "header", "set aside"])
def test_a_damaged_spool_may_have_held_what_a_run_did(left: Path, spoilt: str) -> None:
    path = spool_of(left)
    content = bytearray(path.read_bytes())
    if spoilt == "header":
        content[8:16] = (len(content) + 1).to_bytes(8, "little")
    else:
        content[-1] ^= 1
    path.write_bytes(content)
    if spoilt == "set aside":
        path.rename(path.with_name(path.name + ".unreadable"))
    runs = ta.load(left)
    assert [row["count"] for row in runs.quarantined.to_pylist()] == [1]
    assert runs.check(POLICY).verdict == "insufficient"


def test_what_is_done_with_is_in_a_file(left: Path) -> None:
    (segment,) = claim_abandoned(left / ".spool")
    *_, (end, _) = segment.unread()
    segment.mark_done(end)
    segment.close()
    runs = ta.load(left)
    assert [len(run.steps) for run in runs] == [1]
    assert not len(runs.quarantine())


def test_a_frame_without_spans_is_put_aside(tmp_path: Path) -> None:
    segment = Segment.create(tmp_path / ".spool")
    segment.append(b"\xff\xff\xff\xff no stream of Arrow")
    segment.close()
    (row,) = ta.load(tmp_path).quarantined.to_pylist()
    assert row["reason"] == "broken_span"
    assert row["offset"] == 16


def test_a_spool_for_a_receiver_is_read_where_it_is_named(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", KEPT],
        env={**os.environ, "TRACKWAY_SPOOL_DIR": str(tmp_path)},
        stderr=subprocess.DEVNULL,
        check=True,
    )
    assert [len(run.steps) for run in ta.load(list(tmp_path.rglob("*.spool")))] == [1, 2]
