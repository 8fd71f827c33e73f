"""One call that makes everything record: arguments, else environment, else defaults.

1. An explicit argument wins over `TRACKWAY_*`, which wins over `OTEL_*`.
2. Spans go to: what `export` says; else OTLP where `OTEL_EXPORTER_OTLP_*` is set; else Parquet in
   `./traces`; else, without pyarrow, the console, with the line to type to get Parquet.
3. An OpenTelemetry SDK provider that the program has set is joined, never replaced. Where none is
   set, ours becomes the global one. A provider of another make that takes no processors is left
   alone, and ours stays private.
4. Calling it again with the same arguments changes nothing; with others, spans go to the new
   targets.
5. `TRACKWAY_DISABLED` or `OTEL_SDK_DISABLED` make all of this a no-op.
"""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.trace import ProxyTracerProvider, Tracer

from trackway.capture import Capture, Limits
from trackway.export import processors_for
from trackway.ids import EntropyIdGenerator
from trackway.pipeline import DEFAULT_TIMEOUT, Pipeline
from trackway.recording import VERSION, Recorder, install, switched_off
from trackway.schema import SCOPE_NAME

_LOGGER: Final = logging.getLogger("trackway")
_MAX_ATTRIBUTES: Final = 512
"""Instrumentors that flatten messages pass 128 attributes, and then identity is evicted."""

Export = str | Path | SpanExporter | SpanProcessor


class _Configured:
    """What `configure()` has set up in this process."""

    arguments: Mapping[str, Any] | None = None
    provider: TracerProvider | None = None
    pipeline: Pipeline | None = None


def configure(
    service_name: str | None = None,
    *,
    export: Export | Sequence[Export] | None = None,
    redact: Any = None,
    capture_content: bool | None = None,
    sample: float | None = None,
    resource: Mapping[str, Any] | None = None,
    version: str | None = None,
    variant: str | None = None,
    limits: Limits | None = None,
    tracer_provider: TracerProvider | None = None,
) -> TracerProvider | None:
    """Start recording; return the tracer provider in use, or None where recording is disabled.

    export: a directory or URL (Parquet), "otlp", "otlp+http://host:4318", "otlp+grpc://host:4317",
        "console", an OpenTelemetry exporter or processor, or a list of these.
    version, variant: release under test and rollout arm of runs that name none.
    tracer_provider: the provider to join instead of the global one.
    """
    arguments = dict(locals())
    if switched_off():
        install(None, disabled=True)
        return None
    if _Configured.arguments == arguments:
        return _Configured.provider
    provider, pipeline = _provider(tracer_provider, service_name, resource)
    pipeline.replace_targets(_targets(export))
    defaults = {
        "version": version or os.environ.get("TRACKWAY_AGENT_VERSION"),
        "variant": variant or os.environ.get("TRACKWAY_VARIANT"),
    }
    install(
        Recorder(
            tracer=_tracer(provider),
            capture=Capture(limits or Limits()),
            defaults={name: value for name, value in defaults.items() if value},
        )
    )
    _Configured.arguments = arguments
    return provider


def flush(timeout: float = DEFAULT_TIMEOUT) -> bool:
    """Deliver what has ended, within `timeout` seconds; True only if all of it was delivered."""
    pipeline = _Configured.pipeline
    return pipeline is None or pipeline.force_flush(int(timeout * 1000))


def shutdown(timeout: float = DEFAULT_TIMEOUT) -> bool:
    """Flush, stop recording and release the targets; True only if all was delivered in time."""
    delivered = flush(timeout)
    install(None, disabled=True)
    _Configured.arguments = None
    if _Configured.pipeline is not None:
        _Configured.pipeline.shutdown()
    return delivered


def _provider(
    given: TracerProvider | None, service_name: str | None, resource: Mapping[str, Any] | None
) -> tuple[TracerProvider, Pipeline]:
    existing = given or trace.get_tracer_provider()
    if not isinstance(existing, TracerProvider):
        existing_is_foreign = not isinstance(existing, ProxyTracerProvider)
        existing = _Configured.provider or _new_provider(service_name, resource)
        if not existing_is_foreign:
            trace.set_tracer_provider(existing)
    if existing is not _Configured.provider or _Configured.pipeline is None:
        if _Configured.pipeline is not None:
            _Configured.pipeline.shutdown()
        _Configured.pipeline = Pipeline()
        existing.add_span_processor(_Configured.pipeline)
        _Configured.provider = existing
    return existing, _Configured.pipeline


def _new_provider(service_name: str | None, resource: Mapping[str, Any] | None) -> TracerProvider:
    attributes = dict(resource or {})
    name = service_name or os.environ.get("TRACKWAY_SERVICE_NAME")
    if name:
        attributes[SERVICE_NAME] = name
    limits = SpanLimits(max_span_attributes=_MAX_ATTRIBUTES)
    return TracerProvider(
        resource=Resource.create(attributes),
        id_generator=EntropyIdGenerator(),
        span_limits=limits,
    )


def _tracer(provider: TracerProvider) -> Tracer:
    tracer = provider.get_tracer(SCOPE_NAME, VERSION)
    if hasattr(tracer, "id_generator"):
        # A joined provider may draw its ids from the seeded `random`; our spans must not.
        tracer.id_generator = EntropyIdGenerator()
    return tracer


def _targets(export: Export | Sequence[Export] | None) -> list[SpanProcessor]:
    if export is None:
        export = os.environ.get("TRACKWAY_EXPORT") or _default_export()
    wanted = [export] if isinstance(export, (str, Path, SpanExporter, SpanProcessor)) else export
    targets: list[SpanProcessor] = []
    for target in wanted:
        if isinstance(target, SpanProcessor):
            targets.append(target)
        else:
            targets.extend(processors_for(target))
    return targets


def _default_export() -> str:
    if any(name.startswith("OTEL_EXPORTER_OTLP_") for name in os.environ):
        return "otlp"
    if importlib.util.find_spec("pyarrow") is not None:
        return "./traces"
    _LOGGER.warning(
        "trackway: spans go to the console, because no OTEL_EXPORTER_OTLP_ENDPOINT is set and "
        "pyarrow is not installed; for Parquet files type: pip install 'trackway[parquet]'"
    )
    return "console"
