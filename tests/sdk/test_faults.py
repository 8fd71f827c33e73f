"""What code raises that the recorder calls is no outcome of the user's call; a signal goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.trace import StatusCode

import trackway
from trackway.schema import GenAI, Trackway
from trackway.testing import MemorySpans

LEAVING: dict[str, Callable[[], BaseException]] = {
    "exit": lambda: SystemExit(3),
    "generator exit": GeneratorExit,
    "cancellation": asyncio.CancelledError,
    "error": RuntimeError,
}
leaving = pytest.mark.parametrize("error", LEAVING.values(), ids=LEAVING)


def raising(error: BaseException) -> Any:
    raise error


@leaving
def test_a_predicate_that_leaves_costs_the_verdict_alone(
    recorded: Any, error: Callable[[], BaseException]
) -> None:
    @trackway.tool(success=lambda _: raising(error()), operation_id=lambda _: raising(error()))
    def pay(order_id: str) -> str:
        return "paid"

    before = trackway.capture_errors().get("pay: success", 0)
    assert pay("A9128") == "paid"
    attributes = recorded.tool("pay").attributes
    assert Trackway.STEP_OK not in attributes
    assert Trackway.OPERATION_ID not in attributes
    assert recorded.result("pay") == "paid"
    assert trackway.capture_errors()["pay: success"] == before + 1


@leaving
def test_an_error_whose_text_leaves_is_recorded_and_goes_on(
    recorded: Any, error: Callable[[], BaseException]
) -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            return str(raising(error()))

    odd = Odd()

    @trackway.tool
    def pay() -> None:
        raise odd

    before = trackway.capture_errors().get("the message of an error", 0)
    with pytest.raises(Odd) as raised:
        pay()
    assert raised.value is odd
    span = recorded.tool("pay")
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes[GenAI.ERROR_TYPE].endswith("Odd")
    assert trackway.capture_errors()["the message of an error"] == before + 1


@leaving
def test_a_hook_or_a_processor_that_leaves_takes_nobody_along(
    error: Callable[[], BaseException],
) -> None:
    class Leaving(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            raise error()

    redact = trackway.redactor(hooks=[lambda *_: raising(error())])
    trackway.configure("shop", export=Leaving(), redact=redact)
    try:

        @trackway.tool
        def pay(order_id: str) -> str:
            trackway.decision(chosen="card", reason=order_id)
            return "paid"

        with trackway.run("refund", input="A9128", note="A9128") as run:
            assert pay("A9128") == "paid"
            run.outcome(True, label="A9128", state={"order": "A9128"})
    finally:
        trackway.shutdown()


@pytest.fixture
def time_limit() -> Iterator[None]:
    """A signal whose handler raises, as programs do that limit the time of a call."""

    def too_late(number: int, frame: Any) -> None:
        sys.exit("too late")

    before = signal.signal(signal.SIGUSR1, too_late)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_what_a_handler_of_a_signal_raises_goes_on_and_the_span_ends(
    recorded: Any, time_limit: None
) -> None:
    @trackway.tool(success=lambda _: os.kill(os.getpid(), signal.SIGUSR1))
    def pay() -> str:
        return "paid"

    with pytest.raises(SystemExit, match="too late"):
        pay()
    assert recorded.tool("pay").end_time is not None


class TooLate(Exception):
    """What a time limit raises that is an exception like any other."""


@pytest.fixture
def soft_limit() -> Iterator[None]:
    def too_late(*_: object) -> None:
        raise TooLate

    before = signal.signal(signal.SIGUSR1, too_late)
    yield
    signal.signal(signal.SIGUSR1, before)


def struck(text: str) -> str:
    """A hook of a redactor amid which the time limit strikes."""
    if text == "paid":
        os.kill(os.getpid(), signal.SIGUSR1)
    return text


@pytest.mark.parametrize("result", ["paid", ["paid"], {"status": {"of": "paid"}}], ids=str)
def test_a_time_limit_that_strikes_while_a_value_is_recorded_goes_on(
    soft_limit: None, result: object
) -> None:
    recorded = MemorySpans()
    recorded.configure(redact=trackway.redactor(hooks=[struck]))

    @trackway.tool
    def pay() -> object:
        return result

    try:
        with pytest.raises(TooLate):
            pay()
        assert recorded.tool("pay").end_time is not None
    finally:
        trackway.shutdown()


def test_what_raises_like_a_handler_and_is_none_stays_with_the_recorder(soft_limit: None) -> None:
    def raising_hook(text: str, *_: object) -> str:
        raise TooLate

    recorded = MemorySpans()
    recorded.configure(redact=trackway.redactor(hooks=[raising_hook]))

    @trackway.tool
    def pay() -> str:
        return "paid"

    try:
        assert pay() == "paid"
    finally:
        trackway.shutdown()


def test_an_interrupt_in_a_predicate_goes_on_and_the_span_ends(recorded: Any) -> None:
    @trackway.tool(success=lambda _: raising(KeyboardInterrupt()))
    def pay() -> str:
        return "paid"

    with pytest.raises(KeyboardInterrupt):
        pay()
    assert recorded.tool("pay").end_time is not None
