"""What a value is made of, as `convert.py` hands it to `encode.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

Leaf: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Members:
    """Keys and values of an object."""

    pairs: Iterable[tuple[Any, Any]]
    count: int
    partial: bool = False
    """Not all that the value holds: a head, a shape."""
    cost: int = 0
    """What it took to get them, in characters of the budget, beyond what any object takes."""


@dataclass(frozen=True, slots=True)
class Elements:
    """Elements of a list."""

    items: Iterable[Any]
    count: int
    unordered: bool = False
    last: Callable[[], list[Any]] | None = None
    """Returns the last few elements, where they can be reached without walking."""


class Again:
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
class Digest:
    """The SHA-256 of bytes, as far as the budget for hashes goes."""

    length: int
    make: Callable[[], str]
    of_ends: Callable[[], str] | None = None
    """Stands in beyond the budget."""


@dataclass(frozen=True, slots=True)
class Json:
    """A text that holds JSON, to be read where the budget allows it; else a text."""

    text: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Elements of a list that whoever made it left out."""

    count: int


@dataclass(frozen=True, slots=True)
class Inner:
    """A value that stands for this one."""

    value: Any


@dataclass(frozen=True, slots=True)
class Under:
    """A value whose names stand elsewhere: that of a column, say."""

    names: tuple[Any, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of which only this text is known."""

    text: str
    secret: bool = False
    """Its class exists to keep it from being shown."""


Parts: TypeAlias = (
    Leaf | Members | Elements | Blob | Digest | Json | Missing | Inner | Under | Opaque
)
