"""What of a run happens elsewhere, so that a part that never came to its end is missed.

1. Each function that Trackway hands over to another process (`threads_and_processes.py`) is a part
   of the run. It is counted when it is pickled or forked and not before: what is cancelled in a
   queue went nowhere.
2. A part leaves a span of its own when it ends. The run span says how many parts the run handed
   over: one without a span was killed, goes on still, or its process records nothing.
3. A part may hand over in its turn, under a name of its own; its span says so.
4. Of what takes a run up by a carrier nobody knows where the carrier went: it says itself, by a
   span, that it has begun, and by another that it has ended, which is the run span where it is a
   run that goes on.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from opentelemetry.context import Context

from trackway import ids
from trackway.capture import record_capture_error
from trackway.faults import goes_on
from trackway.forks import Counting
from trackway.recording import active, is_shut_down, note_missed, unseen
from trackway.schema import Trackway

_LOGGER: Final = logging.getLogger("trackway")
_NAME: Final = "handed over"
_NAME_LENGTH: Final = 16


class Parts:
    """How many parts a run has handed over in this process."""

    __slots__ = ("_count", "_forks", "_name", "_taken_back")

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._forks = Counting.forks
        self._name = ""
        self._count = self._taken_back = 0

    def hand_over(self) -> str:
        """Count one, and return its name."""
        with Counting.lock:
            if self._forks != Counting.forks:  # what the parent counts is the parent's
                self._begin()
            self._name = self._name or ids.run_id()[:_NAME_LENGTH]
            self._count += 1
            return f"{self._name}:{self._count}"

    def take_back(self) -> None:
        """Count one less: it did not start."""
        with Counting.lock:
            self._taken_back += 1

    def attributes(self) -> Mapping[str, Any]:
        """What a span says of them; nothing where there are none."""
        count = self._count - self._taken_back
        if not count or self._forks != Counting.forks:
            return {}
        return {Trackway.HANDED_OVER: f"{self._name}:{count}"}


def tell_begun(run: Mapping[str, Any], context: Context | None = None) -> str:
    """Record that a part of a run, whose attributes these are, begins here; return its name."""
    part = f"{ids.run_id()[:_NAME_LENGTH]}:1"
    if not _is_unheard_of():  # it may be configured inside
        _leave_mark({**run, Trackway.HANDED_OVER: part}, context)
    return part


def tell_end(part: str, run: Mapping[str, Any], parts: Parts, unseen_before: int) -> None:
    """Record that a part of a run has ended here.

    A part of which something was not recorded, because `configure()` came too late, has no end.
    `unseen_before` is what `unseen()` gave when it began.
    """
    if unseen() == unseen_before:
        _leave_mark({**run, Trackway.HANDED_OVER_PART: part, **parts.attributes()}, None)
    else:
        _leave_mark({**run, Trackway.HANDED_OVER: part}, None)
        _warn()


def _is_unheard_of() -> bool:
    """Whether nobody has configured recording here, nor shut it down."""
    return active() is None and not is_shut_down()


def _leave_mark(attributes: Mapping[str, Any], context: Context | None) -> None:
    recorder = active()
    if recorder is None:
        if not note_missed():
            _warn()
        return
    try:
        recorder.tracer.start_span(_NAME, context, attributes=dict(attributes)).end()
    except BaseException as error:  # processors of others run in here
        if goes_on(error):
            raise
        record_capture_error(_NAME, error)


@cache
def _warn() -> None:
    _LOGGER.warning(
        "process %d took part in a recorded run and records nothing before trackway.configure(): "
        "steps are missing, so the run is not judged as if they had not been. Call it where each "
        "process comes by: at the top of a module, or in the initializer of the pool",
        os.getpid(),
    )
