"""All runs of some files by group: twins share one, and one of them stands for it.

1. The run that starts first stands for its group, of sorted files the one that stands first: few
   parts of the files have to be read to fetch it.
2. Unsorted rows are gathered by run while they come (`gathered`). A run that turned up in two
   places was whole in neither and has no group; where that is so for more than one in
   `1 / SPLIT` runs, the rows are digested again and sorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.engine.store import Store
from trackway_analyzer.engine.twins import Digested, digested
from trackway_analyzer.stretches import Words

Ints = npt.NDArray[np.int64]

WHOLE: Final = -1
"""Group of a run that has no twin."""
SPLIT: Final = 0.01


@dataclass(frozen=True, slots=True)
class Groups:
    """All runs of some files by group."""

    key: Words
    start: Ints
    group: Ints
    """Number of the group; `WHOLE` for a run that has no twin."""
    stand_in: Words
    """Of each group, the key of the run that stands for it."""
    until: int | None
    """When the last of these runs ended, in ns; None where the files are sorted by run."""
    rows: int | None
    """How many rows of the files have to be read to meet all of these; None where unknown."""
    over: npt.NDArray[np.bool_]
    """Of each group, whether its runs may exceed a limit."""
    spent: pa.Table
    """What the steps of such runs spent; `run` is the place in `key`."""
    split: int
    """How many runs turned up once more."""


def grouped(store: Store, looks: Looks) -> Groups:
    """Digest all rows and find the groups of runs."""
    if not store.files.sorted:
        found = _groups(store.digests(looks, order="gathered"), looks, early=True)
        if found.split <= SPLIT * len(found.key):
            return found
    return _groups(store.digests(looks), looks, early=not store.files.sorted)


def _groups(batches: Iterator[pa.RecordBatch], looks: Looks, *, early: bool) -> Groups:
    known = _Known()
    parts: list[Digested] = []
    groups: list[Ints] = [np.empty(0, np.int64)]
    spent: list[pa.Table] = []
    count = read = 0
    met: list[Ints] = [np.empty(0, np.int64)]
    for rows in batches:
        if not len(rows):
            continue
        found = digested(rows, looks)
        parts.append(found)
        groups.append(known.numbers(found))
        moved = pa.array(found.spent.column("run").to_numpy() + count)
        spent.append(found.spent.set_column(0, "run", moved))
        count += len(found.key)
        met.append(found.last_row + (read + 1))
        read += len(rows)
    key = np.concatenate([np.empty(0, np.uint64), *(part.key for part in parts)])
    start, end = (
        np.concatenate([np.empty(0, np.int64), *times])
        for times in ([part.start for part in parts], [part.end for part in parts])
    )
    group, split = _without_repeats(key, np.concatenate(groups))
    member = np.flatnonzero(group != WHOLE)
    used, group[member] = np.unique(group[member], return_inverse=True)
    if early:
        member = member[np.argsort(start[member], kind="stable")]
    stand_in = np.empty(len(used), dtype=np.int64)
    stand_in[group[member[::-1]]] = member[::-1]  # the last that is written stays
    return Groups(
        key,
        start,
        group,
        key[stand_in],
        int(end[stand_in].max(initial=0)) if early else None,
        None if early else int(np.concatenate(met)[stand_in].max(initial=0)),
        np.array(known.over, dtype=bool)[used],
        pa.concat_tables(spent) if spent else pa.table({}),
        split,
    )


class _Known:
    """Groups by the first word of their runs; the second word has to be the same, too."""

    def __init__(self) -> None:
        self.number: dict[int, int] = {}
        self.other: list[int] = []
        self.over: list[bool] = []

    def numbers(self, found: Digested) -> Ints:
        """Number of the group of each run."""
        one, other = found.group
        group = np.full(len(found.key), WHOLE, dtype=np.int64)
        plain = np.flatnonzero(found.plain)
        words = pa.array(one[plain]).dictionary_encode()
        which = words.indices.to_numpy()
        first = np.empty(len(words.dictionary), dtype=np.int64)
        first[which[::-1]] = plain[::-1]
        numbers = np.empty(len(first), dtype=np.int64)
        for place, (word, at) in enumerate(
            zip(words.dictionary.to_pylist(), first.tolist(), strict=True)
        ):
            number = self.number.setdefault(word, len(self.other))
            if number == len(self.other):
                self.other.append(int(other[at]))
                self.over.append(bool(found.over[at]))
            numbers[place] = number
        seconds = np.array([self.other[n] for n in numbers.tolist()], dtype=np.uint64)
        alike = seconds[which] == other[plain]
        group[plain[alike]] = numbers[which[alike]]
        return group


def _without_repeats(key: Words, group: Ints) -> tuple[Ints, int]:
    """A run that turned up in two places was whole in neither."""
    keys, count = np.unique(key, return_counts=True)
    if len(keys) < len(key):
        group[np.isin(key, keys[count > 1])] = WHOLE
    return group, len(key) - len(keys)
