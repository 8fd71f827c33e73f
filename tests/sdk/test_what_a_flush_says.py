"""A flush says True only if everything that had ended since the last one was delivered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import trackway
from trackway.export.losses import LOST


class Refusing(SpanExporter):
    """Says FAILURE, until it is told to take spans."""

    takes = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS if self.takes else SpanExportResult.FAILURE


class Raising(Refusing):
    """Raises instead."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if not self.takes:
            raise ConnectionError
        return SpanExportResult.SUCCESS


class Unflushed(Refusing):
    """Takes everything, and its own flush delivers nothing."""

    takes = True

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return False


@pytest.fixture
def provider() -> Iterator[TracerProvider]:
    """A provider of the test alone."""
    yield TracerProvider(shutdown_on_exit=False)
    trackway.shutdown()


def work() -> None:
    with trackway.step("s"):
        pass


def lost() -> int:
    return trackway.capture_errors().get(LOST, 0)


@pytest.mark.parametrize("processor", [BatchSpanProcessor, SimpleSpanProcessor])
@pytest.mark.parametrize("kind", [Refusing, Raising])
def test_the_exporter_of_a_processor_of_ones_own_is_listened_to(
    provider: TracerProvider,
    processor: Callable[[SpanExporter], SpanProcessor],
    kind: type[Refusing],
) -> None:
    exporter = kind()
    before = lost()
    trackway.configure(export=processor(exporter), tracer_provider=provider)
    work()
    assert not trackway.flush()
    assert lost() - before == 1
    assert trackway.flush()  # nothing has been lost since the last one
    exporter.takes = True
    work()
    assert trackway.flush()
    exporter.takes = False
    work()
    assert not trackway.shutdown()
    assert lost() - before == 2


def test_so_is_its_own_flush(provider: TracerProvider) -> None:
    trackway.configure(export=BatchSpanProcessor(Unflushed()), tracer_provider=provider)
    work()
    assert not trackway.flush()


class Slotted(SpanExporter):
    """Takes no attribute."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(name)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.FAILURE


def test_of_an_exporter_out_of_reach_the_word_of_its_processor_is_believed(
    provider: TracerProvider,
) -> None:
    trackway.configure(export=BatchSpanProcessor(Slotted()), tracer_provider=provider)
    work()
    assert trackway.flush()


@pytest.mark.parametrize("to_another_provider", [False, True])
def test_what_was_lost_before_new_targets_makes_the_next_flush_false_once(
    provider: TracerProvider, to_another_provider: bool
) -> None:
    trackway.configure(export=Refusing(), tracer_provider=provider)
    work()
    other = TracerProvider(shutdown_on_exit=False) if to_another_provider else provider
    trackway.configure(export=InMemorySpanExporter(), tracer_provider=other)
    assert not trackway.flush()
    assert trackway.flush()


@pytest.mark.parametrize("to_another_provider", [False, True])
def test_so_does_what_ended_between_a_shutdown_and_new_targets(
    provider: TracerProvider, to_another_provider: bool
) -> None:
    trackway.configure(export=InMemorySpanExporter(), tracer_provider=provider)
    assert trackway.shutdown(60)
    work()
    other = TracerProvider(shutdown_on_exit=False) if to_another_provider else provider
    trackway.configure(export=InMemorySpanExporter(), tracer_provider=other)
    assert not trackway.flush()
    assert trackway.flush()


def test_after_a_shutdown_that_did_not_deliver_no_flush_says_otherwise(
    provider: TracerProvider,
) -> None:
    trackway.configure(export=Refusing(), tracer_provider=provider)
    work()
    assert not trackway.shutdown()
    assert not trackway.flush()
    assert not trackway.flush()
    assert not trackway.shutdown()
    trackway.configure(export=InMemorySpanExporter(), tracer_provider=provider)
    assert trackway.flush()  # the shutdown has said it
