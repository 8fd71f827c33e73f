"""What a value that is no plain JSON is made of, read without running code of its class.

1. `parts_of(value)` returns a leaf (str, int, float, bool, None), `Members` (an object),
   `Elements` (a list), `Blob` (bytes), `Inner` (another value stands for it) or `Opaque` (only a
   text is known).
2. Known: subclasses of the built-in types (read through the built-in type itself); enums (their
   value); dates and times (ISO 8601) and durations (seconds); UUID, Decimal, Fraction, complex,
   paths, IP addresses, patterns (their text); exceptions (type and args); deque, range, sets,
   mapping proxies, UserDict and kin; named tuples (fields); dataclasses and attrs (fields without
   `repr=False`); pydantic models (fields without `repr=False` or `exclude`, extras); msgspec
   structs; bytes and buffers (length and hash); NumPy arrays and scalars, pandas frames, series
   and indexes (shape and head, numeric arrays also a hash).
3. Everything else (modules, clients, locks, functions, generators, plain objects) is its type's
   name. A repr could query a database, never end, or hold an address that differs in every run.
"""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import gc
import hashlib
import ipaddress
import pathlib
import re
import sys
import types
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Leaf: TypeAlias = str | int | float | bool | None

_SECRET_TYPES: Final = frozenset(
    f"pydantic.types.{name}" for name in ("Secret", "SecretStr", "SecretBytes", "_SecretBase")
)
_LAST: Final = slice(-4, None)
_HASHED_BYTES: Final = 1 << 20
_HEAD_ROWS: Final = 5
_HEAD_COLUMNS: Final = 50
_HEAD_ELEMENTS: Final = 20


@dataclass(frozen=True, slots=True)
class Members:
    """Keys and values of an object."""

    pairs: Iterable[tuple[Any, Any]]
    count: int
    partial: bool = False
    """Not all that the value holds: a head, a shape."""


@dataclass(frozen=True, slots=True)
class Elements:
    """Elements of a list."""

    items: Iterable[Any]
    count: int
    unordered: bool = False
    last: Callable[[], list[Any]] | None = None
    """Returns the last few elements, where they can be reached without walking."""


class _Again:
    """The elements of a container, read through the built-in type however often it is iterated."""

    __slots__ = ("_iterate", "_value")

    def __init__(self, iterate: Callable[[Any], Iterator[Any]], value: Any) -> None:
        self._iterate = iterate
        self._value = value

    def __iter__(self) -> Iterator[Any]:
        return self._iterate(self._value)


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes: recorded as length and hash."""

    kind: str
    length: int
    cut: Callable[[slice], bytes]
    """Returns a slice of the bytes, so that a large one need not be copied."""


@dataclass(frozen=True, slots=True)
class Inner:
    """A value that stands for this one."""

    value: Any


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of which only this text is known."""

    text: str
    secret: bool = False
    """Its class exists to keep it from being shown."""


Parts: TypeAlias = Leaf | Members | Elements | Blob | Inner | Opaque

_mro_of: Final[Callable[[type], tuple[type, ...]]] = type.__dict__["__mro__"].__get__
_dict_of: Final[Callable[[type], Any]] = type.__dict__["__dict__"].__get__
_name_of: Final[Callable[[type], str]] = type.__dict__["__qualname__"].__get__
_module_of: Final[Callable[[type], Any]] = type.__dict__["__module__"].__get__
_MISSING: Final = object()


def type_name(kind: type) -> str:
    """Return `module.Class` of a type, without asking its metaclass."""
    module = _module_of(kind)
    name = str.__str__(_name_of(kind))
    return f"{module}.{name}" if type(module) is str and module != "builtins" else name


def parts_of(value: Any) -> Parts:
    """Return what a value is made of; see the module for what is known."""
    kind = type(value)
    mro = _mro_of(kind)
    for base in mro:
        reader = _BY_TYPE.get(id(base))
        if reader is not None:
            return reader(value)
        namespace = _dict_of(base)
        for marker, structured in _BY_MARKER:
            if marker in namespace:
                parts = structured(value, namespace[marker])
                if parts is not None:
                    return parts
    return _of_library(value, mro)


def field_of(value: Any, name: str) -> Any:
    """Return a stored attribute (instance dict or slot), or `_MISSING`; properties never run."""
    stored = _instance_dict(value)
    if stored is not None and name in stored:
        return stored[name]
    slot = _class_attribute(type(value), name)
    if type(slot) is types.MemberDescriptorType:
        try:
            return slot.__get__(value)
        except AttributeError:
            return _MISSING
    return _MISSING


def _class_attribute(kind: type, name: str) -> Any:
    for base in _mro_of(kind):
        namespace = _dict_of(base)
        if name in namespace:
            return namespace[name]
    return _MISSING


def _instance_dict(value: Any) -> dict[str, Any] | None:
    descriptor = _class_attribute(type(value), "__dict__")
    if not isinstance(descriptor, types.GetSetDescriptorType | types.MemberDescriptorType):
        return None
    stored = descriptor.__get__(value)
    return stored if type(stored) is dict else None


