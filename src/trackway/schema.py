"""The contract between recorder and analyzer: attribute keys, enums, span columns.

This module imports nothing outside the standard library, so that both packages can stand on it.

1. Keys of the OpenTelemetry GenAI conventions live in `GenAI`. They are pinned to
   semantic-conventions-genai 94f432d7126f5884d30a2cdde6f4e89908ebb6fd; the constants on PyPI are
   deprecated stubs. Keys of our own live in `Trackway`; a `gen_ai.*` key never carries another
   meaning than the conventions give it.
2. `SPAN_COLUMNS` is the one definition of the span table on disk. `Column.attribute` names the span
   attribute that a column stores without loss; such an attribute is not repeated in `attributes`.
3. `source` tells who filled the typed columns: a dialect's name, or null when the row is raw and a
   dialect still has to read it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

SCHEMA_VERSION: Final = "1"
SCOPE_NAME: Final = "trackway"
UNREAD_FOOTER: Final = "trackway.unread"
"""Key of a Parquet footer: what could not be read of the source of a converted file, as JSON."""

REDACTION_MARKER: Final = re.compile(r"\[redacted:([^\[\]\s]+)\]")
"""Stands where a secret was; the group is its kind. Nothing is known of the value behind it."""


def redaction_marker(kind: str) -> str:
    """Return the marker for a secret of this kind: `[redacted:card]`."""
    return f"[redacted:{kind}]"


class Operation(StrEnum):
    """What a span is, whatever dialect wrote it."""

    LLM = "llm"
    TOOL = "tool"
    AGENT = "agent"
    RETRIEVAL = "retrieval"
    EMBEDDING = "embedding"
    WAIT = "wait"
    WORKFLOW = "workflow"
    OTHER = "other"


STEP_OPERATIONS: Final = frozenset(
    {Operation.LLM, Operation.TOOL, Operation.RETRIEVAL, Operation.WAIT}
)
"""Operations that are steps of a trajectory and take the logical clock."""


class StepKind(StrEnum):
    """What a tool does to the world."""

    LOOKUP = "lookup"
    MUTATE = "mutate"
    NOTIFY = "notify"
    OTHER = "other"


class GapName(StrEnum):
    """A named hole in the evidence. Nothing is guessed silently: a hole becomes a gap."""

    MISSING_PARENT = "missing_parent"
    NO_ROOT = "no_root"
    TRUNCATED_VALUE = "truncated_value"
    CONTENT_OFF = "content_off"
    UNFINISHED_SPAN = "unfinished_span"
    CLOCK_SKEW = "clock_skew"
    DUPLICATE_SPAN_ID = "duplicate_span_id"
    DROPPED_ATTRIBUTES = "dropped_attributes"
    UNPARSABLE_ARGUMENTS = "unparsable_arguments"
    TOOLS_NOT_OBSERVABLE = "tools_not_observable"
    MISSING_STEPS = "missing_steps"
    MISSING_TIMESTAMPS = "missing_timestamps"
    MISSING_VALUE = "missing_value"
    PARENT_CYCLE = "parent_cycle"
    UNKNOWN_DIALECT = "unknown_dialect"
    TRUNCATED_FILE = "truncated_file"
    INSTRUMENTATION_LOST = "instrumentation_lost"
    MISSING_TOKENS = "missing_tokens"
    MISSING_COST = "missing_cost"
    CAPTURE_ERROR = "capture_error"
    POSSIBLE_CALLS = "possible_calls"


class GenAI:
    """Attribute keys of the OpenTelemetry GenAI conventions."""

    OPERATION_NAME: Final = "gen_ai.operation.name"
    PROVIDER_NAME: Final = "gen_ai.provider.name"
    REQUEST_MODEL: Final = "gen_ai.request.model"
    REQUEST_MAX_TOKENS: Final = "gen_ai.request.max_tokens"
    REQUEST_TEMPERATURE: Final = "gen_ai.request.temperature"
    REQUEST_TOP_P: Final = "gen_ai.request.top_p"
    REQUEST_SEED: Final = "gen_ai.request.seed"
    REQUEST_STREAM: Final = "gen_ai.request.stream"
    RESPONSE_MODEL: Final = "gen_ai.response.model"
    RESPONSE_ID: Final = "gen_ai.response.id"
    RESPONSE_FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
    RESPONSE_TIME_TO_FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
    CONVERSATION_ID: Final = "gen_ai.conversation.id"
    AGENT_NAME: Final = "gen_ai.agent.name"
    WORKFLOW_NAME: Final = "gen_ai.workflow.name"
    TOOL_NAME: Final = "gen_ai.tool.name"
    TOOL_TYPE: Final = "gen_ai.tool.type"
    TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
    TOOL_CALL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
    TOOL_CALL_RESULT: Final = "gen_ai.tool.call.result"
    TOOL_DESCRIPTION: Final = "gen_ai.tool.description"
    TOOL_DEFINITIONS: Final = "gen_ai.tool.definitions"
    SYSTEM_INSTRUCTIONS: Final = "gen_ai.system_instructions"
    INPUT_MESSAGES: Final = "gen_ai.input.messages"
    OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
    INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
    OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
    CACHE_READ_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
    CACHE_WRITE_TOKENS: Final = "gen_ai.usage.cache_write.input_tokens"
    REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
    RETRIEVAL_QUERY: Final = "gen_ai.retrieval.query.text"
    RETRIEVAL_DOCUMENTS: Final = "gen_ai.retrieval.documents"
    ERROR_TYPE: Final = "error.type"
    SYSTEM_FINGERPRINT: Final = "openai.response.system_fingerprint"
    SESSION_ID: Final = "session.id"
    SERVICE_NAME: Final = "service.name"


class Trackway:
    """Attribute and event keys of our own, for what the conventions lack."""

    SCHEMA_VERSION: Final = "trackway.schema.version"
    RUN_ID: Final = "trackway.run.id"
    RUN_LAST_STEP: Final = "trackway.run.last_step"
    TASK_ID: Final = "trackway.task.id"
    SUITE_ID: Final = "trackway.suite.id"
    TRIAL_INDEX: Final = "trackway.trial.index"
    TRIAL_SEED: Final = "trackway.trial.seed"
    AGENT_VERSION: Final = "trackway.agent.version"
    VARIANT: Final = "trackway.variant"
    STEP_INDEX: Final = "trackway.step.index"
    STEP_CLOCK: Final = "trackway.step.clock"
    """Which clock of the run counts, where several do: an id, a colon, the value it began after."""
    STEP_KIND: Final = "trackway.step.kind"
    STEP_ATTEMPT: Final = "trackway.step.attempt"
    STEP_OK: Final = "trackway.step.ok"
    TOOL_ALIAS: Final = "trackway.tool.alias"
    ENTITY_REFS: Final = "trackway.entity.refs"
    OPERATION_ID: Final = "trackway.operation.id"
    INPUT: Final = "trackway.input"
    OUTPUT: Final = "trackway.output"
    FINAL_ACTION: Final = "trackway.final.action"
    FINAL_ARGUMENTS: Final = "trackway.final.arguments"
    FINGERPRINT: Final = "trackway.fingerprint"
    TOOLS_DIGEST: Final = "trackway.tools.digest"
    PROMPT_DIGEST: Final = "trackway.prompt.digest"
    OUTCOME_SUCCESS: Final = "trackway.outcome.success"
    OUTCOME_LABEL: Final = "trackway.outcome.label"
    OUTCOME_FAILURE_MODE: Final = "trackway.outcome.failure_mode"
    OUTCOME_CENSORED: Final = "trackway.outcome.censored"
    OUTCOME_STATE: Final = "trackway.outcome.state"
    AFTER_END: Final = "trackway.after_end"
    """On a span that says an outcome or a final word of a run that had ended."""
    DEADLINE: Final = "trackway.deadline"
    TRUNCATED: Final = "trackway.truncated"
    CONTENT_SHA256: Final = "trackway.content.sha256"
    REDACTED: Final = "trackway.redacted"
    CAPTURE_ERROR: Final = "trackway.capture_error"
    INSTRUMENTATION_LOST: Final = "trackway.instrumentation.lost"
    INSTRUMENTATION_ON: Final = "trackway.instrumentation.on"
    STREAM_ABANDONED: Final = "trackway.stream.abandoned"
    STREAM_CHUNKS: Final = "trackway.stream.chunks"
    STREAM_FIRST_CHUNK: Final = "trackway.stream.time_to_first_chunk"
    STREAM_RETURNED: Final = "trackway.stream.returned"
    HOLES: Final = "trackway.holes"
    HANDED_OVER: Final = "trackway.handed_over"
    """How many parts of the run went to other processes from here: an id, a colon, the number."""
    HANDED_OVER_PART: Final = "trackway.handed_over.part"
    """Which of them has ended here: the same id, a colon, its place."""
    COST_USD: Final = "trackway.cost_usd"

    EVENT_DECISION: Final = "trackway.decision"
    EVENT_STATE: Final = "trackway.state"
    EVENT_CONTEXT: Final = "trackway.context"
    EVENT_WAIT: Final = "trackway.wait"
    EVENT_RESUME: Final = "trackway.resume"
    EVENT_EFFECT: Final = "trackway.effect"
    EVENT_CONTINUITY: Final = "trackway.continuity"


class Otlp:
    """Keys in `attributes` for what OTLP says of a span that is no attribute and has no column.

    They never go over the wire; they keep Parquet loss-free. Those of links stand in the links'.
    """

    SCOPE_ATTRIBUTES: Final = "otlp.scope.attributes"
    SCOPE_SCHEMA_URL: Final = "otlp.scope.schema_url"
    RESOURCE_SCHEMA_URL: Final = "otlp.resource.schema_url"
    LINK_TRACE_STATE: Final = "otlp.link.trace_state"
    LINK_FLAGS: Final = "otlp.link.flags"


OPERATION_OF_GENAI_NAME: Final[dict[str, Operation]] = {
    "chat": Operation.LLM,
    "generate_content": Operation.LLM,
    "text_completion": Operation.LLM,
    "execute_tool": Operation.TOOL,
    "invoke_agent": Operation.AGENT,
    "invoke_workflow": Operation.WORKFLOW,
    "retrieval": Operation.RETRIEVAL,
    "embeddings": Operation.EMBEDDING,
    "wait": Operation.WAIT,
    "create_agent": Operation.OTHER,
}
"""`gen_ai.operation.name` to our operation; a name that is not listed is `other`."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the span table."""

    name: str
    type: str
    """string, int32, int64, double, bool, timestamp, list<string>, events or links."""
    doc: str
    attribute: str | None = None
    """The span attribute that this column stores without loss."""
    nullable: bool = True
    dictionary: bool = False
    """Few distinct values: dictionary-encode."""


