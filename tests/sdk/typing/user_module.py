"""What a user writes; checked strictly by a test, never run. `reveal_type` lines are its claims."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import reveal_type

import trackway


@trackway.tool
def bare(order_id: str, amount: float = 1.0) -> dict[str, float]:
    return {order_id: amount}


@trackway.tool("named", kind="mutate", success=lambda result: bool(result))
def called(order_id: str, /, *, amount: float) -> bool:
    return amount > 0


@trackway.tool()
async def coroutine(order_id: str) -> int:
    return len(order_id)


@trackway.llm
def generator(messages: list[str]) -> Iterator[str]:
    yield from messages


@trackway.llm(model="gpt")
async def async_generator(messages: list[str]) -> AsyncIterator[str]:
    for message in messages:
        yield message


@trackway.agent
def agent(question: str) -> str:
    return question


@trackway.retriever("kb")
def search(query: str, limit: int = 3) -> list[str]:
    return [query][:limit]


class Service:
    @trackway.tool
    def method(self, order_id: str) -> str:
        return order_id

    @classmethod
    @trackway.tool
    def class_method(cls, order_id: str) -> str:
        return order_id

    @trackway.tool
    @staticmethod
    def static_method(order_id: str) -> str:
        return order_id

    @trackway.tool("above")
    @classmethod
    def above_class_method(cls, order_id: str) -> str:
        return order_id


async def main() -> None:
    with trackway.run("task", trial=1, seed=2, model="x") as run:
        reveal_type(run.id)
        run.outcome(True, "label", failure_mode=None, state={"a": 1})
        run.final("text", action="refund_api.create")
    async with trackway.run() as other:
        reveal_type(other)
    with trackway.step("charge", kind="mutate", amount=4) as step:
        step.result(4)
    reveal_type(bare)
    reveal_type(called)
    reveal_type(coroutine)
    reveal_type(generator(["a"]))
    reveal_type(async_generator(["a"]))
    reveal_type(agent("q"))
    reveal_type(search)
    reveal_type(Service().method("a"))
    reveal_type(Service.class_method("a"))
    reveal_type(Service.static_method("a"))
    reveal_type(Service.above_class_method("a"))
    reveal_type(trackway.tools({"bare": bare}))
    reveal_type(trackway.current_run())
    recorder = trackway.TrajectoryRecorder()

    @recorder.track("lookup", kind="lookup")
    def tracked(order_id: str) -> int:
        return 1

    reveal_type(tracked)


def mistakes() -> None:
    bare(1)
    called("a", amount="b")
    agent()
    trackway.tool(kind=3)
    trackway.run(trial="one")
    trackway.tool(kind="nonsense")