def _fields(value: Any, names: Iterable[str]) -> Members:
    pairs = [(name, field_of(value, name)) for name in names]
    pairs = [pair for pair in pairs if pair[1] is not _MISSING]
    return Members(pairs, len(pairs))


def _pairs(**members: Any) -> Members:
    return Members(members.items(), len(members))


def _dataclass(value: Any, fields: Any) -> Parts | None:
    if type(fields) is not dict:
        return None
    # ClassVar and InitVar stand in the same table, but not in the instance.
    return _fields(
        value,
        [name for name, field in fields.items() if type(field) is dataclasses.Field and field.repr],
    )


def _attrs(value: Any, attributes: Any) -> Parts | None:
    if not isinstance(attributes, tuple) or not all(_is_from("attr", a) for a in attributes):
        return None
    return _fields(value, [a.name for a in attributes if a.repr is not False])


def _is_from(library: str, value: Any) -> bool:
    module = _module_of(type(value))
    return type(module) is str and module.partition(".")[0] == library


def _struct(value: Any, names: Any) -> Parts | None:
    return _fields(value, names) if type(names) is tuple else None


def _pydantic(value: Any, fields: Any) -> Parts | None:
    if type(fields) is not dict or not all(_is_from("pydantic", f) for f in fields.values()):
        return None
    stored = _instance_dict(value) or {}
    if _class_attribute(type(value), "__pydantic_root_model__") is True and "root" in stored:
        return Inner(stored["root"])
    pairs = [
        (name, stored[name])
        for name, field in fields.items()
        if name in stored and _is_shown(field)
    ]
    extra = field_of(value, "__pydantic_extra__")
    if type(extra) is dict:
        pairs.extend(extra.items())
    return Members(pairs, len(pairs))


def _is_shown(field: Any) -> bool:
    settings = getattr(field, "field_info", field)  # pydantic 1 keeps them one level down
    return settings.repr is not False and settings.exclude is not True


_BY_MARKER: Final[tuple[tuple[str, Callable[[Any, Any], Parts | None]], ...]] = (
    ("__dataclass_fields__", _dataclass),
    ("__pydantic_fields__", _pydantic),
    ("model_fields", _pydantic),  # pydantic 2.0 to 2.9
    ("__fields__", _pydantic),  # pydantic 1
    ("__attrs_attrs__", _attrs),
    ("__struct_fields__", _struct),
)


def _list(value: Any) -> Parts:
    return Elements(
        _Again(list.__iter__, value),
        list.__len__(value),
        last=lambda: list.__getitem__(value, _LAST),
    )


def _tuple(value: Any) -> Parts:
    names = _class_attribute(type(value), "_fields")
    if type(names) is tuple and len(names) == tuple.__len__(value):
        return Members(list(zip(names, tuple.__iter__(value), strict=True)), len(names))
    return Elements(
        _Again(tuple.__iter__, value),
        tuple.__len__(value),
        last=lambda: list(tuple.__getitem__(value, _LAST)),
    )


def _mapping_proxy(value: Any) -> Parts:
    # A proxy forwards every call to what it wraps, which may be anything; this reads it directly.
    return Inner(gc.get_referents(value)[0])


def _datetime(value: Any) -> Parts:
    if _name_of(type(value)) == "NaTType":  # pandas: no time, though a datetime
        return None
    return datetime.datetime.isoformat(value)


def _bytes(value: Any) -> Parts:
    base = bytes if isinstance(value, bytes) else bytearray
    return Blob(
        type_name(type(value)),
        base.__len__(value),
        lambda part: bytes(base.__getitem__(value, part)),
    )


def _memoryview(value: memoryview) -> Parts:
    if value.ndim != 1 or value.itemsize != 1:
        return Opaque(f"<memoryview of {value.nbytes} bytes>")
    return Blob("memoryview", value.nbytes, lambda part: value[part].tobytes())


def _array(value: array.array[Any]) -> Parts:
    count = array.array.__len__(value)
    head = list(array.array.__getitem__(value, slice(0, _HEAD_ELEMENTS)))
    pairs = [("type", "array.array"), ("dtype", value.typecode), ("shape", [count]), ("head", head)]
    return Members(pairs, len(pairs), partial=count > len(head))


def _ndarray(value: Any, numpy: Any) -> Parts:
    plain = numpy.ndarray.view(value, numpy.ndarray)
    head = plain.flat[:_HEAD_ELEMENTS].tolist()
    pairs = [
        ("type", type_name(type(value))),
        ("dtype", str(plain.dtype)),
        ("shape", list(plain.shape)),
        ("head", head),
    ]
    if plain.dtype.kind in "biufc" and plain.nbytes <= _HASHED_BYTES:
        pairs.append(("sha256", hashlib.sha256(plain.tobytes()).hexdigest()))
    return Members(pairs, len(pairs), partial=plain.size > len(head))


def _numpy_scalar(value: Any, numpy: Any) -> Parts:
    plain = numpy.generic.item(value)
    return Opaque(str(plain)) if isinstance(plain, numpy.generic) else Inner(plain)


