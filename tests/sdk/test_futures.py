"""A tool that returns a task or a future: recorded until that is done, and untouched."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from typing import Any

import pytest
from opentelemetry.trace import StatusCode

import trackway
from trackway.schema import GenAI, Trackway


async def charge() -> dict[str, str]:
    await asyncio.sleep(0)
    return {"status": "succeeded"}


async def decline() -> None:
    await asyncio.sleep(0)
    raise RuntimeError("declined")


def outcome(recorded: Any, tool: str) -> tuple[Any, Any, bool]:
    """Result, type of error, and whether the status is ERROR."""
    span = recorded.tool(tool)
    text = span.attributes.get(GenAI.TOOL_CALL_RESULT)
    result = None if text is None else json.loads(text)
    return result, span.attributes.get(GenAI.ERROR_TYPE), not span.status.is_ok


def has_ended(recorded: Any) -> bool:
    return bool(recorded.names)


@pytest.mark.parametrize("start", [asyncio.create_task, asyncio.ensure_future])
def test_a_task_is_followed_to_its_result(recorded: Any, start: Any) -> None:
    kept: list[Any] = []

    @trackway.tool
    def refund(order_id: str) -> Any:
        kept.append(start(charge()))
        return kept[0]

    async def agent() -> None:
        task = refund("A9128")
        assert task is kept[0]
        assert not has_ended(recorded)
        assert await task == {"status": "succeeded"}

    asyncio.run(agent())
    assert outcome(recorded, "refund") == ({"status": "succeeded"}, None, False)


def test_a_task_that_raises_is_a_call_that_raised(recorded: Any) -> None:
    @trackway.tool
    def refund(order_id: str) -> Any:
        return asyncio.gather(decline())

    async def agent() -> None:
        with pytest.raises(RuntimeError, match="declined"):
            await refund("A9128")

    asyncio.run(agent())
    assert outcome(recorded, "refund") == (None, "RuntimeError", True)
    assert recorded.tool("refund").attributes[Trackway.STEP_OK] is False


def test_a_task_that_is_cancelled_is_a_call_that_was(recorded: Any) -> None:
    @trackway.tool
    def refund(order_id: str) -> Any:
        return asyncio.ensure_future(asyncio.sleep(60))

    async def agent() -> None:
        task = refund("A9128")
        task.cancel("too late")
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(agent())
    result, kind, _ = outcome(recorded, "refund")
    assert (result, kind) == (None, "asyncio.exceptions.CancelledError")


def test_a_coroutine_function_that_returns_a_task_is_followed_too(recorded: Any) -> None:
    @trackway.tool
    async def refund(order_id: str) -> Any:
        return asyncio.create_task(decline())

    async def agent() -> None:
        with contextlib.suppress(RuntimeError):
            await (await refund("A9128"))

    asyncio.run(agent())
    assert outcome(recorded, "refund") == (None, "RuntimeError", True)


def test_a_task_that_is_never_done_never_finishes_its_call(recorded: Any) -> None:
    @trackway.tool
    def refund(order_id: str) -> Any:
        return asyncio.get_running_loop().create_future()

    async def agent() -> None:
        refund("A9128")

    asyncio.run(agent())
    gc.collect()
    assert not has_ended(recorded)


def test_asyncio_still_says_that_nobody_asked_for_an_exception(recorded: Any) -> None:
    @trackway.tool
    def refund(order_id: str) -> Any:
        return asyncio.create_task(decline())

    said: list[str] = []

    async def agent() -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: said.append(context["message"])
        )
        task = refund("A9128")
        await asyncio.wait([task])
        del task
        gc.collect()

    asyncio.run(agent())
    assert said == ["Task exception was never retrieved"]


@pytest.mark.parametrize("done_before", [True, False])
def test_a_future_of_a_pool_is_followed(recorded: Any, done_before: bool) -> None:
    go_on = threading.Event()

    def work() -> None:
        go_on.wait(10)
        raise RuntimeError("declined")

    with ThreadPoolExecutor(1) as pool:

        @trackway.tool
        def refund(order_id: str) -> Future[None]:
            future = pool.submit(work)
            if done_before:
                go_on.set()
                future.exception()
            return future

        future = refund("A9128")
        assert has_ended(recorded) is done_before
        go_on.set()
        assert isinstance(future.exception(), RuntimeError)
    assert outcome(recorded, "refund") == (None, "RuntimeError", True)


def test_a_future_that_is_cancelled_before_its_start_is_a_call_that_was(recorded: Any) -> None:
    waiting: Future[None] = Future()

    @trackway.tool
    def refund(order_id: str) -> Future[None]:
        return waiting

    assert refund("A9128") is waiting
    waiting.cancel()
    result, kind, is_error = outcome(recorded, "refund")
    assert (result, kind, is_error) == (None, "concurrent.futures._base.CancelledError", True)


class Odd(Future[str]):
    """A future of the user's, whose own methods are nobody else's business."""

    def done(self) -> bool:
        raise AssertionError("asked")

    def add_done_callback(self, fn: Any) -> None:
        raise AssertionError("asked")


def test_no_code_of_a_subclass_runs(recorded: Any) -> None:
    future = Odd()
    trackway.tool("refund")(lambda: future)()
    future.set_result("paid")
    assert outcome(recorded, "refund") == ("paid", None, False)


def test_a_future_that_was_never_set_up_ends_its_call(recorded: Any) -> None:
    bare = Future.__new__(Future)
    assert trackway.tool("refund")(lambda: bare)() is bare
    assert recorded.result("refund") == "<concurrent.futures._base.Future>"


@contextlib.contextmanager
def reservation(order_id: str) -> Iterator[int]:
    yield 1


def test_other_handles_for_work_to_come_are_recorded_by_their_class(recorded: Any) -> None:
    with ThreadPool(1) as pool:
        trackway.tool("apply")(lambda: pool.apply_async(int))().wait()
    with trackway.tool("reserve")(reservation)("A9128") as given:
        assert given == 1
    assert recorded.result("apply") == "<multiprocessing.pool.ApplyResult>"
    assert recorded.result("reserve") == "<contextlib._GeneratorContextManager>"
    assert recorded.tool("reserve").status.status_code is StatusCode.UNSET
