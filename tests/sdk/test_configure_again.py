"""A later `configure()` replaces the whole configuration, says so, and opens nothing by silence."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import trackway
from trackway.schema import GenAI
from trackway.testing import MemorySpans

AGAIN = "trackway: configure() was called again, which replaces the whole configuration: "
REMEDY = "; give every call what is to stay, or call it once"


@trackway.tool
def look(national_id: str) -> str:
    return national_id


@pytest.fixture
def provider() -> Iterator[TracerProvider]:
    yield TracerProvider(shutdown_on_exit=False)
    trackway.shutdown()


def recorded(provider: TracerProvider, word: str = "123-2", **arguments: Any) -> ReadableSpan:
    """Configure with these arguments, and return the span of a call then."""
    memory = InMemorySpanExporter()
    trackway.configure(export=memory, tracer_provider=provider, **arguments)
    look(word)
    assert trackway.flush()
    (span,) = memory.get_finished_spans()
    return span


def arguments_of(span: ReadableSpan) -> Any:
    return (span.attributes or {}).get(GenAI.TOOL_CALL_ARGUMENTS)


def service_of(span: ReadableSpan) -> Any:
    return span.resource.attributes["service.name"]


def test_content_that_was_switched_off_stays_off_until_it_is_named(
    provider: TracerProvider,
) -> None:
    spans = [
        recorded(provider, **said)
        for said in ({"capture_content": False}, {"version": "2"}, {"capture_content": True}, {})
    ]
    shown = '{"national_id":"123-2"}'
    assert list(map(arguments_of, spans)) == [None, None, shown, shown]


def test_redaction_that_was_asked_for_stays_until_it_is_named(
    provider: TracerProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = trackway.redactor(deny_keys=["national_id"])

    def redacts() -> bool:
        return "hunter2" not in recorded(provider, word="password=hunter2hunter2").to_json()

    spans = [recorded(provider, **said) for said in ({"redact": mine}, {}, {"redact": True})]
    assert ["123-2" in arguments_of(span) for span in spans] == [False, False, True]
    monkeypatch.setenv("TRACKWAY_REDACT", "false")
    assert redacts() is True
    trackway.shutdown()
    assert redacts() is False


def test_what_is_said_of_the_service_stays_until_it_is_said_anew(provider: TracerProvider) -> None:
    said: list[dict[str, Any]] = [
        {"service_name": "one", "resource": {"team": "a", "zone": "z"}},
        {"service_name": "two"},
        {},
        {"resource": {"service.name": "three", "team": "b"}},
        {"version": "2"},
    ]
    spans = [recorded(provider, **each) for each in said]
    assert list(map(service_of, spans)) == ["one", "two", "two", "three", "three"]
    others = [{k: span.resource.attributes[k] for k in ("team", "zone")} for span in spans]
    assert others == [{"team": "a", "zone": "z"}] * 3 + [{"team": "b", "zone": "z"}] * 2


def test_one_warning_names_each_setting_that_changes(
    provider: TracerProvider, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    target = InMemorySpanExporter()
    trackway.configure(
        "refunds",
        export=target,
        tracer_provider=provider,
        capture_content=False,
        redact=trackway.redactor(deny_keys=["national_id"]),
        sample=0.5,
        version="v1",
        limits=trackway.Limits(depth=3),
    )
    trackway.configure(export=target, tracer_provider=provider, limits=trackway.Limits(depth=3))
    trackway.configure(export=str(tmp_path), capture_content=True, redact=False)
    assert caplog.messages == [
        f"{AGAIN}sample is 1.0 (was 0.5), version is the default (was 'v1'){REMEDY}",
        f"{AGAIN}export is '{tmp_path}' (was InMemorySpanExporter), redact is False (was a "
        f"redactor), capture_content is True (was False), limits is {trackway.Limits()!r} "
        f"(was {trackway.Limits(depth=3)!r}), tracer_provider is the default (was TracerProvider)"
        f"{REMEDY}",
    ]


def test_a_target_that_is_shown_holds_no_password(
    provider: TracerProvider, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "b"):
        target = f"otlp+http://ann:hunter2hunter2@127.0.0.1:9/{name}?key=hunter2"
        trackway.configure(export=target, tracer_provider=provider)
    (said,) = caplog.messages
    assert "127.0.0.1:9/a" in said
    assert "hunter2" not in said


def test_the_same_again_and_a_start_after_a_shutdown_are_no_change(
    provider: TracerProvider, caplog: pytest.LogCaptureFixture
) -> None:
    target = InMemorySpanExporter()
    for _ in range(2):
        trackway.configure(
            export=target, tracer_provider=provider, capture_content=False, service_name="a"
        )
    trackway.configure(export=target, tracer_provider=provider)
    trackway.shutdown()
    assert arguments_of(recorded(provider)) is not None
    assert caplog.messages == []


def test_what_a_test_says_is_not_what_the_program_has_said(
    provider: TracerProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    target = InMemorySpanExporter()
    with MemorySpans().held() as spans:
        spans.configure(capture_content=False, tracer_provider=provider)
        trackway.configure("app", export=target, tracer_provider=provider)
        look("1")
        assert arguments_of(spans.tool("look")) is not None
    look("2")
    assert trackway.flush()
    (after,) = target.get_finished_spans()
    assert (arguments_of(after), service_of(after)) == ('{"national_id":"2"}', "app")
    assert caplog.messages == []
