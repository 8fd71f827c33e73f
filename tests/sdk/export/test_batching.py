"""The agent is never held up, and what is said about delivery is true."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from trackway.capture import capture_errors
from trackway.capture.errors import _COUNTS
from trackway.export import BatchingProcessor, ExportCounts
from trackway.export.losses import LOST
from trackway.pipeline import Pipeline


class Exporter(SpanExporter):
    """Keeps what it gets; waits at a gate when that is closed."""

    def __init__(self, result: SpanExportResult = SpanExportResult.SUCCESS) -> None:
        self.names: list[str] = []
        self.result = result
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.stopped = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.entered.set()
        self.gate.wait(20)
        self.names += [span.name for span in spans]
        return self.result

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True

    def shutdown(self) -> None:
        self.stopped = True


@pytest.fixture
def exporter() -> Iterator[Exporter]:
    exporter = Exporter()
    yield exporter
    exporter.gate.set()


def record(processor: BatchingProcessor, *names: str) -> None:
    provider = TracerProvider(resource=Resource({}), shutdown_on_exit=False)
    provider.add_span_processor(processor)
    for name in names:
        provider.get_tracer("lib").start_span(name).end()


FULL = (
    "trackway: Exporter is slower than spans end; the queue of 2 spans is full, and spans are "
    "dropped until there is room again; trackway.capture_errors() counts them under "
    "'export: spans lost'"
)


def close_gate(processor: BatchingProcessor, exporter: Exporter) -> None:
    """Let the worker hang in an export, as in a slow write."""
    exporter.gate.clear()
    record(processor, "in flight")
    assert exporter.entered.wait(20)


def test_flush_delivers_all_that_has_ended_in_order(exporter: Exporter) -> None:
    processor = BatchingProcessor(exporter, batch_size=7)
    names = [str(n) for n in range(100)]
    record(processor, *names)
    assert processor.force_flush()
    assert exporter.names == names
    assert (processor.counts.ended, processor.counts.delivered) == (100, 100)


def test_spans_arrive_without_a_flush(exporter: Exporter) -> None:
    processor = BatchingProcessor(exporter, delay=0.001)
    record(processor, "alone")
    assert exporter.entered.wait(20)
    processor.shutdown()
    assert exporter.names == ["alone"]


def test_unsampled_spans_are_left_out(exporter: Exporter) -> None:
    processor = BatchingProcessor(exporter)
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    provider.add_span_processor(processor)
    provider.get_tracer("lib").start_span("dropped").end()
    assert processor.force_flush()
    assert exporter.names == []


def test_a_full_queue_drops_and_counts_and_flush_says_so_once(exporter: Exporter) -> None:
    processor = BatchingProcessor(exporter, max_queue=10, batch_size=10, max_block=0.0)
    close_gate(processor, exporter)
    record(processor, *(str(n) for n in range(15)))
    assert (processor.counts.dropped, processor.counts.ended) == (5, 16)
    exporter.gate.set()
    assert not processor.force_flush()
    assert exporter.names == ["in flight", *(str(n) for n in range(10))]
    assert processor.force_flush()


def test_a_short_jam_loses_nothing(exporter: Exporter) -> None:
    processor = BatchingProcessor(exporter, max_queue=10, batch_size=10, max_block=20.0)
    close_gate(processor, exporter)
    threading.Timer(0.01, exporter.gate.set).start()
    record(processor, *(str(n) for n in range(15)))
    assert processor.force_flush()
    assert processor.counts.dropped == 0


def test_a_jam_that_has_gone_is_forgotten(exporter: Exporter) -> None:
    processor = BatchingProcessor(exporter, max_queue=10, batch_size=10, max_block=0.0)
    close_gate(processor, exporter)
    record(processor, *(str(n) for n in range(11)))
    assert processor.counts.dropped == 1
    exporter.gate.set()
    processor.force_flush()
    exporter.entered.clear()
    processor._max_block = 20.0
    close_gate(processor, exporter)
    threading.Timer(0.01, exporter.gate.set).start()
    record(processor, *(str(n) for n in range(15)))
    assert processor.force_flush()
    assert processor.counts.dropped == 1


def test_flush_returns_at_its_timeout(exporter: Exporter) -> None:
    processor = BatchingProcessor(exporter)
    close_gate(processor, exporter)
    assert not processor.force_flush(timeout_millis=1)


def test_shutdown_returns_at_its_timeout(exporter: Exporter) -> None:
    processor = BatchingProcessor(exporter)
    close_gate(processor, exporter)
    processor.shutdown(timeout_millis=1)
    assert not exporter.stopped


class WithoutFlush(SpanExporter):
    """Leaves the flush to the base class, which returns None."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


