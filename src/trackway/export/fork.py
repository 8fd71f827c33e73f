"""What a forked child has to forget: threads that did not come along, and what the parent owns."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import TypeVar

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
