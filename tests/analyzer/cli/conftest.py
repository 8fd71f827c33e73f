"""OTLP JSON files of small runs, as an OTel GenAI instrumentor writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]
SECOND = 1_000_000_000


def attribute(key: str, value: Any) -> dict[str, Any]:
    kind = "intValue" if isinstance(value, int) else "stringValue"
    return {"key": key, "value": {kind: str(value) if kind == "intValue" else value}}


def span(
    trace: str, number: int, name: str, parent: int | None, **attributes: Any
) -> dict[str, Any]:
    found = {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(SECOND * (1_700_000_000 + number)),
        "endTimeUnixNano": str(SECOND * (1_700_000_000 + number + 1)),
        "attributes": [
            attribute(key.replace("__", "."), value) for key, value in attributes.items()
        ],
        "status": {},
    }
    return found | ({} if parent is None else {"parentSpanId": f"{parent:016x}"})


def run_spans(
    trace: str, tools: list[tuple[str, dict[str, Any], Any]], session: str | None = None
) -> list[dict[str, Any]]:
    """An agent span and one span a tool call: name, arguments, result."""
    conversation = {} if session is None else {"gen_ai__conversation__id": session}
    agent = {"gen_ai__operation__name": "invoke_agent", "gen_ai__agent__name": "support"}
    spans = [span(trace, 1, "invoke_agent support", None, **agent, **conversation)]
    for number, (tool, arguments, result) in enumerate(tools, start=2):
        call = {
            "gen_ai__operation__name": "execute_tool",
            "gen_ai__tool__name": tool,
            "gen_ai__tool__call__id": f"call_{number}",
            "gen_ai__tool__call__arguments": json.dumps(arguments),
            "gen_ai__tool__call__result": json.dumps(result),
        }
        spans.append(span(trace, number, f"execute_tool {tool}", 1, **call, **conversation))
    return spans


def document(spans: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": [attribute("service.name", "support")]},
                "scopeSpans": [{"scope": {"name": "opentelemetry.example"}, "spans": spans}],
            }
        ]
    }


@pytest.fixture
def otlp(tmp_path: Path) -> Write:
    """Write runs (trace id to calls) to a file of OTLP JSON."""

    def write(
        runs: dict[str, list[Any]], *, name: str = "traces.json", session: Any = None
    ) -> Path:
        spans = [s for trace, tools in runs.items() for s in run_spans(trace, tools, session)]
        path = tmp_path / name
        path.write_text(json.dumps(document(spans)))
        return path

    return write


@pytest.fixture
def http_span(tmp_path: Path) -> Path:
    """Write a file with one span of an HTTP client, which is nobody's agent."""
    path = tmp_path / "http.json"
    path.write_text(json.dumps(document([span("c" * 32, 1, "GET /", None, http__method="GET")])))
    return path
