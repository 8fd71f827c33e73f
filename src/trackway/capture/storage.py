"""Read what the interpreter itself keeps of a value, without running code of its class.

`getattr`, `isinstance` and `vars` ask the class, its metaclass or a property first; these functions
take the slots of `type` and `object` instead.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Final

mro_of: Final[Callable[[type], tuple[type, ...]]] = type.__dict__["__mro__"].__get__
"""Return the bases of a type, itself first."""
namespace_of: Final[Callable[[type], Any]] = type.__dict__["__dict__"].__get__
"""Return what a type itself defines."""
_name_of: Final[Callable[[type], str]] = type.__dict__["__qualname__"].__get__
_module_of: Final[Callable[[type], Any]] = type.__dict__["__module__"].__get__
MISSING: Final = object()
"""Stands for an attribute that is not stored."""


def type_name(kind: type) -> str:
    """Return `module.Class` of a type, without asking its metaclass."""
    module = _module_of(kind)
    name = str.__str__(_name_of(kind))
    return f"{module}.{name}" if type(module) is str and module != "builtins" else name


def is_from(library: str, value: Any) -> bool:
    """Whether the type of a value is defined in this library."""
    module = _module_of(type(value))
    return type(module) is str and module.partition(".")[0] == library


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


def class_attribute(kind: type, name: str) -> Any:
    """Return what a class or a base of it stores under a name, or `MISSING`."""
    for base in mro_of(kind):
        namespace = namespace_of(base)
        if name in namespace:
            return namespace[name]
    return MISSING


def instance_dict(value: Any) -> dict[str, Any] | None:
    """Return the instance's own dict, or None where it has none."""
    descriptor = class_attribute(type(value), "__dict__")
    if not isinstance(descriptor, types.GetSetDescriptorType | types.MemberDescriptorType):
        return None
    stored = descriptor.__get__(value)
    return stored if type(stored) is dict else None
