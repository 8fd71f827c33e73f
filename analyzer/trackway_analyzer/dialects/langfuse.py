"""Langfuse SDK: `langfuse.observation.*`; the span's name is the tool's or agent's name."""

from __future__ import annotations

from typing import Final

from trackway.schema import GenAI, Operation
from trackway_analyzer.dialects.dialect import Dialect, Marks
from trackway_analyzer.dialects.sources import span_name
from trackway_analyzer.dialects.values import json_of, member

TYPE: Final = "langfuse.observation.type"
_USAGE: Final = "langfuse.observation.usage_details"

LANGFUSE: Final = Dialect(
    name="langfuse",
    marks=Marks(keys=(TYPE, "langfuse.observation.input"), scopes=("langfuse-sdk",)),
    operations=(
        (
            TYPE,
            {
                "generation": Operation.LLM,
                "embedding": Operation.EMBEDDING,
                "agent": Operation.AGENT,
                "tool": Operation.TOOL,
                "retriever": Operation.RETRIEVAL,
                "chain": Operation.OTHER,
                "span": Operation.OTHER,
                "event": Operation.OTHER,
                "evaluator": Operation.OTHER,
                "guardrail": Operation.OTHER,
            },
        ),
    ),
    fields={
        "model_requested": ("langfuse.observation.model.name",),
        "model_answered": ("langfuse.observation.model.name",),
        "provider": ("langfuse.observation.metadata.ls_provider",),
        "tokens_in": ((_USAGE, member("input", "input_tokens", "prompt_tokens")),),
        "tokens_out": ((_USAGE, member("output", "output_tokens", "completion_tokens")),),
        "tokens_cache_read": ((_USAGE, member("cache_read_input_tokens", "input_cache_read")),),
        "tokens_cache_write": (
            (_USAGE, member("cache_creation_input_tokens", "input_cache_creation")),
        ),
        "tokens_reasoning": ((_USAGE, member("output_reasoning", "reasoning_tokens")),),
        "cost": (("langfuse.observation.cost_details", member("total")),),
        "input": ("langfuse.observation.input",),
        "output": ("langfuse.observation.output",),
        "error_message": ("langfuse.observation.status_message",),
    },
    of={
        Operation.TOOL: {
            "tool": (GenAI.TOOL_NAME, span_name),
            "tool_call_id": (
                GenAI.TOOL_CALL_ID,
                ("langfuse.observation.metadata.tool_call_id", json_of),
            ),
            "arguments": ("langfuse.observation.input",),
            "result": ("langfuse.observation.output",),
        },
        Operation.AGENT: {"agent": (GenAI.AGENT_NAME, span_name)},
    },
)
