"""A sampler of the provider's own drops failed runs unseen: that is said, once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    DEFAULT_ON,
    ParentBased,
    Sampler,
    TraceIdRatioBased,
)

import trackway


class Odd(Sampler):
    """A sampler of somebody's own, that cannot say what it does."""

    should_sample = ALWAYS_ON.should_sample

    def get_description(self) -> str:
        raise RuntimeError("no description")


@pytest.fixture(autouse=True)
def _shut_down() -> Iterator[None]:
    yield
    trackway.shutdown()


def said_by(provider: TracerProvider, caplog: pytest.LogCaptureFixture, share: float) -> list[str]:
    caplog.clear()
    target = SimpleSpanProcessor(InMemorySpanExporter())
    trackway.configure(export=target, tracer_provider=provider, sample=share)
    return [said for said in caplog.messages if "was called again" not in said]


SHORT_OF_ALL = {
    "TraceIdRatioBased{0.01}": TraceIdRatioBased(0.01),
    "ParentBased{root:TraceIdRatioBased{0.01}": ParentBased(TraceIdRatioBased(0.01)),
    "AlwaysOffSampler": ALWAYS_OFF,
    "Odd": Odd(),
}


@pytest.mark.parametrize("name", SHORT_OF_ALL)
def test_a_sampler_that_drops_is_said_once(name: str, caplog: pytest.LogCaptureFixture) -> None:
    provider = TracerProvider(sampler=SHORT_OF_ALL[name])
    (said,) = said_by(provider, caplog, 1.0)
    assert said.startswith(f"trackway: the tracer provider has a sampler of its own ({name}")
    assert said.endswith(
        "drops runs before they start, failed ones too; to keep those, give the provider ALWAYS_ON "
        "and the share to trackway.configure(sample=…)"
    )
    assert said_by(provider, caplog, 0.5) == []


@pytest.mark.parametrize("sampler", [ALWAYS_ON, DEFAULT_ON, TraceIdRatioBased(1.0)])
def test_one_that_takes_every_run_is_silent(
    sampler: Sampler, caplog: pytest.LogCaptureFixture
) -> None:
    assert said_by(TracerProvider(sampler=sampler), caplog, 1.0) == []


def test_a_sampler_of_the_environment_is_said_too(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.1")
    assert len(said_by(TracerProvider(), caplog, 1.0)) == 1
