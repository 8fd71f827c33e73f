"""Which errors of code that the recorder calls stay with the recorder?

1. The recorder calls code of the user's: predicates, the text of an error, hooks of a redactor,
   processors. What that raises is no outcome of the user's call: it is counted, and the call goes
   on. So it is with `SystemExit`, `GeneratorExit` and a cancellation too: nobody wrote `sys.exit()`
   into a predicate to end the program from there.
2. What comes from outside while such code runs goes on: `KeyboardInterrupt`, what a handler of a
   signal raises (a time limit, an orderly exit), and the other errors that are no `Exception`.
"""

from __future__ import annotations

import signal
import sys
from inspect import CO_VARARGS
from types import TracebackType
from typing import Any, Final

_PACKAGE: Final = __name__.partition(".")[0]


def goes_on(error: BaseException) -> bool:
    """Whether the recorder must let this error through."""
    kind = type(error)
    if not issubclass(kind, (Exception, SystemExit, GeneratorExit)) and not is_cancellation(error):
        return True
    return _is_from_a_signal(error.__traceback__)


def is_cancellation(error: BaseException) -> bool:
    """Whether this is asyncio's way to end a task."""
    # Without importing asyncio for programs that never do: no task, no cancellation.
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and issubclass(type(error), asyncio.CancelledError)


def _is_from_a_signal(trace: TracebackType | None) -> bool:
    """Whether a function that handles a signal stands among the calls that raised."""
    calls = set()
    while trace is not None:
        code, name = trace.tb_frame.f_code, trace.tb_frame.f_globals.get("__name__")
        # A handler takes the signal and a frame. Most that raises does not, and is soon told.
        if (code.co_argcount > 1 or code.co_flags & CO_VARARGS) and not _is_ours(name):
            calls.add(code)
        trace = trace.tb_next
    if not calls:
        return False
    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        if getattr(getattr(handler, "__func__", handler), "__code__", None) in calls:
            return True
    return False


def _is_ours(module: object) -> bool:
    return type(module) is str and module.partition(".")[0] == _PACKAGE
