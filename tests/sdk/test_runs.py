"""A run: its identity on every span, its clock, its outcome, and who belongs to it."""

from __future__ import annotations

import asyncio
import contextvars
import json
import random
import threading
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry import baggage, trace
from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.propagate import extract, inject
from opentelemetry.trace import StatusCode

import trackway
from trackway.ids import EntropyIdGenerator
from trackway.run import Run, new_identity
from trackway.schema import SCHEMA_VERSION, GenAI, Trackway

IDENTITY = {
    Trackway.TASK_ID: "refund",
    Trackway.SUITE_ID: "support",
    Trackway.TRIAL_INDEX: 3,
    Trackway.TRIAL_SEED: 7,
    Trackway.VARIANT: "candidate",
    Trackway.AGENT_VERSION: "abc123",
    GenAI.CONVERSATION_ID: "thread-9",
}


@trackway.tool
def work(number: int = 0) -> int:
    return number


@trackway.agent
def bot(question: str) -> str:
    work()
    return f"answer to {question}"


def step_indices(recorded: Any) -> list[int]:
    spans = [span.attributes for span in recorded.all]
    return sorted(a[Trackway.STEP_INDEX] for a in spans if Trackway.STEP_INDEX in a)


def test_every_span_of_a_run_carries_its_identity(recorded: Any) -> None:
    foreign = trace.get_tracer("someone.else")
    with trackway.run(
        "refund", suite="support", trial=3, seed=7, variant="candidate", version="abc123",
        conversation="thread-9",
    ) as run:  # fmt: skip
        with foreign.start_as_current_span("framework"):
            work()
        bot("q")
    assert len(recorded.all) == 5
    for span in recorded.all:
        identity = {key: span.attributes.get(key) for key in [*IDENTITY, Trackway.RUN_ID]}
        assert identity == {**IDENTITY, Trackway.RUN_ID: run.id}


def test_the_run_span_tells_the_schema_version_and_the_last_step(recorded: Any) -> None:
    with trackway.run("refund"):
        work()
        work()
    span = recorded.one("run refund")
    assert span.attributes[Trackway.SCHEMA_VERSION] == SCHEMA_VERSION
    assert span.attributes[Trackway.RUN_LAST_STEP] == 2
    assert [s.attributes.get(Trackway.SCHEMA_VERSION) for s in recorded.all[:2]] == [None, None]


def test_a_run_records_input_deadline_and_fingerprint(recorded: Any) -> None:
    deadline = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    with trackway.run(
        "refund", input="Please refund", deadline=deadline, model_revision="r1", sampling={"t": 0}
    ):
        pass
    span = recorded.one("run refund")
    assert span.attributes[Trackway.INPUT] == "Please refund"
    assert span.attributes[Trackway.DEADLINE] == "2030-01-02T03:04:05+00:00"
    assert span.attributes["trackway.fingerprint.model_revision"] == "r1"
    assert span.attributes["trackway.fingerprint.sampling"] == '{"t":0}'


def test_an_input_that_is_no_text_is_json(recorded: Any) -> None:
    with trackway.run(input={"b": 1, "a": [2]}):
        pass
    assert recorded.one("run").attributes[Trackway.INPUT] == '{"a":[2],"b":1}'


def test_outcome_final_text_and_final_action_are_three_claims(recorded: Any) -> None:
    with trackway.run("refund") as run:
        run.final("Refund processed.", action="refund_api.create", arguments={"amount": 84.0})
        run.outcome(False, label="unpaid", failure_mode="silent", state={"paid": False})
    attributes = recorded.one("run refund").attributes
    assert attributes[Trackway.OUTPUT] == "Refund processed."
    assert attributes[Trackway.FINAL_ACTION] == "refund_api.create"
    assert attributes[Trackway.FINAL_ARGUMENTS] == '{"amount":84.0}'
    assert attributes[Trackway.OUTCOME_SUCCESS] is False
    assert attributes[Trackway.OUTCOME_LABEL] == "unpaid"
    assert attributes[Trackway.OUTCOME_FAILURE_MODE] == "silent"
    assert attributes[Trackway.OUTCOME_STATE] == '{"paid":false}'
    assert Trackway.OUTCOME_CENSORED not in attributes