def test_an_exporter_without_a_flush_of_its_own_delivers() -> None:
    processor = BatchingProcessor(WithoutFlush())
    record(processor, "a")
    assert processor.force_flush()


def test_a_flush_that_raises_is_no_delivery(
    exporter: Exporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raising(timeout_millis: int = 30_000) -> bool:
        raise ConnectionError("refused")

    monkeypatch.setattr(exporter, "force_flush", raising)
    processor = BatchingProcessor(exporter)
    record(processor, "a")
    assert not processor.force_flush()


@pytest.mark.parametrize("how", ["says so", "raises"])
def test_flush_is_false_when_an_export_failed(exporter: Exporter, how: str) -> None:
    exporter.result = SpanExportResult.FAILURE
    if how == "raises":
        exporter.export = lambda spans: 1 / 0  # type: ignore[method-assign,assignment,return-value]
    processor = BatchingProcessor(exporter)
    record(processor, "lost")
    assert not processor.force_flush()
    assert processor.counts.failed == processor.counts.lost == 1


def test_shutdown_flushes_and_stops_the_exporter(exporter: Exporter) -> None:
    processor = BatchingProcessor(exporter)
    record(processor, "last")
    processor.shutdown()
    assert exporter.names == ["last"]
    assert exporter.stopped
    assert not processor.force_flush()


def test_a_forked_child_delivers_its_own_spans_and_not_its_parents(exporter: Exporter) -> None:
    processor = BatchingProcessor(exporter)
    close_gate(processor, exporter)
    record(processor, "the parent's")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        exporter.gate.set()
        exporter.names.clear()
        record(processor, "the child's")
        delivered = processor.force_flush(10_000)
        os.write(writer, f"{delivered} {exporter.names} {processor.counts.ended}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1000).decode() == 'True ["the child\'s"] 1'
    exporter.gate.set()
    assert processor.force_flush()
    assert exporter.names == ["in flight", "the parent's"]


def test_what_ends_after_shutdown_is_counted_as_lost(exporter: Exporter) -> None:
    processor = BatchingProcessor(exporter)
    processor.shutdown()
    record(processor, "late")
    assert exporter.names == []
    assert processor.counts.dropped == 1


def test_what_reaches_the_queue_when_the_worker_is_gone_is_lost(exporter: Exporter) -> None:
    before = capture_errors().get(LOST, 0)
    processor = BatchingProcessor(exporter)
    record(processor, "a")
    processor.shutdown()
    processor._stopped = False  # a thread that had looked before the shutdown
    record(processor, "late")
    processor._stopped = True
    assert (processor.counts.ended, processor.counts.lost) == (2, 1)
    assert processor.last_word() == 1
    assert capture_errors()[LOST] - before == 1


def test_losses_are_said_in_the_end(caplog: pytest.LogCaptureFixture) -> None:
    processor = BatchingProcessor(Exporter(SpanExportResult.FAILURE))
    record(processor, "a", "b")
    processor.shutdown()
    assert caplog.messages == [
        "trackway: Exporter: 2 of the 2 spans that ended are lost: 0 because the queue was full, "
        "2 because they could be written nowhere or were refused"
    ]


def test_a_full_queue_is_said_once(exporter: Exporter, caplog: pytest.LogCaptureFixture) -> None:
    processor = BatchingProcessor(exporter, max_queue=2, max_block=0)
    close_gate(processor, exporter)
    record(processor, *"abcd")
    exporter.gate.set()
    assert not processor.force_flush()
    record(processor, "e")
    assert processor.force_flush()
    assert caplog.messages == [FULL]
    processor.shutdown()


def test_a_full_queue_is_said_and_counted_while_the_exporter_hangs(
    exporter: Exporter, caplog: pytest.LogCaptureFixture
) -> None:
    before = capture_errors().get(LOST, 0)
    processor = BatchingProcessor(exporter, max_queue=2, max_block=0)
    close_gate(processor, exporter)
    record(processor, *"abc")
    assert caplog.messages == [FULL]
    assert capture_errors()[LOST] - before == 1
    record(processor, *"de")
    assert capture_errors()[LOST] - before == 3
    assert capture_errors()[LOST] - before == 3


def test_a_flush_that_waits_in_vain_counts_what_was_dropped(exporter: Exporter) -> None:
    processor = BatchingProcessor(exporter, max_queue=2, max_block=0)
    close_gate(processor, exporter)
    record(processor, *"abc")
    before = _COUNTS.get(LOST, 0)
    assert not processor.force_flush(20)
    assert _COUNTS[LOST] - before == 1


def test_the_last_word_tells_what_a_hanging_exporter_never_took(
    exporter: Exporter, caplog: pytest.LogCaptureFixture
) -> None:
    before = capture_errors().get(LOST, 0)
    pipeline = Pipeline()
    pipeline.replace([BatchingProcessor(exporter, max_queue=3, max_block=0)])
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    exporter.gate.clear()
    provider.get_tracer("lib").start_span("in flight").end()
    assert exporter.entered.wait(20)
    for name in "abcde":
        provider.get_tracer("lib").start_span(name).end()
    assert not pipeline.close(0.05, leaving=True)
    pipeline.last_word()
    pipeline.last_word()
    assert caplog.messages[-1] == (
        "trackway: Exporter: 5 of the 6 spans that ended are lost: 2 because the queue was full, 0 "
        "because they could be written nowhere or were refused, 3 because the process ended before "
        "it took them; of 1 more that it took nothing is known"
    )
    assert len([said for said in caplog.messages if "are lost" in said]) == 1
    assert capture_errors()[LOST] - before == 5


def test_the_last_word_tells_of_a_target_that_was_replaced_while_it_hung(
    exporter: Exporter, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trackway.pipeline.DEFAULT_TIMEOUT", 0.02)
    pipeline = Pipeline()
    processor = BatchingProcessor(exporter)
    pipeline.replace([processor])
    close_gate(processor, exporter)
    record(processor, *"ab")
    pipeline.replace([])
    pipeline.last_word()
    assert caplog.messages[-1] == (
        "trackway: Exporter: 2 of the 3 spans that ended are lost: 0 because the queue was full, 0 "
        "because they could be written nowhere or were refused, 2 because the process ended before "
        "it took them; of 1 more that it took nothing is known"
    )


def test_the_last_word_tells_of_a_batch_that_nobody_knows_more_of(
    exporter: Exporter, caplog: pytest.LogCaptureFixture
) -> None:
    processor = BatchingProcessor(exporter)
    close_gate(processor, exporter)
    assert processor.last_word() == 0
    processor.shutdown(1)
    assert caplog.messages == [
        "trackway: Exporter did not finish in time; 1 spans are not delivered"
    ]


def test_a_flush_that_takes_too_long_is_said_once(
    exporter: Exporter, caplog: pytest.LogCaptureFixture
) -> None:
    processor = BatchingProcessor(exporter)
    close_gate(processor, exporter)
    record(processor, "a")
    assert not processor.force_flush(20)
    assert not processor.force_flush(20)
    assert caplog.messages == [
        "trackway: Exporter did not finish a flush in time; 2 spans are on the way"
    ]


def test_lost_spans_are_among_the_capture_errors(exporter: Exporter) -> None:
    before = capture_errors().get(LOST, 0)
    exporter.result = SpanExportResult.FAILURE
    processor = BatchingProcessor(exporter, max_queue=2, max_block=0)
    close_gate(processor, exporter)
    record(processor, *"abcd")
    exporter.gate.set()
    processor.shutdown()
    assert capture_errors()[LOST] - before == processor.counts.lost == 5


class Refused(Exporter):
    """Learns during a flush that a receiver refuses what it took."""

    def __init__(self) -> None:
        super().__init__()
        self.counts = ExportCounts()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        self.counts.failed += len(self.names)
        self.names.clear()
        return False


def test_losses_that_a_flush_finds_are_counted_before_it_answers() -> None:
    processor = BatchingProcessor(Refused())
    before = capture_errors().get(LOST, 0)
    record(processor, "a", "b")
    assert not processor.force_flush()
    assert capture_errors()[LOST] == before + 2
    processor.shutdown()
    assert capture_errors()[LOST] == before + 2


def test_an_exporter_that_hangs_at_the_end_is_said(
    exporter: Exporter, caplog: pytest.LogCaptureFixture
) -> None:
    processor = BatchingProcessor(exporter)
    close_gate(processor, exporter)
    record(processor, "a")
    processor.shutdown(50)
    assert caplog.messages == [
        "trackway: Exporter did not finish in time; 2 spans are not delivered"
    ]


def test_nothing_is_said_where_nothing_is_lost(
    exporter: Exporter, caplog: pytest.LogCaptureFixture
) -> None:
    processor = BatchingProcessor(exporter)
    record(processor, "a")
    processor.shutdown()
    assert caplog.messages == []


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A system that gives no thread, until the patch is undone."""

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    return monkeypatch


def test_without_a_thread_a_flush_exports_in_its_caller(
    exporter: Exporter, no_threads: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    processor = BatchingProcessor(exporter, batch_size=2)
    record(processor, *"abc")
    assert exporter.names == []
    assert processor.force_flush()
    record(processor, "d")
    processor.shutdown()
    assert (exporter.names, exporter.stopped) == (list("abcd"), True)
    assert (processor.counts.ended, processor.counts.delivered) == (4, 4)
    assert caplog.messages == [
        "trackway: Exporter gets no thread of its own (can't start new thread); until it does, "
        "spans are exported at each flush, by the thread that calls it"
    ]


@pytest.mark.parametrize("how", ["flush", "full batch"])
def test_the_worker_starts_once_there_is_a_thread(
    exporter: Exporter, no_threads: pytest.MonkeyPatch, how: str
) -> None:
    processor = BatchingProcessor(exporter, batch_size=2)
    record(processor, "a")
    no_threads.undo()
    processor._start_at = 0.0  # a second later
    if how == "flush":
        assert processor.force_flush()
    else:
        record(processor, "b")
    assert exporter.entered.wait(20)
    assert processor._worker.is_alive()
    processor.shutdown()


def test_without_a_thread_the_queue_is_bounded_as_ever(
    exporter: Exporter, no_threads: pytest.MonkeyPatch
) -> None:
    processor = BatchingProcessor(exporter, max_queue=4, batch_size=2, max_block=0)
    record(processor, *"abcdef")
    assert not processor.force_flush()
    assert (processor.counts.delivered, processor.counts.dropped) == (4, 2)


class Keeps(Exporter):
    """Counts by itself: one span is lost, the rest waits."""

    counts = ExportCounts(ended=3, failed=1)


def test_what_waits_for_the_next_start_is_not_said_to_be_lost(
    caplog: pytest.LogCaptureFixture,
) -> None:
    processor = BatchingProcessor(Keeps())
    record(processor, *"abc")
    processor.shutdown()
    assert caplog.messages == [
        "trackway: Keeps: 1 of the 3 spans that ended are lost: 0 because the queue was full, "
        "1 because they could be written nowhere or were refused; 2 more wait in the spool for "
        "the next start"
    ]
