"""One lock for all counts of this process, and how many forks lie between it and the first."""

from __future__ import annotations

import os
import threading


class Counting:
    """Held for nanoseconds; a forked child has a lock of its own, for the parent's may be held."""

    lock = threading.Lock()
    forks = 0


def _renew() -> None:
    Counting.lock = threading.Lock()
    Counting.forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
