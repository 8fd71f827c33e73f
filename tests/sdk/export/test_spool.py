"""Frames survive their process; what is torn is left out; nobody recovers what is alive."""

from __future__ import annotations

import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackway.export.spool import Segment, claim_abandoned


def frames_of(segment: Segment) -> list[bytes]:
    return [payload for _, payload in segment.unread()]


def abandoned(directory: Path) -> list[list[bytes]]:
    found = []
    for segment in claim_abandoned(directory):
        found.append(frames_of(segment))
        segment.close()
    return found


def test_frames_come_back_in_order(tmp_path: Path) -> None:
    segment = Segment.create(tmp_path)
    segment.append(b"one")
    segment.append(b"")
    segment.append(memoryview(b"three"))
    assert frames_of(segment) == [b"one", b"", b"three"]


def test_a_living_segment_is_nobody_elses(tmp_path: Path) -> None:
    segment = Segment.create(tmp_path)
    segment.append(b"mine")
    assert abandoned(tmp_path) == []
    segment.close()
    assert abandoned(tmp_path) == [[b"mine"]]


def test_a_claimed_segment_is_claimed_once(tmp_path: Path) -> None:
    segment = Segment.create(tmp_path)
    segment.close()
    (claimed,) = claim_abandoned(tmp_path)
    assert list(claim_abandoned(tmp_path)) == []
    claimed.discard()
    assert list(tmp_path.iterdir()) == []


def test_segments_of_killed_processes_come_oldest_first(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path;"
        "from trackway.export.spool import Segment;"
        "segments = [Segment.create(Path(sys.argv[1]), born=born) for born in (20, 10)];"
        "[segment.append(str(n).encode()) for n, segment in enumerate(segments)];"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False, timeout=30)
    assert abandoned(tmp_path) == [[b"1"], [b"0"]]


@given(
    payloads=st.lists(st.binary(max_size=40), min_size=1, max_size=5),
    damage=st.integers(min_value=1, max_value=60),
)
def test_a_torn_end_costs_the_torn_frames_alone(
    tmp_path_factory: pytest.TempPathFactory, payloads: list[bytes], damage: int
) -> None:
    directory = tmp_path_factory.mktemp("spool")
    segment = Segment.create(directory)
    ends = []
    for payload in payloads:
        segment.append(payload)
        ends.append(segment.size)
    left = max(16, segment.size - damage)
    path = segment.path
    segment.close()
    with path.open("r+b") as file:
        file.truncate(left)
    whole = [payload for payload, end in zip(payloads, ends, strict=True) if end <= left]
    assert abandoned(directory) == [whole]


def test_a_damaged_frame_ends_the_reading(tmp_path: Path) -> None:
    segment = Segment.create(tmp_path)
    segment.append(b"good")
    position = segment.size
    segment.append(b"damaged")
    segment.close()
    with segment.path.open("r+b") as file:
        file.seek(position + 8)
        file.write(b"D")
    assert abandoned(tmp_path) == [[b"good"]]


def test_what_is_done_is_not_read_again(tmp_path: Path) -> None:
    segment = Segment.create(tmp_path)
    segment.append(b"sent")
    segment.append(b"not sent")
    (sent, _), _ = segment.unread()
    segment.mark_done(sent)
    segment.append(b"new")
    assert frames_of(segment) == [b"not sent", b"new"]
    segment.close()
    assert abandoned(tmp_path) == [[b"not sent", b"new"]]


def test_a_file_that_is_no_spool_yields_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.spool").write_bytes(b"something else altogether")
    (tmp_path / "y.spool").write_bytes(b"")
    assert abandoned(tmp_path) == [[], []]


def test_a_frame_that_does_not_fit_leaves_the_segment_as_it_was(tmp_path: Path) -> None:
    segment = Segment.create(tmp_path)
    segment.append(b"fits")
    size = segment.path.stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, before[1]))
    try:
        with pytest.raises(OSError):
            segment.append(b"x" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert segment.path.stat().st_size == size
    segment.append(b"fits too")
    assert frames_of(segment) == [b"fits", b"fits too"]


def test_spooled_content_is_its_owners_alone(tmp_path: Path) -> None:
    segment = Segment.create(tmp_path / "spool")
    assert stat.S_IMODE(segment.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(segment.path.parent.stat().st_mode) == 0o700
