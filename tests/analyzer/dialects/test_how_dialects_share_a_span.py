"""Which dialect reads what: detection, order, merging, sessions, and dialects told span by span."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from dumped import span

from trackway_analyzer import dialects
from trackway_analyzer.spans import RawEvent, RawSpan


def read(found: RawSpan) -> dict[str, Any]:
    typed, _ = dialects.span_reader()(found)
    return {k: v.decode() if isinstance(v, bytes) else v for k, v in typed.items()}


def row(scope: str = "test", **attributes: Any) -> dict[str, Any]:
    return read(span(scope, attributes={k.replace("__", "."): v for k, v in attributes.items()}))


@pytest.mark.parametrize(
    ("attributes", "source"),
    [
        ({"openinference.span.kind": "TOOL", "gen_ai.operation.name": "chat"}, "openinference"),
        ({"ai.operationId": "ai.toolCall", "gen_ai.request.model": "m"}, "vercel"),
        ({"langfuse.observation.type": "tool", "traceloop.span.kind": "task"}, "langfuse"),
        ({"mlflow.spanType": '"TOOL"', "gen_ai.operation.name": "chat"}, "mlflow"),
        ({"langsmith.span.kind": "tool", "gen_ai.operation.name": "chat"}, "langsmith"),
        ({"gcp.vertex.agent.tool_call_args": "{}", "gen_ai.tool.name": "f"}, "adk"),
        ({"traceloop.span.kind": "tool", "gen_ai.operation.name": "chat"}, "openllmetry"),
        ({"gen_ai.operation.name": "execute_tool", "mcp.method.name": "x"}, "otel-genai"),
        ({"mcp.method.name": "tools/call"}, "mcp"),
        ({"http.method": "GET"}, dialects.UNKNOWN),
    ],
)
def test_the_first_dialect_that_knows_a_span_is_its_source(
    attributes: dict[str, Any], source: str
) -> None:
    assert read(span(attributes=attributes))["source"] == source


@pytest.mark.parametrize(
    ("scope", "source"),
    [
        ("trackway", "trackway"),
        ("pydantic-ai", "pydantic-ai"),
        ("strands.telemetry.tracer", "strands"),
        ("logfire.openai", "logfire"),
        ("opentelemetry.instrumentation.langchain", "openllmetry"),
        ("opentelemetry.instrumentation.genai.langchain", "otel-genai"),
        ("opentelemetry.instrumentation.openai_v2", "otel-genai"),
    ],
)
def test_the_scope_tells_who_speaks_the_common_language(scope: str, source: str) -> None:
    assert row(scope, gen_ai__operation__name="chat")["source"] == source


def test_later_dialects_fill_what_the_first_left_empty() -> None:
    found = read(
        span(
            attributes={
                "openinference.span.kind": "LLM",
                "llm.model_name": "m",
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.request.model": "ignored, the first has one",
                "gen_ai.usage.input_tokens": "50",
                "gen_ai.response.finish_reasons": '["tool_calls"]',
            }
        )
    )
    assert found["operation"] == "llm"
    assert found["model_requested"] == "m"
    assert found["tokens_in"] == 50
    assert found["finish_reasons"] == ["tool_call"]


def test_a_kind_that_says_nothing_leaves_the_operation_to_the_next() -> None:
    found = row(openinference__span__kind="UNKNOWN", gen_ai__operation__name="chat")
    assert (found["source"], found["operation"]) == ("openinference", "llm")


def test_a_span_that_no_dialect_knows_keeps_everything_and_is_other() -> None:
    found = span(attributes={"http.method": "GET", "trackway.run.id": "run-1"})
    typed, attributes = dialects.span_reader()(found)
    assert (typed["operation"], typed["run_id"]) == ("other", "run-1")
    assert attributes == found.attributes


def test_a_tool_labelled_agent_because_of_its_name_is_a_tool() -> None:
    found = row(openinference__span__kind="AGENT", tool__name="transfer_to_human_agents")
    assert (found["operation"], found["tool"]) == ("tool", "transfer_to_human_agents")


def test_the_session_is_the_conversation_then_what_frameworks_call_it() -> None:
    langsmith = {
        "langsmith.metadata.thread_id": "thread",
        "langsmith.trace.session_name": "project",
    }
    assert read(span(attributes=langsmith))["session_id"] == "thread"
    assert read(span(attributes=langsmith | {"session.id": "s"}))["session_id"] == "s"
    everything = langsmith | {"session.id": "s", "gen_ai.conversation.id": "c"}
    assert read(span(attributes=everything))["session_id"] == "c"
    assert read(span(attributes={"mcp.session.id": "transport"})).get("session_id") is None


def test_mlflow_values_are_json_even_where_they_are_texts() -> None:
    found = row(
        "mlflow.tracing.provider",
        mlflow__spanType='"CHAT_MODEL"',
        mlflow__spanInputs='{"messages": [{"role": "user", "content": "Weather in Paris?"}]}',
        mlflow__spanOutputs=json.dumps(
            {
                "choices": [
                    {
                        "finish_reason": "tool_calls",
                        "message": {
                            "role": "assistant",
                            "content": None,
                            "tool_calls": [
                                {
                                    "id": "call_abc123",
                                    "function": {"name": "f", "arguments": '{"city":"Paris"}'},
                                }
                            ],
                        },
                    }
                ]
            }
        ),
        mlflow__llm__model='"gpt-4o-mini-2024-07-18"',
        mlflow__chat__tokenUsage='{"input_tokens": 50, "output_tokens": 12, "total_tokens": 62}',
        metadata='{"thread_id": "sess-1"}',
    )
    assert found["operation"] == "llm"
    assert found["model_answered"] == "gpt-4o-mini-2024-07-18"
    assert (found["tokens_in"], found["tokens_out"]) == (50, 12)
    assert found["finish_reasons"] == ["tool_call"]
    assert found["session_id"] == "sess-1"
    assert found["input"] == (
        '[{"role":"user","parts":[{"type":"text","content":"Weather in Paris?"}]}]'
    )
    assert found["output"] == (
        '[{"role":"assistant","parts":[{"type":"tool_call","id":"call_abc123","name":"f",'
        '"arguments":{"city":"Paris"}}]}]'
    )


def test_vercel_calls_and_tools_are_read() -> None:
    call = row(
        "ai",
        ai__operationId="ai.generateText.doGenerate",
        ai__model__id="gpt-4o-mini",
        ai__response__model="gpt-4o-mini-2024-07-18",
        ai__prompt__messages='[{"role":"user","content":[{"type":"text","text":"Weather?"}]}]',
        ai__response__text="",
        ai__response__toolCalls=(
            '[{"toolCallId":"call_abc123","toolName":"f","input":"{\\"city\\":\\"Paris\\"}"}]'
        ),
        ai__response__finishReason="tool-calls",
        ai__usage__inputTokens=50,
        ai__usage__cachedInputTokens=10,
        ai__telemetry__metadata__sessionId="sess-1",
    )
    assert (call["operation"], call["session_id"]) == ("llm", "sess-1")
    assert (call["tokens_in"], call["tokens_cache_read"]) == (50, 10)
    assert call["finish_reasons"] == ["tool_call"]
    assert call["output"] == (
        '[{"role":"assistant","parts":[{"type":"tool_call","id":"call_abc123","name":"f",'
        '"arguments":{"city":"Paris"}}]}]'
    )
    tool = row(
        "ai",
        ai__operationId="ai.toolCall",
        ai__toolCall__name="f",
        ai__toolCall__id="call_abc123",
        ai__toolCall__args='{"city":"Paris"}',
        ai__toolCall__result='{"t":14}',
    )
    assert (tool["tool"], tool["tool_call_id"]) == ("f", "call_abc123")
    assert (tool["arguments"], tool["result"]) == ('{"city":"Paris"}', '{"t":14}')
    agent = row(
        "ai",
        ai__operationId="ai.generateText",
        ai__telemetry__functionId="weather_agent",
        ai__prompt='{"system":"Be brief.","prompt":"Weather in Paris?"}',
        ai__response__text="14C and rainy",
    )
    assert (agent["operation"], agent["agent"]) == ("agent", "weather_agent")
    assert (agent["input"], agent["output"]) == ("Weather in Paris?", "14C and rainy")


def test_the_chunks_of_a_stream_in_adk_are_one_message() -> None:
    chunks = [("Your refund ", ""), ("is on its way.", "stop"), ("Another.", "stop")]
    messages = [
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": text}],
            "finish_reason": reason,
        }
        for text, reason in chunks
    ]
    found = row(
        "gcp.vertex.agent",
        gen_ai__operation__name="generate_content",
        gen_ai__output__messages=json.dumps(messages),
    )
    texts = [part["content"] for m in json.loads(found["output"]) for part in m["parts"]]
    assert texts == ["Your refund is on its way.", "Another."]


def test_numbered_messages_of_old_are_read_in_the_order_of_their_numbers() -> None:
    attributes = {
        "llm.request.type": "chat",
        "gen_ai.system": "OpenAI",
        "gen_ai.usage.prompt_tokens": 7,
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "f",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"x": 1}',
    }
    for number in range(1, 12):  # sparse: begins at 1, and "10" sorts before "2" as text
        attributes[f"gen_ai.prompt.{number}.role"] = "user"
        attributes[f"gen_ai.prompt.{number}.content"] = f"message {number}"
    found = read(span(attributes=attributes))
    assert (found["source"], found["operation"], found["tokens_in"]) == ("openllmetry", "llm", 7)
    texts = [message["parts"][0]["content"] for message in json.loads(found["input"])]
    assert texts == [f"message {number}" for number in range(1, 12)]
    assert found["output"] == (
        '[{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"f",'
        '"arguments":{"x":1}}]}]'
    )


def test_messages_in_span_events_are_read() -> None:
    found = read(
        span(
            attributes={"gen_ai.operation.name": "chat", "gen_ai.system": "openai"},
            events=(
                RawEvent("gen_ai.user.message", 1, {"content": "Weather?"}),
                RawEvent("gen_ai.choice", 2, {"message": '{"content": "14C"}', "index": 0}),
            ),
        )
    )
    assert found["input"] == '[{"role":"user","parts":[{"type":"text","content":"Weather?"}]}]'
    assert found["output"] == '[{"role":"assistant","parts":[{"type":"text","content":"14C"}]}]'


def test_a_retrieval_tells_its_query_and_its_documents() -> None:
    old = row(
        openinference__span__kind="RETRIEVER",
        input__value="refunds",
        retrieval__documents__0__document__id="d1",
        retrieval__documents__0__document__score=0.5,
    )
    assert (old["operation"], old["input"]) == ("retrieval", '{"query":"refunds"}')
    assert old["output"] == '[{"document":{"id":"d1","score":0.5}}]'
    new = read(
        span(
            attributes={
                "gen_ai.operation.name": "retrieval",
                "gen_ai.retrieval.query.text": "refunds",
                "gen_ai.retrieval.documents": '[{"id": "d1", "score": 0.5}]',
            }
        )
    )
    assert (new["input"], new["output"]) == (old["input"], '[{"id":"d1","score":0.5}]')


def test_system_instructions_come_before_the_messages() -> None:
    found = read(
        span(
            attributes={
                "gen_ai.operation.name": "chat",
                "gen_ai.system_instructions": "Be brief.",
                "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text"}]}]',
            }
        )
    )
    roles = [message["role"] for message in json.loads(found["input"])]
    assert roles == ["system", "user"]


@pytest.mark.parametrize(
    ("key", "value", "column", "read_as"),
    [
        ("gen_ai.usage.input_tokens", "12", "tokens_in", 12),
        ("gen_ai.usage.input_tokens", 12.0, "tokens_in", 12),
        ("gen_ai.usage.input_tokens", "many", "tokens_in", None),
        ("gen_ai.usage.input_tokens", True, "tokens_in", None),
        ("gen_ai.usage.input_tokens", 2**70, "tokens_in", None),
        ("trackway.step.index", 2**40, "step_index", None),
        ("trackway.entity.refs", '["order:A-1"]', "entity_refs", ["order:A-1"]),
        ("gen_ai.response.finish_reasons", ["", "STOP"], "finish_reasons", ["stop"]),
        ("gen_ai.response.model", ["a list"], "model_answered", None),
    ],
)
def test_a_value_of_another_type_is_read_or_missing_never_an_error(
    key: str, value: object, column: str, read_as: object
) -> None:
    found = read(span(attributes={"gen_ai.operation.name": "chat", key: value}))
    assert found.get(column) == read_as


def chat(*events: tuple[str, Any]) -> dict[str, Any]:
    """A model span whose messages stand in events."""
    attributes = {"gen_ai.operation.name": "generate_content", "gen_ai.request.model": "gemini"}
    recorded = tuple(RawEvent(name, None, {"body": body}) for name, body in events)
    return read(span("gcp.vertex.agent", attributes=attributes)._replace(events=recorded))


def test_events_that_hold_a_content_of_gemini_are_read_with_its_role() -> None:
    empty = {"text": None, "function_call": None, "function_response": None}
    call = {"name": "lookup", "args": {"id": 7}}
    found = chat(
        ("gen_ai.user.message", {"content": {"role": "user", "parts": [empty | {"text": "Hi"}]}}),
        (
            "gen_ai.user.message",
            {"content": {"role": "model", "parts": [empty | {"text": "Yes?"}]}},
        ),
        (
            "gen_ai.choice",
            {"content": {"role": "model", "parts": [empty | {"function_call": call}]}},
        ),
    )
    assert [message["role"] for message in json.loads(found["input"])] == ["user", "assistant"]
    ((part,),) = [message["parts"] for message in json.loads(found["output"])]
    assert (part["type"], part["name"], part["arguments"]) == ("tool_call", "lookup", {"id": 7})


def test_events_whose_content_was_elided_are_no_messages() -> None:
    found = chat(
        ("gen_ai.user.message", {"content": "<elided>"}),
        ("gen_ai.choice", {"content": "<elided>", "index": 0}),
    )
    assert (found.get("input"), found.get("output")) == (None, None)
