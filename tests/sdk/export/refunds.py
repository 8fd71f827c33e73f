"""Ended spans of made-up runs, and the rows that stand below a folder."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider


def spans_of(
    runs: Sequence[str] = ("r1",), *, service: str | None = "refunds", day: int = 1, steps: int = 2
) -> list[ReadableSpan]:
    """Ended spans of some runs, interleaved: all first steps, then all second ones."""
    named = {} if service is None else {"service.name": service}
    tracer = TracerProvider(resource=Resource(named), shutdown_on_exit=False).get_tracer("lib")
    noon = int(datetime(2026, 1, day, 12, tzinfo=UTC).timestamp() * 1e9)
    spans = []
    for step in range(steps):
        for run in runs:
            span = tracer.start_span(
                f"step {step}", attributes={"trackway.run.id": run}, start_time=noon + step
            )
            span.end(noon + step + 10)
            assert isinstance(span, ReadableSpan)
            spans.append(span)
    return spans


def files_below(root: Path) -> list[Path]:
    return sorted(root.rglob("*.parquet"))


def rows_below(root: Path) -> list[dict[str, Any]]:
    return [row for path in files_below(root) for row in pq.read_table(path).to_pylist()]
