"""Fields of the user's objects, read without running their code.

1. What a value stores is read where the interpreter keeps it: a dict's items, the instance's dict
   and slots, extras of a pydantic model, fields of a named tuple, plain attributes of the class.
   `__getattr__`, `__getattribute__`, properties and lazy attributes do not run: they may ask a
   server, or never end. A field that only they would give counts as absent.
2. Types are told by `type`, since `isinstance` asks an object for its `__class__`.
3. Lists and texts of a class of the user's are read through the built-in type.
"""

from __future__ import annotations

import enum
from typing import Any, Final

from trackway.capture.storage import MISSING, attribute_of, field_of

_LONGEST_WORD: Final = 1024


def get(holder: Any, name: str, default: Any = None) -> Any:
    """Return a dict's item or a stored attribute."""
    kind = type(holder)
    if kind is dict:
        return holder.get(name, default)
    if holder is None or kind is str:
        return default
    if issubclass(kind, dict):
        found = dict.get(holder, name, MISSING)
        if found is not MISSING:
            return found
    found = attribute_of(holder, name)
    return default if found is MISSING else found


def either(holder: Any, *names: str) -> Any:
    """Return the first field that is there and neither None nor an empty text."""
    for name in names:
        found = get(holder, name)
        if found is not None and not (type(found) is str and not found):
            return found
    return None


def is_a(value: Any, kinds: type | tuple[type, ...]) -> bool:
    """Whether the value's own type is one of these or derives from it."""
    return issubclass(type(value), kinds)


def is_list(value: Any) -> bool:
    """Whether this is a list or a tuple."""
    return issubclass(type(value), (list, tuple))


def items_of(value: Any, most: int) -> list[Any]:
    """Return the first items of a list or tuple; none of anything else."""
    kind = type(value)
    if issubclass(kind, list):
        return list.__getitem__(value, slice(0, most))
    if issubclass(kind, tuple):
        return list(tuple.__getitem__(value, slice(0, most)))
    return []


def length_of(value: Any) -> int:
    """Return the length of a list or tuple."""
    return list.__len__(value) if issubclass(type(value), list) else tuple.__len__(value)


def text_of(value: Any) -> str | None:
    """Return a text as an exact str; None for anything else."""
    kind = type(value)
    if kind is str:
        return str(value)
    return str.__str__(value) if issubclass(kind, str) else None


def word(value: Any) -> str | None:
    """Return a short text, such as a role or a reason, or the one that an enum stands for."""
    if type(value) is not str and issubclass(type(value), enum.Enum):
        value = field_of(value, "_value_")
    if not issubclass(type(value), str) or str.__len__(value) > _LONGEST_WORD:
        return None
    return str.__str__(value)


def number(value: Any, kinds: type | tuple[type, ...] = (int, float)) -> int | float | None:
    """Return a number as an exact int or float; None for anything else, flags included."""
    kind = type(value)
    if kind is bool or not issubclass(kind, kinds):
        return None
    if issubclass(kind, int):
        return int.__int__(value)
    return float.__float__(value) if issubclass(kind, float) else None
