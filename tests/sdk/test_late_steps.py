"""A step after its run has ended may be another's, of a worker that was started in the first."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import pytest
from fastapi import Depends, FastAPI
from fastapi.testclient import TestClient
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
        return {run.run.get("task_id", ""): run for run in ta.load(tmp_path)}

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


def test_a_task_works_on_for_its_own_run_as_servers_have_it(
    read: Callable[[], dict[str, Trajectory]],
) -> None:
    async def main() -> None:
        async def later() -> None:
            for _ in range(3):
                await asyncio.sleep(0)
                refund("A")

        with trackway.run("first"):
            task = asyncio.create_task(later())
        with trackway.run("second"):
            await task

    asyncio.run(main())
    runs = read()
    assert (names(runs["first"]), names(runs["second"])) == (["refund"] * 3, [])
    assert [gaps(run) for run in runs.values()] == [[], []]


def test_a_thread_that_does_one_thing_later_does_it_for_its_own_run(
    read: Callable[[], dict[str, Trajectory]],
) -> None:
    goes_on = threading.Event()

    def later() -> None:
        goes_on.wait()
        refund("A")
        refund("A")

    with trackway.run("first"):
        thread = threading.Thread(target=later)
        thread.start()
    with trackway.run("second"):
        goes_on.set()
        thread.join()
    runs = read()
    assert (names(runs["first"]), names(runs["second"])) == (["refund"] * 2, [])
    assert [gaps(run) for run in runs.values()] == [[], []]


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


def numbered(task: str) -> Iterator[None]:
    with trackway.run(task):
        for number in range(3):
            refund(f"{task}{number}")
            yield


def test_runs_in_generators_that_are_read_by_turns_are_open(
    read: Callable[[], dict[str, Trajectory]], caplog: pytest.LogCaptureFixture
) -> None:
    both = numbered("A"), numbered("B")
    for _ in range(3):
        for each in both:
            next(each)
    for each in both:
        assert list(each) == []
    runs = read()
    assert {gap.name for run in (runs["A"], runs["B"]) for gap in run.gaps} == {"missing_steps"}
    assert runs["A"].gaps
    assert runs["B"].gaps
    assert "Decorate the generator with @trackway.agent" in caplog.text
    assert trackway.current_run() is None


def test_a_run_in_a_generator_that_is_read_in_other_contexts_is_open(
    read: Callable[[], dict[str, Trajectory]],
) -> None:
    pieces = numbered("A")
    for _ in range(3):
        contextvars.copy_context().run(next, pieces)
    contextvars.copy_context().run(list, pieces)
    assert ("missing_steps", 1) in gaps(read()["A"])


def test_a_run_in_a_generator_of_which_no_step_was_lost_is_whole(
    read: Callable[[], dict[str, Trajectory]],
) -> None:
    pieces = numbered_once("A")
    contextvars.copy_context().run(next, pieces)
    contextvars.copy_context().run(list, pieces)
    (run,) = read().values()
    assert (names(run), gaps(run)) == (["refund"], [])


def test_runs_in_generators_that_are_read_one_after_the_other_are_whole(
    read: Callable[[], dict[str, Trajectory]],
) -> None:
    for task in ("A", "B"):
        with contextmanager(lambda task=task: numbered_once(task))():
            refund("C")
    runs = read()
    assert [names(run) for run in runs.values()] == [["refund"] * 2] * 2
    assert [gaps(run) for run in runs.values()] == [[], []]


def numbered_once(task: str) -> Iterator[None]:
    with trackway.run(task):
        refund(task)
        yield


def in_thread() -> Iterator[None]:
    with trackway.run("in_thread"):
        yield


async def in_task() -> AsyncIterator[None]:
    with trackway.run("in_task"):
        yield


@pytest.mark.parametrize("dependency", [in_thread, in_task])
def test_a_run_that_a_web_server_opens_before_its_handler_is_whole(
    read: Callable[[], dict[str, Trajectory]], dependency: Callable[[], object]
) -> None:
    app = FastAPI()

    @app.get("/", dependencies=[Depends(dependency)])
    def handler() -> str:
        return refund("A")

    assert TestClient(app).get("/").json() == "A paid"
    (run,) = read().values()
    assert (names(run), gaps(run)) == (["refund"], [])
