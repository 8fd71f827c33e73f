"""Where ended spans go: Parquet files, an OTLP receiver, the console, your own exporter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SpanExporter

from trackway.export.batching import BatchingProcessor
from trackway.export.clean import Cleaner
from trackway.export.counts import ExportCounts

__all__ = ["BatchingProcessor", "Cleaner", "ExportCounts", "processors_for"]

Target = str | Path | SpanExporter
"""What `configure(export=…)` takes, alone or in a list."""


def processors_for(
    export: Target | Sequence[Target], *, cleaner: Cleaner | None = None, **parquet_options: Any
) -> list[SpanProcessor]:
    """Return one span processor for each export target.

    A target is a directory or URL (Parquet), "otlp" (endpoint and protocol from the `OTEL_*`
    variables), "otlp+http://host:4318", "otlp+grpc://host:4317", "console", or a `SpanExporter`.
    What the spans of others hold is redacted and cut by `cleaner`, with the defaults where none is
    given. Options are those of `ParquetSpanExporter`.
    Raises `ModuleNotFoundError`, with the line to type, where a target needs an extra.
    """
    targets = [export] if isinstance(export, (str, Path, SpanExporter)) else export
    policy = Cleaner() if cleaner is None else cleaner
    return [_processor(target, policy, parquet_options) for target in targets]


def _processor(target: Target, cleaner: Cleaner, options: dict[str, Any]) -> BatchingProcessor:
    if isinstance(target, SpanExporter):
        return BatchingProcessor(target, clean=cleaner.clean_all)
    text = str(target)
    if text == "console":
        return BatchingProcessor(ConsoleSpanExporter(), clean=cleaner.clean_all)
    if text == "otlp" or text.startswith("otlp+"):
        from trackway.export.otlp import OtlpSpanExporter

        return BatchingProcessor(OtlpSpanExporter(text), clean=cleaner.clean_all)
    from trackway.export.parquet import ParquetSpanExporter

    # Cleans whole columns by itself, and larger batches cost less.
    exporter = ParquetSpanExporter(target, cleaner=cleaner, **options)
    return BatchingProcessor(exporter, batch_size=1024)
