"""Faults of the recorder itself: counted by place, logged once a place, never raised.

1. `record_capture_error(where, error)` is what every guard of the SDK calls; it never raises.
2. The first fault at a place is logged through the logger `trackway`, later ones only counted.
3. `capture_errors()` returns a copy of the counts; a place without faults is not in it.
"""

from __future__ import annotations

import logging
import threading
from typing import Final

from trackway.capture.storage import type_name

_LOGGER: Final = logging.getLogger("trackway")
_LOCK: Final = threading.Lock()
_COUNTS: Final[dict[str, int]] = {}


def record_capture_error(where: str, error: BaseException) -> None:
    """Count a fault of the recorder at the place `where` and log the first one there."""
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


def capture_errors() -> dict[str, int]:
    """Return how many faults were counted, by place."""
    with _LOCK:
        return dict(_COUNTS)


def reset_capture_errors() -> None:
    """Forget all counts, so that a test starts from none."""
    with _LOCK:
        _COUNTS.clear()
