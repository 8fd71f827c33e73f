"""Threads of the recorder: they end with the program, and signals are none of theirs.

Who blocks a signal in all threads, to wait for it by `sigwait`, must not find it taken by one that
came from elsewhere. Threads of native libraries that these start inherit the mask.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable


def in_background(work: Callable[[], object], name: str) -> threading.Thread:
    """Return a daemon thread that is to be started, for this work."""

    def run() -> None:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        work()

    return threading.Thread(target=run, name=name, daemon=True)