def test_an_unknown_outcome_is_absent(recorded: Any) -> None:
    with trackway.run("refund") as run:
        run.outcome(None, censored=True)
    attributes = recorded.one("run refund").attributes
    assert Trackway.OUTCOME_SUCCESS not in attributes
    assert attributes[Trackway.OUTCOME_CENSORED] is True


def test_outcome_and_final_reach_the_current_run_from_anywhere(recorded: Any) -> None:
    @trackway.tool
    def deep() -> None:
        trackway.outcome(True, "paid")
        trackway.final("Done.")

    with trackway.run("refund"):
        deep()
    attributes = recorded.one("run refund").attributes
    assert attributes[Trackway.OUTCOME_SUCCESS] is True
    assert attributes[Trackway.OUTPUT] == "Done."


def test_what_is_said_after_the_end_is_a_span_of_the_run(recorded: Any) -> None:
    with trackway.run("refund", variant="candidate") as run:
        pass
    run.outcome(False, "unpaid")
    run.outcome(None)  # says nothing
    of, late = recorded.one("run refund"), recorded.one("outcome")
    assert late.context.trace_id == of.context.trace_id
    assert late.parent.span_id == of.context.span_id
    assert dict(late.attributes) == {
        **run.attributes,
        Trackway.AFTER_END: True,
        Trackway.OUTCOME_SUCCESS: False,
        Trackway.OUTCOME_LABEL: "unpaid",
    }


def test_an_agent_outside_any_run_is_a_run(recorded: Any) -> None:
    bot("one")
    bot("two")
    first, second = recorded.named("invoke_agent bot")
    assert first.attributes[Trackway.RUN_ID] != second.attributes[Trackway.RUN_ID]
    assert first.parent is None
    assert first.attributes[Trackway.SCHEMA_VERSION] == SCHEMA_VERSION
    assert first.attributes[Trackway.INPUT] == '{"question":"one"}'
    assert first.attributes[Trackway.OUTPUT] == "answer to one"
    assert first.attributes[Trackway.RUN_LAST_STEP] == 1
    tools = recorded.named("execute_tool work")
    assert tools[0].attributes[Trackway.RUN_ID] == first.attributes[Trackway.RUN_ID]
    assert tools[0].attributes[GenAI.AGENT_NAME] == "bot"


def test_an_agent_inside_a_run_is_a_sub_agent(recorded: Any) -> None:
    @trackway.agent
    def boss() -> str:
        bot("sub")
        return "all done"

    boss()
    parent, child = recorded.one("invoke_agent boss"), recorded.one("invoke_agent bot")
    assert child.attributes[Trackway.RUN_ID] == parent.attributes[Trackway.RUN_ID]
    assert child.parent.span_id == parent.context.span_id
    assert Trackway.SCHEMA_VERSION not in child.attributes
    assert Trackway.RUN_LAST_STEP not in child.attributes
    assert parent.attributes[Trackway.OUTPUT] == "all done"


def test_the_outermost_agent_lends_a_run_its_input_and_final_text(recorded: Any) -> None:
    with trackway.run("refund"):
        bot("q")
    attributes = recorded.one("run refund").attributes
    assert attributes[Trackway.INPUT] == '{"question":"q"}'
    assert attributes[Trackway.OUTPUT] == "answer to q"


def test_what_a_run_was_given_is_not_replaced_by_its_agent(recorded: Any) -> None:
    with trackway.run("refund", input="the question") as run:
        run.final("my final text")
        bot("q")
    attributes = recorded.one("run refund").attributes
    assert attributes[Trackway.INPUT] == "the question"
    assert attributes[Trackway.OUTPUT] == "my final text"


def test_an_agent_called_after_its_run_ended_opens_a_run_of_its_own(recorded: Any) -> None:
    leftover: list[Any] = []
    with trackway.run("refund"):
        leftover.append(contextvars.copy_context())
    leftover[0].run(bot, "late")
    span = recorded.one("invoke_agent bot")
    assert (
        span.attributes[Trackway.RUN_ID] != recorded.one("run refund").attributes["trackway.run.id"]
    )
    assert span.parent is None


