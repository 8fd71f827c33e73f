"""Functions that the recorder asks: for the success of a result, for the key of arguments.

1. Their answer is needed at once. An `async` function, or a generator function, gives an object
   that is no answer, and true: it is an error where it is declared.
2. What nobody can see there (a lambda around a coroutine function) shows when it is called: an
   awaitable or a generator is closed, and there is no answer, which is an error of the recording.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import GeneratorType
from typing import Any

from trackway.capture.storage import MISSING, class_attribute, type_name


def check_question(option: str, function: Callable[..., Any]) -> None:
    """Raise TypeError for a function that cannot answer at once."""
    asked: Any = function
    while isinstance(asked, functools.partial):
        asked = asked.func
    if not inspect.isroutine(asked) and not inspect.isclass(asked):
        asked = type(asked).__call__
    kinds = {
        "an async function": inspect.iscoroutinefunction,
        "an async generator function": inspect.isasyncgenfunction,
        "a generator function": inspect.isgeneratorfunction,
    }
    for kind, is_one in kinds.items():
        if is_one(asked):
            raise TypeError(
                f"{option} must be a plain function, whose answer is there at once; found {kind}: "
                f"{function!r}"
            )


def answer(function: Callable[[Any], object], value: Any) -> object:
    """Ask the function; raise TypeError where it gives something to wait for."""
    given = function(value)
    kind = type(given)
    if kind is GeneratorType or any(
        class_attribute(kind, name) is not MISSING for name in ("__await__", "__anext__")
    ):
        if inspect.iscoroutine(given) or kind is GeneratorType:
            given.close()  # type: ignore[attr-defined]  # or Python says that nobody awaited it
        raise TypeError(f"an answer is needed at once; found {type_name(kind)}")
    return given
