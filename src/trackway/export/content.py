"""Which attributes of other instrumentors hold what was said: prompts, answers, arguments, results.

How much a value may say is one of number, mark, word, speech (`tellings`). A key says how much may
stay under it; what says more is content:

1. Nothing under a key of `KEYS`, or of `PREFIXES` unless it ends in one of `HARMLESS_ENDINGS`.
2. All under a key of `NO_CONTENT` and of tool definitions (`DEFINITIONS`, `DEFINITION_ENDINGS`).
3. Numbers where the last word of the key is one of `WORDS`, whosever the key is
   (`acme.user_prompt`, `lk.inputText`, `http.request.body`), or another word of `FIELDS`: what a
   caller named stands there (`acme.params.name`).
4. All in the namespaces of `KNOWN_PREFIXES`, and names of parts of a program (`NAMED_FREELY`).
5. Words in the namespaces of `CONVENTIONS`, under keys whose last word is one of `HARMLESS`
   (`acme.order_id`, `acme.mode`), and under names of `NAMED` (`pod.name`; not `patient.name`).
6. Numbers under any other key that has one of `WORDS` anywhere (`acme.user_text_de`), marks under
   all that remain: under a key that nobody knows a plain word goes (`acme.diagnosis`).
7. Of a URL, query and fragment are content, whatever the key (`urls`); under 2 too.
8. A span event is content when its name is in `EVENTS`: its attributes are all content then. Of
   other events, and of links, what is content by 1 to 7.
9. What an exception says may repeat what was said: messages and stacks are content, and so is the
   description of a status. What the operator says in the resource is none.

Sources: the attribute tables of OpenTelemetry GenAI (also the deprecated keys), OpenInference,
OpenLLMetry, Pydantic AI, Logfire, Google ADK, Vercel AI SDK, LangSmith, Langfuse, MLflow, Strands,
smolagents, Haystack, CrewAI, Agno, LiveKit, Claude Code, Laminar and VoltAgent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from trackway.export.tellings import Telling, telling_of
from trackway.export.urls import without_query

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
        *("url.query", "url.fragment", "http.query_string", "http.querystring"),
        *("asgi.query_string", "http.request.query_string"),
    }
)
PREFIXES: Final = (
    *("gen_ai.prompt.", "gen_ai.completion.", "llm.input_messages.", "llm.output_messages."),
    *("llm.prompts.", "llm.completions.", "retrieval.documents.", "embedding.embeddings."),
    *("reranker.input_documents.", "reranker.output_documents.", "lk.pii."),
    *("gen_ai.tool.call.arguments.", "gen_ai.tool.call.result.", "db.query.parameter."),
    *("db.operation.parameter.", "http.request.query.", "url.query."),
)
_VARIABLE: Final = "gen_ai.prompt.variable."
"""What stands in a prompt for a variable, whatever its name: it may be called `name`."""
NO_CONTENT: Final = frozenset(
    {
        *("url.template", "process.command", "process.command_args", "container.command"),
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
        *("chat", "complaint", "diagnosis", "keyword", "keywords", "memo", "memos", "opinion"),
        *("phrase", "request", "requests", "review", "search", "searches", "sentence", "sentences"),
        *("symptom", "symptoms", "term", "terms", "wish"),
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
FIELDS: Final = frozenset(
    {
        *("arg", "args", "argument", "arguments", "field", "fields", "form", "kwargs", "param"),
        *("parameter", "parameters", "params", "variable", "variables"),
    }
)
"""Words of keys behind which a caller's own names stand: nothing is known by those."""
KNOWN_PREFIXES: Final = (
    *("http.", "url.", "server.", "client.", "network.", "net.", "rpc.", "messaging.", "code."),
    *("otel.", "service.", "telemetry.", "host.", "os.", "process.", "container.", "k8s.", "aws."),
    *("cloud.", "faas.", "thread.", "user_agent.", "device.", "deployment.", "session."),
    *("gen_ai.usage.", "gen_ai.agent.", "gen_ai.request.", "gen_ai.response.", "ai.usage."),
    *("llm.token_count.", "traceloop.association.properties.lc_versions"),
)
"""Namespaces whose values are no content, however long they are."""
CONVENTIONS: Final = (
    *("gen_ai.", "openinference.", "mcp.", "db.", "graphql.", "feature_flag.", "peer.", "tls."),
    *("dns.", "vcs.", "cicd.", "azure.", "traceloop.entity.", "traceloop.span."),
)
"""Namespaces that conventions define: a word there is an identifier."""
HARMLESS: Final = frozenset(
    {
        *("agent", "base", "branch", "checksum", "cluster", "code", "commit", "component", "count"),
        *("digest", "effort", "encoding", "endpoint", "env", "environment", "fingerprint"),
        *("format", "framework", "function", "graph", "guid", "hash", "host", "hostname", "href"),
        *("id", "ids", "integration", "kind", "kinds", "lang", "language", "languages", "level"),
        *("library", "locale", "method", "mode", "model", "models", "namespace", "node", "ns"),
        *("operation", "pipeline", "port", "project", "protocol", "provider", "providers"),
        *("region", "release", "retriever", "revision", "role", "roles", "scheme", "server"),
        *("service", "session", "severity", "sha", "stage", "state", "status", "strategy"),
        *(
            "system",
            "tag",
            "tags",
            "tenant",
            "tier",
            "time",
            "timestamp",
            "tool",
            "transport",
            "type",
        ),
        *("types", "uri", "url", "uuid", "vendor", "version", "versions", "workflow", "zone"),
    }
)
"""Last words of keys under which identifiers stand."""
_ENDS: Final = frozenset({"finish", "stop"})
"""Words before `reason`: why a model stopped, not why a customer left."""
NAMED_FREELY: Final = frozenset(
    {
        *("agent", "chain", "component", "crew", "entity", "evaluation", "function", "graph"),
        *("handoff", "model", "node", "operation", "pipeline", "project", "prompt", "retriever"),
        *("server", "step", "task", "team", "tool", "toolkit", "workflow"),
    }
)
"""Parts of programs, whose names stay even with white space in them."""
NAMED: Final = (
    NAMED_FREELY
    | HARMLESS - {"id", "ids", "tag", "tags"}
    | {
        *("call", "case", "class", "collection", "database", "dataset", "deployment", "event"),
        *(
            "experiment",
            "file",
            "guardrail",
            "hook",
            "host",
            "index",
            "job",
            "message",
            "middleware",
        ),
        *("module", "package", "parser", "plugin", "pod", "process", "queue", "resource", "run"),
        *("runtime", "schema", "scope", "sdk", "serialized", "skill", "span", "table", "test"),
        *("thread", "trace", "worker"),
    }
)
"""Words before `name`: names of these are identifiers as long as they are one word."""
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
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
    return telling_of(value) > _stays_under(key)


