"""Read what the interpreter itself keeps of a value, without running code of its class.

`getattr`, `isinstance` and `vars` ask the class, its metaclass or a property first; these functions
take the slots of `type` and `object` instead.
"""

from __future__ import annotations

import types
from collections import namedtuple
from collections.abc import Callable
from typing import Any, Final, TypeAlias

_tuplegetter: Final[type] = type(namedtuple("_Pair", "field").__dict__["field"])
mro_of: Final[Callable[[type], tuple[type, ...]]] = type.__dict__["__mro__"].__get__
"""Return the bases of a type, itself first."""
namespace_of: Final[Callable[[type], Any]] = type.__dict__["__dict__"].__get__
"""Return what a type itself defines."""
_name_of: Final[Callable[[type], str]] = type.__dict__["__qualname__"].__get__
_module_of: Final[Callable[[type], Any]] = type.__dict__["__module__"].__get__
_STORED_IN_SLOTS: Final = (types.MemberDescriptorType, _tuplegetter)
"""Built-in descriptors that read what the interpreter keeps of an instance."""
_Stores: TypeAlias = tuple[type, Callable[[Any], Any] | None, Callable[[Any], Any] | None]
"""A class, held so that its id stays its own, and what reads its instances' two dicts."""
_MOST_KNOWN: Final = 1024
_stores: dict[int, _Stores] = {}
MISSING: Final = object()
"""Stands for an attribute that is not stored."""


def type_name(kind: type) -> str:
    """Return `module.Class` of a type, without asking its metaclass."""
    module = _module_of(kind)
    name = str.__str__(_name_of(kind))
    return f"{module}.{name}" if type(module) is str and module != "builtins" else name


def library_of(value: Any) -> str:
    """Return the top-level module that defines the type of a value."""
    module = _module_of(type(value))
    return module.partition(".")[0] if type(module) is str else ""


def is_from(library: str, value: Any) -> bool:
    """Whether the type of a value is defined in this library."""
    return library_of(value) == library


def field_of(value: Any, name: str) -> Any:
    """Return a stored attribute (instance dict or slot), or `MISSING`; properties never run."""
    stored = instance_dict(value)
    if stored is not None and name in stored:
        return stored[name]
    slot = class_attribute(type(value), name)
    if type(slot) is types.MemberDescriptorType:
        try:
            return slot.__get__(value)
        except AttributeError:
            return MISSING
    return MISSING


def attribute_of(value: Any, name: str) -> Any:
    """Return a stored attribute, an extra of a pydantic model, a field of a named tuple or a plain
    attribute of the class, or `MISSING`; properties, methods and lazy attributes never run.
    """
    kind = type(value)
    _, stored_of, extra_of = _stores.get(id(kind)) or _learn(kind)
    for store_of in (stored_of, extra_of):
        if store_of is not None:
            try:
                store = store_of(value)
            except AttributeError:  # an empty slot
                continue
            if type(store) is dict and name in store:
                return store[name]
    held = class_attribute(kind, name)
    if held is MISSING:
        return MISSING
    way = type(held)
    if way in _STORED_IN_SLOTS:
        try:
            return held.__get__(value)
        except AttributeError:
            return MISSING
    return held if class_attribute(way, "__get__") is MISSING else MISSING


def _learn(kind: type) -> _Stores:
    """Find out where instances of a class keep their attributes; by id, for a class may hash."""
    if len(_stores) >= _MOST_KNOWN:
        _stores.clear()
    extra = class_attribute(kind, "__pydantic_extra__")
    found = (
        kind,
        _dict_of(kind),
        extra.__get__ if type(extra) is types.MemberDescriptorType else None,
    )
    _stores[id(kind)] = found
    return found


def _dict_of(kind: type) -> Callable[[Any], Any] | None:
    descriptor = class_attribute(kind, "__dict__")
    builtin = isinstance(descriptor, types.GetSetDescriptorType | types.MemberDescriptorType)
    return descriptor.__get__ if builtin else None


def class_attribute(kind: type, name: str) -> Any:
    """Return what a class or a base of it stores under a name, or `MISSING`."""
    for base in mro_of(kind):
        namespace = namespace_of(base)
        if name in namespace:
            return namespace[name]
    return MISSING


def instance_dict(value: Any) -> dict[str, Any] | None:
    """Return the instance's own dict, or None where it has none."""
    dict_of = _dict_of(type(value))
    stored = None if dict_of is None else dict_of(value)
    return stored if type(stored) is dict else None
