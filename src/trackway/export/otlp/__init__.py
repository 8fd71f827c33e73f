"""Spans to an OTLP receiver, over gRPC or HTTP."""

from __future__ import annotations

from trackway.export.otlp.exporter import OtlpSpanExporter

__all__ = ["OtlpSpanExporter"]
