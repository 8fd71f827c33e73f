"""A span of no kind with an input or an output may be a call of the tool of its name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from span_builder import Recording

from trackway_analyzer.rules import Allowed, Called, Forbidden, Never, Rule, State

LANGFUSE = {"langfuse.observation.input": "{}", "langfuse.observation.output": "ok"}
TRACED: dict[str, dict[str, str]] = {
    "langfuse": LANGFUSE,
    "mlflow": {"mlflow.spanInputs": "{}", "mlflow.spanOutputs": '"ok"'},
    "traceloop": {"traceloop.entity.input": "{}", "traceloop.entity.output": "ok"},
    "openinference": {"input.value": "{}", "output.value": "ok"},
    "langsmith": {"gen_ai.prompt": "{}", "gen_ai.completion": "ok"},
}


def traced(name: str = "refund", attributes: dict[str, Any] = LANGFUSE, **of: Any) -> Recording:
    record = Recording()
    agent = record.agent("support")
    record.model(agent, told=[], says="done")
    record.wrapper(agent, name=name, attributes=attributes, lasts=5, **of)
    return record


def states(record: Recording, rule: Rule) -> list[State]:
    return [finding.state for finding in rule.check(record.run().batch)]


@pytest.mark.parametrize("instrumentor", TRACED)
def test_a_traced_function_may_be_a_call_of_its_name(instrumentor: str):
    record = traced(attributes=TRACED[instrumentor])
    (gap,) = record.run().gaps
    assert (gap.name, gap.detail, gap.count) == ("possible_calls", "refund", 1)
    assert states(record, Called("refund")) == [State.INSUFFICIENT]
    assert states(record, Never("refund")) == [State.INSUFFICIENT]


@pytest.mark.parametrize(
    "of", [{"attributes": {"tool.name": "refund"}}, {"attributes": {}, "tool": "refund"}]
)
def test_a_span_that_names_a_tool_may_be_its_call(of: dict[str, Any]):
    record = traced("work", **of)
    assert states(record, Never("refund")) == [State.INSUFFICIENT]
    assert states(record, Allowed(["lookup"])) == [State.INSUFFICIENT]
    assert states(record, Never("work")) == []


def test_it_is_no_call_of_another_tool():
    record = traced()
    assert states(record, Called("charge")) == [State.VIOLATED]
    assert states(record, Never("charge")) == []
    assert states(record, Never("fund")) == []
    assert states(record, Forbidden(["charge_*"])) == []
    assert states(record, Allowed(["refund"])) == []


def test_a_pattern_speaks_of_it_too():
    assert states(traced(), Forbidden(["ref*"])) == [State.INSUFFICIENT]
    assert states(traced("shop.refund"), Forbidden(["ref*"])) == [State.INSUFFICIENT]


def test_a_function_that_an_allow_list_does_not_name_leaves_it_open():
    assert states(traced(), Allowed(["lookup"])) == [State.INSUFFICIENT]
    assert states(traced("shop.refund"), Allowed(["lookup"])) == [State.INSUFFICIENT]


@pytest.mark.parametrize("name", ["ChatPromptTemplate", "Workflow.init_run", "execute_task Parser"])
def test_a_class_of_a_framework_leaves_an_allow_list_as_it_is(name: str):
    assert states(traced(name), Allowed(["lookup"])) == []


def test_where_calls_have_spans_that_say_so_an_allow_list_is_as_it_is():
    record = traced("should_continue")
    record.tool("lookup", {"id": 7}, "ok")
    assert states(record, Allowed(["lookup"])) == []
    assert states(record, Never("should_continue")) == [State.INSUFFICIENT]


@pytest.mark.parametrize("name", ["refund.task", "shop.refund", "tools/refund", "Refund"])
def test_what_stands_around_the_name_makes_no_difference(name: str):
    assert states(traced(name), Called("refund")) == [State.INSUFFICIENT]


@pytest.mark.parametrize("instrumentor", TRACED)
@pytest.mark.parametrize("place", [0, 1])
def test_a_function_may_have_returned_nothing_or_been_given_nothing(instrumentor: str, place: int):
    told = list(TRACED[instrumentor].items())[place]
    record = traced(attributes=dict([told]))
    assert states(record, Never("refund")) == [State.INSUFFICIENT]


NOTHING: list[dict[str, Any]] = [{}, {"langfuse.observation.input": None}]


@pytest.mark.parametrize("attributes", NOTHING)
def test_a_span_without_input_and_output_is_what_it_was(attributes: dict[str, Any]):
    assert traced(attributes=attributes).run().gaps == ()


def test_a_span_around_steps_is_no_call():
    record = Recording()
    node = record.wrapper(name="refund", attributes=LANGFUSE)
    record.model(node, told=[], says="done")
    assert record.run().gaps == ()


def test_where_the_tool_has_a_step_the_span_is_what_stands_around_it():
    record = traced()
    record.tool("refund", {"id": 7}, "ok")
    assert record.run().gaps == ()
    assert states(record, Called("refund")) == []


def test_too_many_names_may_be_any():
    record = Recording()
    record.model(told=[], says="done")
    for number in range(300):
        record.wrapper(name=f"step_{number}", attributes=LANGFUSE, lasts=5)
    (gap,) = record.run().gaps
    assert gap.count == 300
    assert states(record, Never("refund")) == [State.INSUFFICIENT]


UNREAD = {
    "an action": {"action": "refund", "action_input": {}},
    "a function": {"steps": [{"function": "refund", "params": {"id": 7}}]},
    "a call in a wrapper": {"reply": {"tool_calls": [{"function": {"name": "refund"}}]}},
}


@pytest.mark.parametrize("answer", UNREAD.values(), ids=UNREAD)
def test_so_may_what_an_answer_names_that_could_not_be_read(answer: dict[str, Any]):
    record = Recording()
    agent = record.agent("support")
    record.span("llm", agent, attributes={"langfuse.observation.output": json.dumps(answer)})
    record.tool("lookup", {"id": 7}, "ok", agent)
    assert states(record, Never("refund")) == [State.INSUFFICIENT]
    assert states(record, Never("charge")) == []


def test_an_answer_of_fields_asks_for_nothing():
    record = Recording()
    answer = {"langfuse.observation.output": '{"intent": "refund", "sure": 0.9}'}
    agent = record.agent("support")
    record.span("llm", agent, attributes=answer)
    record.tool("lookup", {"id": 7}, "ok", agent)
    assert states(record, Never("refund")) == []


INNER = {"recipient_name": "functions.refund", "parameters": {"id": 7}}


def calling(tool: str, arguments: Any) -> Recording:
    record = Recording()
    agent = record.agent("support")
    record.model(agent, told=[], says="done")
    record.tool(tool, arguments, "ok", agent)
    return record


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("multi_tool_use.parallel", {"tool_uses": [INNER]}),
        ("batch", {"invocations": [{"name": "refund", "arguments": '{"id": 7}'}]}),
        ("call_tool", {"name": "refund", "arguments": {"id": 7}}),
        ("use_mcp_tool", {"server": "shop", "tool_name": "refund", "arguments": {"id": 7}}),
    ],
)
def test_a_call_in_the_arguments_of_a_call_may_have_been_made(tool: str, arguments: Any):
    record = calling(tool, arguments)
    (gap,) = record.run().gaps
    assert (gap.name, gap.detail) == ("possible_calls", "refund")
    assert states(record, Never("refund")) == [State.INSUFFICIENT]
    assert states(record, Never("charge")) == []
    record.tool("refund", {"id": 7}, "ok", "s1")
    assert record.run().gaps == ()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create_agent", {"name": "refund", "arguments": {"id": 7}}),
        ("plan", {"steps": [{"name": "refund", "input": "all"}]}),
        ("define", {"tools": [{"name": "refund", "description": "x", "parameters": {}}]}),
    ],
)
def test_other_names_in_arguments_are_no_calls(tool: str, arguments: Any):
    assert calling(tool, arguments).run().gaps == ()
