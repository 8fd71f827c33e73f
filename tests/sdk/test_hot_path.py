"""What one call costs, counted in calls of functions: the same on an idle and on a busy machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import trackway

MOST_CALLS = 200
"""Of Python functions, for one small tool call; the SDK's own span included."""


def python_calls(action: Callable[[], object]) -> int:
    """Count the Python functions that an action enters, at its cheapest of three times.

    Now and then a call also draws a block of ids, or the garbage collector runs in it.
    """
    action()  # what is decided once, at the first call, is no cost of a call
    return min(_counted(action) for _ in range(3))


def _counted(action: Callable[[], object]) -> int:
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


@trackway.tool
def lookup(order: str, limit: int = 3) -> dict[str, Any]:
    return {"order": order, "limit": limit}


@trackway.tool
def count(things: Any) -> int:
    return len(things)


@trackway.llm
def pieces(messages: str, number: int) -> Iterator[str]:
    for _ in range(number):
        yield "word "


def test_a_small_call_is_cheap(recorded: Any) -> None:
    assert python_calls(lambda: lookup("A-1")) < MOST_CALLS


def test_the_depth_of_the_stack_costs_nothing(recorded: Any) -> None:
    def below(depth: int) -> int:
        return below(depth - 1) if depth else python_calls(lambda: lookup("A-1"))

    assert below(200) == below(0)


def test_many_spans_before_make_no_call_dearer(recorded: Any) -> None:
    first = python_calls(lambda: lookup("A-1"))
    for number in range(2000):
        lookup(f"order{number}")
    assert python_calls(lambda: lookup("A-1")) <= first


def test_a_piece_of_a_stream_costs_a_few_calls(recorded: Any) -> None:
    def calls(number: int) -> int:
        return python_calls(lambda: list(pieces("hi", number)))

    assert (calls(1100) - calls(100)) / 1000 < 20


def test_an_embedding_costs_no_more_than_what_is_looked_at(recorded: Any) -> None:
    def calls(number: int) -> int:
        vector = [0.5] * number
        return python_calls(lambda: count(vector))

    assert calls(1_000_000) < calls(500_000) * 1.1 + MOST_CALLS


def test_a_list_of_records_costs_no_more_than_what_is_looked_at(recorded: Any) -> None:
    def calls(number: int) -> int:
        records = [{"id": n, "text": "x" * 20} for n in range(number)]
        return python_calls(lambda: count(records))

    assert calls(200_000) < calls(50_000) * 1.1 + MOST_CALLS
