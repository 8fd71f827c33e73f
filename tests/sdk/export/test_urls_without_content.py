"""With content off a URL keeps where a request went, and nothing of what it asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from trackway.export import Cleaner
from trackway.export.parquet import ParquetSpanExporter

MARK = "?[redacted:query]"
URLS = {
    "url.full": (
        "https://api.search.com:8443/s?q=is+my+wife+ill#top",
        "https://api.search.com:8443/s",
    ),
    "http.url": ("https://ann:pw@api.search.com/s?q=is my wife ill", "https://api.search.com/s"),
    "http.target": ("/s?q=wife", "/s"),
    "url.path": ("/s;who=wife", "/s"),
    "http.request.header.referer": (("https://a.org/?q=wife", "https://b.org/"), "https://a.org/"),
    "peer.url": ("postgresql://db.org/x?user=wife", "postgresql://db.org/x"),
    "acme.host": ("/s?q=wife", "/s"),
    "acme.endpoint": ("api.search.com/s?q=wife", "api.search.com/s"),
    "process.command": ("https://a.org/x#wife", "https://a.org/x"),
}


def test_a_url_keeps_scheme_host_port_and_path_and_no_query(tmp_path: Path) -> None:
    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    attributes: dict[str, Any] = {key: url for key, (url, _) in URLS.items()}
    attributes |= {"url.query": "q=wife", "url.fragment": "wife", "http.query_string": "q=wife"}
    tracer = provider.get_tracer("opentelemetry.instrumentation.httpx")
    with tracer.start_as_current_span("GET /s?q=wife", attributes=attributes) as span:
        span.add_event("redirect", {"url.full": "https://a.org/x?q=wife"})
    (before,) = memory.get_finished_spans()
    cleaner = Cleaner(content=False)
    after = cleaner.clean(before)
    expected: dict[str, Any] = {key: bare + MARK for key, (_, bare) in URLS.items()}
    expected["http.request.header.referer"] = (f"https://a.org/{MARK}", "https://b.org/")
    assert after.attributes is not None
    assert {key: after.attributes.get(key) for key in URLS} == expected
    assert {f"trackway.content.sha256.{key}" for key in attributes} <= set(after.attributes)
    assert after.name == f"GET /s{MARK}"
    assert dict(after.events[0].attributes or {}) == {"url.full": f"https://a.org/x{MARK}"}
    exporter = ParquetSpanExporter(tmp_path, cleaner=cleaner)
    exporter.export([before])
    exporter.shutdown()
    (path,) = tmp_path.rglob("*.parquet")
    stored = repr(pq.ParquetFile(path).read().to_pylist())
    for text in (after.to_json(), stored):
        assert "wife" not in text
        assert "pw" not in text
    assert cleaner.clean(after).attributes == after.attributes
    assert "wife" in Cleaner().clean(before).to_json()


@pytest.mark.parametrize("url", ["https://api.search.com:8443/s/1", "/users/{id}", "grpc://a:1"])
def test_a_url_without_a_query_is_as_it_was(url: str) -> None:
    span = ReadableSpan("GET /s", attributes={"url.full": url, "http.route": url})
    assert Cleaner(content=False).clean(span) is span


@pytest.mark.parametrize("name", ["Is it a/b?", "Why? a/b", "GET /users/{id}", "/" * 20_000 + " ?"])
def test_a_name_without_a_query_is_as_it_was(name: str) -> None:
    assert Cleaner(content=False).clean(ReadableSpan(name)).name == name
