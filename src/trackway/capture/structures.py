"""Objects with declared fields: dataclasses, attrs, pydantic models, msgspec structs.

1. Only declared fields that are stored in the instance are read, and extras of pydantic models.
2. A field that its author keeps out of the repr (`repr=False`) or, with pydantic, out of dumps
   (`exclude=True`) is left out.
3. Computed fields, serializers and properties do not run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Final

from trackway.capture.parts import Inner, Members, Parts
from trackway.capture.storage import MISSING, class_attribute, field_of, instance_dict, is_from

_FIRST: Final = 8
_MOST_EXTRAS: Final = 16_384
"""More than any budget allows."""


def _fields(value: Any, names: Iterable[str]) -> Members:
    pairs = [(name, field_of(value, name)) for name in names]
    pairs = [pair for pair in pairs if pair[1] is not MISSING]
    return Members(pairs, len(pairs))


def _dataclass(value: Any, fields: Any) -> Parts | None:
    if type(fields) is not dict:
        return None
    # ClassVar and InitVar stand in the same table, but not in the instance.
    return _fields(
        value,
        [name for name, field in fields.items() if type(field) is dataclasses.Field and field.repr],
    )


def _attrs(value: Any, attributes: Any) -> Parts | None:
    if not isinstance(attributes, tuple) or not all(is_from("attr", a) for a in attributes):
        return None
    return _fields(value, [a.name for a in attributes if a.repr is not False])


def _struct(value: Any, names: Any) -> Parts | None:
    return _fields(value, names) if type(names) is tuple else None


def _pydantic(value: Any, fields: Any) -> Parts | None:
    if type(fields) is not dict:
        return None
    if not all(is_from("pydantic", field) for field in islice(fields.values(), _FIRST)):
        return None
    stored = instance_dict(value) or {}
    if class_attribute(type(value), "__pydantic_root_model__") is True and "root" in stored:
        return Inner(stored["root"])
    pairs = [
        (name, stored[name])
        for name, field in fields.items()
        if name in stored and _is_shown(field)
    ]
    extra = field_of(value, "__pydantic_extra__")
    if type(extra) is not dict:
        return Members(pairs, len(pairs))
    return Members([*pairs, *islice(extra.items(), _MOST_EXTRAS)], len(pairs) + len(extra))


def _is_shown(field: Any) -> bool:
    settings = getattr(field, "field_info", field)  # pydantic 1 keeps them one level down
    return settings.repr is not False and settings.exclude is not True


BY_MARKER: Final[tuple[tuple[str, Callable[[Any, Any], Parts | None]], ...]] = (
    ("__dataclass_fields__", _dataclass),
    ("__pydantic_fields__", _pydantic),
    ("model_fields", _pydantic),  # pydantic 2.0 to 2.9
    ("__fields__", _pydantic),  # pydantic 1
    ("__attrs_attrs__", _attrs),
    ("__struct_fields__", _struct),
)
"""What a class defines that has declared fields, and how such an object is read."""
