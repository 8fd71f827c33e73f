"""Is what a rule was given of the kind that the rule declares? Asked before the rule looks at it.

A list in the place of a tool's name, as in `called: [refund]`, is refused in words; what a value
must be beyond its kind, each rule says itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, TypeAlias

_Test: TypeAlias = Callable[[object], bool]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _are_texts(value: object) -> bool:
    """A generator is believed: it can be read once only."""
    if isinstance(value, str):
        return True
    if isinstance(value, Collection):
        return not isinstance(value, Mapping) and all(map(_is_text, value))
    return hasattr(value, "__iter__")


_KINDS: Final[Mapping[str, tuple[_Test, str]]] = {
    "str": (_is_text, "a text"),
    "bool": (_is_flag, "true or false"),
    "str | Iterable[str]": (_are_texts, "a text or a list of texts"),
    "str | Sequence[str]": (_are_texts, "a text or a list of texts"),
    "tuple[str, ...] | str": (_are_texts, "a text or a list of texts"),
    "Iterable[str]": (_are_texts, "a list of texts"),
    "Mapping[str, Any]": (_is_mapping, "a mapping"),
    "Mapping[str, str]": (_is_mapping, "a mapping"),
}
"""By the declared type: what a value must be."""


def check_kinds(cls: type[Any], args: Sequence[object], kwargs: Mapping[str, object]) -> None:
    """Raise TypeError where a value is of another kind than the field of that name declares."""
    declared = {field.name: str(field.type) for field in fields(cls)}
    places = [field.name for field in fields(cls) if field.init and not field.kw_only]
    for name, value in (*zip(places, args, strict=False), *kwargs.items()):
        kind = declared.get(name, "")
        if value is None and kind.endswith(" | None"):
            continue
        test, expected = _KINDS.get(kind.removesuffix(" | None"), (None, ""))
        if test is not None and not test(value):
            raise TypeError(f"`{name}` must be {expected}, found {value!r}")
