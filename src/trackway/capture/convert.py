"""What a value that is no plain JSON is made of, read without running code of its class.

1. `parts_of(value)` returns a leaf (str, int, float, bool, None), `Members` (an object),
   `Elements` (a list), `Blob` (bytes), `Inner` (another value stands for it) or `Opaque` (only a
   text is known).
2. Known: subclasses of the built-in types (read through the built-in type itself); enums (their
   value); dates and times (ISO 8601) and durations (seconds); Decimal (a number where a float has
   the same digits, else its text) and Fraction (its text), very long ones their size; UUID,
   complex, paths, IP addresses, patterns (their text); exceptions (type and args); deque, range,
   sets, mapping proxies, UserDict and kin; named tuples (fields); dataclasses and attrs (fields
   without `repr=False`); pydantic models (fields without `repr=False` or `exclude`, extras);
   msgspec structs; bytes and buffers (length and hash); NumPy arrays and scalars, pandas frames,
   series and indexes (shape and head, numeric arrays also a hash).
3. Everything else (modules, clients, locks, functions, generators, plain objects) is its type's
   name. A repr could query a database, never end, or hold an address that differs in every run.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import fractions
import gc
import ipaddress
import pathlib
import re
import types
import uuid
from collections.abc import Callable
from typing import Any, Final

from trackway.capture.libraries import HEAD_ELEMENTS, of_library
from trackway.capture.parts import (
    Again,
    Blob,
    Digest,
    Elements,
    Inner,
    Json,
    Members,
    Missing,
    Opaque,
    Parts,
    Under,
)
from trackway.capture.storage import (
    class_attribute,
    field_of,
    instance_dict,
    mro_of,
    namespace_of,
    type_name,
)
from trackway.capture.structures import BY_MARKER

_SECRET_TYPES: Final = frozenset(
    f"pydantic.types.{name}" for name in ("Secret", "SecretStr", "SecretBytes", "_SecretBase")
)
_LAST: Final = slice(-4, None)
_LARGEST_DECIMAL: Final = 256
_LONGEST_FRACTION: Final = 256
_LONGEST_NUMBER: Final = 64
_EXACT: Final = 2.0**53
"""Below it, whole floats and integers are the same numbers."""


def member_name(value: Any) -> str | None:
    """Return the name of a member of an enum, None of anything else."""
    if not any(base is enum.Enum for base in mro_of(type(value))):
        return None
    name = field_of(value, "_name_")
    return name if type(name) is str else None


def parts_of(value: Any) -> Parts:
    """Return what a value is made of; see the module for what is known."""
    kind = type(value)
    mro = mro_of(kind)
    for base in mro:
        reader = _BY_TYPE.get(id(base))
        if reader is not None:
            return reader(value)
        namespace = namespace_of(base)
        for marker, structured in BY_MARKER:
            if marker in namespace:
                parts = structured(value, namespace[marker])
                if parts is not None:
                    return parts
    known = of_library(value, mro)
    if known is not None:
        return known
    name = type_name(kind)
    if name.startswith("pandas.") and name.endswith(".NAType"):
        return None
    return Opaque(f"<{name}>", secret=any(type_name(base) in _SECRET_TYPES for base in mro))


def _pairs(**members: Any) -> Members:
    return Members(members.items(), len(members))


def _list(value: Any) -> Parts:
    return Elements(
        Again(list.__iter__, value),
        list.__len__(value),
        last=lambda: list.__getitem__(value, _LAST),
    )


def _tuple(value: Any) -> Parts:
    names = class_attribute(type(value), "_fields")
    if type(names) is tuple and len(names) == tuple.__len__(value):
        return Members(list(zip(names, tuple.__iter__(value), strict=True)), len(names))
    return Elements(
        Again(tuple.__iter__, value),
        tuple.__len__(value),
        last=lambda: list(tuple.__getitem__(value, _LAST)),
    )


def _mapping_proxy(value: Any) -> Parts:
    # A proxy forwards every call to what it wraps, which may be anything; this reads it directly.
    return Inner(gc.get_referents(value)[0])


def _datetime(value: Any) -> Parts:
    if type_name(type(value)).endswith(".NaTType"):  # pandas: no time, though a datetime
        return None
    return datetime.datetime.isoformat(value)


def _decimal(value: Any) -> Parts:
    # Rules compare amounts: as a text, an amount is neither less nor more than a number.
    size = decimal.Decimal.__sizeof__(value)
    if size > _LARGEST_DECIMAL:
        return Opaque(f"<decimal.Decimal of {size} bytes>")
    text = decimal.Decimal.__str__(value)
    if len(text) > _LONGEST_NUMBER or not decimal.Decimal.is_finite(value):
        return text
    number = float(text)
    same = decimal.Decimal.__eq__(decimal.Decimal(repr(number)), value)
    if same is not True:
        return text
    whole = "." not in text and abs(number) < _EXACT
    return int(number) if whole else number


def _fraction(value: Any) -> Parts:
    bits = max(field_of(value, name).bit_length() for name in ("_numerator", "_denominator"))
    if bits > _LONGEST_FRACTION:
        return Opaque(f"<fractions.Fraction of {bits} bits>")
    return fractions.Fraction.__str__(value)


def _bytes(value: Any) -> Parts:
    return Blob("bytes", bytes.__len__(value), lambda part: bytes.__getitem__(value, part))


def _bytearray(value: Any) -> Parts:
    return Blob(
        "bytearray",
        bytearray.__len__(value),
        lambda part: bytes(bytearray.__getitem__(value, part)),
    )


def _memoryview(value: memoryview) -> Parts:
    if value.ndim != 1 or value.itemsize != 1:
        return Opaque(f"<memoryview of {value.nbytes} bytes>")
    return Blob("memoryview", value.nbytes, lambda part: value[part].tobytes())


def _array(value: array.array[Any]) -> Parts:
    count = array.array.__len__(value)
    head = list(array.array.__getitem__(value, slice(0, HEAD_ELEMENTS)))
    pairs = [("type", "array.array"), ("dtype", value.typecode), ("shape", [count]), ("head", head)]
    return Members(pairs, len(pairs), partial=count > len(head))


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
    set: lambda value: Elements(Again(set.__iter__, value), set.__len__(value), unordered=True),
    frozenset: lambda value: Elements(
        Again(frozenset.__iter__, value), frozenset.__len__(value), unordered=True
    ),
    collections.deque: lambda value: Elements(
        Again(collections.deque.__iter__, value), collections.deque.__len__(value)
    ),
    bytes: _bytes,
    bytearray: _bytearray,
    memoryview: _memoryview,
    array.array: _array,
    collections.UserDict: lambda value: Inner(field_of(value, "data")),
    collections.UserList: lambda value: Inner(field_of(value, "data")),
    collections.UserString: lambda value: Inner(field_of(value, "data")),
    types.MappingProxyType: _mapping_proxy,
    types.SimpleNamespace: lambda value: Inner(instance_dict(value)),
    range: lambda value: Opaque(repr(value)),
    slice: lambda value: _pairs(start=value.start, stop=value.stop, step=value.step),
    enum.Enum: lambda value: Inner(field_of(value, "_value_")),
    datetime.datetime: _datetime,
    datetime.date: datetime.date.isoformat,
    datetime.time: datetime.time.isoformat,
    datetime.timedelta: datetime.timedelta.total_seconds,
    uuid.UUID: uuid.UUID.__str__,
    decimal.Decimal: _decimal,
    fractions.Fraction: _fraction,
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
    Digest: lambda value: value,
    Missing: lambda value: value,
    Json: lambda value: value,
    Under: lambda value: value,
}
_BY_TYPE: Final = {id(kind): reader for kind, reader in _READERS.items()}
