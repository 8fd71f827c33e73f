"""A decorated tool under a framework's span of the same call is one step with what either knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trackway
import trackway_analyzer as ta
from other_tracer import ARGUMENTS, RESULT, agent, model, tool

CALL_ID = "gen_ai.tool.call.id"


@pytest.fixture
def traces(tmp_path: Path) -> Any:
    trackway.configure(export=tmp_path / "traces")
    yield lambda: (trackway.shutdown(), ta.load(tmp_path / "traces"))[1]
    trackway.shutdown()


def framework_call(name: str, function: Any, call_id: str, **arguments: Any) -> None:
    with tool(name) as span:
        span.set_attributes({ARGUMENTS: json.dumps(arguments), CALL_ID: call_id})
        span.set_attribute(RESULT, json.dumps(function(**arguments)))


def test_a_decorated_tool_of_a_framework_is_one_step(traces: Any) -> None:
    @trackway.tool("refund_api.create", kind="mutate", entity="order_id", entity_type="order")
    def refund_create(order_id: str, amount: float) -> dict[str, str]:
        return {"status": "succeeded"}

    with agent("refunds"):
        with model():
            pass
        framework_call("refund_create", refund_create, "call_1", order_id="A-1", amount=84.0)
        with model():
            pass
    (trajectory,) = traces()
    assert [step.operation for step in trajectory.steps] == ["llm", "tool", "llm"]
    refund = trajectory.steps[1]
    assert (refund.tool, refund.kind, refund.call_id) == ("refund_api.create", "mutate", "call_1")
    assert refund.entity_refs == ("order:A-1",)
    assert refund.arguments == {"order_id": "A-1", "amount": 84.0}
    assert [gap.name for gap in trajectory.gaps] == ["content_off"]  # of the model calls


def test_a_decorated_agent_around_a_framework_s_is_one_run(traces: Any) -> None:
    @trackway.agent
    def refunds(question: str) -> str:
        with agent("framework"), model():
            pass
        return "done"

    refunds("Refund A-1")
    (trajectory,) = traces()
    assert trajectory.input == '{"question":"Refund A-1"}'
    assert trajectory.final_text == "done"
    assert len(trajectory.steps) == 1


def test_two_runs_of_a_framework_s_agent_in_one_trace_are_two_trajectories(traces: Any) -> None:
    from opentelemetry import trace

    with trace.get_tracer("web").start_as_current_span("POST /batch"):
        for name in ("lookup_order", "refund_create"):
            with agent("refunds"), model():
                framework_call(name, dict, "call_1")
    assert sorted(t.tools for t in traces()) == [["lookup_order"], ["refund_create"]]
