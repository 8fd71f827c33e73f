"""What a program does around its decorated functions keeps working as before."""

from __future__ import annotations

import asyncio
import logging
import socket
import sqlite3
import sys
import threading
import types
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Annotated, Any

import fastapi
import pytest
from fastapi.responses import StreamingResponse
from fastapi.testclient import TestClient

import trackway
from trackway.schema import GenAI, Trackway


@trackway.tool
def double(number: int) -> int:
    return 2 * number


@trackway.tool
async def fetch(order_id: str) -> str:
    return order_id


def api() -> fastapi.FastAPI:
    app = fastapi.FastAPI()

    @app.get("/orders/{order_id}")
    @trackway.agent
    async def read_order(
        order_id: str, limit: Annotated[int, fastapi.Query(ge=1)] = 3
    ) -> dict[str, Any]:
        return {"order": await fetch(order_id), "limit": limit}

    @app.get("/plain/{order_id}")
    @trackway.agent("plain_route")
    def read_plain(order_id: str) -> str:
        return order_id

    @app.get("/stream")
    @trackway.agent
    async def stream() -> Any:
        async def body() -> AsyncIterator[str]:
            for word in ("one ", "two"):
                yield await fetch(word)

        return StreamingResponse(body())

    return app


def test_a_route_keeps_its_parameters(recorded: Any) -> None:
    client = TestClient(api())
    assert client.get("/orders/A-1?limit=5").json() == {"order": "A-1", "limit": 5}
    assert client.get("/orders/A-1").json() == {"order": "A-1", "limit": 3}
    assert client.get("/orders/A-1?limit=0").status_code == 422
    assert client.get("/plain/A-2").json() == "A-2"
    assert len(recorded.named("invoke_agent read_order")) == 2
    parameters = client.get("/openapi.json").json()["paths"]["/orders/{order_id}"]["get"]
    assert [item["name"] for item in parameters["parameters"]] == ["order_id", "limit"]


def test_a_streamed_answer_is_one_run_until_its_last_piece(recorded: Any) -> None:
    assert TestClient(api()).get("/stream").text == "one two"
    agent = recorded.one("invoke_agent stream")
    tools = recorded.named("execute_tool fetch")
    assert [tool.parent.span_id for tool in tools] == [agent.context.span_id] * 2
    run_id = agent.attributes[Trackway.RUN_ID]
    assert {tool.attributes[Trackway.RUN_ID] for tool in tools} == {run_id}
    assert agent.attributes[Trackway.OUTPUT] == "one two"
    assert agent.end_time >= tools[-1].end_time


def test_a_process_pool_runs_decorated_functions(recorded: Any) -> None:
    sys.modules.setdefault(__name__, sys.modules[double.__module__])
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        assert list(pool.map(double, range(3))) == [0, 2, 4]


def test_a_timeout_inside_an_async_generator_still_strikes(recorded: Any) -> None:
    @trackway.tool
    async def stream() -> AsyncIterator[int]:
        async with asyncio.timeout(0.001):
            yield 1
            await asyncio.Event().wait()
            yield 2

    async def main() -> list[int]:
        seen = []
        try:
            async for item in stream():
                seen.append(item)
        except TimeoutError:
            seen.append(-1)
        return seen

    assert asyncio.run(main()) == [1, -1]
    assert recorded.tool("stream").attributes[GenAI.ERROR_TYPE] == "TimeoutError"


def test_task_locals_of_a_generator_are_those_of_its_reader(recorded: Any) -> None:
    @trackway.tool
    async def stream() -> AsyncIterator[Any]:
        for _ in range(3):
            await asyncio.sleep(0)
            yield asyncio.current_task()

    async def main() -> bool:
        return {task async for task in stream()} == {asyncio.current_task()}

    assert asyncio.run(main())


def test_a_debugger_still_sees_every_line(recorded: Any) -> None:
    lines: list[str] = []

    def trace(frame: types.FrameType, event: str, argument: object) -> Any:
        if frame.f_code is double.__wrapped__.__code__ and event == "line":  # type: ignore[attr-defined]
            lines.append(frame.f_code.co_name)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        double(2)
        after = sys.gettrace()
    finally:
        sys.settrace(before)
    assert lines == ["double"]
    assert after is trace


class Unhashable(type):
    """Classes of it compare like values, and so have no hash."""

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]


class Column(metaclass=Unhashable):
    pass


def unwalkable() -> Iterator[tuple[str, Any]]:
    yield "module", sys
    yield "package", trackway
    yield "class", dict
    yield "function", double
    yield "logger", logging.getLogger("trackway")
    yield "lock", threading.RLock()
    yield "thread", threading.current_thread()
    yield "connection", sqlite3.connect(":memory:")
    yield "socket", socket.socket()
    yield "frame", sys._getframe()
    yield "app", fastapi.FastAPI()
    yield "instance of a class without a hash", Column()
    yield "class without a hash", Column


@pytest.mark.parametrize("decorator", ["tool", "agent", "llm", "retriever"])
@pytest.mark.parametrize("name", [name for name, _ in unwalkable()])
def test_what_is_no_data_is_named_not_walked(recorded: Any, name: str, decorator: str) -> None:
    @getattr(trackway, decorator)  # type: ignore[untyped-decorator]
    def work(thing: Any) -> Any:
        return thing

    thing = dict(unwalkable())[name]
    assert work(thing) is thing
    (span,) = recorded.all
    assert all(len(str(value)) < 500 for value in span.attributes.values())
    if isinstance(thing, (socket.socket, sqlite3.Connection)):
        thing.close()


def test_model_calls_at_once_are_all_recorded(recorded: Any) -> None:
    @trackway.llm(model="m")
    async def ask(messages: str) -> str:
        await asyncio.sleep(0)
        return messages.upper()

    async def main() -> list[str]:
        async with trackway.run("t"):
            return await asyncio.gather(*(ask(f"q{number}") for number in range(20)))

    assert asyncio.run(main()) == [f"Q{number}" for number in range(20)]
    calls = recorded.named("chat m")
    assert sorted(call.attributes[Trackway.STEP_INDEX] for call in calls) == list(range(1, 21))
    run = recorded.one("run t").context.span_id
    assert {call.parent.span_id for call in calls} == {run}
