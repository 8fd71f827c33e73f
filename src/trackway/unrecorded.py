"""A run of which nothing is recorded: dropped at its head, or nothing is configured.

Its context carries the run, so that `current_run()` works and steps below know to stay out of the
way, and a span that is not sampled, so that instrumentors below record nothing either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import (
    INVALID_SPAN,
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    set_span_in_context,
)

from trackway.ids import EntropyIdGenerator
from trackway.recording import active
from trackway.run import PLACE, Run
from trackway.spans import NOTHING

(_SPAN,) = set_span_in_context(INVALID_SPAN, Context())
"""Context key of the current span."""
_IDS: Final = EntropyIdGenerator()
_NOT_SAMPLED: Final = TraceFlags(TraceFlags.DEFAULT)


class Unrecorded:
    """The place in such a run, and what follows the call that opened it."""

    takes_iterators = False
    handed_over = False

    def __init__(self, run: Run, parent: Context) -> None:
        run.recording = False
        self.run = run
        self.span = run.span
        self.inherited: Mapping[str, Any] = NOTHING
        here = {PLACE: self} if active() is None else {PLACE: self, _SPAN: _dropped_span()}
        self.context = Context({**parent, **here})

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
    span_id = _IDS.generate_span_id()
    trace_id = _IDS.generate_span_id() << 64 | span_id  # spares a call of the system
    return NonRecordingSpan(SpanContext(trace_id, span_id, False, _NOT_SAMPLED))