def test_a_run_inside_a_run_is_a_run_of_its_own(recorded: Any) -> None:
    with trackway.run("outer") as outer:
        with trackway.run("inner") as inner:
            work()
        work()
    assert inner.id != outer.id
    first, second = recorded.named("execute_tool work")
    assert first.attributes[Trackway.RUN_ID] == inner.id
    assert second.attributes[Trackway.RUN_ID] == outer.id
    assert [s.attributes[Trackway.STEP_INDEX] for s in (first, second)] == [1, 1]


def test_a_run_works_as_an_async_context_manager(recorded: Any) -> None:
    async def main() -> None:
        async with trackway.run("refund") as run:
            assert trackway.current_run() is run
            work()

    asyncio.run(main())
    assert recorded.one("run refund").attributes[Trackway.RUN_LAST_STEP] == 1


def test_an_error_in_a_run_is_recorded_and_goes_on(recorded: Any) -> None:
    with pytest.raises(KeyError), trackway.run("refund"):
        raise KeyError("x")
    span = recorded.one("run refund")
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes[GenAI.ERROR_TYPE] == "KeyError"


def test_outside_any_run_there_is_no_run_and_steps_have_no_clock(recorded: Any) -> None:
    assert trackway.current_run() is None
    work()
    attributes = recorded.tool("work").attributes
    assert Trackway.RUN_ID not in attributes
    assert Trackway.STEP_INDEX not in attributes


def test_a_run_ends_and_leaves_the_context_as_it_was(recorded: Any) -> None:
    with trackway.run("refund"):
        assert trackway.current_run() is not None
    assert trackway.current_run() is None
    assert not trace.get_current_span().get_span_context().is_valid


@settings(max_examples=25, deadline=None)
@given(threads=st.integers(1, 8), ticks=st.integers(1, 200))
def test_the_clock_counts_each_number_once_whoever_asks(threads: int, ticks: int) -> None:
    run = Run(new_identity())
    seen: list[list[int]] = [[] for _ in range(threads)]
    barrier = threading.Barrier(threads)

    def ask(mine: list[int]) -> None:
        barrier.wait()
        mine.extend(run.tick() for _ in range(ticks))

    pool = [threading.Thread(target=ask, args=(mine,)) for mine in seen]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    assert sorted(index for mine in seen for index in mine) == list(range(1, threads * ticks + 1))
    assert all(mine == sorted(mine) for mine in seen)


def test_threads_started_in_a_run_belong_to_it(recorded: Any) -> None:
    with trackway.run("refund") as run:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    tools = recorded.named("execute_tool work")
    assert {span.attributes[Trackway.RUN_ID] for span in tools} == {run.id}
    assert step_indices(recorded) == [1, 2, 3]


def test_a_pool_that_outlives_a_run_does_not_keep_it(recorded: Any) -> None:
    with ThreadPoolExecutor(1) as pool:
        with trackway.run("refund"):
            pool.submit(work).result()
        assert pool.submit(trackway.current_run).result() is None


def test_task_groups_and_worker_threads_of_asyncio_belong_to_the_run(recorded: Any) -> None:
    async def main() -> None:
        async with trackway.run("refund"), asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(work, 1))
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, work, 2)

    asyncio.run(main())
    assert step_indices(recorded) == [1, 2]
    assert len({span.attributes[Trackway.RUN_ID] for span in recorded.all}) == 1


def two_runs_at_once() -> Any:
    async def one(task: str, count: int) -> None:
        with trackway.run(task):
            for _ in range(count):
                await asyncio.sleep(0)
                work()

    async def main() -> None:
        await asyncio.gather(*(one(f"t{number}", number + 1) for number in range(5)))

    return main()


def test_runs_at_once_do_not_mix(recorded: Any) -> None:
    asyncio.run(two_runs_at_once())
    counts = Counter(
        span.attributes[Trackway.TASK_ID] for span in recorded.named("execute_tool work")
    )
    assert counts == {f"t{number}": number + 1 for number in range(5)}
    for number in range(5):
        run_span = recorded.one(f"run t{number}")
        assert run_span.attributes[Trackway.RUN_LAST_STEP] == number + 1


