"""What an earlier process left in the spool, readable or not, costs the next one nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from end_to_end.otlp_receiver import Receiver
from sdk.export.refunds import rows_below, spans_of
from trackway.capture import capture_errors
from trackway.export.leftovers import UNREADABLE
from trackway.export.otlp import OtlpSpanExporter
from trackway.export.otlp.wire import encode
from trackway.export.parquet import ParquetSpanExporter
from trackway.export.parquet.store import LocalStore
from trackway.export.parquet.table import batch_of, frame_of
from trackway.export.spool import Segment

GONE, ASIDE = "gone", "set aside"
Frames = Callable[[], bytes]


def arrow_of(run: str) -> bytes:
    return b"".join(frame_of(batch_of(spans_of([run]))[0]))


def otlp_of(run: str) -> bytes:
    return encode(spans_of([run]))


def other_arrow() -> bytes:
    return b"".join(frame_of(pa.record_batch({"colour": ["red"]})))


def left_behind(folder: Path, *frames: bytes) -> Path:
    segment = Segment.create(folder)
    for frame in frames:
        segment.append(frame)
    segment.close()
    return segment.path


def cut(path: Path, bytes_off: int) -> None:
    path.write_bytes(path.read_bytes()[:-bytes_off])


def spoil(path: Path) -> None:
    """Change the last byte."""
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def as_file(content: bytes) -> Callable[[Path, bytes], None]:
    def leave(folder: Path, _good: bytes) -> None:
        folder.mkdir()
        (folder / "1-1-a.spool").write_bytes(content)

    return leave


def cut_short(folder: Path, good: bytes) -> None:
    cut(left_behind(folder, good, good), 5)


def head_alone(folder: Path, good: bytes) -> None:
    path = left_behind(folder, good)
    path.write_bytes(path.read_bytes() + b"\x10\0")


def damaged(folder: Path, good: bytes) -> None:
    spoil(left_behind(folder, good, good))


def foreign_frame(folder: Path, good: bytes) -> None:
    left_behind(folder, b"\xff\xffwritten by somebody else", good)


KINDS = pytest.mark.parametrize(
    ("leave", "good_frames", "fate"),
    [
        (as_file(b""), 0, GONE),
        (as_file(b"TWSP"), 0, GONE),
        (lambda folder, _: left_behind(folder), 0, GONE),
        (as_file(b"something else"), 0, ASIDE),
        (as_file(bytes(4096)), 0, ASIDE),
        (as_file(b"TWSPOOL1" + bytes([255] * 100)), 0, ASIDE),
        (cut_short, 1, GONE),
        (head_alone, 1, GONE),
        (damaged, 1, ASIDE),
        (foreign_frame, 1, ASIDE),
    ],
    ids=[
        "empty",
        "cut header",
        "no frames",
        "foreign",
        "zeros",
        "wrong header",
        "cut",
        "head",
        "damaged",
        "foreign frame",
    ],
)


def assert_fate(spool: Path, fate: str, errors_before: int) -> None:
    names = [path.name for path in spool.iterdir()]
    assert [name.endswith(".spool.unreadable") for name in names] == [True] * (fate is ASIDE)
    assert capture_errors().get(UNREADABLE, 0) - errors_before == (fate is ASIDE)


@KINDS
def test_parquet_recovers_what_can_be_read_and_keeps_the_new_batch(
    tmp_path: Path, leave: Any, good_frames: int, fate: str
) -> None:
    before = capture_errors().get(UNREADABLE, 0)
    leave(tmp_path / "spool", arrow_of("left"))
    exporter = ParquetSpanExporter(tmp_path / "traces", spool=tmp_path / "spool")
    exporter.export(spans_of(["new"]))
    assert exporter.force_flush()
    runs = sorted(row["run_id"] for row in rows_below(tmp_path / "traces"))
    assert runs == ["left"] * 2 * good_frames + ["new"] * 2
    assert (exporter.counts.delivered, exporter.counts.recovered) == (2, 2 * good_frames)
    assert_fate(tmp_path / "spool", fate, before)


@KINDS
def test_otlp_sends_what_can_be_read_and_the_new_batch(
    tmp_path: Path, leave: Any, good_frames: int, fate: str
) -> None:
    before = capture_errors().get(UNREADABLE, 0)
    leave(tmp_path / "spool", otlp_of("left"))
    with Receiver(tmp_path / "stored") as receiver:
        target = f"otlp+http://127.0.0.1:{receiver.http_port}"
        exporter = OtlpSpanExporter(target, spool=tmp_path / "spool")
        exporter.export(spans_of(["new"]))
        assert exporter.force_flush()
        exporter.shutdown()
        assert len(receiver.spans()) == 2 + 2 * good_frames
    assert (exporter.counts.delivered, exporter.counts.recovered) == (2, 2 * good_frames)
    assert_fate(tmp_path / "spool", fate, before)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (other_arrow, "a frame has other columns than spans: colour"),
        (
            lambda: b"".join(frame_of(batch_of(spans_of())[0].drop_columns(["start"]))),
            "a frame has other columns than spans: ",
        ),
    ],
    ids=["other", "without start"],
)
def test_rows_that_are_no_spans_are_set_aside_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, frame: Frames, said: str
) -> None:
    path = left_behind(tmp_path / ".spool", arrow_of("left"), frame())
    assert ParquetSpanExporter(tmp_path).force_flush()
    assert [row["run_id"] for row in rows_below(tmp_path)] == ["left"] * 2
    (message,) = caplog.messages
    assert message.startswith(f"trackway cannot read all of the spool file {path}: {said}")
    assert message.endswith(
        f"what could be read is recovered, the file is kept as {path.name}.unreadable"
    )


def test_a_batch_without_rows_is_no_loss(tmp_path: Path) -> None:
    empty = b"".join(frame_of(batch_of(spans_of())[0].slice(0, 0)))
    left_behind(tmp_path / ".spool", empty)
    assert ParquetSpanExporter(tmp_path).force_flush()
    assert list((tmp_path / ".spool").iterdir()) == []


def test_a_batch_that_a_kill_cut_short_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = left_behind(tmp_path / ".spool", arrow_of("left"), arrow_of("killed"))
    cut(path, 5)
    assert ParquetSpanExporter(tmp_path).force_flush()
    assert caplog.messages == [
        f"trackway: the process that wrote {path} was killed amid a batch; "
        "the spans of that batch are lost, the others are recovered"
    ]


def test_what_stands_in_the_way_of_a_spool_file_is_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / ".spool" / "0.spool").mkdir(parents=True)
    left_behind(tmp_path / ".spool", arrow_of("left"))
    assert ParquetSpanExporter(tmp_path).force_flush()
    assert len(rows_below(tmp_path)) == 2
    assert "cannot open the spool file" in caplog.text


class Away(Exception):
    """What the library of some store raises: no `OSError`."""


def test_a_recovery_that_fails_costs_no_batch_and_is_not_tried_at_every_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = left_behind(tmp_path / ".spool", arrow_of("left"))
    write, tries = LocalStore.write, []

    def refuse_the_left_one(store: LocalStore, name: str, content: Any) -> None:
        if path.stem in name:
            tries.append(name)
            raise Away
        write(store, name, content)

    monkeypatch.setattr(LocalStore, "write", refuse_the_left_one)
    exporter = ParquetSpanExporter(tmp_path)
    for run in "abc":
        exporter.export(spans_of([run]))
        assert exporter.force_flush()
    assert (exporter.counts.delivered, exporter.counts.failed, len(tries)) == (6, 0, 1)
    monkeypatch.undo()
    exporter._recover_at = 0.0  # a minute later
    exporter.poll()
    assert exporter.counts.recovered == 2
    assert list((tmp_path / ".spool").iterdir()) == []


def test_a_store_that_raises_what_it_likes_keeps_spans_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_store: LocalStore, _name: str, _content: Any) -> None:
        raise Away

    monkeypatch.setattr(LocalStore, "write", away)
    exporter = ParquetSpanExporter(tmp_path, rotate_rows=1)
    exporter.export(spans_of())
    assert not exporter.force_flush()
    assert (exporter.counts.delivered, exporter.counts.failed) == (0, 0)
    monkeypatch.undo()
    assert exporter.force_flush()
    assert exporter.counts.delivered == 2


def test_rows_of_which_no_file_can_be_made_hold_up_no_others(tmp_path: Path) -> None:
    exporter = ParquetSpanExporter(tmp_path)
    exporter.export(spans_of(["bad"]))
    assert exporter._open is not None
    (batch,) = exporter._open.batches
    exporter._open.batches = [batch.drop_columns(["start"])]
    exporter._close_open()
    exporter.export(spans_of(["good"]))
    assert not exporter.force_flush()
    assert exporter.force_flush()
    assert [row["run_id"] for row in rows_below(tmp_path)] == ["good"] * 2
    assert (exporter.counts.delivered, exporter.counts.failed) == (2, 2)
    (aside,) = (tmp_path / ".spool").iterdir()
    assert aside.name.endswith(".unreadable")
