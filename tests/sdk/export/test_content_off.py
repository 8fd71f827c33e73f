"""With content off no instrumentor's spans carry what was said; they still say what was done."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from recorded_spans import recorded_spans
from trackway.export import Cleaner
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
        "acme.request": '{"note":"canary"}',
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
