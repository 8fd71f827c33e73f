"""A step after its run has ended may be another's, of a worker that was started in the first."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Queue

import pytest
from opentelemetry import trace

import trackway
import trackway_analyzer as ta
from trackway_analyzer import Trajectory


@trackway.tool(kind="mutate")
def refund(order_id: str) -> str:
    return f"{order_id} paid"


@pytest.fixture
def read(tmp_path: Path) -> Callable[[], dict[str, Trajectory]]:
    trackway.configure("agent", export=tmp_path)

    def read() -> dict[str, Trajectory]:
        assert trackway.shutdown(60)
        return {run.run["task_id"]: run for run in ta.load(tmp_path)}

    return read


def names(run: Trajectory) -> list[str]:
    return [step.name for step in run.steps]


def gaps(run: Trajectory) -> list[tuple[str, int]]:
    return [(gap.name, gap.count) for gap in run.gaps]


Worker = Callable[[Queue[str | None], Queue[str]], None]


def refunding(jobs: Queue[str | None], done: Queue[str]) -> None:
    while (job := jobs.get()) is not None:
        done.put(refund(job))


def tracing(jobs: Queue[str | None], done: Queue[str]) -> None:
    """Does it with another recorder's spans."""
    while (job := jobs.get()) is not None:
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund"}
        trace.get_tracer("theirs").start_span("execute_tool refund", attributes=attributes).end()
        done.put(job)


@pytest.mark.parametrize("worker", [refunding, tracing])
def test_a_run_whose_work_a_worker_of_an_earlier_run_may_do_is_open(
    read: Callable[[], dict[str, Trajectory]], worker: Worker
) -> None:
    jobs, done = Queue[str | None](), Queue[str]()
    thread = threading.Thread(target=worker, args=(jobs, done))
    for number in range(3):
        with trackway.run(f"t{number}"):
            if number == 0:
                thread.start()
            jobs.put(f"A{number}")
            done.get()
    jobs.put(None)
    thread.join()
    runs = read()
    assert [names(run) for run in runs.values()] == [["refund"] * 3, [], []]
    assert [gaps(runs[task]) for task in ("t1", "t2")] == [[("missing_steps", 1)]] * 2


def test_so_it_is_with_a_task(read: Callable[[], dict[str, Trajectory]]) -> None:
    async def main() -> None:
        jobs, done = asyncio.Queue[str](), asyncio.Queue[str]()

        async def work() -> None:
            while True:
                await done.put(refund(await jobs.get()))

        for number in range(2):
            with trackway.run(f"t{number}"):
                if number == 0:
                    worker = asyncio.create_task(work())
                await jobs.put("A")
                await done.get()
        worker.cancel()

    asyncio.run(main())
    assert gaps(read()["t1"]) == [("missing_steps", 1)]


def test_a_run_that_began_before_the_end_or_ended_before_the_step_is_whole(
    read: Callable[[], dict[str, Trajectory]],
) -> None:
    goes_on = threading.Event()

    def late() -> None:
        goes_on.wait()
        refund("A")

    thread = threading.Thread(target=late)
    with trackway.run("beside"):
        with trackway.run("first"):
            thread.start()
        with trackway.run("over"):
            pass
        goes_on.set()
        thread.join()
    runs = read()
    assert names(runs["first"]) == ["refund"]
    assert [gaps(runs[task]) for task in ("first", "beside", "over")] == [[], [], []]


def test_a_job_that_brings_its_run_is_a_step_of_that_run_alone(
    read: Callable[[], dict[str, Trajectory]],
) -> None:
    jobs, done = Queue[dict[str, str] | None](), Queue[str]()

    def work() -> None:
        while (carrier := jobs.get()) is not None:
            with trackway.carried(carrier):
                done.put(refund("A"))

    thread = threading.Thread(target=work)
    for number in range(3):
        with trackway.run(f"t{number}"):
            if number == 0:
                thread.start()
            jobs.put(trackway.carrier())
            done.get()
    jobs.put(None)
    thread.join()
    runs = read()
    assert [names(run) for run in runs.values()] == [["refund"]] * 3
    assert [gaps(run) for run in runs.values()] == [[], [], []]