def _frame(value: Any, _pandas: Any) -> Parts:
    head = value.iloc[:_HEAD_ROWS, :_HEAD_COLUMNS]
    columns = list(head.columns)
    rows = [dict(zip(columns, row, strict=True)) for row in head.itertuples(index=False, name=None)]
    pairs = [
        ("type", type_name(type(value))),
        ("shape", list(value.shape)),
        ("columns", columns),
        ("head", rows),
    ]
    complete = value.shape[0] <= _HEAD_ROWS and value.shape[1] <= _HEAD_COLUMNS
    return Members(pairs, len(pairs), partial=not complete)


def _series(value: Any, pandas: Any) -> Parts:
    head = value.iloc[:_HEAD_ELEMENTS]
    labelled = not isinstance(value.index, pandas.RangeIndex)
    pairs = [
        ("type", type_name(type(value))),
        ("name", value.name),
        ("dtype", str(value.dtype)),
        ("shape", list(value.shape)),
        # Labels name values as keys do, and a denied name must be seen.
        ("head", dict(zip(head.index, head, strict=True)) if labelled else list(head)),
    ]
    return Members(pairs, len(pairs), partial=value.shape[0] > _HEAD_ELEMENTS)


def _index(value: Any, _pandas: Any) -> Parts:
    head = list(value[:_HEAD_ELEMENTS])
    pairs = [("type", type_name(type(value))), ("shape", list(value.shape)), ("head", head)]
    return Members(pairs, len(pairs), partial=value.shape[0] > _HEAD_ELEMENTS)


def _named(value: Any) -> Parts:
    module = value.__module__ if type(value.__module__) is str else "?"
    return Opaque(f"<function {module}.{str.__str__(value.__qualname__)}>")


_READERS: Final[dict[type, Callable[[Any], Parts]]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    dict: lambda value: Members(dict.items(value), dict.__len__(value)),
    list: _list,
    tuple: _tuple,
    set: lambda value: Elements(_Again(set.__iter__, value), set.__len__(value), unordered=True),
    frozenset: lambda value: Elements(
        _Again(frozenset.__iter__, value), frozenset.__len__(value), unordered=True
    ),
    collections.deque: lambda value: Elements(
        _Again(collections.deque.__iter__, value), collections.deque.__len__(value)
    ),
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _memoryview,
    array.array: _array,
    collections.UserDict: lambda value: Inner(field_of(value, "data")),
    collections.UserList: lambda value: Inner(field_of(value, "data")),
    collections.UserString: lambda value: Inner(field_of(value, "data")),
    types.MappingProxyType: _mapping_proxy,
    types.SimpleNamespace: lambda value: Inner(_instance_dict(value)),
    range: lambda value: Opaque(repr(value)),
    slice: lambda value: _pairs(start=value.start, stop=value.stop, step=value.step),
    enum.Enum: lambda value: Inner(field_of(value, "_value_")),
    datetime.datetime: _datetime,
    datetime.date: datetime.date.isoformat,
    datetime.time: datetime.time.isoformat,
    datetime.timedelta: datetime.timedelta.total_seconds,
    uuid.UUID: uuid.UUID.__str__,
    decimal.Decimal: decimal.Decimal.__str__,
    fractions.Fraction: fractions.Fraction.__str__,
    complex: complex.__repr__,
    pathlib.PurePath: pathlib.PurePath.__str__,
    ipaddress.IPv4Address: ipaddress.IPv4Address.__str__,
    ipaddress.IPv6Address: ipaddress.IPv6Address.__str__,
    ipaddress.IPv4Network: ipaddress.IPv4Network.__str__,
    ipaddress.IPv6Network: ipaddress.IPv6Network.__str__,
    re.Pattern: lambda value: Inner(value.pattern),
    BaseException: lambda value: _pairs(
        type=type_name(type(value)), args=BaseException.__dict__["args"].__get__(value)
    ),
    type: lambda value: Opaque(f"<class {type_name(value)}>"),
    types.FunctionType: _named,
}
_BY_TYPE: Final = {id(kind): reader for kind, reader in _READERS.items()}

_OF_LIBRARIES: Final[tuple[tuple[str, str, Callable[[Any, Any], Parts]], ...]] = (
    ("numpy", "ndarray", _ndarray),
    ("numpy", "generic", _numpy_scalar),
    ("pandas", "DataFrame", _frame),
    ("pandas", "Series", _series),
    ("pandas", "Index", _index),
)


def _of_library(value: Any, mro: tuple[type, ...]) -> Parts:
    """Read a value of a library that the program has imported; nothing is imported here."""
    for library, name, reader in _OF_LIBRARIES:
        module = sys.modules.get(library)
        known = getattr(module, name, None)
        if known is not None and any(base is known for base in mro):
            return reader(value, module)
    kind = mro[0]
    if _name_of(kind) == "NAType" and type_name(kind).startswith("pandas."):
        return None
    secret = any(type_name(base) in _SECRET_TYPES for base in mro)
    return Opaque(f"<{type_name(kind)}>", secret)
