"""Does what `instrument()` turned on still record? A program can cut it off without a word.

1. `watch(name, why_lost)` registers a library with what tells why it no longer records.
2. It is looked at when a run opens, when a step starts outside any run, and at the end of the
   process; each reason of a library is told of once in the log and counted.
3. What is lost stands on the span that opens the run, so that the record says it too; and so do
   the libraries that are on, for of such a run nothing is known where it has no step at all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from trackway.capture import count_capture_errors, record_capture_error
from trackway.faults import goes_on

WhyLost = Callable[[], str | None]
"""Why what was turned on no longer records; None while it does."""

_LOGGER: Final = logging.getLogger("trackway")
_watched: dict[str, WhyLost] = {}
_told: set[tuple[str, str]] = set()


def watch(name: str, why_lost: WhyLost) -> None:
    """Look at this library from now on."""
    _watched[name] = why_lost


def unwatch(name: str) -> None:
    """Look at it no more."""
    _watched.pop(name, None)
    _told.difference_update([told for told in _told if told[0] == name])


def watched() -> list[str]:
    """Return the libraries that are looked at, which are those that are on."""
    return sorted(_watched)


def is_watching() -> bool:
    """Whether there is anything to look at."""
    return bool(_watched)


def why_lost(name: str) -> str | None:
    """Return why this library no longer records; None while it does, or is not watched."""
    check = _watched.get(name)
    try:
        return None if check is None else check()
    except Exception as error:  # the libraries' own objects run in here
        if goes_on(error):
            raise
        record_capture_error(f"watching {name}", error)
        return None


def lost() -> list[str]:
    """Return `library: why` of each that no longer records; tell of the new ones."""
    found = []
    for name in tuple(_watched):
        reason = why_lost(name)
        if reason is None:
            continue
        found.append(f"{name}: {reason}")
        if (name, reason) not in _told:
            _told.add((name, reason))
            count_capture_errors(f"instrument {name}", 1)
            _LOGGER.warning(
                "trackway: %s is no longer recorded, since trackway.instrument() turned it on: "
                "%s; undo that, or call trackway.instrument() after it",
                name,
                reason,
            )
    return found
