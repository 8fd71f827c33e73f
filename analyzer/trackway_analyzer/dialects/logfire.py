"""Pydantic Logfire: GenAI names on model calls, message templates on everything else."""

from __future__ import annotations

from typing import Final

from trackway.schema import GenAI, Operation
from trackway_analyzer.dialects.cut_messages import inside
from trackway_analyzer.dialects.dialect import Dialect, Marks
from trackway_analyzer.dialects.otel_genai import MODEL, OPERATIONS, TOKENS
from trackway_analyzer.dialects.sources import recorded_events
from trackway_analyzer.dialects.values import member

LOGFIRE: Final = Dialect(
    name="logfire",
    marks=Marks(keys=("logfire.msg_template",), scopes=("logfire",)),
    operations=(
        # A copy that stands in for a span until the span itself arrives.
        ("logfire.span_type", {"pending_span": Operation.OTHER}),
        (GenAI.OPERATION_NAME, OPERATIONS),
        (
            "logfire.msg_template",
            {
                "Function: {name}": Operation.TOOL,
                "MCP: call tool {name}": Operation.TOOL,
                "Agent run: {name!r}": Operation.AGENT,
            },
        ),
        ("request_data", Operation.LLM),
    ),
    fields=MODEL
    | TOKENS
    | {
        "cost": ("operation.cost",),
        "agent": (GenAI.AGENT_NAME, "agent_name"),
        "error_message": (("error", member("message")),),
        "failed": (("error", bool),),
    },
    of={
        Operation.LLM: {
            "input": (
                GenAI.INPUT_MESSAGES,
                "raw_input",
                recorded_events("events", choices=False),
                ("request_data", inside(member("messages", "input", "prompt"))),
            ),
            "output": (
                GenAI.OUTPUT_MESSAGES,
                "response",
                recorded_events("events", choices=True),
                ("response_data", inside(member("message", "messages", "text"))),
            ),
        },
        Operation.TOOL: {
            "tool": (GenAI.TOOL_NAME, "name"),
            "arguments": (GenAI.TOOL_CALL_ARGUMENTS, "input"),
            "result": (GenAI.TOOL_CALL_RESULT, "output"),
        },
        Operation.AGENT: {"agent": (GenAI.AGENT_NAME, "agent_name", "name")},
    },
)
