"""What is recorded of an error: its type, its message and its stack.

1. The message is what `str(error)` gives; of a class without a `__str__` of its own it is read from
   the arguments where those are more than a few plain values: writing them would take as long as
   they are large, and run the code of objects among them.
2. The stack is what Python prints, causes included, at most the last 64 frames of each. Where an
   argument is large, the same is put together here, with the messages cut: Python would write them
   out again and again.
3. With content off the stack is lines of code, without the messages in which values stand.
"""

from __future__ import annotations

import traceback
import types
from collections.abc import Iterator
from typing import Any, Final

from trackway.capture import Capture
from trackway.capture.storage import class_attribute

_FRAMES: Final = 64
_CHAIN: Final = 8
"""Causes that are looked at."""
_FEW: Final = 32
_SHORT: Final = 4096
_args_of: Final[Any] = BaseException.__dict__["args"].__get__


def type_name(error: BaseException) -> str:
    """Return the exception's name as `error.type` wants it: qualified unless built in."""
    kind = type(error)
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )


def told(error: BaseException, capture: Capture) -> dict[str, str]:
    """Return the attributes of the `exception` event, redacted and within the limits."""
    attributes = {"exception.type": type_name(error)}
    if not capture.content:
        lines = traceback.format_tb(error.__traceback__, limit=-_FRAMES)
        return {**attributes, "exception.stacktrace": capture.text("".join(lines))}
    message = _message(error, capture)
    if len(message) <= _SHORT and all(map(_is_cheap, _chain(error))):
        lines = traceback.format_exception(error, limit=-_FRAMES)
    else:
        lines = list(_lines(error, message, capture))
    return {
        **attributes,
        "exception.message": message,
        "exception.stacktrace": capture.text("".join(lines)),
    }


def _message(error: BaseException, capture: Capture) -> str:
    if not _is_cheap(error):
        values = _args_of(error)
        if len(values) == 1 and type(values[0]) is str:
            return capture.text(values[0])
        return capture.value(values).text or ""
    try:
        return capture.text(str(error))
    except Exception:  # noqa: BLE001 - a user's __str__
        return f"<{type(error).__name__} without a printable message>"


def _is_cheap(error: BaseException) -> bool:
    """Whether `str(error)` is code of its class, or writes a few plain values."""
    writes = class_attribute(type(error), "__str__")
    if type(writes) is not types.WrapperDescriptorType:
        return True
    values = _args_of(error)
    return len(values) <= _FEW and all(map(_is_plain, values))


def _is_plain(value: Any, depth: int = 2) -> bool:
    kind = type(value)
    if kind is str or kind is bytes:
        return len(value) <= _SHORT
    if kind is int:
        return bool(value.bit_length() <= _SHORT)
    if kind is float or kind is bool or value is None:
        return True
    if depth and (kind is list or kind is tuple):
        return len(value) <= _FEW and all(_is_plain(item, depth - 1) for item in value)
    if depth and kind is dict:
        return len(value) <= _FEW and all(
            _is_plain(key, 0) and _is_plain(item, depth - 1) for key, item in value.items()
        )
    return False


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error, what caused it, what caused that."""
    following: BaseException | None = error
    for _ in range(_CHAIN):
        if following is None:
            return
        yield following
        if following.__cause__ is not None or following.__suppress_context__:
            following = following.__cause__
        else:
            following = following.__context__


def _lines(error: BaseException, message: str, capture: Capture) -> Iterator[str]:
    for one in reversed(list(_chain(error))):
        yield "Traceback (most recent call last):\n"
        yield from traceback.format_tb(one.__traceback__, limit=-_FRAMES)
        said = message if one is error else _message(one, capture)
        yield f"{type_name(one)}: {said[:_SHORT]}\n"
        if one is not error:
            yield "\nThis led to:\n\n"
