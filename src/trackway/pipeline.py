"""The one processor that Trackway adds to a tracer provider, and what it does to a span.

1. At start a span gets its run's identity (`processors`). At end it goes to every target, through
   the tail decision (`sampling`) where runs are sampled.
2. Targets can be replaced: a provider can't remove a processor, and `configure()` may be called
   again.
3. `flush` and `shutdown` return within their timeout; True only if every target said so in
   time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from trackway.capture import record_capture_error
from trackway.processors import IdentityProcessor

DEFAULT_TIMEOUT: Final = 5.0


class Pipeline(SpanProcessor):
    """Identity at start, targets at end."""

    def __init__(self) -> None:
        self._identity = IdentityProcessor()
        self._targets: tuple[SpanProcessor, ...] = ()

    def replace_targets(self, targets: Sequence[SpanProcessor]) -> None:
        """Send spans to these targets from now on; the old ones are flushed and shut down."""
        old, self._targets = self._targets, tuple(targets)
        for target in old:
            _in_time(target.shutdown, DEFAULT_TIMEOUT)

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Stamp the span."""
        self._identity.on_start(span, parent_context)
        for target in self._targets:
            target.on_start(span, parent_context)

    def on_end(self, span: ReadableSpan) -> None:
        """Hand the span to every target; one that raises does not keep it from the others."""
        for target in self._targets:
            try:
                target.on_end(span)
            except Exception as error:  # noqa: BLE001 - a target may be the user's own
                record_capture_error(f"target {type(target).__name__}", error)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush every target within the timeout; True only if each of them delivered."""
        deadline = time.monotonic() + timeout_millis / 1000
        delivered = [_flush(target, deadline) for target in self._targets]
        return all(delivered)

    def shutdown(self) -> None:
        """Shut every target down."""
        self.replace_targets(())


def _flush(target: SpanProcessor, deadline: float) -> bool:
    left = max(0.0, deadline - time.monotonic())
    done: list[bool] = []
    finished = _in_time(lambda: done.append(bool(target.force_flush(int(left * 1000)))), left)
    return finished and done == [True]


def _in_time(action: Callable[[], object], seconds: float) -> bool:
    """Run the action on a thread of its own; False where it raised or is still running."""
    outcome: list[bool] = []

    def act() -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - a target may be the user's own
            record_capture_error("flush", error)
        else:
            outcome.append(True)

    thread = threading.Thread(target=act, name="trackway-flush", daemon=True)
    thread.start()
    thread.join(seconds)
    return bool(outcome)
