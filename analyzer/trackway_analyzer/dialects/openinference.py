"""OpenInference (Arize): `openinference.span.kind` and flattened messages."""

from __future__ import annotations

from typing import Final

from trackway.schema import GenAI, Operation
from trackway_analyzer.dialects.dialect import Dialect, Marks
from trackway_analyzer.dialects.sources import (
    agent_of_method,
    no_schema,
    numbered,
    numbered_messages,
    span_name,
    text_or_json,
    with_calls,
)
from trackway_analyzer.dialects.stop_reasons import reason_in

KIND: Final = "openinference.span.kind"

OPENINFERENCE: Final = Dialect(
    name="openinference",
    marks=Marks(keys=(KIND,)),
    operations=(
        # Before the kind: some instrumentors label a tool AGENT if "agent" is in its name.
        ("tool.name", Operation.TOOL),
        (
            KIND,
            {
                "LLM": Operation.LLM,
                "TOOL": Operation.TOOL,
                "AGENT": Operation.AGENT,
                "RETRIEVER": Operation.RETRIEVAL,
                "EMBEDDING": Operation.EMBEDDING,
                "CHAIN": Operation.OTHER,
                "RERANKER": Operation.OTHER,
                "GUARDRAIL": Operation.OTHER,
                "EVALUATOR": Operation.OTHER,
                "PROMPT": Operation.OTHER,
                "DECISION": Operation.OTHER,
            },
        ),
    ),
    fields={
        "agent": ("agent.name",),
        "model_requested": ("llm.request.model_name", "llm.model_name", "embedding.model_name"),
        "model_answered": ("llm.response.model_name", "llm.model_name"),
        "provider": ("llm.provider", "llm.system"),
        "finish_reasons": ("llm.finish_reason", ("output.value", reason_in)),
        "tokens_in": ("llm.token_count.prompt",),
        "tokens_out": ("llm.token_count.completion",),
        "tokens_cache_read": (
            "llm.token_count.prompt_details.cache_read",
            "llm.token_count.prompt_details.cache_input",
        ),
        "tokens_cache_write": ("llm.token_count.prompt_details.cache_write",),
        "tokens_reasoning": ("llm.token_count.completion_details.reasoning",),
        "cost": ("llm.cost.total",),
        "input": ("input.value",),
        "output": ("output.value",),
    },
    of={
        Operation.LLM: {
            "input": (numbered_messages("llm.input_messages", asked=True), numbered("llm.prompts")),
            "output": (
                with_calls("llm.function_call", numbered_messages("llm.output_messages")),
                numbered_messages("llm.output_messages"),
                numbered("llm.choices"),
            ),
        },
        Operation.TOOL: {
            "tool": ("tool.name", GenAI.TOOL_NAME, span_name),
            "tool_call_id": ("tool_call.id", "tool.id"),
            "arguments": (
                text_or_json("input.value", "input.mime_type"),
                ("tool.parameters", no_schema),
            ),
            "result": ("output.value",),
        },
        Operation.AGENT: {"agent": ("agent.name", GenAI.AGENT_NAME, agent_of_method)},
        Operation.RETRIEVAL: {
            "output": (numbered("retrieval.documents"), "output.value"),
        },
    },
)
