"""What ends when recording has been shut down is lost, and nobody is left to think otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import trackway
from sdk.test_ways_out import Program
from trackway.export.losses import LOST

WARNING = (
    "trackway: recording was shut down, and the program goes on: what it does now is not recorded, "
    "but counted in trackway.capture_errors() under 'export: spans lost'; trackway.configure() "
    "starts again"
)


@trackway.tool
def work() -> None: ...


def lost() -> int:
    return trackway.capture_errors().get(LOST, 0)


@pytest.fixture
def provider() -> Iterator[TracerProvider]:
    """A provider that records into memory."""
    mine = TracerProvider(shutdown_on_exit=False)
    trackway.configure(export=InMemorySpanExporter(), tracer_provider=mine)
    yield mine
    trackway.shutdown()


def call_a_tool(_provider: TracerProvider) -> None:
    work()


def open_a_run(_provider: TracerProvider) -> None:
    with trackway.run("t"):
        pass


def open_a_step(_provider: TracerProvider) -> None:
    with trackway.step("s"):
        pass


def end_a_foreign_span(provider: TracerProvider) -> None:
    provider.get_tracer("somebody").start_span("theirs").end()


@pytest.mark.parametrize("late", [call_a_tool, open_a_run, open_a_step, end_a_foreign_span])
def test_what_comes_after_shutdown_is_counted_said_once_and_no_flush_calls_it_delivered(
    provider: TracerProvider,
    caplog: pytest.LogCaptureFixture,
    late: Callable[[TracerProvider], None],
) -> None:
    work()
    assert trackway.shutdown(60)
    assert trackway.flush()
    before = lost()
    late(provider)
    late(provider)
    assert lost() - before == 2
    assert not trackway.flush()
    assert trackway.flush()  # nothing has been lost since the last one
    assert caplog.messages == [WARNING]


def test_a_span_that_shutdown_overtakes_is_counted(provider: TracerProvider) -> None:
    before = lost()
    with trackway.run("t"):
        assert trackway.shutdown(60)
    assert lost() - before == 1
    assert not trackway.flush()


def test_configuring_again_begins_anew(provider: TracerProvider) -> None:
    assert trackway.shutdown(60)
    work()
    memory = InMemorySpanExporter()
    trackway.configure(export=memory, tracer_provider=provider)
    work()
    assert not trackway.flush(10)  # the one that came between is lost, and that is said once
    assert trackway.flush(10)
    assert len(memory.get_finished_spans()) == 1


def test_where_recording_never_began_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TRACKWAY_DISABLED", "true")
    before = lost()
    trackway.configure()
    work()
    assert (trackway.flush(), trackway.shutdown(), lost() - before) == (True, True, 0)
    assert caplog.messages == []


class Parting(SpanExporter):
    """Ends a span when it is shut down."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        work()


def test_what_ends_while_targets_are_replaced_goes_to_the_new_ones(
    provider: TracerProvider,
) -> None:
    before = lost()
    trackway.configure(export=Parting(), tracer_provider=provider)
    work()
    memory = InMemorySpanExporter()
    trackway.configure(export=SimpleSpanProcessor(memory), tracer_provider=provider)
    assert [span.name for span in memory.get_finished_spans()] == ["execute_tool work"]
    assert lost() == before


LEAVING = """
go, done = threading.Event(), threading.Event()
def late():
    work()
    begun.set()
    go.wait()
    for _ in range(3):
        work()
    done.set()
    threading.Event().wait()
class Closing(FileExporter):
    def shutdown(self):
        go.set()
        done.wait(20)
trackway.configure(export=Closing())
begun = threading.Event()
threading.Thread(target=late, daemon=True).start()
begun.wait(20)
"""


@pytest.mark.parametrize(
    ("end", "status"),
    [("", 0), ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)", -15)],
    ids=["exit", "sigterm"],
)
def test_how_many_spans_daemon_threads_ended_too_late_is_said_at_the_exit(
    tmp_path: Path, end: str, status: int
) -> None:
    program = Program(tmp_path)
    assert program.run(LEAVING + end) == status
    assert program.counts == {"execute_tool work": 1}
    again, *others = program.errors.splitlines()
    assert "configure() was called again" in again
    assert others == ["trackway: 3 spans ended after recording was shut down, and are lost"]


def test_a_step_that_shutdown_left_out_is_a_hole_in_the_clock_of_a_run_that_goes_on(
    recorded: Any,
) -> None:
    with trackway.run("t"):
        work()
        trackway.shutdown()
        work()
        tracer = trace.get_tracer("a framework")
        with tracer.start_as_current_span("x", attributes={"gen_ai.operation.name": "chat"}):
            pass
        recorded.configure()
        work()
    (late,) = [span for span in recorded.all if span.name == "execute_tool work"]
    assert late.attributes["trackway.step.index"] == 4
