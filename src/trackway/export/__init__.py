"""Where ended spans go: Parquet files, an OTLP receiver, the console, your own exporter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SpanExporter

from trackway.export.batching import BatchingProcessor
from trackway.export.clean import Cleaner
from trackway.export.counts import ExportCounts
from trackway.export.near_miss import check_name

__all__ = ["BatchingProcessor", "Cleaner", "ExportCounts", "processors_for"]

Target = str | Path | SpanExporter | SpanProcessor
"""What `configure(export=…)` takes, alone or in a list."""


def processors_for(
    export: Target | Sequence[Target], *, cleaner: Cleaner | None = None, **parquet_options: Any
) -> list[SpanProcessor]:
    """Return one span processor for each export target.

    A target is a directory or URL (Parquet), "otlp" (endpoint and protocol from the `OTEL_*`
    variables), "otlp+http://host:4318", "otlp+grpc://host:4317", "console", a `SpanExporter`, or a
    `SpanProcessor`, which is returned as it is.
    What the spans of others hold is redacted and cut by `cleaner`, with the defaults where none is
    given. Options are those of `ParquetSpanExporter`.
    Raises, before any of them starts, `TypeError` for what is no target, `ValueError` for a URL
    that leads nowhere and for a slip (`near_miss`), and `ModuleNotFoundError`, with the line to
    type, where a target needs an extra.
    """
    is_one = isinstance(export, str) or not isinstance(export, Sequence)
    targets: Any = [export] if is_one else export
    policy = Cleaner() if cleaner is None else cleaner
    ready = [_ready(target, policy, parquet_options) for target in targets]
    return [start() for start in ready]


def _ready(target: Any, cleaner: Cleaner, options: dict[str, Any]) -> Callable[[], SpanProcessor]:
    """Return what starts a target that is checked."""
    if isinstance(target, SpanProcessor):
        return lambda: target
    if isinstance(target, SpanExporter):
        return lambda: BatchingProcessor(target, clean=cleaner.clean_all)
    if not isinstance(target, (str, Path)) or not str(target).strip():
        raise TypeError(
            'export: expected a directory or URL, "otlp", "console", an OpenTelemetry exporter '
            f"or processor, or a list of these; found {target!r}"
        )
    text = str(target)
    if isinstance(target, str):
        check_name(text)
    if text == "console":
        return lambda: BatchingProcessor(ConsoleSpanExporter(), clean=cleaner.clean_all)
    if text == "otlp" or text.startswith("otlp+"):
        from trackway.export.otlp import OtlpSpanExporter
        from trackway.export.otlp.endpoint import endpoint_of

        endpoint_of(text)
        return lambda: BatchingProcessor(OtlpSpanExporter(text), clean=cleaner.clean_all)
    from trackway.export.parquet import ParquetSpanExporter

    # Cleans whole columns by itself, and larger batches cost less.
    exporter = ParquetSpanExporter(target, cleaner=cleaner, **options)
    return lambda: BatchingProcessor(exporter, batch_size=1024)
