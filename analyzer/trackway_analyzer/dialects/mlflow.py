"""MLflow tracing: `mlflow.*`, where every value is JSON, texts and numbers too."""

from __future__ import annotations

from typing import Final

from trackway.schema import GenAI, Operation
from trackway_analyzer.dialects.dialect import Dialect, Marks
from trackway_analyzer.dialects.sources import span_name
from trackway_analyzer.dialects.values import json_of, member

TYPE: Final = "mlflow.spanType"
_USAGE: Final = "mlflow.chat.tokenUsage"
_TYPES: Final = {
    "CHAT_MODEL": Operation.LLM,
    "LLM": Operation.LLM,
    "TOOL": Operation.TOOL,
    "AGENT": Operation.AGENT,
    "RETRIEVER": Operation.RETRIEVAL,
    "EMBEDDING": Operation.EMBEDDING,
    "WORKFLOW": Operation.WORKFLOW,
    "CHAIN": Operation.OTHER,
    "TASK": Operation.OTHER,
    "PARSER": Operation.OTHER,
    "RERANKER": Operation.OTHER,
    "MEMORY": Operation.OTHER,
    "UNKNOWN": Operation.OTHER,
}

MLFLOW: Final = Dialect(
    name="mlflow",
    marks=Marks(keys=(TYPE, "mlflow.traceRequestId"), scopes=("mlflow.tracing.provider",)),
    operations=((TYPE, _TYPES | {f'"{name}"': meaning for name, meaning in _TYPES.items()}),),
    fields={
        "session_id": (
            ("mlflow.trace.session", json_of),
            ("session.id", json_of),
            ("metadata", member("session_id", "thread_id", "conversation_id")),
        ),
        "model_requested": (("model", json_of), ("mlflow.llm.model", json_of)),
        "model_answered": (("mlflow.llm.model", json_of),),
        "provider": (("mlflow.llm.provider", json_of),),
        "tokens_in": ((_USAGE, member("input_tokens")),),
        "tokens_out": ((_USAGE, member("output_tokens")),),
        "tokens_cache_read": ((_USAGE, member("cache_read_input_tokens")),),
        "tokens_cache_write": ((_USAGE, member("cache_creation_input_tokens")),),
        "input": ("mlflow.spanInputs",),
        "output": ("mlflow.spanOutputs",),
    },
    of={
        Operation.LLM: {
            "finish_reasons": (("mlflow.spanOutputs", member("choices.finish_reason")),)
        },
        Operation.TOOL: {
            "tool": (GenAI.TOOL_NAME, span_name),
            "tool_call_id": (GenAI.TOOL_CALL_ID, ("tool_call_id", json_of)),
            "arguments": ("mlflow.spanInputs",),
            "result": ("mlflow.spanOutputs",),
        },
        Operation.AGENT: {"agent": (GenAI.AGENT_NAME, span_name)},
        Operation.WORKFLOW: {"agent": (span_name,)},
    },
)
