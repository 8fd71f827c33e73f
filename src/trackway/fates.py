"""What was decided of a run, known as long as anything here can still tell of it.

1. Every `Run` holds the fate of its run id, and whatever may still record a span of a run holds its
   `Run`. So a span that comes late, however late, finds what was decided.
2. Several `Run`s of one id (one that is resumed, one that came by a carrier) share it.
3. With the last of them it goes: what is remembered is bounded by what the program holds.
"""

from __future__ import annotations

from typing import Final
from weakref import WeakValueDictionary

from trackway.forks import Counting

KEPT: Final = -1


class Fate:
    """Whether a run is kept."""

    __slots__ = ("__weakref__", "dropped")

    def __init__(self) -> None:
        self.dropped: int | None = None
        """How many of its spans were dropped; `KEPT` where they are not; None: not decided."""


_fates: Final[WeakValueDictionary[str, Fate]] = WeakValueDictionary()


def fate_of(run_id: str) -> Fate:
    """Return the fate of a run: the one that somebody holds, else a fresh one."""
    found = _fates.get(run_id)
    if found is None:
        fresh = Fate()
        with Counting.lock:
            found = _fates.setdefault(run_id, fresh)
    return found
