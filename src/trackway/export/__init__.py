"""Where ended spans go: Parquet files, an OTLP receiver, the console, your own exporter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor, SpanExporter

from trackway.export.batching import BatchingProcessor
from trackway.export.counts import ExportCounts

__all__ = ["BatchingProcessor", "ExportCounts", "processors_for"]

Target = str | Path | SpanExporter
"""What `configure(export=…)` takes, alone or in a list."""


def processors_for(
    export: Target | Sequence[Target], **parquet_options: Any
) -> list[SpanProcessor]:
    """Return one span processor for each export target.

    A target is a directory or URL (Parquet), "otlp" (endpoint and protocol from the `OTEL_*`
    variables), "otlp+http://host:4318", "otlp+grpc://host:4317", "console", or a `SpanExporter`.
    Raises `ModuleNotFoundError`, with the line to type, where a target needs an extra.
    """
    targets = [export] if isinstance(export, (str, Path, SpanExporter)) else export
    return [_processor(target, parquet_options) for target in targets]


def _processor(target: Target, parquet_options: dict[str, Any]) -> SpanProcessor:
    if isinstance(target, SpanExporter):
        return BatchingProcessor(target)
    text = str(target)
    if text == "console":
        return SimpleSpanProcessor(ConsoleSpanExporter())
    if text == "otlp" or text.startswith("otlp+"):
        from trackway.export.otlp import OtlpSpanExporter

        return BatchingProcessor(OtlpSpanExporter(text))
    from trackway.export.parquet import ParquetSpanExporter

    return BatchingProcessor(ParquetSpanExporter(target, **parquet_options))