SPAN_COLUMNS: Final[tuple[Column, ...]] = (
    Column("run_id", "string", "run id; null where nobody set one", Trackway.RUN_ID),
    Column("trace_id", "string", "32 lower-case hex digits", nullable=False),
    Column("span_id", "string", "16 lower-case hex digits", nullable=False),
    Column("parent_span_id", "string", "null on a root"),
    Column("session_id", "string", "conversation id", GenAI.CONVERSATION_ID),
    Column("suite_id", "string", "suite", Trackway.SUITE_ID, dictionary=True),
    Column("task_id", "string", "task", Trackway.TASK_ID, dictionary=True),
    Column("trial", "int32", "trial index of the task", Trackway.TRIAL_INDEX),
    Column("seed", "int64", "seed of the trial", Trackway.TRIAL_SEED),
    Column("variant", "string", "rollout arm", Trackway.VARIANT, dictionary=True),
    Column(
        "agent_version", "string", "release under test", Trackway.AGENT_VERSION, dictionary=True
    ),
    Column("service", "string", "service.name of the resource", dictionary=True),
    Column("scope", "string", "instrumentation scope", dictionary=True),
    Column("scope_version", "string", "version of the scope", dictionary=True),
    Column("name", "string", "span name; decides nothing", nullable=False, dictionary=True),
    Column("kind", "string", "INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER", dictionary=True),
    Column("operation", "string", "see Operation; null on a raw row", dictionary=True),
    Column("agent", "string", "agent that the span belongs to", GenAI.AGENT_NAME, dictionary=True),
    Column("start", "timestamp", "start, ns UTC", nullable=False),
    Column("end", "timestamp", "end, ns UTC; null: unfinished"),
    Column("status", "string", "UNSET, OK, ERROR", dictionary=True),
    Column("error_type", "string", "error.type", GenAI.ERROR_TYPE, dictionary=True),
    Column("error_message", "string", "status description"),
    Column("step_index", "int32", "logical clock, from 1", Trackway.STEP_INDEX),
    Column("attempt", "int32", "1 for the first try", Trackway.STEP_ATTEMPT),
    Column("tool", "string", "tool name", GenAI.TOOL_NAME, dictionary=True),
    Column("tool_alias", "string", "name the model saw", Trackway.TOOL_ALIAS, dictionary=True),
    Column("tool_kind", "string", "see StepKind", Trackway.STEP_KIND, dictionary=True),
    Column("tool_call_id", "string", "call id of the model's request", GenAI.TOOL_CALL_ID),
    Column("ok", "bool", "declared success predicate, or the call raised", Trackway.STEP_OK),
    Column("arguments", "string", "canonical JSON", GenAI.TOOL_CALL_ARGUMENTS),
    Column("result", "string", "JSON; the text null is a recorded null", GenAI.TOOL_CALL_RESULT),
    Column("input", "string", "model span: messages (JSON); run span: the exact input"),
    Column("output", "string", "model span: messages (JSON); run span: the final text"),
    Column("entity_refs", "list<string>", "type:id", Trackway.ENTITY_REFS),
    Column("operation_id", "string", "idempotency key", Trackway.OPERATION_ID),
    Column("model_requested", "string", "", GenAI.REQUEST_MODEL, dictionary=True),
    Column("model_answered", "string", "", GenAI.RESPONSE_MODEL, dictionary=True),
    Column("provider", "string", "", GenAI.PROVIDER_NAME, dictionary=True),
    Column("finish_reasons", "list<string>", "", GenAI.RESPONSE_FINISH_REASONS),
    Column("tokens_in", "int64", "cached included", GenAI.INPUT_TOKENS),
    Column("tokens_out", "int64", "reasoning included", GenAI.OUTPUT_TOKENS),
    Column("tokens_cache_read", "int64", "subset of tokens_in", GenAI.CACHE_READ_TOKENS),
    Column("tokens_cache_write", "int64", "subset of tokens_in", GenAI.CACHE_WRITE_TOKENS),
    Column("tokens_reasoning", "int64", "subset of tokens_out", GenAI.REASONING_TOKENS),
    Column("cost", "double", "US dollars", Trackway.COST_USD),
    Column("attributes", "string", "JSON object: what has no column of its own"),
    Column("resource", "string", "JSON object of resource attributes", dictionary=True),
    Column("events", "events", "span events"),
    Column("links", "links", "span links"),
    Column("truncated", "list<string>", "fields cut at the limit", Trackway.TRUNCATED),
    Column("redacted", "list<string>", "fields that a redactor changed", Trackway.REDACTED),
    Column("trace_state", "string", "W3C tracestate"),
    Column("flags", "int32", "W3C trace flags and OTLP remote bits"),
    Column("dropped_attributes", "int32", "count reported by the SDK that wrote the span"),
    Column("dropped_events", "int32", ""),
    Column("dropped_links", "int32", ""),
    Column("schema_version", "string", "version of this schema", dictionary=True),
    Column("source", "string", "dialect that filled the columns; null: raw", dictionary=True),
)

