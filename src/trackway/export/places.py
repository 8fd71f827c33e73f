"""Which column of the span table holds an attribute, and does the value fit into it?

1. An attribute belongs to the column that names it (`schema.Column.attribute`), the content of a
   span to `input` and `output`, as `schema.content_attributes` says for its operation.
2. A value fits when it has the column's type. Nothing is converted, so that the way back is exact:
   a boolean is no number, a whole number is no fraction, text is valid Unicode.
3. A column whose values all have the usual type is taken as it is. What is rare in it (no valid
   Unicode, a number too large for the column) Arrow refuses, and the caller comes back careful.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final

from trackway import schema


@dataclass(frozen=True, slots=True)
class Place:
    """A column for the values of one attribute."""

    column: str
    usual: frozenset[type]
    """Values of these types are not looked at one by one."""
    fits: Callable[[Any], bool]
    """The exact test."""


class _Absent:
    """Stands where a span lacks an attribute: None is a value."""


_ABSENT: Final = _Absent()
_INT32: Final = 2**31
_INT64: Final = 2**63


def is_unicode(text: str) -> bool:
    """Tell whether text can be written as UTF-8: it holds no lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and is_unicode(value)


def _is_whole(value: Any, bound: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -bound <= value < bound


def _are_texts(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(map(_is_text, value))


_TESTS: Final[dict[str, tuple[tuple[type, ...], Callable[[Any], bool]]]] = {
    "string": ((str, _Absent), _is_text),
    "bool": ((bool, _Absent), lambda value: isinstance(value, bool)),
    "int32": ((int, _Absent), lambda value: _is_whole(value, _INT32)),
    "int64": ((int, _Absent), lambda value: _is_whole(value, _INT64)),
    "double": ((float, _Absent), lambda value: isinstance(value, float)),
    "list<string>": ((_Absent,), _are_texts),
}


def _place(column: str, kind: str) -> Place:
    usual, fits = _TESTS[kind]
    return Place(column, frozenset(usual), fits)


PLACES: Final = {
    column.attribute: _place(column.name, column.type)
    for column in schema.SPAN_COLUMNS
    if column.attribute is not None
}
"""Attribute key to its place, whatever the span is."""
CONTENT_PLACES: Final = {
    operation: {
        key: _place(name, "string")
        for key, name in zip(schema.content_attributes(operation), ("input", "output"), strict=True)
    }
    for operation in (None, *(operation.value for operation in schema.Operation))
}
"""Operation to attribute key to its place, for the content of a span."""


def take(key: str, place: Place, members: Sequence[dict[str, Any]], careful: bool) -> list[Any]:
    """Take the values of an attribute out of the members of spans, None where a span has none.

    A value that does not fit stays with its members.
    """
    values: list[Any] = list(map(dict.pop, members, repeat(key), repeat(_ABSENT)))
    kinds = set(map(type, values))
    if kinds <= place.usual and not careful:
        if _Absent in kinds:
            return [None if value is _ABSENT else value for value in values]
        return values
    for row, value in enumerate(values):
        if value is _ABSENT:
            values[row] = None
        elif not place.fits(value):
            members[row][key] = value
            values[row] = None
    return values