def report_place() -> tuple[str | None, int | None, str | None]:
    run = trackway.current_run()
    span = trace.get_current_span().get_span_context()
    if run is None:
        return None, None, None
    return run.id, run.last_step, f"{span.span_id:016x}"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_process_pool_takes_the_run_along(recorded: Any, method: str) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context(method)) as pool:
        with trackway.run("refund") as run:
            work()
            found = pool.submit(report_place).result(60)
            here = f"{trace.get_current_span().get_span_context().span_id:016x}"
        afterwards = pool.submit(report_place).result(60)
    assert found == (run.id, 1, here)
    assert afterwards == (None, None, None)


def place_of(_number: int) -> tuple[str | None, int | None, str | None]:
    return report_place()


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_a_pool_of_multiprocessing_takes_the_run_along(recorded: Any, method: str) -> None:
    nothing = (None, None, None)
    with trackway.run("before"):
        pool = get_context(method).Pool(1)
    with pool:
        with trackway.run("refund") as run:
            work()
            here = f"{trace.get_current_span().get_span_context().span_id:016x}"
            found = [
                pool.apply(report_place),
                pool.apply_async(func=report_place).get(60),
                *pool.map(place_of, [1]),
                *pool.map_async(place_of, [1]).get(60),
                *pool.starmap(place_of, [(1,)]),
                *pool.starmap_async(place_of, [(1,)]).get(60),
                *pool.imap(place_of, [1]),
                *pool.imap_unordered(place_of, [1]),
            ]
        afterwards = pool.apply(report_place)
    assert found == [(run.id, 1, here)] * 8
    assert afterwards == nothing


def tell_place(queue: Any) -> None:
    queue.put(report_place())


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_a_process_that_is_started_in_a_run_belongs_to_it(recorded: Any, method: str) -> None:
    context = get_context(method)
    queue = context.SimpleQueue()
    with trackway.run("refund") as run:
        work()
        here = f"{trace.get_current_span().get_span_context().span_id:016x}"
        process = context.Process(target=tell_place, args=(queue,))  # type: ignore[attr-defined]
        process.start()
    assert queue.get() == (run.id, 1, here)
    process.join(60)
    assert process.exitcode == 0


def test_a_carrier_takes_the_run_through_a_queue(recorded: Any) -> None:
    with trackway.run("refund", trial=2) as run:
        work()
        texts = json.loads(json.dumps(trackway.carrier()))

    def consumer() -> None:
        with trackway.carried(texts) as there:
            assert there is not None
            assert there.id == run.id
            work()

    thread = threading.Thread(target=consumer)
    thread.start()
    thread.join()
    first, second = recorded.named("execute_tool work")
    assert second.attributes[Trackway.TRIAL_INDEX] == 2
    assert second.attributes[Trackway.STEP_INDEX] == 2
    assert second.parent.span_id == recorded.one("run refund").context.span_id
    assert first.context.trace_id == second.context.trace_id


def test_mutations_of_two_processes_that_share_a_run_are_two_operations(recorded: Any) -> None:
    @trackway.tool(kind="mutate")
    def refund(order: str) -> str:
        return order

    with trackway.run():
        texts = trackway.carrier()
    for order in ("A1", "A2"):
        with trackway.carried(texts):
            refund(order)

    ids = [
        span.attributes["trackway.operation.id"] for span in recorded.named("execute_tool refund")
    ]
    assert len(ids) == len(set(ids)) == 2


def test_a_carrier_from_outside_any_run_is_empty_and_changes_nothing(recorded: Any) -> None:
    assert trackway.carrier() == {}
    with trackway.carried({}) as run:
        assert run is None


def test_identity_stays_out_of_outbound_headers_unless_asked_for(recorded: Any) -> None:
    headers: dict[str, str] = {}
    with trackway.run("refund"):
        inject(headers)
        assert baggage.get_all() == {}
    assert "baggage" not in headers
    assert "refund" not in str(headers)


def test_a_run_that_waited_is_taken_up_again(recorded: Any) -> None:
    with trackway.run("refund", trial=2) as first:
        work()
        trackway.wait("alice", resume_token="t")
        texts = json.loads(json.dumps(trackway.carrier()))
    with trackway.run(resume_from=texts) as second:
        trackway.resume("t")
        work()
    assert second.id == first.id
    before, after = recorded.named("run refund")
    assert after.attributes[Trackway.TRIAL_INDEX] == 2
    assert after.attributes[Trackway.RUN_LAST_STEP] == 2
    assert after.context.trace_id != before.context.trace_id
    assert [link.context.span_id for link in after.links] == [before.context.span_id]
    steps = [s.attributes[Trackway.STEP_INDEX] for s in recorded.named("execute_tool work")]
    assert steps == [1, 2]


