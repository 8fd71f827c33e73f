"""OpenLLMetry (Traceloop): `traceloop.*` around GenAI names, and its numbered messages of old."""

from __future__ import annotations

from typing import Final

from trackway.schema import GenAI, Operation
from trackway_analyzer.dialects.dialect import Dialect, Marks
from trackway_analyzer.dialects.otel_genai import INPUT_MESSAGES, MODEL, OPERATIONS, TOKENS
from trackway_analyzer.dialects.sources import numbered_messages
from trackway_analyzer.dialects.tool_values import output_of

# Of the packages that share the conventions' scope prefix, those that are Traceloop's.
_OF: Final = (
    "alephalpha",
    "anthropic",
    "bedrock",
    "cohere",
    "crewai",
    "google_generativeai",
    "groq",
    "haystack",
    "langchain",
    "llamaindex",
    "mcp",
    "mistralai",
    "ollama",
    "openai",
    "openai_agents",
    "replicate",
    "sagemaker",
    "together",
    "transformers",
    "watsonx",
    "writer",
)

OPENLLMETRY: Final = Dialect(
    name="openllmetry",
    marks=Marks(
        keys=(
            "traceloop.span.kind",
            "traceloop.entity.name",
            "traceloop.workflow.name",
            "llm.request.type",
            "gen_ai.prompt.0.role",
            "gen_ai.prompt.0.content",
            "gen_ai.completion.0.role",
            "gen_ai.completion.0.content",
        ),
        scopes=("traceloop.tracer", *(f"opentelemetry.instrumentation.{name}" for name in _OF)),
    ),
    operations=(
        (GenAI.OPERATION_NAME, OPERATIONS),
        (
            "traceloop.span.kind",
            {
                "tool": Operation.TOOL,
                "agent": Operation.AGENT,
                "workflow": Operation.WORKFLOW,
                "task": Operation.OTHER,
            },
        ),
        (
            "llm.request.type",
            {
                "chat": Operation.LLM,
                "completion": Operation.LLM,
                "embedding": Operation.EMBEDDING,
                "rerank": Operation.OTHER,
            },
        ),
        ("gen_ai.prompt.0.content", Operation.LLM),
        ("gen_ai.completion.0.content", Operation.LLM),
        (GenAI.REQUEST_MODEL, Operation.LLM),
    ),
    fields=MODEL
    | TOKENS
    | {
        "input": ("traceloop.entity.input",),
        "output": (("traceloop.entity.output", output_of),),
    },
    of={
        Operation.LLM: {
            "input": (INPUT_MESSAGES, numbered_messages("gen_ai.prompt", asked=True)),
            "output": (GenAI.OUTPUT_MESSAGES, numbered_messages("gen_ai.completion")),
        },
        Operation.TOOL: {
            "tool": (GenAI.TOOL_NAME, "traceloop.entity.name"),
            "tool_call_id": (GenAI.TOOL_CALL_ID,),
            "arguments": (GenAI.TOOL_CALL_ARGUMENTS, "traceloop.entity.input"),
            "result": (
                (GenAI.TOOL_CALL_RESULT, output_of),
                ("traceloop.entity.output", output_of),
            ),
        },
        Operation.AGENT: {
            "agent": (GenAI.AGENT_NAME, "traceloop.entity.name"),
            "input": (GenAI.INPUT_MESSAGES,),
            "output": (GenAI.OUTPUT_MESSAGES,),
        },
        Operation.WORKFLOW: {"agent": ("traceloop.workflow.name", "traceloop.entity.name")},
    },
)
