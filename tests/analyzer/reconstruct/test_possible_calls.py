"""A span of no kind with an input and an output may be a call of the tool of its name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from span_builder import Recording

from trackway_analyzer.rules import Allowed, Called, Never, Rule, State

LANGFUSE = {"langfuse.observation.input": "{}", "langfuse.observation.output": "ok"}
TRACED: dict[str, dict[str, str]] = {
    "langfuse": LANGFUSE,
    "mlflow": {"mlflow.spanInputs": "{}", "mlflow.spanOutputs": '"ok"'},
    "traceloop": {"traceloop.entity.input": "{}", "traceloop.entity.output": "ok"},
    "openinference": {"input.value": "{}", "output.value": "ok"},
    "langsmith": {"gen_ai.prompt": "{}", "gen_ai.completion": "ok"},
}


def traced(name: str = "refund", attributes: dict[str, str] = LANGFUSE, **of: Any) -> Recording:
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


def test_it_is_no_call_of_another_tool():
    record = traced()
    assert states(record, Called("charge")) == [State.VIOLATED]
    assert states(record, Never("charge")) == []
    assert states(record, Never("fund")) == []
    assert states(record, Allowed(["lookup"])) == []


@pytest.mark.parametrize("name", ["refund.task", "shop.refund", "tools/refund", "Refund"])
def test_what_stands_around_the_name_makes_no_difference(name: str):
    assert states(traced(name), Called("refund")) == [State.INSUFFICIENT]


@pytest.mark.parametrize("attributes", [{}, {"langfuse.observation.input": "{}"}])
def test_a_span_without_input_or_output_is_what_it_was(attributes: dict[str, str]):
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