@pytest.mark.parametrize(
    "texts",
    [{"traceparent": "x"}, {"trackway-run": "{"}, {"trackway-run": "[1]"}, {"trackway-run": "{}"}],
)
def test_a_carrier_of_somebody_else_is_counted_and_harms_nobody(
    recorded: Any, texts: dict[str, str]
) -> None:
    before = trackway.capture_errors().get("carrier", 0)
    with trackway.carried(texts) as run:
        assert run is None
    with trackway.run("refund", resume_from=texts) as fresh:
        assert fresh.last_step == 0
    assert recorded.one("run refund").links == ()
    assert trackway.capture_errors()["carrier"] == before + 2


def test_a_deadline_always_has_an_offset(recorded: Any) -> None:
    naive = datetime(2030, 1, 2, 3, 4, 5)
    with trackway.run("refund", deadline=naive):
        pass
    text = recorded.one("run refund").attributes[Trackway.DEADLINE]
    assert datetime.fromisoformat(text) == naive.astimezone()


def test_baggage_takes_the_run_through_headers_on_request(recorded: Any) -> None:
    recorded.configure(baggage=True)
    headers: dict[str, str] = {}
    with trackway.run("refund") as run:
        inject(headers)

    def remote_service() -> None:
        token = otel_context.attach(extract(headers, context=Context()))
        with trace.get_tracer("framework").start_as_current_span("inbound"):
            bot("q")
        otel_context.detach(token)

    contextvars.copy_context().run(remote_service)
    ids = {span.name: span.attributes.get(Trackway.RUN_ID) for span in recorded.all}
    assert ids == dict.fromkeys(
        ["inbound", "invoke_agent bot", "execute_tool work", "run refund"], run.id
    )
    assert Trackway.SCHEMA_VERSION not in recorded.one("invoke_agent bot").attributes


def test_baggage_that_makes_no_sense_is_ignored(recorded: Any) -> None:
    recorded.configure(baggage=True)

    def remote_service() -> None:
        otel_context.attach(baggage.set_baggage("trackway-run", "{nonsense"))
        bot("q")

    contextvars.copy_context().run(remote_service)
    assert recorded.one("invoke_agent bot").attributes[Trackway.SCHEMA_VERSION] == SCHEMA_VERSION


def test_ids_do_not_repeat_under_a_seeded_random(recorded: Any) -> None:
    for _ in range(2):
        random.seed(0)
        bot("q")
    assert len({span.context.trace_id for span in recorded.all}) == 2
    assert len({span.context.span_id for span in recorded.all}) == 4
    assert len({span.attributes[Trackway.RUN_ID] for span in recorded.all}) == 2


@given(st.integers(1, 300))
@settings(max_examples=10, deadline=None)
def test_generated_ids_are_valid_and_distinct(count: int) -> None:
    generator = EntropyIdGenerator()
    ids = {generator.generate_span_id() for _ in range(count)}
    assert len(ids) == count
    assert all(0 < number < 1 << 64 for number in ids)
    assert 0 < generator.generate_trace_id() < 1 << 128


def canonical_steps(recorded: Any) -> str:
    volatile = (Trackway.RUN_ID, Trackway.OPERATION_ID)
    steps = [
        {key: value for key, value in span.attributes.items() if key not in volatile}
        for span in recorded.all
        if Trackway.STEP_INDEX in span.attributes
    ]
    return json.dumps(sorted(steps, key=lambda step: step[Trackway.STEP_INDEX]), sort_keys=True)


def test_the_same_seed_gives_the_same_steps_byte_for_byte(recorded: Any) -> None:
    @trackway.tool(kind="mutate")
    def charge(amount: float, tags: set[str]) -> dict[str, Any]:
        return {"amount": amount, "tags": tags}

    def once() -> str:
        recorded.clear()
        chance = random.Random(7)
        with trackway.run("refund", seed=7):
            for _ in range(5):
                charge(chance.random(), {"b", "a", "c"})
        return canonical_steps(recorded)

    assert once() == once()