BYTES_TAG: Final = "bytesValue"
FLOAT_TAG: Final = "doubleValue"
MAP_TAG: Final = "kvlistValue"
"""What JSON lacks keeps its OTLP form in `attributes`, `resource` and those of events and links.

Bytes stand as {"bytesValue": base64}; what is no finite number as {"doubleValue": "NaN"},
"Infinity" or "-Infinity"; a mapping whose only key is one of these three tags, so that it would be
taken for one, as {"kvlistValue": mapping}.
"""

CONTENT_ATTRIBUTES: Final[tuple[tuple[str, str, str], ...]] = (
    ("llm", GenAI.INPUT_MESSAGES, GenAI.OUTPUT_MESSAGES),
    ("*", Trackway.INPUT, Trackway.OUTPUT),
)
"""(operation, attribute in `input`, attribute in `output`): the first row that fits the span."""


def content_attributes(operation: str | None) -> tuple[str, str]:
    """Return the attributes that `input` and `output` hold for a span of this operation."""
    for name, input_key, output_key in CONTENT_ATTRIBUTES:
        if name in ("*", operation):
            return input_key, output_key
    raise AssertionError("CONTENT_ATTRIBUTES ends with a catch-all row")


def arrow_schema(pa: Any) -> Any:
    """Build the Arrow schema of the span table from `pa`, the imported pyarrow module."""
    timestamp = pa.timestamp("ns", tz="UTC")
    types = {
        "string": pa.string(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "double": pa.float64(),
        "bool": pa.bool_(),
        "timestamp": timestamp,
        "list<string>": pa.list_(pa.string()),
        "events": pa.list_(
            pa.struct([("name", pa.string()), ("time", timestamp), ("attributes", pa.string())])
        ),
        "links": pa.list_(
            pa.struct(
                [("trace_id", pa.string()), ("span_id", pa.string()), ("attributes", pa.string())]
            )
        ),
    }
    dictionary = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        [
            pa.field(
                column.name,
                dictionary if column.dictionary else types[column.type],
                nullable=column.nullable,
                metadata={"doc": column.doc} if column.doc else None,
            )
            for column in SPAN_COLUMNS
        ],
        metadata={"trackway.schema.version": SCHEMA_VERSION},
    )
