"""Spans that other instrumentors write inside a run get its identity and, as steps, its clock."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.context import Context

import trackway
from trackway.schema import GenAI, Trackway

FOREIGN = trace.get_tracer("someone.else")


def foreign(name: str, **attributes: Any) -> Any:
    return FOREIGN.start_as_current_span(name, attributes=attributes)


STEPS = [
    {"gen_ai.operation.name": "chat"},
    {"gen_ai.operation.name": "execute_tool"},
    {"gen_ai.operation.name": "retrieval"},
    {"openinference.span.kind": "LLM"},
    {"openinference.span.kind": "TOOL"},
    {"openinference.span.kind": "RETRIEVER"},
    {"traceloop.span.kind": "tool"},
    {"llm.request.type": "chat"},
]
OTHERS = [
    {},
    {"gen_ai.operation.name": "invoke_agent"},
    {"gen_ai.operation.name": "embeddings"},
    {"openinference.span.kind": "CHAIN"},
    {"traceloop.span.kind": "workflow"},
]


@pytest.mark.parametrize("attributes", STEPS)
def test_a_step_takes_the_clock(recorded: Any, attributes: dict[str, Any]) -> None:
    with trackway.run("t") as run, foreign("step", **attributes):
        pass
    span = recorded.one("step")
    assert span.attributes[Trackway.STEP_INDEX] == 1
    assert span.attributes[Trackway.RUN_ID] == run.id


@pytest.mark.parametrize("attributes", OTHERS)
def test_what_is_no_step_gets_identity_only(recorded: Any, attributes: dict[str, Any]) -> None:
    with trackway.run("t") as run, foreign("other", **attributes):
        pass
    span = recorded.one("other")
    assert Trackway.STEP_INDEX not in span.attributes
    assert span.attributes[Trackway.RUN_ID] == run.id


def test_steps_of_ours_and_of_others_share_one_clock(recorded: Any) -> None:
    @trackway.tool
    def ours() -> None: ...

    with trackway.run("t"):
        with foreign("chat", **{"gen_ai.operation.name": "chat"}):
            pass
        ours()
        with foreign("tool", **{"openinference.span.kind": "TOOL"}):
            pass
    found = [(s.name, s.attributes.get(Trackway.STEP_INDEX)) for s in recorded.all]
    assert found == [("chat", 1), ("execute_tool ours", 2), ("tool", 3), ("run t", None)]
    assert recorded.one("run t").attributes[Trackway.RUN_LAST_STEP] == 3


def test_an_explicit_attribute_wins(recorded: Any) -> None:
    with trackway.run("t", variant="stable"), foreign("x", **{Trackway.VARIANT: "shadow"}):
        pass
    assert recorded.one("x").attributes[Trackway.VARIANT] == "shadow"


def test_a_span_outside_any_run_is_left_alone(recorded: Any) -> None:
    with foreign("x", **{"gen_ai.operation.name": "chat"}):
        pass
    assert dict(recorded.one("x").attributes) == {"gen_ai.operation.name": "chat"}


def test_the_context_that_a_span_starts_in_decides_not_the_current_one(recorded: Any) -> None:
    with trackway.run("t"):
        FOREIGN.start_span("x", context=Context()).end()
    assert Trackway.RUN_ID not in recorded.one("x").attributes


def test_the_client_s_own_span_inside_a_model_call_is_the_same_step(recorded: Any) -> None:
    @trackway.llm
    def chat(messages: list[Any]) -> str:
        with foreign("chat gpt", **{"gen_ai.operation.name": "chat"}):
            return "hello"

    with trackway.run("t"):
        chat([])
    assert Trackway.STEP_INDEX not in recorded.one("chat gpt").attributes
    assert recorded.one("chat").attributes[Trackway.STEP_INDEX] == 1


def test_two_instrumentors_of_one_call_are_one_step(recorded: Any) -> None:
    with (
        trackway.run("t"),
        foreign("outer", **{"openinference.span.kind": "LLM"}),
        foreign("inner", **{"gen_ai.operation.name": "chat"}),
    ):
        pass
    assert recorded.one("outer").attributes[Trackway.STEP_INDEX] == 1
    assert Trackway.STEP_INDEX not in recorded.one("inner").attributes


def test_a_tool_that_calls_another_tool_is_two_steps(recorded: Any) -> None:
    operation = {GenAI.OPERATION_NAME: "execute_tool"}
    with (
        trackway.run("t"),
        foreign("outer", **operation, **{GenAI.TOOL_NAME: "a"}),
        foreign("inner", **operation, **{GenAI.TOOL_NAME: "b"}),
    ):
        pass
    assert recorded.one("inner").attributes[Trackway.STEP_INDEX] == 2
