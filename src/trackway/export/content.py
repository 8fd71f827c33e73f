"""Which attributes of other instrumentors hold what was said: prompts, answers, arguments, results.

1. A key is content when it is in `KEYS`, or begins with one of `PREFIXES` and does not end in one
   of `HARMLESS_ENDINGS`. Names, models, tokens, ids, tool definitions and types of errors are none.
2. A span event is content when its name is in `EVENTS`: its attributes are all content then.
3. What an exception says may repeat what was said: messages and stacks are content, and so is the
   description of a status.

Sources: the attribute tables of OpenTelemetry GenAI (also the deprecated keys), OpenInference,
OpenLLMetry, Pydantic AI, Logfire, Google ADK, Vercel AI SDK, LangSmith, Langfuse and MLflow.
"""

from __future__ import annotations

from typing import Final

KEYS: Final = frozenset(
    {
        *("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"),
        *("gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.retrieval.query.text"),
        *("gen_ai.retrieval.documents", "gen_ai.prompt", "gen_ai.completion"),
        *("gen_ai.evaluation.explanation", "input.value", "output.value", "llm.prompts"),
        *("llm.completions", "llm.prompt_template.variables", "embedding.text", "reranker.query"),
        *("traceloop.entity.input", "traceloop.entity.output", "mcp.request.argument"),
        *("pydantic_ai.all_messages", "all_messages_events", "final_result", "tool_arguments"),
        *("tool_response", "request_data", "response_data", "system_instructions", "events"),
        *("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
        *("gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response"),
        *("gcp.vertex.agent.data", "ai.prompt", "ai.prompt.messages", "ai.response.text"),
        *("ai.response.object", "ai.response.toolCalls", "ai.response.reasoning", "ai.value"),
        *("ai.toolCall.args", "ai.toolCall.result", "langfuse.observation.input"),
        *("langfuse.observation.output", "langfuse.trace.input", "langfuse.trace.output"),
        *("mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.chat.messages"),
        *("crew_tasks", "crew_inputs", "tool.parameters", "llm.invocation_parameters"),
        *("error.message", "exception.message", "exception.stacktrace"),
        *("gen_ai.task.input", "gen_ai.task.output", "input", "output", "raw_input", "response"),
    }
)
PREFIXES: Final = (
    *("gen_ai.prompt.", "gen_ai.completion.", "llm.input_messages.", "llm.output_messages."),
    *("llm.prompts.", "llm.completions.", "retrieval.documents.", "embedding.embeddings."),
    *("reranker.input_documents.", "reranker.output_documents."),
)
HARMLESS_ENDINGS: Final = (
    *(".role", ".finish_reason", ".name", ".id", ".type", ".version", ".score", ".tool_call_id"),
)
EVENTS: Final = frozenset(
    {
        *("gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message"),
        *("gen_ai.tool.message", "gen_ai.choice", "gen_ai.content.prompt"),
        *("gen_ai.content.completion", "gen_ai.client.inference.operation.details"),
    }
)


EXCEPTION_TEXTS: Final = frozenset({"exception.message", "exception.stacktrace"})
"""Attributes of an exception's event that are content."""


def is_content(key: str) -> bool:
    """Tell whether a foreign attribute holds content."""
    return key in KEYS or (key.startswith(PREFIXES) and not key.endswith(HARMLESS_ENDINGS))
