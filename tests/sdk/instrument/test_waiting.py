"""`trackway.waiting(result)` tells by shape what a framework's result waits for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.types import Interrupt

import trackway
from trackway.schema import Trackway

OPENAI_AGENTS = SimpleNamespace(  # 0.24: RunResult.interruptions of ToolApprovalItem
    final_output=None,
    interruptions=[
        SimpleNamespace(
            tool_name="refund_create",
            raw_item=SimpleNamespace(call_id="call_1", arguments='{"order_id": "A9128"}'),
        )
    ],
)
PYDANTIC_AI = SimpleNamespace(  # 2.68: AgentRunResult.output of DeferredToolRequests
    output=SimpleNamespace(
        approvals=[
            SimpleNamespace(
                tool_name="refund_create", args={"order_id": "A9128"}, tool_call_id="call_1"
            )
        ],
        calls=[],
    )
)
MS_AGENT_FRAMEWORK = SimpleNamespace(  # 1.23: AgentResponse.user_input_requests of Content
    user_input_requests=[
        SimpleNamespace(
            type="function_approval_request",
            id="fc_1",
            function_call=SimpleNamespace(
                name="refund_create", call_id="call_1", arguments='{"order_id": "A9128"}'
            ),
        ),
        SimpleNamespace(type="oauth_consent_request", id="o_1", function_call=None),
    ]
)
GOOGLE_ADK = SimpleNamespace(  # 2.13: Event of a tool that requires confirmation
    content=SimpleNamespace(
        parts=[
            SimpleNamespace(text="A moment.", function_call=None),
            SimpleNamespace(
                text=None,
                function_call=SimpleNamespace(
                    name="adk_request_confirmation",
                    id="adk-1",
                    args={
                        "originalFunctionCall": {
                            "id": "call_1",
                            "name": "refund_create",
                            "args": {"order_id": "A9128"},
                        },
                        "toolConfirmation": {"hint": "Please approve", "confirmed": False},
                    },
                ),
            ),
        ]
    )
)
SAID = SimpleNamespace(content=SimpleNamespace(parts=[SimpleNamespace(text="Wait")]))
LANGGRAPH = {"messages": [], "__interrupt__": [Interrupt({"refund": "A9128"}, id="i-1")]}

REFUND = 'refund_create({"order_id": "A9128"})'


@pytest.mark.parametrize(
    ("result", "token", "reason"),
    [
        (OPENAI_AGENTS, "call_1", REFUND),
        (PYDANTIC_AI, "call_1", REFUND),
        (LANGGRAPH, "i-1", '{"refund": "A9128"}'),
        (MS_AGENT_FRAMEWORK, "fc_1", REFUND),
        (GOOGLE_ADK, "adk-1", REFUND),
        ([SAID, GOOGLE_ADK], "adk-1", REFUND),
    ],
    ids=[
        "openai-agents",
        "pydantic-ai",
        "langgraph",
        "ms-agent-framework",
        "google-adk-event",
        "google-adk",
    ],
)
def test_each_approval_is_a_wait(recorded: Any, result: Any, token: str, reason: str) -> None:
    with trackway.run("t") as run:
        carrier = trackway.waiting(result, "alice", deadline="2030-01-02T03:04:05Z")
    (event,) = recorded.one("run t").events
    assert event.name == Trackway.EVENT_WAIT
    assert dict(event.attributes) == {
        "owner": "alice",
        "deadline": "2030-01-02T03:04:05Z",
        "resume_token": token,
        "reason": reason,
    }
    with trackway.run(resume_from=carrier) as taken_up:
        assert taken_up.id == run.id


@pytest.mark.parametrize(
    "result",
    [
        None,
        "done",
        {"messages": []},
        [],
        [SAID, SimpleNamespace(content=None)],
        SimpleNamespace(output="done", interruptions=[]),
        SimpleNamespace(output=SimpleNamespace(calls=["a user's own list"])),
    ],
)
def test_a_finished_result_waits_for_nothing(recorded: Any, result: Any) -> None:
    with trackway.run("t"):
        assert trackway.waiting(result) == {}
    assert not recorded.one("run t").events


def test_a_result_that_can_t_be_read_harms_nobody(recorded: Any) -> None:
    class Broken:
        @property
        def interruptions(self) -> Any:
            raise RuntimeError("no")

    with trackway.run("t"):
        assert trackway.waiting(Broken()) == {}
    assert trackway.capture_errors()["waiting"] >= 1
