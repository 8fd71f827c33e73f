"""A signal that the main thread of a child of `multiprocessing` does not notice is brought to it.

1. Handlers in Python run when the main thread next asks for signals. One that enters a lock between
   processes in the very moment of the signal asks no more, and waits on. `Process.terminate()`, and
   with it a pool that is left by `with`, sends SIGTERM just then: it ends such a child by the
   default, and has to with a handler too.
2. What Python does in the moment of a signal is to write its number to the wakeup fd. A thread
   that reads there pokes the main thread until the handler has begun: a poke interrupts the call in
   which it waits, and means nothing else.
3. There is one wakeup fd in a process, and `multiprocessing` children seldom have another use for
   it. Whoever has set it keeps it, and so does who sets it later: then it is as in 1.
4. A child that is forked writes to this process's pipe until it has the word that it is another. A
   number that is not ours costs some pokes.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from functools import partial
from signal import getsignal  # `exits` replaces the module's own
from types import FrameType
from typing import Any, Final

from trackway.export.background import in_background

_POKE: Final = getattr(signal, "SIGURG", None)
"""Nobody ends by it: its default is to be ignored."""
_POKES: Final = 100
_BETWEEN_POKES: Final = 0.05
_OTHER_THREADS: Final = ("trio", "gevent.monkey", "eventlet")
"""The first warns where there is a wakeup fd; under the others a thread would stop all others."""


class _Watched:
    pipe: tuple[int, int] | None = None
    """Where it is read and written what signals came, as far as that is ours."""
    has_begun = False


def bring_to_notice(number: int) -> None:
    """Poke the main thread when this signal comes, until `has_begun`.

    Nothing is done in another thread, and where the signal has no handler in Python.
    """
    if _POKE is None or _Watched.pipe is not None or not _is_free(number, _POKE):
        return
    pipe = told, fd = os.pipe()
    os.set_blocking(fd, False)
    before = signal.set_wakeup_fd(fd, warn_on_full_buffer=False)
    if before != -1:
        signal.set_wakeup_fd(before)
        os.close(told)
        os.close(fd)
        return
    signal.signal(_POKE, _nothing)
    _Watched.pipe, _Watched.has_begun = pipe, False
    watch = partial(_watch, told, number, _POKE, getsignal(number))
    in_background(watch, "trackway-signals").start()


def has_begun() -> None:
    """Say that the handler has the signal."""
    _Watched.has_begun = True


def _is_free(number: int, poke: int) -> bool:
    return (
        threading.current_thread() is threading.main_thread()
        and callable(getsignal(number))
        and getsignal(poke) in (signal.SIG_DFL, _nothing)
        and not any(name in sys.modules for name in _OTHER_THREADS)
    )


def _watch(told: int, number: int, poke: int, handler: Any) -> None:
    main = threading.main_thread().ident
    while main is not None:
        if number not in os.read(told, 1):
            continue
        for _ in range(_POKES):
            time.sleep(_BETWEEN_POKES)
            if _Watched.has_begun or getsignal(number) is not handler:
                break
            signal.pthread_kill(main, poke)


def _nothing(number: int, frame: FrameType | None) -> None:
    """Interrupt what the main thread waits for, and no more."""


def _forget() -> None:
    pipe, _Watched.pipe = _Watched.pipe, None
    if pipe is None:
        return
    now = signal.set_wakeup_fd(-1)
    if now not in (-1, pipe[1]):
        signal.set_wakeup_fd(now)
    for end in pipe:
        os.close(end)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
