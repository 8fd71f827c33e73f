"""What becomes of spans that go through a span processor of the user's own?

1. OpenTelemetry's processors say of every flush that it delivered, whatever their exporter said. So
   the exporter of a processor that shows one (`span_exporter`) is listened to: each of its `export`
   calls that raises, or does not say SUCCESS, has lost its spans, and its flush is asked too.
2. What it lost is counted in `trackway.capture_errors()`, and the next flush has not delivered all.
3. Where a processor shows no exporter, or one that takes no attribute, its own word is believed.
   So it is for what its own queue drops.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from trackway.capture import count_capture_errors
from trackway.export.losses import LOST


class Word:
    """Stands in for the `export` of one exporter, from any thread."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._export = exporter.export
        self._failed = 0
        # Reentrant, because a signal handler may export while its own thread counts.
        self._lock = threading.RLock()
        self._counted = 0
        self._asked = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export as it does, and take note of what it says. Raises what it raises."""
        result = None
        try:
            result = self._export(spans)
            return result
        finally:
            keeps_counts = result is not None and hasattr(self._exporter, "counts")
            if result is not SpanExportResult.SUCCESS and not keeps_counts:
                with self._lock:
                    self._failed += len(spans)
            self._count()

    def flushed(self, millis: int) -> bool:
        """Whether its own flush delivered, and nothing has been lost since this was asked last."""
        flushed = self._exporter.force_flush(millis) is not False
        return self.fresh() == 0 and flushed

    def fresh(self) -> int:
        """Return how many spans it lost since this was asked last."""
        lost = self._count()
        with self._lock:
            fresh, self._asked = lost - self._asked, lost
        return fresh

    def _count(self) -> int:
        theirs: Any = getattr(self._exporter, "counts", None)
        with self._lock:
            lost = self._failed + int(getattr(theirs, "lost", 0))
            fresh, self._counted = lost - self._counted, lost
        count_capture_errors(LOST, fresh)
        return lost


def listen(processor: SpanProcessor) -> None:
    """Listen to the exporter of a processor, where it shows one."""
    exporter = getattr(processor, "span_exporter", None)
    if not isinstance(exporter, SpanExporter) or word_of(processor) is not None:
        return
    try:
        exporter.export = Word(exporter).export  # type: ignore[method-assign]  # of this one alone
    except (AttributeError, TypeError):  # it has slots, or is frozen
        return


def word_of(processor: SpanProcessor) -> Word | None:
    """Return what listens to the exporter of a processor."""
    export = getattr(getattr(processor, "span_exporter", None), "export", None)
    word = getattr(export, "__self__", None)
    return word if isinstance(word, Word) else None
