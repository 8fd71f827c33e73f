"""Nothing that had ended is lost when a process goes.

1. At interpreter exit what waits is delivered and the targets are closed, within the timeout.
2. On SIGTERM, where the program left it at its default, the same, and then the default. Ours stands
   in wherever the default is set, so in the forked workers of servers too. A handler of the
   program's own stays: whoever handles the signal exits in an orderly way. Only the main thread can
   set a handler: where `configure()` runs in another, the log says so once.
3. A child of `multiprocessing` leaves without running exit handlers: there it happens in the
   finalizers that `multiprocessing` does run. Pools end their workers by SIGTERM, also one that
   waits in a lock (`noticed`).
   Celery's workers leave by `os._exit`, and tell of it before.
4. A child of `os.fork` keeps recording; what the parent had not sent yet stays the parent's.
5. Threads that go on ending spans meanwhile cannot be waited for. How many came too late is said
   after the other exit handlers of the process, as far as they were registered later.
"""

from __future__ import annotations

import atexit
import functools
import logging
import multiprocessing
import multiprocessing.util
import os
import signal
import sys
import threading
from collections.abc import Callable
from signal import getsignal  # as it was: the module's own is replaced
from types import FrameType
from typing import Any, Final

from trackway.noticed import bring_to_notice, has_begun

_LOGGER: Final = logging.getLogger("trackway")
_INIT: Final = 1
"""The first process of a container, which no signal ends by default: it goes on after SIGTERM."""
_EARLY: Final = 100
"""Before queues and managers go, to which `multiprocessing` gives lower priorities."""


class _Installed:
    close: Callable[[], object] | None = None
    last_word: Callable[[], object] | None = None
    told_of_thread = False


def close_at_exit(close: Callable[[], object], last_word: Callable[[], object]) -> None:
    """Call `close` once on the way out of this process, and of each that it forks.

    `last_word` follows it, as late as it can.
    """
    _close_with_workers_of_celery()
    first = _Installed.close is None
    _Installed.close = close
    _Installed.last_word = last_word
    _handle_sigterm()
    if multiprocessing.parent_process() is not None or _is_spawned():
        _bring_to_notice()
    if not first:
        return
    if multiprocessing.parent_process() is None:
        atexit.register(_close)
    else:
        _register_finalizer(None)
    # Forked children of `multiprocessing` clear the finalizers that they inherit.
    multiprocessing.util.register_after_fork(_Installed, _register_finalizer)


def _close() -> None:
    if _Installed.close is not None:
        _Installed.close()


def _say_last_word() -> None:
    if _Installed.last_word is not None:
        _Installed.last_word()


# Exit handlers run in the reverse of their order: this one after all that come later.
atexit.register(_say_last_word)


def _close_and_say() -> None:
    _close()
    _say_last_word()


def _register_finalizer(_: Any) -> None:
    _bring_to_notice()
    multiprocessing.util.Finalize(None, _close_and_say, exitpriority=_EARLY)


def _close_with_workers_of_celery() -> None:
    """Only where the program has imported it, as whoever makes its tasks has."""
    if "celery" in sys.modules:
        from celery.signals import worker_process_shutdown

        worker_process_shutdown.connect(_told_by_celery, weak=False, dispatch_uid=__name__)


def _told_by_celery(**_: object) -> None:
    _close_and_say()


def _is_spawned() -> bool:
    """Whether this is such a child that imports the main module, and has no parent until then."""
    return getattr(multiprocessing.current_process(), "_inheriting", False)


def _bring_to_notice() -> None:
    if getsignal(signal.SIGTERM) is _terminate:
        bring_to_notice(signal.SIGTERM)


def _handle_sigterm() -> None:
    if not hasattr(signal.signal, "original"):
        signal.signal = _standing_in_for_default(signal.signal)
        signal.getsignal = _shown_as_default(signal.getsignal)
    if getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    elif not _Installed.told_of_thread:
        _Installed.told_of_thread = True
        _LOGGER.warning(
            "trackway: configure() ran in the thread %r, and only the main thread can handle "
            "SIGTERM: what ended in the last moments before it is lost; call configure() in the "
            "main thread, or trackway.shutdown() in a handler of your own",
            threading.current_thread().name,
        )


def _standing_in_for_default(set_handler: Callable[..., Any]) -> Callable[..., Any]:
    """Servers reset SIGTERM to its default in their forked workers: there, too, ours stands in."""

    @functools.wraps(set_handler)
    def set_handler_or_ours(number: int, handler: Any) -> Any:
        if number != signal.SIGTERM:
            return set_handler(number, handler)
        before = set_handler(number, _terminate if handler == signal.SIG_DFL else handler)
        return signal.SIG_DFL if before is _terminate else before

    vars(set_handler_or_ours)["original"] = set_handler
    return set_handler_or_ours


def _shown_as_default(get_handler: Callable[..., Any]) -> Callable[..., Any]:
    """A program that sets a handler only where none is set goes on to do so."""

    @functools.wraps(get_handler)
    def get_handler_or_default(signalnum: int) -> Any:
        handler = get_handler(signalnum)
        return signal.SIG_DFL if handler is _terminate else handler

    return get_handler_or_default


def _terminate(number: int, frame: FrameType | None) -> None:
    if os.getpid() == _INIT:
        return
    has_begun()
    _close_and_say()
    set_handler = getattr(signal.signal, "original", signal.signal)
    set_handler(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
