"""A generator that `types.coroutine` has marked is a coroutine, whoever stands above whom."""

from __future__ import annotations

import asyncio
import inspect
import types
from collections.abc import Callable, Generator
from typing import Any

import pytest
from opentelemetry import trace

import trackway

Parts = Generator[Any, Any, int]


def add(number: int) -> Parts:
    """Awaited before 3.5 and by `asyncio` itself since."""
    yield from asyncio.sleep(0).__await__()
    if number < 0:
        raise ValueError("negative")
    return number + 1


@trackway.tool("add")
@types.coroutine
def above(number: int) -> Parts:
    return (yield from add(number))


@types.coroutine
@trackway.tool("add")
def below(number: int) -> Parts:
    return (yield from add(number))


@trackway.tool("add")
def plain(number: int) -> Any:
    return types.coroutine(add)(number)


class Adder:
    @trackway.tool("add")
    @types.coroutine
    def method(self, number: int) -> Parts:
        return (yield from add(number))


SHAPES: dict[str, Callable[[int], Any]] = {
    "decorated above": above,
    "decorated below": below,
    "returned by a plain function": plain,
    "method": Adder().method,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_awaited_and_its_result_recorded(shape: str, recorded: Any) -> None:
    async def main() -> Any:
        return await SHAPES[shape](7)

    assert asyncio.run(main()) == 8
    span = recorded.tool("add")
    assert recorded.arguments("add") == {"number": 7}
    assert recorded.result("add") == 8
    assert "trackway.stream.chunks" not in span.attributes


@pytest.mark.parametrize("shape", SHAPES)
def test_its_error_comes_out_and_is_recorded(shape: str, recorded: Any) -> None:
    async def main() -> Any:
        return await SHAPES[shape](-1)

    with pytest.raises(ValueError, match="negative"):
        asyncio.run(main())
    assert recorded.tool("add").attributes["error.type"] == "ValueError"


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_else_sees_a_difference(shape: str, recorded: Any) -> None:
    waiting = SHAPES[shape](7)
    assert inspect.isawaitable(waiting)
    waiting.close()


@pytest.mark.parametrize("shape", SHAPES)
def test_it_runs_where_nothing_records(shape: str) -> None:
    async def main() -> Any:
        return await SHAPES[shape](7)

    assert asyncio.run(main()) == 8


def test_what_it_awaits_is_below_its_span(recorded: Any) -> None:
    @trackway.tool("outer")
    @types.coroutine
    def outer() -> Parts:
        assert trace.get_current_span().name == "execute_tool outer"
        return (yield from above(7))

    async def main() -> None:
        before = trace.get_current_span()
        await outer()
        assert trace.get_current_span() is before

    asyncio.run(main())
    assert recorded.tool("add").parent.span_id == recorded.tool("outer").context.span_id


def test_a_cancelled_one_is_recorded_as_cancelled(recorded: Any) -> None:
    @trackway.tool("wait")
    @types.coroutine
    def wait() -> Generator[Any, Any, None]:
        yield from asyncio.sleep(60).__await__()

    async def main() -> None:
        task = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert recorded.tool("wait").attributes["error.type"] == "asyncio.exceptions.CancelledError"


def test_one_that_nobody_awaits_ends_its_span(recorded: Any) -> None:
    plain(7).close()
    assert recorded.tool("add").attributes["trackway.stream.abandoned"] is True
