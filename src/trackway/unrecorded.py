"""A run of which nothing is recorded: dropped at its head, or nothing is configured.

Its context carries the run, so that `current_run()` works and steps below know to stay out of the
way, and a span that is not sampled, so that instrumentors below record nothing either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from trackway.ids import EntropyIdGenerator
from trackway.recording import active
from trackway.run import PLACE, Run
from trackway.spans import NOTHING


class Unrecorded:
    """The place in such a run, and what follows the call that opened it."""

    takes_iterators = False
    handed_over = False

    def __init__(self, run: Run, parent: Context) -> None:
        run.recording = False
        self.run = run
        self.span = run.span
        self.inherited: Mapping[str, Any] = NOTHING
        context = parent if active() is None else set_span_in_context(_dropped_span(), parent)
        self.context = otel_context.set_value(PLACE, self, context)

    def spend(self, size: int) -> bool:
        """Nothing is recorded, so nothing fits."""
        return False

    def finish(self, result: Any) -> None:
        """End the run."""
        self.abandon()

    def fail(self, error: BaseException) -> None:
        """End the run."""
        self.abandon()

    def exhausted(self, returned: Any = None) -> None:
        """End the run."""
        self.abandon()

    def open_stream(self) -> None:
        """Nothing is collected."""

    def item(self, item: Any) -> None:
        """Nothing is collected."""

    def abandon(self) -> None:
        """End the run, and let go of the context, which holds this object."""
        self.run.ended = True
        self.context = Context()


def _dropped_span() -> NonRecordingSpan:
    ids = EntropyIdGenerator()
    trace_id, span_id = ids.generate_trace_id(), ids.generate_span_id()
    return NonRecordingSpan(SpanContext(trace_id, span_id, False, TraceFlags(TraceFlags.DEFAULT)))
