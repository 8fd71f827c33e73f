from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import trackway


class Recorded:
    """The spans that ended, by name."""

    exporter: InMemorySpanExporter

    @property
    def all(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    @property
    def names(self) -> list[str]:
        return [span.name for span in self.all]

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.all if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        (span,) = self.named(name)
        return span

    def tool(self, name: str) -> ReadableSpan:
        return self.one(f"execute_tool {name}")

    def value(self, span: ReadableSpan, key: str) -> Any:
        assert span.attributes is not None
        text = span.attributes[key]
        assert isinstance(text, str)
        return json.loads(text)

    def arguments(self, name: str) -> Any:
        return self.value(self.tool(name), "gen_ai.tool.call.arguments")

    def result(self, name: str) -> Any:
        return self.value(self.tool(name), "gen_ai.tool.call.result")

    def configure(self, **arguments: Any) -> None:
        """Record with other arguments from here on."""
        self.exporter = InMemorySpanExporter()
        trackway.configure(export=SimpleSpanProcessor(self.exporter), **arguments)

    def clear(self) -> None:
        self.exporter.clear()


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    recorded = Recorded()
    recorded.configure()
    yield recorded
    trackway.shutdown()
