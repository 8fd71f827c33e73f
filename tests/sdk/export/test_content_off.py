"""With content off no instrumentor's spans carry what was said; they still say what was done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from recorded_spans import recorded_spans
from trackway.export import Cleaner
from trackway.export.content import DEFINITION_ENDINGS, is_content
from trackway.export.parquet import ParquetSpanExporter

FRAMEWORKS = Path(__file__).parents[2] / "data" / "frameworks"
RECORDED = sorted(
    path.parent.name
    for path in FRAMEWORKS.glob("*/fail.json")
    if path.parent.name != "mcp-sdk-native-stdio"  # records no content at all
)
# The prompt, arguments and a result of the recorded agent.
SAID = ("Refund order A-1001", "within-30-days")
TOOLS = ("lookup_order", "refund_create")


def all_of(spans: list[ReadableSpan]) -> str:
    return "".join(span.to_json() for span in spans)


def tool_names(text: str) -> list[str]:
    return [tool for tool in TOOLS if tool in text]


@pytest.mark.parametrize("framework", RECORDED)
def test_what_was_said_is_gone_and_tool_names_remain(tmp_path: Path, framework: str) -> None:
    spans = recorded_spans(FRAMEWORKS / framework / "fail.json")
    before = all_of(spans)
    assert any(word in before for word in SAID)
    cleaner = Cleaner(content=False)
    exporter = ParquetSpanExporter(tmp_path, cleaner=cleaner)
    exporter.export(spans)
    exporter.shutdown()
    files = tmp_path.rglob("*.parquet")
    stored = repr([pq.ParquetFile(path).read().to_pylist() for path in files])
    for after in (all_of(cleaner.clean_all(spans)), stored):
        assert [word for word in SAID if word in after] == []
        assert tool_names(after) == tool_names(before)
        assert "trackway.content.sha256." in after


def test_what_an_exception_says_is_gone_and_its_type_remains(tmp_path: Path) -> None:
    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    with (
        pytest.raises(ValueError, match="canary"),
        provider.get_tracer("opentelemetry.instrumentation.openai").start_as_current_span("chat"),
    ):
        raise ValueError("canary: the prompt was refused")
    (span,) = memory.get_finished_spans()
    cleaner = Cleaner(content=False)
    exporter = ParquetSpanExporter(tmp_path, cleaner=cleaner)
    exporter.export([span])
    exporter.shutdown()
    (path,) = tmp_path.rglob("*.parquet")
    for after in (cleaner.clean(span).to_json(), repr(pq.ParquetFile(path).read().to_pylist())):
        assert "canary" not in after
        assert "ValueError" in after
        assert "ERROR" in after
    assert "canary" in Cleaner().clean(span).to_json()


def test_the_keyed_hash_tells_equal_values_from_others() -> None:
    path = FRAMEWORKS / "openai-agents-otel-genai" / "fail.json"
    once, again = (Cleaner(content=False).clean_all(recorded_spans(path)) for _ in range(2))
    hashes = [
        {key: value for key, value in (span.attributes or {}).items() if "sha256" in key}
        for span in once
    ]
    assert any(hashes)
    assert all(
        str(value).startswith("hmac-sha256:") for found in hashes for value in found.values()
    )
    assert all_of(once) == all_of(again)


def test_with_content_on_everything_remains() -> None:
    for framework in RECORDED:
        spans = recorded_spans(FRAMEWORKS / framework / "fail.json")
        assert all_of(Cleaner().clean_all(spans)).count("lookup_order") == all_of(spans).count(
            "lookup_order"
        )


def test_what_nobody_knows_is_content_where_it_may_say_something() -> None:
    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    said = "canary " * 12
    attributes = {
        "metadata": "canary",
        "logfire.json": "canary",
        "acme.draft": '{"note":"canary"}',
        "acme.words": said,
        "acme.list": ["short", said],
        "acme.tenant": "north",
        "acme.tags": ["a", "b"],
        "acme.tool.description": said.replace("canary", "kept"),
        "url.full": "https://example.org/" + "a" * 100,
    }
    with provider.get_tracer("acme").start_as_current_span("work", attributes=attributes) as span:
        span.add_event("acme.event", {"body": "canary", "acme.words": said, "size": 3})
        span.add_event("acme.log", {"message": "canary", "api": "v1"})
    (before,) = memory.get_finished_spans()
    after = Cleaner(content=False).clean(before)
    assert "canary" not in after.to_json()
    assert after.attributes is not None
    kept = ("acme.tenant", "acme.tags", "acme.tool.description", "url.full")
    assert [key for key in attributes if key in after.attributes] == list(kept)
    assert {f"trackway.content.sha256.{key}" for key in attributes if key not in kept} <= set(
        after.attributes
    )
    assert [dict(event.attributes or {}) for event in after.events] == [{"size": 3}, {"api": "v1"}]
    assert Cleaner().clean(before) is before


def test_with_content_off_events_of_exceptions_are_redacted_too() -> None:
    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    with provider.get_tracer("acme").start_as_current_span("work") as span:
        span.record_exception(ValueError("canary"), attributes={"password": "hunter2"})
    after = Cleaner(content=False).clean(memory.get_finished_spans()[0]).to_json()
    assert "canary" not in after
    assert "hunter2" not in after


CONTENT = {
    "OpenTelemetry": [
        *("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"),
        *("gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.prompt.0.content"),
        *("gen_ai.prompt.variable.customer", "gen_ai.prompt.variable.name", "gen_ai.prompt"),
        *("gen_ai.completion.0.tool_calls.0.arguments", "gen_ai.retrieval.query.text"),
        *("gen_ai.memory.query.text", "gen_ai.evaluation.explanation", "http.request.body.text"),
        *("http.request.body.form", "otel.status_description", "db.query.text", "mcp.request.args"),
    ],
    "OpenInference": [
        *("input.value", "output.value", "llm.input_messages.0.message.content"),
        *("llm.prompt_template.template", "llm.prompt_template.variables", "message.content"),
        *("llm.prompts.0.prompt.text", "llm.choices.0.completion.text", "embedding.text"),
        *("retrieval.documents.0.document.content", "document.metadata", "reranker.query"),
        *("message.function_call_arguments_json", "evaluations.0.evaluation.explanation"),
        *("smolagents.task", "smolagents.managed_agents.0.additional_prompting"),
    ],
    "OpenLLMetry": [
        *("traceloop.entity.input", "traceloop.entity.output", "gen_ai.task.input"),
        *("crewai.task.description", "crewai.task.expected_output", "crewai.agent.backstory"),
        *("crewai.agent.goal", "haystack.component.input", "haystack.pipeline.input_data"),
    ],
    "CrewAI": [
        *("crewai.knowledge.query", "crewai.knowledge.retrieved_knowledge", "crewai.subject"),
        *("crewai.conversation.previous_intent", "crewai.human_feedback.feedback"),
        *("crewai.guardrail.error", "crewai.memory.metadata", "crewai.flow.output"),
    ],
    "Agno": ["agno.run.message", "agno.run.input", "agno.run.content", "agno.team.instructions"],
    "LiveKit": [
        *("lk.input_text", "lk.user_input", "lk.user_transcript", "lk.instructions", "lk.pii.x"),
        *("lk.response.text", "lk.chat_ctx", "lk.function_tool.arguments"),
        *("lk.function_tool.output", "lk.transcription"),
    ],
    "Logfire": ["logfire.msg", "logfire.msg_template", "request_data", "response_data", "return"],
    "Pydantic AI": [
        *("pydantic_ai.all_messages", "all_messages_events", "final_result", "tool_arguments"),
        *("tool_response", "pydantic_ai.tool.deferral.metadata"),
    ],
    "Google ADK": [
        *("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
        *("gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response"),
    ],
    "Vercel": [
        *("ai.prompt", "ai.prompt.messages", "ai.response.text", "ai.response.object", "ai.value"),
        *("ai.toolCall.args", "ai.toolCall.result", "ai.values", "ai.response.reasoning"),
    ],
    "others": [
        *("langfuse.observation.input", "langfuse.observation.status_message", "mlflow.spanInputs"),
        *("mlflow.traceRequestPreview", "system_prompt", "user_prompt", "new_context"),
        *("response.model_output", "tool_input", "full_command", "file_path", "lmnr.span.input"),
        *("agent.messages", "llm.messages", "user.prompt", "my.note", "acme.userQuestion"),
    ],
}


@pytest.mark.parametrize("framework", CONTENT)
@pytest.mark.parametrize("said", ["Ann", "Ann Lee is ill"])
def test_what_frameworks_say_is_content_however_short(framework: str, said: str) -> None:
    assert [key for key in CONTENT[framework] if not is_content(key, said)] == []
    span = ReadableSpan("s", attributes=dict.fromkeys(CONTENT[framework], said))
    assert said not in json.dumps(dict(Cleaner(content=False).clean(span).attributes or {}))


NAMES_AND_FIGURES: dict[str, Any] = {
    "agent_name": "Refund Agent",
    "gen_ai.agent.description": "Refunds what the policy allows",
    "gen_ai.agent.name": "Refund Agent",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.prompt.name": "Refund prompt",
    "gen_ai.request.model": "gpt-4o mini",
    "gen_ai.response.finish_reasons": ("tool_call", "stop"),
    "gen_ai.tool.call.id": "call_abc123",
    "gen_ai.tool.definitions": '[{"name": "lookup order"}]',
    "gen_ai.tool.description": "Looks an order up",
    "llm.input_messages.0.message.role": "user",
    "llm.request.functions.0.description": "Looks an order up",
    "llm.token_count.prompt": 12,
    "llm.tools.0.tool.json_schema": '{"description": "Looks an order up"}',
    "lk.interrupted": False,
    "mlflow.spanType": '"TOOL"',
    "retrieval.documents.0.document.score": 0.4,
    "session.id": "thread 7",
    "tool.name": "Look up",
    "traceloop.entity.name": "Refund Agent",
    "url.full": "https://example.org/a",
    "user_agent.original": "Mozilla/5.0 (X11; Linux)",
    "acme.tenant": "north",
    "acme.result": 42,
    "error.type": "ValueError",
}


def test_names_figures_and_definitions_stay() -> None:
    span = ReadableSpan("s", attributes=NAMES_AND_FIGURES)
    assert Cleaner(content=False).clean(span).attributes == NAMES_AND_FIGURES


@given(st.from_regex(r"acme\.[a-z]{1,12}", fullmatch=True), st.text(), st.text())
def test_a_text_with_white_space_under_a_key_that_nobody_knows_is_content(
    key: str, one: str, other: str
) -> None:
    assert is_content(key, f"a{one} {other}b") or key.endswith(DEFINITION_ENDINGS)


@given(st.from_regex(r"[a-zA-Z0-9_.:/@-]{1,80}", fullmatch=True))
def test_an_identifier_stays_where_the_last_word_of_the_key_says_that_it_is_one(
    identifier: str,
) -> None:
    assume(identifier[:5].lower() != "data:")
    assert not is_content("acme.tenant", identifier)
    assert is_content("acme.tenant", [identifier, f"{identifier} {identifier}"])


@pytest.mark.parametrize("said", ["退款订单", "返金してください", "ขอคืนเงิน", "Ann\tLee"])
def test_a_script_without_white_space_is_text_too(said: str) -> None:
    assert is_content("acme.tenant", said)
    assert not is_content("acme.tenant", "Kundenrückgabe")


def test_the_resource_is_what_the_operator_says() -> None:
    resource = Resource({"team": "Team of refunds", "service.description": "Refunds orders"})
    span = ReadableSpan("s", resource=resource)
    assert Cleaner(content=False).clean(span).resource is resource


WORDS_OF_PEOPLE = {
    *("acme.request", "acme.memo", "acme.search_term", "acme.keywords", "acme.user_text_de"),
    *("acme.answer_de", "acme.params.name", "acme.diagnosis", "acme.customer", "acme.q", "name"),
    *("acme.patient.name", "acme.reason", "gen_ai.tool.call.arguments.name", "city", "acme.x"),
    *("http.request.params.who", "db.query.parameter.name", "acme.form.status", "acme.choice"),
}


@pytest.mark.parametrize("said", ["Meier", "ja", "lupus", ["Meier"], '"Meier"', "anna-meier"])
def test_a_plain_word_under_a_key_that_nobody_knows_is_content(said: str | list[str]) -> None:
    assert [key for key in sorted(WORDS_OF_PEOPLE) if not is_content(key, said)] == []


@pytest.mark.parametrize(
    "mark",
    [
        *("42", "-1.5", "true", "", "v1.2.3", "2.0.0rc1", "2026-11-30T17:00:00Z", '"end_turn"'),
        *("01a158ae-fb2c-7680-a321-b5e89b9f4794", "0cff26913a45498aa243f8cb8c508aa2", "TOOL_ERROR"),
        *(7, 0.5, True),
    ],
)
def test_what_is_plainly_no_content_stays_under_a_key_that_nobody_knows(mark: object) -> None:
    assert not is_content("acme.x", mark)
    assert is_content("acme.user_text_de", mark) == (isinstance(mark, str))


@pytest.mark.parametrize(
    "key",
    [
        *("acme.order_id", "acme.orderId", "acme.answer_type", "acme.tool", "acme.model_name"),
        *("acme.stop_reason", "acme.finishReasons", "acme.region", "acme.host", "acme.node.name"),
        *("llm.input_messages.0.message.name", "llm.provider", "gen_ai.handoff.from_agent"),
        *("http.request.method", "db.system", "db.namespace", "rpc.service", "k8s.pod.name"),
        *("input.mime_type", "langfuse.trace.name", "langfuse.environment", "mlflow.trace.session"),
        *("db.collection.name", "rpc.system", "network.transport", "server.address", "source.type"),
        *("messaging.destination.name", "traceloop.entity.path", "graphql.operation.name"),
    ],
)
def test_identifiers_stay_under_conventions_and_keys_that_say_so(key: str) -> None:
    assert not is_content(key, "Refunds-EU")


def test_a_name_that_is_a_sentence_is_none() -> None:
    assert is_content("langfuse.trace.name", "Ask about rash")
