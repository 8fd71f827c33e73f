"""A list that was flattened into attribute keys: `llm.input_messages.0.message.role`.

1. Indices may be sparse and start anywhere; only their order counts. A list whose indices are not
   all there, at any level, is not whole. The rest of a key is the path of a value within its item.
2. What is not decoded stays a JSON literal until `value` is asked for, so that a list can be told
   from one that was read before without being decoded.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import repeat
from typing import Any, Final, NamedTuple

import orjson

from trackway_analyzer.dialects.dialect import names_of
from trackway_analyzer.model import JsonValue
from trackway_analyzer.spans import Attributes


class Paths(NamedTuple):
    """What the keys of a flattened list say."""

    keys: tuple[str, ...]
    """The attribute keys, item by item."""
    below: tuple[str, ...]
    """The keys without what all of them begin with."""
    items: tuple[tuple[int, int], ...]
    """Where each item's keys begin and end."""
    indices: tuple[str, ...]
    """The index of each item."""
    in_order: bool
    """The items are objects and stand in the order of their indices."""
    whole: bool
    """No index is missing, in the list or in one that stands in it."""
    whole_but_first: bool
    """As `whole`, but for the list's first item."""


class FlatList(NamedTuple):
    """A flattened list of one span."""

    paths: Paths
    values: tuple[Any, ...]
    """The value of each key; a text may be its JSON literal (bytes)."""

    def entry(self, place: int) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        """Return the paths within an item and their values."""
        first, end = self.paths.items[place]
        skipped = len(self.paths.indices[place]) + 1
        return tuple([p[skipped:] for p in self.paths.below[first:end]]), self.values[first:end]

    def item(self, place: int) -> JsonValue:
        """Return an item."""
        return _unflattened(*self.entry(place))

    @property
    def texts_only(self) -> bool:
        """Whether equal values are the same: 1 equals True, and lists are no key of a cache."""
        return _TEXTS.issuperset(map(type, self.values))

    def value(self) -> JsonValue:
        """Return the list; an object where an index is no number."""
        indices = self.paths.indices
        return _listed({index: self.item(place) for place, index in enumerate(indices)})


_TEXTS: Final = frozenset([str, bytes])


def flat_list(start: str, attributes: Attributes) -> FlatList:
    """Return the list whose keys begin with `start`, which ends in a dot."""
    paths = _paths(start, names_of(attributes))
    return FlatList(paths, tuple(map(dict.get, repeat(attributes), paths.keys)))


@lru_cache(maxsize=4096)
def _paths(start: str, names: tuple[str, ...]) -> Paths:
    groups: dict[str, list[str]] = {}
    for key in names:
        if key.startswith(start):
            groups.setdefault(key[len(start) :].partition(".")[0], []).append(key)
    keys = tuple(key for group in groups.values() for key in group)
    items, end = [], 0
    for group in groups.values():
        items.append((end, end + len(group)))
        end += len(group)
    below = tuple(key[len(start) :] for key in keys)
    indices = tuple(groups)
    numbers = [int(index) if _is_index(index) else -1 for index in indices]
    rising = all(a < b for a, b in zip([-1, *numbers], numbers, strict=False))
    objects = all("." in path for path in below) and all(not p.endswith(".") for p in below)
    whole, but_first = _is_whole(below, 0), _is_whole(below, 1)
    return Paths(keys, below, tuple(items), indices, rising and objects, whole, but_first)


def _is_whole(paths: tuple[str, ...], first: int) -> bool:
    """Tell whether no list in these paths lacks an index; the outermost begins with `first`."""
    names: dict[str, set[str]] = {}
    for path in paths:
        parts = path.split(".")
        for depth, name in enumerate(parts[:_MAX_PATH]):
            names.setdefault(".".join(parts[:depth]) if depth else "", set()).add(name)
    lists = ((path, set(map(int, below))) for path, below in names.items() if _are_indices(below))
    return all(
        min(numbers) == (0 if path else first) and max(numbers) - min(numbers) == len(numbers) - 1
        for path, numbers in lists
    )


def _are_indices(names: set[str]) -> bool:
    return all(map(_is_index, names))


def _is_index(name: str) -> bool:
    return name.isdecimal() and len(name) < 10


def _unflattened(paths: tuple[str, ...], values: tuple[Any, ...]) -> JsonValue:
    tree: dict[str, Any] = {}
    for path, value in zip(paths, values, strict=True):
        plain = orjson.loads(value) if value.__class__ is bytes else value
        if not path:
            return plain
        _insert(tree, path.split("."), plain)
    return _nested(tree)


_MAX_PATH: Final = 16


def _insert(tree: dict[str, Any], path: list[str], value: JsonValue) -> None:
    for name in path[: min(len(path), _MAX_PATH) - 1]:
        inner = tree.get(name)
        if not isinstance(inner, dict):
            inner = tree[name] = {}
        tree = inner
    if not isinstance(tree.get(path[-1]), dict):
        tree[path[-1]] = value


def _nested(tree: dict[str, Any]) -> JsonValue:
    return _listed({name: _nested(v) if isinstance(v, dict) else v for name, v in tree.items()})


def _listed(values: dict[str, JsonValue]) -> JsonValue:
    """Return a list where every name is a number, in the order of the numbers."""
    if values and all(map(_is_index, values)):
        return [values[name] for name in sorted(values, key=int)]
    return values
