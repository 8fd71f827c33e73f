"""What is said, and counted, of spans that one exporter does not get.

1. `trackway.capture_errors()` has them under `LOST`. The worker, a flush and whoever asks bring the
   number up to date, so that an exporter that hangs in the worker keeps none of it back.
2. The log tells of the first full queue at once, from the thread that met it; of a flush that took
   too long, once until another delivers; and at the end how many of how many were lost.
3. A process that goes while its exporter hangs takes along what the exporter never took: that is
   lost. What it took and did not answer for is told apart: nobody knows what became of it.
4. Spans that ended after the processor stopped are not spoken of here; the pipeline tells of them.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Final

from trackway.capture import count_capture_errors
from trackway.export.counts import ExportCounts

_LOG: Final = logging.getLogger("trackway.export.batching")
LOST: Final = "export: spans lost"
"""The place of lost spans in `trackway.capture_errors()`."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the spans of a processor are at a moment."""

    counts: ExportCounts
    queued: int
    """Waiting for the worker, which will still take them."""
    late: int
    """Among the lost: those that ended after the processor stopped."""
    is_hanging: bool
    """Whether the worker is still at work."""

    @property
    def on_the_way(self) -> int:
        """Neither delivered nor lost."""
        return self.counts.ended - self.counts.delivered - self.counts.lost


class Losses:
    """Tells of them, from any thread; `name` is the exporter's."""

    def __init__(self, name: str) -> None:
        self._name: Final = name
        # Reentrant, because a signal handler may flush while its own thread counts.
        self._lock = threading.RLock()
        self._counted = 0
        self._said = 0
        self._told_of_queue = False
        self._told_of_delay = False
        self._told_of_end = False

    def count(self, lost: int) -> None:
        """Bring `capture_errors()` up to date with the number lost so far."""
        with self._lock:
            fresh, self._counted = lost - self._counted, max(lost, self._counted)
        count_capture_errors(LOST, fresh)

    def tell_of_full_queue(self, size: int) -> None:
        """Say that spans are dropped from now on."""
        if not self._told_of_queue:
            self._told_of_queue = True
            _LOG.warning(
                "trackway: %s is slower than spans end; the queue of %d spans is full, and spans "
                "are dropped until there is room again; trackway.capture_errors() counts them "
                "under %r",
                *(self._name, size, LOST),
            )

    def tell_of_delay(self, now: Standing) -> None:
        """Say that a flush gave up."""
        self.count(now.counts.lost)
        if not self._told_of_delay:
            self._told_of_delay = True
            _LOG.warning(
                "trackway: %s did not finish a flush in time; %d spans are on the way",
                *(self._name, now.on_the_way),
            )

    def flushed(self) -> None:
        """Take note of a flush that delivered: the next delay is told of again."""
        self._told_of_delay = False

    def tell_at_shutdown(self, now: Standing) -> None:
        """Say how many were lost, and how many wait or are not delivered."""
        self.count(now.counts.lost)
        waiting = 0 if now.is_hanging else now.on_the_way
        self._tell_of_lost(
            now, 0, f"; {waiting} more wait in the spool for the next start" if waiting else ""
        )
        if now.is_hanging:
            self._tell_of_open(now.on_the_way)

    def tell_at_exit(self, now: Standing) -> None:
        """Say what the process takes along, as far as it is not said."""
        never_taken = now.queued if now.is_hanging else 0
        taken = now.on_the_way - never_taken if now.is_hanging else 0
        self.count(now.counts.lost + never_taken)
        is_new = self._tell_of_lost(
            now, never_taken, f"; of {taken} more that it took nothing is known" if taken else ""
        )
        if is_new:
            self._told_of_end = True
        elif taken:
            self._tell_of_open(taken)

    def _tell_of_lost(self, now: Standing, never_taken: int, rest: str) -> bool:
        """Say it, if more are lost than was said before; whether that is so."""
        counts = now.counts
        dropped = counts.dropped - now.late
        lost = dropped + counts.failed + never_taken
        with self._lock:
            before, self._said = self._said, max(lost, self._said)
        if lost <= before:
            return False
        at_exit = f", {never_taken} because the process ended before it took them"
        _LOG.warning(
            "trackway: %s: %d of the %d spans that ended are lost: %d because the queue was full, "
            "%d because they could be written nowhere or were refused%s%s",
            *(self._name, lost, counts.ended - now.late, dropped, counts.failed),
            *(at_exit if never_taken else "", rest),
        )
        return True

    def _tell_of_open(self, spans: int) -> None:
        if not self._told_of_end:
            self._told_of_end = True
            _LOG.warning(
                "trackway: %s did not finish in time; %d spans are not delivered",
                *(self._name, spans),
            )
