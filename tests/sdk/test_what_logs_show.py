"""No secret stands in the log: not of a target's address, not of a complaint about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

import trackway
from trackway.capture.errors import record_capture_error
from trackway.export.otlp import OtlpSpanExporter
from trackway.export.shown import shown

SECRET = "Zq7Xk029LmPw4Tb8V"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("otlp+http://usr:pw@h:4318/v1?a=b", "otlp+http://h:4318/v1"),
        ("url: /v1/traces?a=b (refused)", "url: /v1/traces (refused)"),
        (f"password={SECRET}", "password=[redacted:assignment]"),
        (
            "http://h:4318/v1/traces: why? Nobody knows",
            "http://h:4318/v1/traces: why? Nobody knows",
        ),
    ],
)
def test_an_address_shows_neither_user_nor_query(told: str, expected: str) -> None:
    assert shown(told) == expected


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_receiver_that_is_away_is_named_without_its_secrets(
    tmp_path: Path, protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    target = f"otlp+{protocol}://usr:{SECRET}@127.0.0.1:9/?api_key={SECRET}&q={SECRET}"
    trackway.configure("s", export=OtlpSpanExporter(target, spool=tmp_path))
    with trackway.run("t"):
        pass
    trackway.flush(1)
    trackway.shutdown(1)
    assert "127.0.0.1:9" in caplog.text
    assert SECRET not in caplog.text


def test_a_wrong_target_is_named_without_its_secrets() -> None:
    with pytest.raises(ValueError, match="x:99999") as error:
        trackway.configure("s", export=f"otlp+http://usr:{SECRET}@x:99999?key={SECRET}")
    assert SECRET not in str(error.value)


class _Failing(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        raise RuntimeError(f"no answer from http://usr:{SECRET}@h/?api_key={SECRET}")


def test_what_an_exporter_raises_is_shown_without_its_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    trackway.configure("s", export=_Failing())
    with trackway.run("t"):
        pass
    trackway.flush()
    trackway.shutdown()
    assert "no answer from http://h/" in caplog.text
    assert SECRET not in caplog.text


def test_a_fault_of_the_recorder_is_placed_without_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with trackway.step(f"s?token={SECRET}", kind="no kind"):
        pass
    record_capture_error(f"lookup?token={SECRET}: result", ValueError())
    assert "lookup?token=[redacted:assignment]" in caplog.text
    assert SECRET not in caplog.text + repr(trackway.capture_errors())
