"""What ends when nobody exports any more: counted, said, and never taken for delivered.

1. Spans are late from `arm` on, until `disarm`. Whoever meets one calls `note`: the pipeline for a
   span that ends, the decorators and blocks for a call of which `shutdown` lets no span start.
2. After `shutdown()` the first one is said in the log at once, for the program goes on and somebody
   may wonder. While the process leaves, nothing is said before `last_word`, which says how many.
3. `fresh` tells how many came since it was asked last: a flush after them has not delivered all.
4. `trackway.capture_errors()` counts them among the lost.
"""

from __future__ import annotations

import logging
import threading
from typing import Final

from trackway.capture import count_capture_errors
from trackway.export.fork import in_forked_child
from trackway.export.losses import LOST

_LOG: Final = logging.getLogger("trackway")


class LateSpans:
    """Counts them, from any thread and in signal handlers."""

    def __init__(self) -> None:
        self.is_armed = False
        """Whether what ends now is late."""
        self._start_empty()
        in_forked_child(self, LateSpans._start_empty)

    def _start_empty(self) -> None:
        # Reentrant, because a signal handler may end a span while its own thread counts one.
        self._lock = threading.RLock()
        self.count = 0
        self._asked = 0
        self._is_said = False
        self._said = 0

    def arm(self, *, leaving: bool) -> None:
        """Count from now on; `leaving`: the process goes, and there will be a last word."""
        self.is_armed = True
        self._is_said = leaving

    def disarm(self) -> None:
        """Spans are exported again."""
        self.is_armed = False
        self._start_empty()

    def note(self) -> None:
        """Count a span, if there is nobody to export it."""
        if not self.is_armed:
            return
        with self._lock:
            self.count += 1
            is_said, self._is_said = self._is_said, True
        count_capture_errors(LOST, 1)
        if not is_said:
            _LOG.warning(
                "trackway: recording was shut down, and the program goes on: what it does now is "
                "not recorded, but counted in trackway.capture_errors() under %r; "
                "trackway.configure() starts again",
                LOST,
            )

    def fresh(self) -> int:
        """Return how many came since this was asked last."""
        with self._lock:
            fresh, self._asked = self.count - self._asked, self.count
            return fresh

    def last_word(self, others: int = 0) -> None:
        """Say how many there are, if it is not said; `others` were on their way when it closed."""
        count = self.count + others
        if count > self._said:
            self._said = count
            _LOG.warning(
                "trackway: %d spans ended after recording was shut down, and are lost", count
            )
