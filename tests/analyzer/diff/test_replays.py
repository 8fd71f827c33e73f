"""One run, replayed through two SDKs and recorded in two dialects, is one run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import trackway_analyzer as ta

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        "TRACKWAY_CORPUS" not in os.environ, reason="TRACKWAY_CORPUS names no folder of traces"
    ),
]


def test_two_dialects_of_one_run_differ_in_nothing_that_both_record() -> None:
    folder = Path(os.environ["TRACKWAY_CORPUS"]) / "public" / "replay-taubench-6-dialects"
    one, other = (
        {run.session_id: run for run in ta.load(folder / dialect, by="session")}
        for dialect in ("openinference", "otel-genai")
    )
    assert len(one.keys() & other.keys()) == 100
    for session, run in one.items():
        found = ta.diff_trajectories(run, other[session])
        assert (found.failures, found.warnings) == ((), ()), str(found)
        assert all("not recorded in the reference" in text for text in found.insufficient)
