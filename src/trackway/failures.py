"""What is recorded of an error: its type, its message and its stack.

1. The message is what `str(error)` gives, asked for once; of a class without a `__str__` of its own
   it is read from the arguments where those are more than a few plain values: writing them would
   take as long as they are large, and run the code of objects among them.
2. The stack is `stacks`: what Python prints, with the messages of causes read the same way.
3. With content off there are no messages, and of the stack no lines of code.
"""

from __future__ import annotations

import types
from typing import Any, Final

from trackway.capture import Capture, record_capture_error
from trackway.capture.storage import class_attribute, type_name
from trackway.faults import goes_on
from trackway.stacks import errors_in, frames_of, is_group, stack_of

_FEW: Final = 32
_SHORT: Final = 4096
_args_of: Final[Any] = BaseException.__dict__["args"].__get__
_FILES: Final = tuple(OSError.__dict__[name].__get__ for name in ("filename", "filename2"))


def told(error: BaseException, capture: Capture) -> dict[str, str]:
    """Return the attributes of the `exception` event, redacted and within the limits."""
    attributes = {"exception.type": type_name(type(error))}
    if not capture.content:
        return {**attributes, "exception.stacktrace": capture.text(frames_of(error))}
    message = _message(error, capture)

    def said(one: BaseException) -> str:
        return (message if one is error else _message(one, capture))[:_SHORT]

    return {
        **attributes,
        "exception.message": message,
        "exception.stacktrace": capture.text(stack_of(error, said)),
    }


def _message(error: BaseException, capture: Capture) -> str:
    if not _is_cheap(error):
        values = _args_of(error)
        if is_group(error) and values and type(values[0]) is str:
            return capture.text(f"{values[0]} ({len(errors_in(error))} errors)")
        if len(values) == 1 and type(values[0]) is str:
            return capture.text(values[0])
        return capture.value(values).text or ""
    try:
        return capture.text(str(error))
    except BaseException as problem:  # a user's __str__
        if goes_on(problem):
            raise
        record_capture_error("the message of an error", problem)
        return f"<{type_name(type(error))} without a printable message>"


def _is_cheap(error: BaseException) -> bool:
    """Whether `str(error)` is code of its class, or writes a few plain values."""
    writes = class_attribute(type(error), "__str__")
    if type(writes) is not types.WrapperDescriptorType:
        return True
    values = _args_of(error)
    if issubclass(type(error), OSError):
        values = (*values, *(read(error) for read in _FILES))
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
