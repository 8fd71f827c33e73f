"""What a forked child has to forget, and what a fork has to wait for.

1. A child forgets threads that did not come along, and what its parent owns.
2. It would wait for ever for a lock of a native library that one of those threads held. So a fork
   waits for the end of what stands in a `ForkGate`, for as long as its patience.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

T = TypeVar("T")


def in_forked_child(owner: T, forget: Callable[[T], None]) -> None:
    """Call `forget(owner)` in every child that is forked while `owner` lives."""
    if not hasattr(os, "register_at_fork"):
        return
    reference = weakref.ref(owner)

    def after_in_child() -> None:
        alive = reference()
        if alive is not None:
            forget(alive)

    os.register_at_fork(after_in_child=after_in_child)


class ForkGate:
    """A lock, and no child is forked while another thread holds it.

    Args:
        patience: seconds after which a fork goes on nevertheless.
    """

    def __init__(self, patience: float = 1.0) -> None:
        self._patience: Final = patience
        self._lock = threading.RLock()
        self._forking: Final = set[int]()
        """Threads that hold the lock for their fork."""
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before, after_in_parent=self._in_parent, after_in_child=self._in_child
            )

    @contextmanager
    def held(self) -> Iterator[None]:
        """Guard a block."""
        with self._lock:  # the one of now: a child that is forked inside has a new one
            yield

    def _before(self) -> None:
        if self._lock.acquire(timeout=self._patience):
            self._forking.add(threading.get_ident())

    def _in_parent(self) -> None:
        thread = threading.get_ident()
        if thread in self._forking:
            self._forking.discard(thread)
            self._lock.release()

    def _in_child(self) -> None:
        self._lock = threading.RLock()
        self._forking.clear()
