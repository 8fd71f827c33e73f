"""A framework's agent that nobody put into a run is a run, from its root span to its end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context

import trackway
from other_tracer import agent, model, span, tool
from trackway.schema import GenAI, Trackway


def run_of(found: Any) -> Any:
    return found.attributes.get(Trackway.RUN_ID)


def test_a_framework_s_agent_outside_any_run_opens_one(recorded: Any) -> None:
    with agent("refunds"):
        with model():
            pass
        with tool("lookup_order"):
            pass
    root = recorded.one("invoke_agent refunds")
    assert [s.attributes.get(Trackway.STEP_INDEX) for s in recorded.all] == [1, 2, None]
    assert {run_of(s) for s in recorded.all} == {run_of(root)}
    assert root.attributes[Trackway.SCHEMA_VERSION] == "1"
    assert root.attributes[Trackway.RUN_LAST_STEP] == 2


def test_a_second_call_of_the_agent_is_another_run(recorded: Any) -> None:
    for _ in range(2):
        with agent("refunds"), model():
            pass
    first, second = recorded.named("invoke_agent refunds")
    assert run_of(first) != run_of(second)
    assert [s.attributes[Trackway.STEP_INDEX] for s in recorded.named("chat gpt")] == [1, 1]


def test_a_sub_agent_is_part_of_its_run(recorded: Any) -> None:
    with agent("front"), tool("ask_refunds"), agent("refunds"), model():
        pass
    assert len({run_of(s) for s in recorded.all}) == 1
    assert Trackway.RUN_LAST_STEP not in recorded.one("invoke_agent refunds").attributes


def test_what_stands_above_the_agent_is_not_of_the_run(recorded: Any) -> None:
    with span("POST /refund"), agent("refunds"):
        pass
    assert run_of(recorded.one("POST /refund")) is None
    assert run_of(recorded.one("invoke_agent refunds")) is not None


def test_a_run_that_is_open_already_is_kept(recorded: Any) -> None:
    with trackway.run("refund") as run, agent("refunds"):
        pass
    assert run_of(recorded.one("invoke_agent refunds")) == run.id
    assert Trackway.RUN_LAST_STEP not in recorded.one("invoke_agent refunds").attributes


def test_a_model_call_alone_opens_no_run(recorded: Any) -> None:
    with model():
        pass
    assert run_of(recorded.one("chat gpt")) is None


def test_our_own_steps_below_the_agent_join_its_run(recorded: Any) -> None:
    @trackway.tool
    def lookup_order() -> None: ...

    with agent("refunds"):
        with model():
            pass
        lookup_order()
    ours = recorded.tool("lookup_order")
    assert run_of(ours) == run_of(recorded.one("invoke_agent refunds"))
    assert ours.attributes[Trackway.STEP_INDEX] == 2
    assert ours.attributes[GenAI.AGENT_NAME] == "refunds"


def test_outcome_and_events_reach_the_run_of_the_agent(recorded: Any) -> None:
    with agent("refunds"):
        run = trackway.current_run()
        assert run is not None
        trackway.outcome(True, label="paid")
        trackway.decision(chosen="refund")
    root = recorded.one("invoke_agent refunds")
    assert root.attributes[Trackway.OUTCOME_LABEL] == "paid"
    assert [event.name for event in root.events] == [Trackway.EVENT_DECISION]
    assert run.ended


def test_the_conversation_that_the_agent_names_is_the_run_s(recorded: Any) -> None:
    with agent("refunds", gen_ai__conversation__id="thread-7"), tool("lookup_order"):
        pass
    assert recorded.one("tool lookup_order").attributes[GenAI.CONVERSATION_ID] == "thread-7"


def test_a_child_whose_context_holds_its_parent_alone_is_in_the_run(recorded: Any) -> None:
    with trackway.run("refund") as run, agent("refunds") as parent:
        alone = trace.set_span_in_context(parent, Context())
        trace.get_tracer("someone.else").start_span("child", alone).end()
    assert run_of(recorded.one("child")) == run.id


def test_an_agent_after_the_end_of_its_run_opens_a_new_one(recorded: Any) -> None:
    with trackway.run("refund") as run:
        stale = otel_context.get_current()
    token = otel_context.attach(stale)
    with agent("refunds"):
        pass
    otel_context.detach(token)
    assert run_of(recorded.one("invoke_agent refunds")) != run.id


def test_pool_threads_take_the_run_along(recorded: Any) -> None:
    def work(name: str) -> None:
        with tool(name):
            pass

    with agent("refunds"), ThreadPoolExecutor(2) as pool:
        list(pool.map(work, ["a", "b"]))
    indices = {s.attributes.get(Trackway.STEP_INDEX) for s in recorded.all}
    assert indices == {1, 2, None}
    assert len({run_of(s) for s in recorded.all}) == 1


def test_a_run_that_is_dropped_at_its_head_is_dropped_whole() -> None:
    from trackway.testing import MemorySpans

    @trackway.tool
    def ours() -> None: ...

    spans = MemorySpans()
    spans.configure(sample=0.0, keep_failed=False)
    with agent("refunds"):
        with model():
            pass
        ours()
    trackway.shutdown()
    assert spans.names == []


@pytest.mark.parametrize("fails", [True, False])
def test_a_failed_run_is_kept_whatever_the_share(fails: bool) -> None:
    from trackway.testing import MemorySpans

    spans = MemorySpans()
    spans.configure(sample=0.0)
    with agent("refunds"), model():
        trackway.outcome(not fails)
    trackway.flush()
    kept = spans.names
    trackway.shutdown()
    assert kept == (["chat gpt", "invoke_agent refunds"] if fails else [])
