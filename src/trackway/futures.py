"""Tasks and futures that a function returns: its span ends when they are done.

1. Followed are futures and tasks of asyncio and futures of `concurrent.futures`, subclasses too.
   The caller gets the very object; the span hears of its end by a done-callback of the base class.
2. The span ends with the result, the exception, or a cancellation. None of them is taken out the
   public way: asyncio would then no longer say that an exception was never retrieved.
3. One that is not done when the process ends leaves its span unfinished: nobody knows how it went.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from trackway.capture import record_capture_error
from trackway.capture.storage import mro_of, namespace_of, type_name
from trackway.driving import Opened
from trackway.faults import goes_on

_BASES: Final = frozenset(
    {"_asyncio.Future", "asyncio.futures.Future", "concurrent.futures._base.Future"}
)
"""By name: a program without asyncio should not load it for this."""


def future_follower(kind: type) -> Callable[[Any, Opened], Any] | None:
    """Return what follows a future of this class; None: it is of another kind."""
    base = next((base for base in mro_of(kind) if type_name(base) in _BASES), None)
    if base is None:
        return None
    own = namespace_of(base)
    is_done, add_callback, is_cancelled = (
        own[name] for name in ("done", "add_done_callback", "cancelled")
    )

    def follow(future: Any, live: Opened) -> Any:
        def end(_: object) -> None:
            if is_cancelled(future):
                live.fail(_cancellation(future, mro_of(kind)))
                return
            error = object.__getattribute__(future, "_exception")
            if error is None:
                live.finish(object.__getattribute__(future, "_result"))
            else:
                live.fail(error)

        try:
            if is_done(future):
                end(future)
            else:
                add_callback(future, end)
        except Exception as error:  # a future that was never set up, say
            if goes_on(error):
                raise
            record_capture_error("future", error)
            live.finish(future)
        return future

    return follow


def _cancellation(future: Any, mro: Iterable[type]) -> BaseException:
    """Return an error like the one that awaiting a cancelled future raises."""
    if any(type_name(base).startswith("concurrent.") for base in mro):
        from concurrent.futures import CancelledError

        return CancelledError()
    from asyncio import CancelledError as AsyncCancelledError

    message = object.__getattribute__(future, "_cancel_message")
    return AsyncCancelledError() if message is None else AsyncCancelledError(message)
