"""OpenTelemetry's own limits on a span neither break JSON nor push out what a run needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import trackway
from trackway.schema import GenAI, Trackway


@trackway.tool
def echo(order: str, note: str) -> dict[str, str]:
    return {"order": order, "note": note}


@pytest.fixture
def memory() -> Iterator[InMemorySpanExporter]:
    yield InMemorySpanExporter()
    trackway.shutdown()


def joined(memory: InMemorySpanExporter, limits: SpanLimits | None) -> TracerProvider:
    provider = TracerProvider(span_limits=limits)
    trackway.configure(export=SimpleSpanProcessor(memory), tracer_provider=provider)
    return provider


@pytest.mark.parametrize("source", ["provider", "environment"])
def test_a_length_limit_cuts_inside_the_json(
    memory: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    if source == "environment":
        monkeypatch.setenv("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "200")
    joined(memory, SpanLimits(max_span_attribute_length=200) if source == "provider" else None)
    echo("A-1", "n" * 1000)
    attributes = dict(memory.get_finished_spans()[0].attributes or {})
    arguments = json.loads(str(attributes[GenAI.TOOL_CALL_ARGUMENTS]))
    assert arguments["order"] == "A-1"
    assert "…[truncated " in arguments["note"]
    assert len(str(attributes[GenAI.TOOL_CALL_ARGUMENTS])) <= 200
    assert attributes[Trackway.TRUNCATED] == ("arguments", "result")


def test_a_limit_above_our_own_changes_nothing(memory: InMemorySpanExporter) -> None:
    joined(memory, SpanLimits(max_span_attribute_length=1 << 20))
    echo("A-1", "n" * 1000)
    assert Trackway.TRUNCATED not in (memory.get_finished_spans()[0].attributes or {})


def test_many_attributes_on_a_joined_provider_evict_neither_identity_nor_model(
    memory: InMemorySpanExporter,
) -> None:
    framework = joined(memory, None).get_tracer("framework")
    first: dict[str, Any] = {"llm.model_name": "m", "llm.token_count.total": 7}
    with (
        trackway.run("t") as run,
        framework.start_as_current_span("llm", attributes=first) as span,
    ):
        for number in range(300):
            span.set_attribute(f"llm.input_messages.{number}.content", "x")
    found = dict(memory.get_finished_spans()[0].attributes or {})
    assert found.items() >= {**first, Trackway.RUN_ID: run.id}.items()
    assert len(found) == 304


def test_outside_a_run_the_provider_s_limit_stays(memory: InMemorySpanExporter) -> None:
    framework = joined(memory, None).get_tracer("framework")
    with framework.start_as_current_span("page") as span:
        for number in range(300):
            span.set_attribute(f"key{number}", "x")
    assert len(memory.get_finished_spans()[0].attributes or {}) == 128


@pytest.mark.parametrize("most", [1, 16, 128])
def test_a_low_limit_evicts_nothing_of_our_own_spans(
    memory: InMemorySpanExporter, most: int
) -> None:
    provider = joined(memory, SpanLimits(max_span_attributes=most))
    fingerprint: dict[str, Any] = {f"part{number}": "x" for number in range(20)}
    with trackway.run("refund", suite="s", trial=1, seed=3, variant="v", **fingerprint) as run:
        echo("A-1", "n")
        run.outcome(True, label="paid")
    with provider.get_tracer("framework").start_as_current_span("page") as span:
        span.set_attributes({f"key{number}": "x" for number in range(300)})
    step, opened, page = memory.get_finished_spans()
    for own in (step, opened):
        found = dict(own.attributes or {})
        assert found.items() >= {Trackway.RUN_ID: run.id, Trackway.TASK_ID: "refund"}.items()
        assert own.dropped_attributes == 0
    assert (step.attributes or {})[Trackway.STEP_INDEX] == 1
    assert (opened.attributes or {})[Trackway.OUTCOME_SUCCESS] is True
    assert len(page.attributes or {}) == most
