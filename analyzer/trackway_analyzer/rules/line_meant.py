"""On which line stands the value that an error speaks of?

An error of a rule quotes the value that is wrong (`unknown kind 'mutat'`), or names its key
(`` `max` must be …``). Of several places that hold what is quoted, the one under a key that is
named goes first, then the first in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from trackway_analyzer.rules.located import List, Mapping

_Keys: TypeAlias = tuple[str, ...]


def line_meant(value: Any, message: str) -> int | None:
    """Line of the value inside `value` that a message speaks of; None: it does not say."""
    best: tuple[int, int] | None = None
    for keys, item, line in _leaves(value, ()):
        quoted = item is not None and _quotes(message, item)
        named = sum(f"`{key}`" in message or f"of {key} " in message for key in keys)
        rank = -(3 * quoted + named)
        if rank and (best is None or (rank, line) < best):
            best = rank, line
    return None if best is None else best[1]


def _quotes(message: str, item: Any) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(repr(item))}(?![\w.])", message) is not None


def _leaves(value: Any, keys: _Keys) -> Iterator[tuple[_Keys, Any, int]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _under(item, (*keys, key), value.lines[key])
    elif isinstance(value, List):
        for item, line in zip(value, value.lines, strict=True):
            yield from _under(item, keys, line)


def _under(item: Any, keys: _Keys, line: int) -> Iterator[tuple[_Keys, Any, int]]:
    if isinstance(item, (Mapping, List)) and item:
        yield from _leaves(item, keys)
    else:
        yield keys, item, line
