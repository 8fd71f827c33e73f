"""What was read before, within bounds: a memory that is full forgets the older half."""

from __future__ import annotations

from typing import Generic, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class Memory(Generic[_K, _V]):
    """A mapping of bounded weight."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._new: dict[_K, tuple[_V, int]] = {}
        self._old: dict[_K, tuple[_V, int]] = {}

    def get(self, key: _K) -> _V | None:
        """Return what is kept under a key."""
        found = self._new.get(key)
        if found is None:
            found = self._old.get(key)
            if found is None:
                return None
            self.keep(key, *found)
        return found[0]

    def keep(self, key: _K, value: _V, weight: int) -> None:
        """Keep a value; `weight` is what it takes, roughly, in bytes."""
        self._weight += weight
        if self._weight > self._most // 2:
            self._old, self._new, self._weight = self._new, {}, weight
        self._new[key] = value, weight
