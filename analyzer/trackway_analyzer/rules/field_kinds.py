"""Is what a rule was given of the kind that the rule declares? Asked before the rule looks at it.

1. The declared type of a field says what its value must be, inside lists and mappings too: a text
   is no list of its letters, a text in quotes no flag, a half no whole number.
2. A field that holds names (of tools, agents, arguments) takes no empty name and none with blanks
   around it.
3. What a value must be beyond its kind, each rule says itself.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from inspect import get_annotations
from typing import Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

WRITTEN: Final = frozenset(
    {"says", "pattern", "matches", "contains", "where", "granted", "relation", "success", "guard"}
    | {"regex", "agrees", "tool_names"}
)
"""Fields whose texts are no names, or that say themselves what a name is."""


class Kind(NamedTuple):
    """What a value must be: asked, and in words for one and for several."""

    fits: Callable[[object], bool]
    one: str
    many: str


_ANYTHING: Final = Kind(lambda _: True, "anything", "values")
_PLAIN: Final[Mapping[Any, Kind]] = {
    str: Kind(lambda value: isinstance(value, str), "a text", "texts"),
    bool: Kind(lambda value: isinstance(value, bool), "true or false", "flags"),
    int: Kind(
        lambda value: isinstance(value, int) and not isinstance(value, bool),
        "a whole number",
        "whole numbers",
    ),
    float: Kind(
        lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
        "a number",
        "numbers",
    ),
}


def check_kinds(cls: type[Any], args: Sequence[object], kwargs: Mapping[str, object]) -> None:
    """Raise TypeError where a value is of another kind than its field declares.

    Raises ValueError where a name is empty or has blanks around it.
    """
    places = [field.name for field in fields(cls) if field.init and not field.kw_only]
    kinds: Mapping[str, Kind] = _kinds(cls)  # type: ignore[arg-type]  # classes are hashable
    for name, value in (*zip(places, args, strict=False), *kwargs.items()):
        kind = kinds.get(name, _ANYTHING)
        if not kind.fits(value):
            raise TypeError(f"`{name}` must be {kind.one}, found {value!r}")
        if name not in WRITTEN:
            _refuse_blank(name, value, kind)


def check_fields(value: Any) -> None:
    """The same of what was made already."""
    check_kinds(type(value), (), {f.name: getattr(value, f.name) for f in fields(value) if f.init})


def _refuse_blank(field: str, value: object, kind: Kind) -> None:
    for name in _texts(value):
        if not name.strip() or name != name.strip():
            raise ValueError(
                f"`{field}` must be {kind.one} with a name and no blanks around it, found {name!r}"
            )


def _texts(value: object) -> Iterator[str]:
    """Names: a text, the keys of a mapping, texts in lists. A generator can be read only once."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (key for key in value if isinstance(key, str))
    elif isinstance(value, Collection):
        for item in value:
            yield from _texts(item)


@cache
def _kinds(cls: type[Any]) -> dict[str, Kind]:
    return {name: _kind(hint) for name, hint in hints_of(cls).items()}


def hints_of(cls: type[Any]) -> dict[str, Any]:
    """Types of the fields of a class; Any for those that need a reader of their own."""
    found: dict[str, Any] = {}
    for owner in reversed(cls.__mro__):
        for name, text in get_annotations(owner).items():
            stand_in = type("_", (), {"__annotations__": {name: text}})
            try:
                hint = get_type_hints(stand_in, vars(sys.modules[owner.__module__]))[name]
            except (NameError, TypeError):  # a type that exists only while types are checked
                hint = Any
            found[name] = hint
    return {field.name: found[field.name] for field in fields(cls)}


def _kind(hint: Any) -> Kind:
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _either(arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(_kind(arguments[1]))
    if isinstance(origin, type) and issubclass(origin, Iterable):
        # A row of several kinds is looked at by its rule, which knows what each place means.
        row = origin is tuple and arguments[-1] is not Ellipsis
        return _ANYTHING if row else _list(_kind(arguments[0]))
    if hint is Any or not isinstance(hint, type):
        return _ANYTHING
    return Kind(lambda value: isinstance(value, hint), hint.__name__, "values")


def _either(arguments: Sequence[Any]) -> Kind:
    kinds = [_kind(argument) for argument in arguments if argument is not type(None)]
    nothing = type(None) in arguments
    words = list(dict.fromkeys(kind.one for kind in kinds))
    return Kind(
        lambda value: (nothing and value is None) or any(kind.fits(value) for kind in kinds),
        " or ".join(words),
        " or ".join(kind.many for kind in kinds),
    )


def _mapping(inside: Kind) -> Kind:
    def fits(value: object) -> bool:
        return isinstance(value, Mapping) and all(
            isinstance(key, str) and inside.fits(item) for key, item in value.items()
        )

    words = "a mapping" if inside is _ANYTHING else f"a mapping of names to {inside.many}"
    return Kind(fits, words, "mappings")


def _list(inside: Kind) -> Kind:
    def fits(value: object) -> bool:
        if isinstance(value, (str, bytes, Mapping)):
            return False
        if isinstance(value, Collection):
            return all(map(inside.fits, value))
        return hasattr(value, "__iter__")  # a generator is believed: it can be read only once

    words = "a list" if inside is _ANYTHING else f"a list of {inside.many}"
    return Kind(fits, words, "lists" if inside is _ANYTHING else f"lists of {inside.many}")
