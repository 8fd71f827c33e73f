"""A decorated partial stays one, an object equals itself, and closing warns of nothing new."""

from __future__ import annotations

import functools
import gc
import warnings
from typing import Any

import trackway


def add(one: int, two: int = 2) -> int:
    return one + two


class Adder:
    def __call__(self, one: int) -> int:
        return one + 1


def test_a_partial_stays_one(recorded: Any) -> None:
    bare = functools.partial(add, 1, two=5)
    partial = trackway.tool(bare)
    assert isinstance(partial, functools.partial)
    assert (partial.func, partial.args, partial.keywords) == (add, (1,), {"two": 5})
    assert partial() == 6
    assert recorded.arguments("add") == {"one": 1, "two": 5}
    assert functools.partial(partial, two=7)() == 8
    assert recorded.names == ["execute_tool add"] * 2


def test_an_object_equals_what_it_records(recorded: Any) -> None:
    adder, other = Adder(), Adder()
    recording = trackway.tool("add")(adder)
    assert recording == adder == recording == trackway.tool("again")(adder)
    assert recording != other
    assert {adder: 1}[recording] == 1


def told(drop: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        drop()
        gc.collect()
    return [str(warning.message).partition("\n")[0] for warning in caught]


async def work() -> int:
    return 8


def start() -> Any:
    return work()


def test_closing_a_coroutine_that_a_plain_function_returned_warns_of_nothing(recorded: Any) -> None:
    recording = trackway.tool(start)
    assert told(lambda: start().close()) == told(lambda: recording().close()) == []
    assert recorded.tool("start").attributes["trackway.stream.abandoned"] is True


def test_dropping_one_warns_as_without_a_decorator(recorded: Any) -> None:
    recording = trackway.tool(start)
    expected = ["coroutine 'work' was never awaited"]
    assert told(lambda: start() and None) == told(lambda: recording() and None) == expected
