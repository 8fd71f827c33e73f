"""The stack of an error, as a text.

1. Each error of the chain, causes first, as Python prints it: at most the last 64 frames, its type
   and message, its notes; of a group the errors in it, as one line each.
2. The messages are given by the caller, made once: Python would ask an exception for its text again
   for every print, and look into the object of an AttributeError for names that are alike.
3. Without content a frame is file, line and function: a line of code may hold a literal, and
   messages and notes hold values.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from itertools import islice
from types import TracebackType
from typing import Any, Final

from trackway.capture.storage import field_of, type_name

_FRAMES: Final = 64
_CHAIN: Final = 8
"""Causes that are looked at."""
_MOST: Final = 8
"""Notes of an error, and errors of a group, that are written."""
_CAUSED: Final = "\nThe above exception was the direct cause of the following exception:\n\n"
_DURING: Final = "\nDuring handling of the above exception, another exception occurred:\n\n"

# The slots of the built-in classes: a class may hide them behind properties of its own.
_cause_of: Final[Any] = BaseException.__dict__["__cause__"].__get__
_context_of: Final[Any] = BaseException.__dict__["__context__"].__get__
_hides_context: Final[Any] = BaseException.__dict__["__suppress_context__"].__get__
_traceback_of: Final[Any] = BaseException.__dict__["__traceback__"].__get__
errors_in: Final[Callable[[BaseException], tuple[BaseException, ...]]] = (
    BaseExceptionGroup.__dict__["exceptions"].__get__
)
"""Return the errors of a group."""


def is_group(error: BaseException) -> bool:
    """Whether this is a group of errors."""
    return issubclass(type(error), BaseExceptionGroup)


def stack_of(error: BaseException, said: Callable[[BaseException], str]) -> str:
    """Return the stack with the messages that `said` gives, each asked for once."""
    pieces: list[str] = []
    for one, link in reversed(list(_chain(error))):
        stack = _traceback_of(one)
        if stack is not None:
            pieces.append("Traceback (most recent call last):\n")
            pieces.extend(traceback.format_tb(stack, limit=-_FRAMES))
        pieces.append(_line(one, said))
        pieces.extend(f"{note}\n" for note in _notes(one))
        if is_group(one):
            pieces.extend(f"  + {_line(inner, said)}" for inner in errors_in(one)[:_MOST])
        pieces.append(link)
    return "".join(pieces)


def frames_of(error: BaseException) -> str:
    """Return where the error came through, without a line of code or a message."""
    frames = _frames(_traceback_of(error))
    return "".join(f'  File "{file}", line {line}, in {name}\n' for file, line, name in frames)


def _frames(stack: TracebackType | None) -> list[tuple[str, int, str]]:
    found = traceback.walk_tb(stack)
    return [(f.f_code.co_filename, line, f.f_code.co_name) for f, line in found][-_FRAMES:]


def _chain(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    """Yield the error, what caused it, what caused that; each with the words that lead on."""
    following, link = error, ""
    for _ in range(_CHAIN):
        yield following, link
        cause = _cause_of(following)
        link = _DURING if cause is None else _CAUSED
        if cause is None and not _hides_context(following):
            cause = _context_of(following)
        if cause is None:
            return
        following = cause


def _line(error: BaseException, said: Callable[[BaseException], str]) -> str:
    message = said(error)
    name = type_name(type(error))
    return f"{name}: {message}\n" if message else f"{name}\n"


def _notes(error: BaseException) -> Iterator[str]:
    notes = field_of(error, "__notes__")
    if type(notes) is list:
        yield from islice((note for note in notes if type(note) is str), _MOST)
