"""Recording that goes wrong costs a record, never the user's call."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import trackway
from trackway.capture import Capture
from trackway.capture.storage import namespace_of


class Broken(SpanProcessor):
    """Another package's processor that raises."""

    def __init__(self, moment: str) -> None:
        self.moment = moment

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        if self.moment == "start":
            raise RuntimeError("broken")

    def on_end(self, span: ReadableSpan) -> None:
        if self.moment == "end":
            raise RuntimeError("broken")


@pytest.fixture(params=["start", "end", "capture", "pipeline"])
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    provider = TracerProvider()
    provider.add_span_processor(Broken(request.param))
    trackway.configure(export=InMemorySpanExporter(), tracer_provider=provider)
    if request.param == "capture":

        def raising(self: Capture, *args: Any) -> Any:
            raise RuntimeError("broken")

        for name in ("value", "arguments", "text"):
            monkeypatch.setattr(Capture, name, raising)
    if request.param == "pipeline":
        trackway.configure(export=Broken("end"), tracer_provider=provider)
    yield request.param
    trackway.shutdown()


@trackway.tool(kind="mutate", entity="number", success=lambda result: result > 0)
def plain(number: int) -> int:
    trackway.decision(chosen="x")
    return number + 1


@trackway.tool
async def coroutine(number: int) -> int:
    return number + 1


@trackway.llm
def stream(messages: str) -> Iterator[str]:
    yield "a"
    yield "b"


@trackway.retriever
async def async_stream(query: str) -> AsyncIterator[str]:
    yield "a"


@trackway.agent
def agent(question: str) -> str:
    return question


@trackway.tool
def failing() -> None:
    raise LookupError("mine")


def test_every_call_goes_through(broken: str) -> None:
    async def read() -> list[str]:
        return [item async for item in async_stream("q")]

    with trackway.run("t", input="x") as run:
        assert plain(1) == 2
        assert asyncio.run(coroutine(1)) == 2
        assert list(stream("m")) == ["a", "b"]
        assert asyncio.run(read()) == ["a"]
        assert agent("q") == "q"
        with trackway.step("s", kind="mutate") as step:
            step.result(1)
        with pytest.raises(LookupError, match="mine"):
            failing()
        run.final("x")
        run.outcome(True, state={})
    assert agent("outside") == "outside"


def test_a_failure_is_counted_and_logged_once(
    recorded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    @trackway.tool("always_odd", success=lambda result: result["missing"])
    def odd() -> dict[str, int]:
        return {}

    before = trackway.capture_errors().get("always_odd: success", 0)
    with caplog.at_level(logging.WARNING, logger="trackway"):
        for _ in range(5):
            odd()
    assert trackway.capture_errors()["always_odd: success"] == before + 5
    assert len([r for r in caplog.records if "always_odd" in r.getMessage()]) == 1


class Grim:
    """A user's object that fights back."""

    def __repr__(self) -> str:
        raise RuntimeError

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError

    def __bool__(self) -> bool:
        raise RuntimeError

    def __len__(self) -> int:
        raise RuntimeError

    def __iter__(self) -> Any:
        raise RuntimeError


@pytest.mark.parametrize("decorator", ["tool", "llm", "agent", "retriever"])
def test_an_object_that_fights_back_passes_through_every_kind(
    recorded: Any, decorator: str
) -> None:
    grim = Grim()

    @getattr(trackway, decorator)  # type: ignore[untyped-decorator]
    def echo(messages: Any, query: Any = None) -> Any:
        return messages

    @getattr(trackway, decorator)  # type: ignore[untyped-decorator]
    def give(messages: Any) -> Iterator[Any]:
        yield messages

    assert echo(grim, query=grim) is grim
    assert [item is grim for item in give(grim)] == [True]
    assert len(recorded.all) == 2


def test_nothing_stays_behind(recorded: Any) -> None:
    def live_objects() -> int:
        gc.collect()
        kinds = map(type, gc.get_objects())
        modules = (str(namespace_of(kind).get("__module__")) for kind in kinds)
        return sum(module.startswith("trackway.") for module in modules)

    def work() -> None:
        for number in range(300):
            with trackway.run("t"):
                plain(number)
                list(stream("m"))
                next(stream("m"))
        recorded.clear()

    work()
    before = live_objects()
    work()
    assert live_objects() - before < 20
