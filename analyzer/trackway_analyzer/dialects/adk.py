"""Google ADK: GenAI names; in schema 1 requests, responses and tool values under its own."""

from __future__ import annotations

from typing import Final

from trackway.schema import GenAI, Operation
from trackway_analyzer.dialects.dialect import Dialect, Marks
from trackway_analyzer.dialects.otel_genai import (
    INPUT_MESSAGES,
    MODEL,
    OPERATIONS,
    OUTPUT_MESSAGES,
    TOKENS,
)
from trackway_analyzer.dialects.values import filled, only

_REQUEST: Final = ("gcp.vertex.agent.llm_request", filled)
_RESPONSE: Final = ("gcp.vertex.agent.llm_response", filled)

ADK: Final = Dialect(
    name="adk",
    marks=Marks(
        keys=(
            "gcp.vertex.agent.llm_request",
            "gcp.vertex.agent.tool_call_args",
            "gcp.vertex.agent.event_id",
        ),
        scopes=("gcp.vertex.agent",),
    ),
    operations=(
        # One more span for every batch of parallel calls, with nothing of its own.
        (GenAI.TOOL_NAME, {"(merged tools)": Operation.OTHER}),
        (GenAI.OPERATION_NAME, OPERATIONS),
        (GenAI.REQUEST_MODEL, Operation.LLM),
    ),
    fields=MODEL | TOKENS,
    of={
        Operation.LLM: {
            "input": (INPUT_MESSAGES, _REQUEST),
            "output": (*OUTPUT_MESSAGES, _RESPONSE),
        },
        Operation.TOOL: {
            "tool": (GenAI.TOOL_NAME,),
            "tool_call_id": (GenAI.TOOL_CALL_ID,),
            "arguments": (GenAI.TOOL_CALL_ARGUMENTS, "gcp.vertex.agent.tool_call_args"),
            "result": (
                (GenAI.TOOL_CALL_RESULT, only("result")),
                ("gcp.vertex.agent.tool_response", only("result")),
            ),
        },
        Operation.AGENT: {"input": (INPUT_MESSAGES,), "output": OUTPUT_MESSAGES},
        Operation.WORKFLOW: {"agent": (GenAI.WORKFLOW_NAME,)},
    },
)