@lru_cache(maxsize=8192)
def _stays_under(key: str) -> Telling:
    """Return how much may stay under a key."""
    if key in KEYS or key.startswith(_VARIABLE):
        return Telling.NOTHING
    if key.startswith(PREFIXES) and not key.endswith(HARMLESS_ENDINGS):
        return Telling.NOTHING
    if key in NO_CONTENT or key.startswith(DEFINITIONS) or key.endswith(DEFINITION_ENDINGS):
        return Telling.SPEECH
    words = [word.lower() for word in _WORD.findall(key)]
    before, last = ["", "", *words][-2:]
    if last in WORDS or not FIELDS.isdisjoint(words):
        return Telling.NUMBER
    if key.startswith(KNOWN_PREFIXES) or (last == "name" and before in NAMED_FREELY):
        return Telling.SPEECH
    if key.startswith(CONVENTIONS) or _is_harmless(before, last):
        return Telling.WORD
    return Telling.MARK if WORDS.isdisjoint(words) else Telling.NUMBER


def _is_harmless(before: str, last: str) -> bool:
    """Tell by the last two words of a key whether a word under it is an identifier."""
    if last in ("name", "names"):
        return before in NAMED
    return last in HARMLESS or (last in ("reason", "reasons") and before in _ENDS)


def without_content(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what remains of an event or a link; the same object where that is all."""
    told = {key: without_query(key, value) for key, value in members.items()}
    kept = {key: value for key, value in told.items() if not is_content(key, value)}
    same = len(kept) == len(members) and all(kept[key] is members[key] for key in members)
    return members if same else kept
