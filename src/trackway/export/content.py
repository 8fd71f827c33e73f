"""Which attributes of other instrumentors hold what was said: prompts, answers, arguments, results.

1. A key is content when it is in `KEYS`, or begins with one of `PREFIXES` and does not end in one
   of `HARMLESS_ENDINGS`.
2. A key of `NO_CONTENT` and one of tool definitions (`DEFINITIONS`, `DEFINITION_ENDINGS`) is none.
3. A text, list or mapping is content when the last word of its key is one of `WORDS`, whosever the
   key is: `acme.user_prompt`, `lk.inputText`, `http.request.body`.
4. No content are the namespaces of `KNOWN_PREFIXES`, and names of parts of a program (`agent.name`,
   `toolName`): models, tokens, ids, types of errors.
5. Under any other key nobody knows what stands: a text with white space in it (or in a script that
   writes without any) or of more than 80 characters, bytes, and whatever is a JSON object or list
   is content; a list is where one of its items would be. Numbers, flags and identifiers stay.
6. A span event is content when its name is in `EVENTS`: its attributes are all content then. Of
   other events, and of links, what is content by 1 to 5.
7. What an exception says may repeat what was said: messages and stacks are content, and so is the
   description of a status. What the operator says in the resource is none.

Sources: the attribute tables of OpenTelemetry GenAI (also the deprecated keys), OpenInference,
OpenLLMetry, Pydantic AI, Logfire, Google ADK, Vercel AI SDK, LangSmith, Langfuse, MLflow, Strands,
smolagents, Haystack, CrewAI, Agno, LiveKit, Claude Code, Laminar and VoltAgent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
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
        *("mlflow.traceResponsePreview", "db.statement", "db.query.text", "file_path"),
    }
)
PREFIXES: Final = (
    *("gen_ai.prompt.", "gen_ai.completion.", "llm.input_messages.", "llm.output_messages."),
    *("llm.prompts.", "llm.completions.", "retrieval.documents.", "embedding.embeddings."),
    *("reranker.input_documents.", "reranker.output_documents.", "lk.pii."),
)
_VARIABLE: Final = "gen_ai.prompt.variable."
"""What stands in a prompt for a variable, whatever its name: it may be called `name`."""
NO_CONTENT: Final = frozenset(
    {
        *("url.query", "process.command", "process.command_args", "container.command"),
        *("container.command_args", "os.description", "db.query.summary"),
        *("ai.telemetry.functionId",),
    }
)
"""Keys whose values say nothing of a conversation, although they read like it."""
DEFINITIONS: Final = ("trackway.", "llm.tools.", "llm.request.functions.")
DEFINITION_ENDINGS: Final = (
    *("json_schema", ".definitions", "tool.description", "agent.description", "tools"),
    *("functions", "handoffs", "usage", "usage.raw", "model_settings", "model_request_parameters"),
    *("graph.node.id", ".sha256", "usage_metadata", "usage_details", "cost_details", "tokenUsage"),
)
"""Tool definitions, settings of models, usage."""
WORDS: Final = frozenset(
    {
        *("answer", "answers", "arg", "args", "argument", "arguments", "backstory", "body"),
        *("command", "comment", "comments", "completion", "completions", "content", "contents"),
        *("context", "ctx", "data", "description", "dialogue", "document", "documents", "error"),
        *("errors", "example", "examples", "explanation", "feedback", "form", "goal", "goals"),
        *("history", "image", "images", "input", "inputs", "instruction", "instructions"),
        *("intent", "json", "knowledge", "kwargs", "memory", "message", "messages", "metadata"),
        *("msg", "note", "notes", "objective", "observation", "observations", "output"),
        *("outputs", "payload", "plan", "preview", "prompt", "prompting", "prompts", "queries"),
        *("query", "question", "questions", "reasoning", "remark", "reply", "response"),
        *("responses", "result", "results", "return", "speech", "stacktrace", "statement"),
        *("subject", "summary", "task", "tasks", "template", "text", "texts", "thinking"),
        *("thought", "thoughts", "title", "topic", "transcript", "transcription", "utterance"),
        *("value", "values", "variables", "words"),
    }
)
"""Last words of keys under which people, models and tools have their say."""
KNOWN_PREFIXES: Final = (
    *("http.", "url.", "server.", "client.", "network.", "net.", "rpc.", "messaging.", "code."),
    *("otel.", "service.", "telemetry.", "host.", "os.", "process.", "container.", "k8s.", "aws."),
    *("cloud.", "faas.", "thread.", "user_agent.", "device.", "deployment.", "session."),
    *("gen_ai.usage.", "gen_ai.agent.", "gen_ai.request.", "gen_ai.response.", "ai.usage."),
    *("llm.token_count.", "traceloop.association.properties.lc_versions"),
)
"""Namespaces whose values are no content, however long they are."""
PARTS: Final = frozenset(
    {
        *("agent", "chain", "component", "crew", "entity", "evaluation", "function", "graph"),
        *("handoff", "model", "node", "operation", "pipeline", "project", "prompt", "retriever"),
        *("server", "step", "task", "team", "tool", "toolkit", "trace", "workflow"),
    }
)
"""Parts of programs, whose names stay even with white space in them."""
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SEVERAL_WORDS: Final = re.compile(
    r"\s|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
)
"""White space, or a letter of a script that writes without (Thai, Khmer, Chinese, …)."""
_LONGEST_NAME: Final = 80
_CONTAINERS: Final = (str, bytes, Sequence, Mapping)
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
    return _is_content_under(key, isinstance(value, _CONTAINERS), _tells(value))


@lru_cache(maxsize=8192)
def _is_content_under(key: str, may_say: bool, tells: bool) -> bool:
    """`may_say`: the value is no number; `tells`: it is more than an identifier."""
    if key in KEYS or key.startswith(_VARIABLE):
        return True
    if key.startswith(PREFIXES) and not key.endswith(HARMLESS_ENDINGS):
        return True
    is_definition = key.startswith(DEFINITIONS) or key.endswith(DEFINITION_ENDINGS)
    if key in NO_CONTENT or is_definition or not may_say:
        return False
    words = [word.lower() for word in _WORD.findall(key)]
    if words and words[-1] in WORDS:
        return True
    is_name = words[-1:] == ["name"] and words[-2:-1] != [] and words[-2] in PARTS
    return tells and not is_name and not key.startswith(KNOWN_PREFIXES)


def without_content(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what remains of an event or a link; the same object where that is all."""
    kept = {key: value for key, value in members.items() if not is_content(key, value)}
    return members if len(kept) == len(members) else kept


def _tells(value: object) -> bool:
    """Whether a value may say more than a name, a number or an id does."""
    if isinstance(value, str):
        return (
            len(value) > _LONGEST_NAME
            or value[:1] in ("{", "[")
            or _SEVERAL_WORDS.search(value.strip()) is not None
        )
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return any(map(_tells, value))
    return isinstance(value, (Mapping, bytes))
