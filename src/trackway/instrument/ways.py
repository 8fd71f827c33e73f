"""How the rows of the registry are written: one call a way."""

from __future__ import annotations

from typing import Final

from trackway.instrument.library import Origin, Way

GENAI: Final = "opentelemetry-instrumentation-genai-"
OPENINFERENCE: Final = "openinference-instrumentation-"


def official(
    suffix: str, cls: str, why: str, *, before: str | None = None, tools: bool = True
) -> Way:
    """An instrumentor of OpenTelemetry: `opentelemetry-instrumentation-genai-SUFFIX`."""
    module = f"opentelemetry.instrumentation.genai.{suffix.replace('-', '_')}"
    target = f"{module}:{cls}"
    return Way(Origin.OFFICIAL, GENAI + suffix, target, why, before=before, tools=tools)


def openinference(
    suffix: str, cls: str, why: str, *, since: str = "0", before: str | None = None
) -> Way:
    """An instrumentor of OpenInference: `openinference-instrumentation-SUFFIX`."""
    module = f"openinference.instrumentation.{suffix.replace('-', '_')}"
    target = f"{module}:{cls}"
    return Way(Origin.OPENINFERENCE, OPENINFERENCE + suffix, target, why, since, before)


def native(distribution: str, switch: str, why: str, *, since: str = "0") -> Way:
    """The library's own spans, behind a switch of `switches`."""
    return Way(Origin.NATIVE, distribution, switch, why, since)


def openllmetry(module: str, cls: str) -> str:
    """The target of an instrumentor of OpenLLMetry, which is known and never turned on."""
    return f"opentelemetry.instrumentation.{module}:{cls}"
