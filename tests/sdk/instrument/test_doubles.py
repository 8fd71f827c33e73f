"""One call that two instrumentors see is one step, and somebody is told."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import trackway
from other_tracer import agent, model, tool
from trackway import doubles
from trackway.schema import Trackway


@pytest.fixture(autouse=True)
def _nothing_told() -> Any:
    doubles.forget()
    yield
    doubles.forget()


def index(span: Any) -> Any:
    return span.attributes.get(Trackway.STEP_INDEX)


def test_a_decorated_tool_that_a_framework_calls_is_one_step(recorded: Any) -> None:
    @trackway.tool(kind="lookup")
    def lookup_order() -> None: ...

    with trackway.run("t") as run, tool("lookup_order"):
        lookup_order()
    assert index(recorded.one("tool lookup_order")) == 1
    assert index(recorded.tool("lookup_order")) is None
    assert run.last_step == 1


def test_a_name_of_its_own_makes_the_framework_s_the_alias(recorded: Any) -> None:
    @trackway.tool("refund_api.create", kind="mutate")
    def refund_create() -> None: ...

    with trackway.run("t"), tool("refund_create"):
        refund_create()
    ours = recorded.tool("refund_api.create")
    assert index(ours) is None
    assert ours.attributes[Trackway.TOOL_ALIAS] == "refund_create"


def test_a_decorated_tool_inside_another_tool_is_a_step_of_its_own(recorded: Any) -> None:
    @trackway.tool
    def charge_card() -> None: ...

    with trackway.run("t"), tool("refund_create"):
        charge_card()
    assert index(recorded.tool("charge_card")) == 2


def test_a_decorated_tool_that_calls_itself_is_two_steps(recorded: Any) -> None:
    @trackway.tool
    def count(down: int) -> None:
        if down:
            count(down - 1)

    with trackway.run("t") as run:
        count(1)
    assert run.last_step == 2


def test_a_decorated_model_call_inside_a_framework_s_is_one_step(recorded: Any) -> None:
    @trackway.llm
    def chat(messages: list[Any]) -> str:
        return "hello"

    with trackway.run("t") as run, model():
        chat([])
    assert run.last_step == 1


def test_two_instrumentors_of_one_call_are_told_of_once(
    recorded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "trackway")
    for _ in range(3):
        with agent("a"), model("framework"), model("client"):
            pass
    assert [record.getMessage() for record in caplog.records] == [
        "trackway: one call has two spans, of framework and inside it of client; the trajectory "
        "has it once, but other backends count its tokens twice: leave one of the two out, with "
        "trackway.instrument(exclude=[...]) or where it is turned on"
    ]


def test_the_same_scope_twice_is_a_retry_and_not_told(
    recorded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with agent("a"), model("client"), model("client"):
        pass
    assert not caplog.records


def test_a_pair_that_was_turned_on_together_is_not_told(
    recorded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    doubles.expect(frozenset({"framework", "client"}))
    with agent("a"), model("framework"), model("client"):
        pass
    assert not caplog.records
