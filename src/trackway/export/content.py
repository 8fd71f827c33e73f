"""Which attributes of other instrumentors hold what was said: prompts, answers, arguments, results.

1. A key is content when it is in `KEYS`, or begins with one of `PREFIXES` and does not end in one
   of `HARMLESS_ENDINGS`. Names, models, tokens, ids, tool definitions and types of errors are none.
2. Under a key that nobody knows, a text of more than 80 characters, bytes, and whatever is a JSON
   object or list is content; a list is where one of its items would be. Known are the namespaces
   of `KNOWN_PREFIXES` and keys that end in one of `KNOWN_ENDINGS`.
3. A span event is content when its name is in `EVENTS`: its attributes are all content then. Of
   other events, and of links, what is content by 1 and 2 or stands under one of `EVENT_KEYS`.
4. What an exception says may repeat what was said: messages and stacks are content, and so is the
   description of a status.

Sources: the attribute tables of OpenTelemetry GenAI (also the deprecated keys), OpenInference,
OpenLLMetry, Pydantic AI, Logfire, Google ADK, Vercel AI SDK, LangSmith, Langfuse and MLflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

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
        *("metadata", "logfire.json", "body", "event.body", "langfuse.trace.metadata"),
        *("langfuse.observation.metadata", "mlflow.traceRequestPreview"),
        *("mlflow.traceResponsePreview", "db.statement", "db.query.text"),
    }
)
PREFIXES: Final = (
    *("gen_ai.prompt.", "gen_ai.completion.", "llm.input_messages.", "llm.output_messages."),
    *("llm.prompts.", "llm.completions.", "retrieval.documents.", "embedding.embeddings."),
    *("reranker.input_documents.", "reranker.output_documents."),
)
KNOWN_PREFIXES: Final = (
    *("http.", "url.", "server.", "client.", "network.", "net.", "rpc.", "messaging.", "code."),
    *("otel.", "service.", "telemetry.", "host.", "os.", "process.", "container.", "k8s.", "aws."),
    *("cloud.", "faas.", "thread.", "user_agent.", "device.", "deployment.", "session."),
    *("trackway.", "llm.tools.", "gen_ai.usage.", "gen_ai.agent.", "gen_ai.request.", "ai.usage."),
    *("gen_ai.response.", "llm.token_count.", "traceloop.association.properties.lc_versions"),
)
"""Namespaces whose values are no content, however long they are."""
KNOWN_ENDINGS: Final = (
    *("json_schema", ".definitions", ".description", "tools", "functions", "handoffs", "usage"),
    *("usage.raw", "model_settings", "model_request_parameters", "graph.node.id", ".sha256"),
)
"""Tool definitions, settings of models, usage."""
EVENT_KEYS: Final = frozenset({"message", "content", "prompt", "completion", "text", "log.message"})
_LONGEST_NAME: Final = 80
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


def is_content(key: str, value: object) -> bool:
    """Tell whether what stands under a foreign key is content."""
    if key in KEYS or (key.startswith(PREFIXES) and not key.endswith(HARMLESS_ENDINGS)):
        return True
    return _tells(value) and not key.startswith(KNOWN_PREFIXES) and not key.endswith(KNOWN_ENDINGS)


def without_content(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what remains of an event or a link; the same object where that is all."""
    kept = {
        key: value
        for key, value in members.items()
        if not (is_content(key, value) or (key in EVENT_KEYS and isinstance(value, str)))
    }
    return members if len(kept) == len(members) else kept


def _tells(value: object) -> bool:
    """Whether a value may say more than a name, a number or an id does."""
    if isinstance(value, str):
        return len(value) > _LONGEST_NAME or value[:1] in ("{", "[")
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return any(map(_tells, value))
    return isinstance(value, (Mapping, bytes))
