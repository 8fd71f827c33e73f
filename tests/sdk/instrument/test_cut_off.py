"""A library that the program cuts off after `instrument()`: told of in log, report and record."""

from __future__ import annotations

import functools
import importlib
import logging
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider

import trackway
from other_tracer import agent, model
from trackway import watching
from trackway.capture.errors import reset_capture_errors
from trackway.instrument.connections import CALLS_GO_THROUGH, _standing
from trackway.schema import Trackway
from trackway.testing import MemorySpans

COMPLETIONS: Any = openai.resources.chat.completions.Completions
REPLACED = "openai.resources.chat.completions.Completions.create was replaced"


@pytest.fixture
def spans() -> Iterator[MemorySpans]:
    reset_capture_errors()
    spans = MemorySpans()
    spans.configure()
    assert trackway.instrument("openai")["openai"].on
    yield spans
    trackway.uninstrument()
    trackway.shutdown()


@pytest.fixture
def patched() -> Iterator[None]:
    """What a test does to the class is taken back before the instrumentor takes off its patch."""
    ours = COMPLETIONS.__dict__["create"]
    yield
    COMPLETIONS.create = ours


def lost(spans: MemorySpans) -> list[Any]:
    return [span.attributes.get(Trackway.INSTRUMENTATION_LOST) for span in spans.all]


def test_nothing_is_told_of_while_all_is_connected(
    spans: MemorySpans, caplog: pytest.LogCaptureFixture
) -> None:
    with agent("a"), model():
        pass
    assert lost(spans) == [None, None]
    assert not caplog.records


def test_a_client_whose_method_was_replaced(
    spans: MemorySpans, patched: None, caplog: pytest.LogCaptureFixture
) -> None:
    COMPLETIONS.create = COMPLETIONS.__dict__["create"].__wrapped__
    for _ in range(2):
        with agent("a"), model():
            pass
    said = (f"openai: {REPLACED}",)
    assert lost(spans) == [None, said, None, said]
    assert [record.getMessage() for record in caplog.records] == [
        "trackway: openai is no longer recorded, since trackway.instrument() turned it on: "
        f"{REPLACED}; undo that, or call trackway.instrument() after it"
    ]
    assert trackway.capture_errors() == {"instrument openai": 1}


def test_instrumenting_again_turns_it_on_again(spans: MemorySpans, patched: None) -> None:
    COMPLETIONS.create = COMPLETIONS.__dict__["create"].__wrapped__
    assert watching.why_lost("openai") == REPLACED
    assert trackway.instrument("openai")["openai"].on
    assert watching.why_lost("openai") is None
    with agent("a"):
        pass
    assert lost(spans) == [None]


@pytest.mark.parametrize("politely", [True, False])
def test_a_method_that_was_wrapped_once_more_is_still_recorded(
    spans: MemorySpans, patched: None, politely: bool
) -> None:
    inner = COMPLETIONS.create

    def around(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs)

    COMPLETIONS.create = functools.wraps(inner)(around) if politely else around
    with agent("a"):
        pass
    assert lost(spans) == [None]


def test_an_instrumentor_that_somebody_else_turned_off(spans: MemorySpans) -> None:
    OpenAIInstrumentor().uninstrument()
    with agent("a"):
        pass
    assert lost(spans) == [("openai: another uninstrument() turned its instrumentor off",)]


def test_recording_that_moved_to_another_provider(spans: MemorySpans) -> None:
    spans.configure(tracer_provider=TracerProvider())
    with trackway.run("t"):
        pass
    said = "openai: it writes to a tracer provider that is not the one that records now"
    assert lost(spans) == [(said,)]
    assert trackway.instrument("openai")["openai"].on
    with trackway.run("t"):
        pass
    assert lost(spans)[-1] is None


def test_a_step_outside_any_run_says_it_too(spans: MemorySpans) -> None:
    OpenAIInstrumentor().uninstrument()
    with model():
        pass
    assert lost(spans) == [("openai: another uninstrument() turned its instrumentor off",)]


def test_it_is_told_of_at_the_end_where_no_run_came_after(
    spans: MemorySpans, caplog: pytest.LogCaptureFixture
) -> None:
    OpenAIInstrumentor().uninstrument()
    caplog.set_level(logging.WARNING, "trackway")
    trackway.flush()
    told = [r.getMessage() for r in caplog.records if r.name == "trackway"]
    assert len(told) == 1
    assert "another uninstrument() turned its instrumentor off" in told[0]


def test_what_trackway_itself_turned_off_is_no_loss(spans: MemorySpans) -> None:
    trackway.uninstrument()
    with agent("a"):
        pass
    assert lost(spans) == [None]


@pytest.mark.parametrize("library", ["openai", "langchain", "mcp"])
def test_the_places_that_are_looked_at_exist(library: str) -> None:
    for place in CALLS_GO_THROUGH[library]:
        module, _, path = place.partition(":")
        # As instrumentors reach it, which brings in what a package imports when it is asked for.
        functools.reduce(getattr, path.split("."), importlib.import_module(module))
    assert all(_standing(place) is not None for place in CALLS_GO_THROUGH[library])
