"""Nothing that had ended is lost when a process goes.

1. At interpreter exit one bounded flush.
2. On SIGTERM, where the program left it at its default: a bounded flush, then the default again. A
   handler of the program's own stays; whoever handles the signal exits in an orderly way.
3. A child of `multiprocessing` leaves without running exit handlers: it flushes through the
   finalizers that `multiprocessing` does run, in forked children too.
4. A child of `os.fork` keeps recording; what the parent had not sent yet stays the parent's.
"""

from __future__ import annotations

import atexit
import multiprocessing.util
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_EARLY = 100
"""Before queues and managers go, which `multiprocessing` gives lower priorities."""


class _Installed:
    flush: Callable[[], object] | None = None


def flush_at_exit(flush: Callable[[], object]) -> None:
    """Call `flush` on every way out of this process and of those that it forks; once each."""
    first = _Installed.flush is None
    _Installed.flush = flush
    if not first:
        return
    atexit.register(_flush)
    multiprocessing.util.Finalize(None, _flush, exitpriority=_EARLY)
    # The children of `multiprocessing` clear the finalizers that they inherit.
    multiprocessing.util.register_after_fork(_Installed, _register_in_child)
    _handle_sigterm()


def _flush() -> None:
    if _Installed.flush is not None:
        _Installed.flush()


def _register_in_child(_: Any) -> None:
    multiprocessing.util.Finalize(None, _flush, exitpriority=_EARLY)


def _handle_sigterm() -> None:
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def _terminate(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    _flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
