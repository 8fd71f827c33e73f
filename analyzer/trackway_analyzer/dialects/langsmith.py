"""LangSmith in OpenTelemetry mode: `langsmith.*` beside inputs and outputs in `gen_ai.prompt`."""

from __future__ import annotations

from typing import Final

from trackway.schema import GenAI, Operation
from trackway_analyzer.dialects.dialect import Dialect, Marks
from trackway_analyzer.dialects.otel_genai import MODEL, TOKENS
from trackway_analyzer.dialects.sources import span_name
from trackway_analyzer.dialects.tool_values import output_of

KIND: Final = "langsmith.span.kind"

LANGSMITH: Final = Dialect(
    name="langsmith",
    marks=Marks(keys=(KIND,), scopes=("langsmith",)),
    operations=(
        (
            KIND,
            {
                "llm": Operation.LLM,
                "tool": Operation.TOOL,
                "retriever": Operation.RETRIEVAL,
                "embedding": Operation.EMBEDDING,
                "chain": Operation.OTHER,
                "prompt": Operation.OTHER,
                "parser": Operation.OTHER,
            },
        ),
    ),
    fields=MODEL
    | TOKENS
    | {
        "model_requested": (GenAI.REQUEST_MODEL, "langsmith.metadata.ls_model_name"),
        "provider": (GenAI.PROVIDER_NAME, "langsmith.metadata.ls_provider", "gen_ai.system"),
        "input": ("gen_ai.prompt",),
        "output": (("gen_ai.completion", output_of),),
    },
    of={
        Operation.TOOL: {
            "tool": (GenAI.TOOL_NAME, span_name),
            "tool_call_id": (GenAI.TOOL_CALL_ID, "langsmith.metadata.tool_call_id"),
            "arguments": ("gen_ai.prompt",),
            "result": (("gen_ai.completion", output_of),),
        },
    },
)
