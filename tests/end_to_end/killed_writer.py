"""A process that records runs until it is killed, and says which spans are safe.

`record_until_killed` exports small batches and sends the ids of each after `export` has returned.
Files are finished every few batches, so that a kill also hits half-written ones.
"""

from __future__ import annotations

from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from trackway.export.parquet import ParquetSpanExporter


def record_until_killed(folder: Path, safe: Connection) -> None:
    resource = Resource({"service.name": "refunds"})
    tracer = TracerProvider(resource=resource, shutdown_on_exit=False).get_tracer("trackway")
    exporter = ParquetSpanExporter(folder, rotate_rows=200)
    for run in count():
        spans: list[ReadableSpan] = []
        for step in range(20):
            span = tracer.start_span(
                f"step {step}", attributes={"trackway.run.id": f"run-{run}", "text": "x" * 500}
            )
            span.end()
            assert isinstance(span, ReadableSpan)
            spans.append(span)
        exporter.export(spans)
        safe.send([f"{span.context.span_id:016x}" for span in spans if span.context])
