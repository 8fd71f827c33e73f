"""A program may record for days: nothing that has ended stays behind."""

from __future__ import annotations

import gc
import os
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

import trackway

SPANS = 100_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 20_000
SPANS_A_ROUND = 100
BLOCKS_OF_A_SPAN = 20
"""A living span of the SDK holds more blocks of memory than this."""


class Discard(SpanExporter):
    count = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.count += len(spans)
        return SpanExportResult.SUCCESS


@pytest.fixture
def discard() -> Iterator[Discard]:
    exporter = Discard()
    trackway.configure(export=exporter)
    yield exporter
    trackway.shutdown()


@trackway.tool(kind="lookup", entity="order")
def lookup(order: str) -> dict[str, str]:
    return {"order": order}


@trackway.llm
def stream(messages: str) -> Iterator[str]:
    yield messages
    yield "more"


@trackway.tool
def failing(order: str) -> None:
    raise LookupError(order)


def one_round(number: int) -> None:
    """One run: tools, a stream read, one left early, and a call that fails."""
    with trackway.run(f"task{number}"):
        list(stream("hello"))
        next(stream("left early"))
        with pytest.raises(LookupError):
            failing(f"order{number}")
        for step in range(SPANS_A_ROUND - 4):
            lookup(f"order{number}.{step}")


def blocks_after(rounds: int) -> int:
    for number in range(rounds):
        one_round(number)
        if number % 20 == 19:
            trackway.flush(60)
    trackway.flush(60)
    gc.collect()
    return sys.getallocatedblocks()


def test_spans_without_number_leave_no_growth(discard: Discard) -> None:
    before = blocks_after(50)
    after = blocks_after(SPANS // SPANS_A_ROUND)
    assert discard.count == 50 * SPANS_A_ROUND + SPANS
    assert after - before < SPANS * BLOCKS_OF_A_SPAN / 1000


def test_a_decorated_closure_goes_with_its_last_user(discard: Discard) -> None:
    def make(number: int) -> Any:
        held = bytearray(10)

        @trackway.tool(f"tool{number}")
        def inner(order: str) -> int:
            return len(held)

        return inner

    made = [make(number) for number in range(50)]
    assert [function("a") for function in made] == [10] * 50
    trackway.flush(60)
    alive = [weakref.ref(function.__wrapped__) for function in made]
    made.clear()
    gc.collect()
    assert [reference() for reference in alive] == [None] * 50


def test_configuring_again_and_again_leaves_no_threads(discard: Discard) -> None:
    def again(times: int) -> int:
        for _ in range(times):
            trackway.configure(export=Discard())
            lookup("a")
            assert trackway.flush(60)
        return threading.active_count()

    assert again(10) == again(1)


def test_no_argument_is_kept_alive(discard: Discard) -> None:
    class Order:
        pass

    @trackway.tool
    def work(order: Order) -> Order:
        return order

    order = Order()
    alive = weakref.ref(order)
    work(order)
    trackway.flush(60)
    del order
    gc.collect()
    assert alive() is None
