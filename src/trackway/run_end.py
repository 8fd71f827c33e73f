"""How long does the end of a run wait for what it recorded? (`configure(flush_at_run_end=…)`)

1. Every target gets `seconds`, side by side: one second unless told otherwise.
2. A target that has not delivered within them hangs, as far as anybody can tell. What it did not
   take is in its spool by then, and the following ends of runs give it a glance of 50 milliseconds,
   enough for their own spans to get there too. After 5, 10, 20 … 60 seconds it gets its full time
   once more, and once it has delivered it is as good as any.
3. A target that says at once that it cannot deliver costs no time, and is asked every time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from opentelemetry.sdk.trace import SpanProcessor

from trackway.pipeline import Pipeline

DEFAULT_SECONDS: Final = 1.0
_GLANCE: Final = 0.05
_FIRST_PAUSE: Final = 5.0
_LONGEST_PAUSE: Final = 60.0


@dataclass(frozen=True, slots=True)
class _Hanging:
    pause: float
    until: float
    """Monotonic time before which the target gets a glance."""


class RunEndFlush:
    """Flushes a pipeline at the end of each run; any number of runs may end at a time."""

    def __init__(self, pipeline: Pipeline, seconds: float) -> None:
        self._pipeline: Final = pipeline
        self._seconds: Final = seconds
        self._hanging: dict[int, _Hanging] = {}
        """By the identity of the target."""

    def __call__(self) -> None:
        """Flush within the seconds."""
        begun = time.monotonic()
        for target, delivered in self._pipeline.flush_each(self._patience):
            self._note(target, delivered, time.monotonic() - begun)

    def _patience(self, target: SpanProcessor) -> float:
        known = self._hanging.get(id(target))
        if known is None or time.monotonic() >= known.until:
            return self._seconds
        return min(self._seconds, _GLANCE)

    def _note(self, target: SpanProcessor, delivered: bool, took: float) -> None:
        known = self._hanging.get(id(target))
        if delivered:
            self._hanging.pop(id(target), None)
        elif took >= 0.8 * self._seconds and (known is None or time.monotonic() >= known.until):
            pause = _FIRST_PAUSE if known is None else min(2 * known.pause, _LONGEST_PAUSE)
            self._hanging[id(target)] = _Hanging(pause, time.monotonic() + pause)
