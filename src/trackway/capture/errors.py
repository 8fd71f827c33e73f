"""Faults of the recorder itself: counted by place, logged once a place, never raised.

1. `record_capture_error(where, error)` is what every guard of the SDK calls; it never raises.
2. The first fault at a place is logged through the logger `trackway`, later ones only counted.
3. `capture_errors()` returns a copy of the counts; a place without faults is not in it. Who counts
   by itself is asked for its number before (`ask_before_counts`).
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable
from typing import Final

from trackway.capture.storage import type_name

_LOGGER: Final = logging.getLogger("trackway")
_LOCK: Final = threading.Lock()
_COUNTS: Final[dict[str, int]] = {}
_ASKED: list[weakref.WeakMethod[Callable[[], object]]] = []


def record_capture_error(where: str, error: BaseException) -> None:
    """Count a fault of the recorder at the place `where` and log the first one there."""
    # Of a place the name may be the user's; the redactor counts its faults here.
    from trackway.capture.redact import DEFAULT_REDACTOR

    where, _ = DEFAULT_REDACTOR.text(where)
    with _LOCK:
        count = _COUNTS[where] = _COUNTS.get(where, 0) + 1
    if count == 1:
        # Only the type: the message of an error may hold the value that was not to be shown.
        _LOGGER.warning(
            "trackway could not record %s (%s); your program is not affected, "
            "further cases are counted in trackway.capture_errors()",
            where,
            type_name(type(error)),
        )


def count_capture_errors(where: str, cases: int) -> None:
    """Count faults of which the log is told in other words."""
    if cases > 0:
        with _LOCK:
            _COUNTS[where] = _COUNTS.get(where, 0) + cases


def ask_before_counts(bring_up_to_date: Callable[[], object]) -> None:
    """Call this method before counts are given out, as long as its object lives."""
    _ASKED[:] = [known for known in _ASKED if known() is not None]
    _ASKED.append(weakref.WeakMethod(bring_up_to_date))


def capture_errors() -> dict[str, int]:
    """Return how many faults were counted, by place."""
    for known in tuple(_ASKED):
        method = known()
        if method is not None:
            method()
    with _LOCK:
        return dict(_COUNTS)


def reset_capture_errors() -> None:
    """Forget all counts, so that a test starts from none."""
    with _LOCK:
        _COUNTS.clear()
