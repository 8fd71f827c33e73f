"""pydantic-ai: GenAI names, with arguments and results under names of its own in format 2."""

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
    TOOL,
)
from trackway_analyzer.dialects.sources import recorded_events

_ALL: Final = (
    "pydantic_ai.all_messages",
    "all_messages",
    recorded_events("all_messages_events", choices=None),
)

PYDANTIC_AI: Final = Dialect(
    name="pydantic-ai",
    marks=Marks(
        keys=("pydantic_ai.all_messages", "all_messages_events", "gen_ai.agent.call.id"),
        scopes=("pydantic-ai",),
    ),
    operations=(
        (GenAI.OPERATION_NAME, OPERATIONS),
        (GenAI.TOOL_NAME, Operation.TOOL),
        ("all_messages_events", Operation.AGENT),
        (GenAI.REQUEST_MODEL, Operation.LLM),
    ),
    fields=MODEL
    | TOKENS
    | {"agent": (GenAI.AGENT_NAME, "agent_name"), "cost": ("operation.cost",)},
    of={
        Operation.LLM: {
            "input": (INPUT_MESSAGES, recorded_events("events", choices=False)),
            "output": (*OUTPUT_MESSAGES, recorded_events("events", choices=True)),
        },
        Operation.TOOL: {
            **TOOL,
            "arguments": (GenAI.TOOL_CALL_ARGUMENTS, "tool_arguments"),
            "result": (GenAI.TOOL_CALL_RESULT, "tool_response"),
        },
        Operation.AGENT: {
            "input": _ALL,
            "output": ("final_result", *_ALL),
            "model_requested": ("model_name",),
        },
    },
)
