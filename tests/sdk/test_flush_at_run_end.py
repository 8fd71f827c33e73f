"""The end of a run waits a bounded time for its spans, and not each time for what hangs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

import trackway
from trackway.environment import read_environment
from trackway.export import BatchingProcessor
from trackway.pipeline import Pipeline
from trackway.run_end import RunEndFlush


class Target(SpanExporter):
    """Delivers, refuses at once, or hangs; notes what a flush may take."""

    def __init__(self) -> None:
        self.does = "deliver"
        self.allowed: list[float] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        self.allowed.append(timeout_millis / 1000)
        if self.does == "hang":
            threading.Event().wait(timeout_millis / 1000)
        return self.does == "deliver"


@pytest.fixture
def target() -> Iterator[Target]:
    target = Target()
    yield target
    target.does = "deliver"


def flush_of(target: Target, seconds: float) -> tuple[RunEndFlush, Pipeline]:
    pipeline = Pipeline()
    pipeline.replace([BatchingProcessor(target)])
    return RunEndFlush(pipeline, seconds), pipeline


def test_a_target_that_hangs_gets_its_full_time_once_and_then_a_glance(target: Target) -> None:
    flush, _ = flush_of(target, 0.4)
    target.does = "hang"
    for _ in range(4):
        flush()
    full, *glances = target.allowed
    assert 0.2 < full <= 0.4
    assert len(glances) == 3
    assert max(glances) <= 0.05


def test_after_a_while_it_gets_its_full_time_again_and_a_longer_pause_if_it_still_hangs(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush, _ = flush_of(target, 0.4)
    target.does = "hang"
    flush()
    (first,) = flush._hanging.values()
    monkeypatch.setattr("trackway.run_end._FIRST_PAUSE", 0.0)
    for key in flush._hanging:
        flush._hanging[key] = type(first)(first.pause, time.monotonic())
    flush()
    (second,) = flush._hanging.values()
    assert target.allowed[-1] > 0.2
    assert (first.pause, second.pause) == (5.0, 10.0)


def test_what_delivers_within_a_glance_is_good_again(target: Target) -> None:
    flush, _ = flush_of(target, 0.4)
    target.does = "hang"
    flush()
    target.does = "deliver"
    flush()
    flush()
    assert target.allowed[-1] > 0.2


def test_a_target_that_refuses_at_once_is_no_target_that_hangs(target: Target) -> None:
    flush, _ = flush_of(target, 60.0)
    target.does = "refuse"
    flush()
    flush()
    assert min(target.allowed) > 10


@pytest.mark.parametrize(("given", "longest"), [(True, 1.0), (0.3, 0.3), (30, 30.0)])
def test_a_run_waits_a_second_unless_told_otherwise(
    target: Target, given: Any, longest: float
) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    trackway.configure(export=target, flush_at_run_end=given, tracer_provider=provider)
    with trackway.run("t"):
        pass
    (allowed,) = target.allowed
    trackway.shutdown()
    assert 0.5 * longest < allowed <= longest


@pytest.mark.parametrize(
    ("text", "means"),
    [("true", True), ("1", True), ("no", False), ("0", False), ("0.5", 0.5), ("20", 20.0)],
)
def test_the_environment_names_seconds_too(text: str, means: Any) -> None:
    found = read_environment({"TRACKWAY_FLUSH_AT_RUN_END": text})
    assert found.flush_at_run_end is means or found.flush_at_run_end == means


@pytest.mark.parametrize("text", ["soon", "-1", "inf", "nan"])
def test_nonsense_is_named_and_ignored(text: str, caplog: pytest.LogCaptureFixture) -> None:
    assert read_environment({"TRACKWAY_FLUSH_AT_RUN_END": text}).flush_at_run_end is False
    assert caplog.messages == [
        "trackway: TRACKWAY_FLUSH_AT_RUN_END: expected true, false or a number of seconds, "
        f"found {text!r}; ignored"
    ]
