"""Which runs are like which? Digested spans to runs, and runs to groups of twins.

A run is *plain* if the rules of reconstruction have nothing to do on it:

1. It has one root, an agent's or workflow's span, which starts first; every other span stands right
   below it, in its trace, and no two spans have one id.
2. At least one step is a tool call. No two spans start together.
3. No span of it is odd, no value of it doubtful (`digest`), and where the check looks at the final
   text, the root has one. It has at most `LONGEST` spans.

Two plain runs are twins if their spans, in order of start, have equal shapes, overlap alike, and
have equal values at the same places, and if their final texts are of one class and they keep the
same limits. What a check says of one of them, by rule and step, it says of the other, for
reconstruction and rules see nothing else. A run that is not plain has no twin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.engine.digest import number_columns
from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.engine.read_values import value_columns
from trackway_analyzer.engine.roles import DOUBTFUL, FIRST, ODD, ROOT, STEP, TOOL_STEP
from trackway_analyzer.stretches import STIR, TURN, Words, stirred

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

LONGEST: Final = 256
_NEAR: Final = 16
_NO_TEXT: Final = -1
_CLASSES: Final = 16
"""More than a text can have classes."""
_SALT: Final = np.random.default_rng(20).integers(1, 2**63, (5, LONGEST), dtype=np.uint64) * 2 + 1
"""Odd multipliers, by what they are for and by place in the run."""


@dataclass(frozen=True, slots=True)
class Digested:
    """The runs of one batch of digested rows, whole and in the order of the rows."""

    key: Words
    """Hash of the run id."""
    start: Ints
    end: Ints
    """Last end of a span; without meaning where a run is not plain. Both in ns."""
    plain: Mask
    group: tuple[Words, Words]
    """Two words a run: equal for twins; without meaning where a run is not plain."""
    last_row: Ints
    """Place of the last row of each run in the batch."""
    over: Mask
    """Runs that may exceed a limit."""
    spent: pa.Table
    """Numbers that limits are on, of the steps of plain runs that may exceed one: column `run`, the
    place of the run here, `seconds` of the run, and the number columns."""


def digested(rows: pa.RecordBatch, looks: Looks) -> Digested:
    """Find the runs of digested rows, sorted by run and start."""
    return _Runs(rows, looks).result()


class _Runs:
    def __init__(self, rows: pa.RecordBatch, looks: Looks) -> None:
        self.rows = rows
        self.looks = looks
        self.run = _column(rows, "run")
        self.start, self.end = _column(rows, "start"), _column(rows, "end")
        self.size = len(self.run)
        new = np.ones(self.size, dtype=bool)
        new[1:] = self.run[1:] != self.run[:-1]
        self.head = np.flatnonzero(new)
        self.length = np.diff(np.append(self.head, self.size))
        self.of_row = np.repeat(np.arange(len(self.head)), self.length)
        self.place = np.arange(self.size) - self.head[self.of_row]
        self.longest = int(self.length.max(initial=0))
        self.short = (self.length <= LONGEST)[self.of_row] if self.longest > LONGEST else None
        """Rows of runs that are not too long; None where all are."""
        self.last = np.maximum.reduceat(self.end, self.head)
        role = _column(rows, "role")
        self.odd = role >= ODD
        self.role = role & (ODD - 1)
        self.steps = (self.role == STEP) | (self.role == TOOL_STEP)
        self.seconds = (self.last - self.start[self.head]) / 1e9

    def result(self) -> Digested:
        """Everything about the runs."""
        plain = self._plain()
        classes, known = self._texts()
        over, numbers = self._limits()
        row = self._mixed()
        place = np.minimum(self.place, LONGEST - 1)
        extra = (classes.astype(np.uint64) * TURN) ^ (numbers.astype(np.uint64) * STIR)
        one, other = (
            np.add.reduceat(row * _SALT[side][place], self.head) + stirred(extra + np.uint64(side))
            for side in (0, 1)
        )
        start = self.start[self.head]
        plain &= known
        spent = self._spent(np.flatnonzero((plain & over)[self.of_row] & self.steps))
        last_row = self.head + self.length - 1
        return Digested(
            self.run[self.head], start, self.last, plain, (one, other), last_row, over, spent
        )

    def _spent(self, rows: Ints) -> pa.Table:
        columns: dict[str, Any] = {
            "run": self.of_row[rows],
            "seconds": self.seconds[self.of_row[rows]],
        }
        for name in number_columns(self.looks):
            columns[name] = self.rows.column(name).take(pa.array(rows))
        return pa.table(columns)

    def _any(self, flags: Mask) -> Mask:
        return np.logical_or.reduceat(flags, self.head)

    def _count(self, flags: Mask) -> Ints:
        return np.add.reduceat(flags.astype(np.int64), self.head)

    def _plain(self) -> Mask:
        span, parent = _column(self.rows, "span"), _column(self.rows, "parent")
        start = self.start
        root = self.place == 0
        wrong = self.odd | ((self.role == ROOT) != root)
        wrong |= ~root & (parent != span[self.head][self.of_row])
        home = _column(self.rows, "home")
        wrong |= home != home[self.head][self.of_row]
        late = np.zeros(self.size, dtype=bool)
        late[1:] = start[1:] <= start[:-1]
        wrong |= late & ~root
        for name in ("effect", *self._value_names):
            wrong |= _column(self.rows, name) == DOUBTFUL
        for distance in range(1, min(self.longest, LONGEST)):
            twice = np.flatnonzero(span[distance:] == span[:-distance]) + distance
            wrong[twice] |= self.place[twice] >= distance
        tools = self._any(self.role == TOOL_STEP)
        plain: Mask = ~self._any(wrong) & tools & (self.length <= LONGEST)
        return plain

    @property
    def _value_names(self) -> list[str]:
        return [f"value_{slot}" for slot in range(value_columns(self.looks))]

    def _mixed(self) -> Words:
        """One word a row: shape, overlaps, and which values are the same as which before."""
        word = _column(self.rows, "shape").copy()
        word += self._overlaps().astype(np.uint64) * TURN
        word += self._alike(["call"], 2, self.role == TOOL_STEP)
        word += self._alike(["effect"], 3)
        word += self._alike(self._value_names, 4)
        return stirred(word)

    def _overlaps(self) -> Ints:
        """How many of the spans that start later start before this one ends; of a root, none."""
        start, end = self.start, self.end
        count = np.zeros(self.size, dtype=np.int64)
        for distance in range(1, min(self.longest, LONGEST)):
            meets = (start[distance:] < end[:-distance]) & (self.place[:-distance] > 0)
            meets &= self.place[distance:] > distance
            if not meets.any():
                break
            count[:-distance] += meets
        return count

    def _alike(self, names: list[str], kind: int, rows: Mask | None = None) -> Words:
        """Of each row, a word for the earlier values of its run that its own are the same as."""
        word = np.zeros(self.size, dtype=np.uint64)
        if not names:
            return word
        width = len(names)
        cells, values = [], []
        for slot, name in enumerate(names):
            column = _column(self.rows, name)
            word += np.minimum(column, np.uint64(FIRST)) * _SALT[kind, slot]
            hashed = column >= FIRST if rows is None else rows & (column >= FIRST)
            where = np.flatnonzero(hashed if self.short is None else hashed & self.short)
            cells.append(where * width + slot)
            values.append(column[where])
        cell, value = np.concatenate(cells), np.concatenate(values)
        if width > 1:
            order = np.argsort(cell, kind="stable")
            cell, value = cell[order], value[order]
        row = cell // width
        for distance, same in _same_before(value, self.of_row[row]):
            own = (cell[same] % width + 1).astype(np.uint64)
            np.add.at(word, row[same], _SALT[kind, distance % LONGEST] * own)
        return word

    def _texts(self) -> tuple[Ints, Mask]:
        """Class of each run's final text, and where it is known."""
        count = len(self.head)
        classes = np.full(count, _NO_TEXT, dtype=np.int64)
        if not self.looks.texts:
            return classes, np.ones(count, dtype=bool)
        texts = self.rows.column("text").take(pa.array(self.head))
        there = texts.is_valid().to_numpy(zero_copy_only=False)
        recorded = texts.filter(pa.array(there))
        code = np.zeros(len(recorded), dtype=np.int64)
        for classify in self.looks.texts:
            found = classify(recorded)
            code = code * _CLASSES + found
        classes[there] = code
        return classes, there

    def _limits(self) -> tuple[Mask, Ints]:
        """Runs that may exceed a limit, and which limits, as bits."""
        count = len(self.head)
        bits = np.zeros(count, dtype=np.int64)
        sums = {
            name: np.add.reduceat(np.where(self.steps, _numbers(self.rows, name), 0), self.head)
            for name in number_columns(self.looks)
        }
        for place, limit in enumerate(sorted(self.looks.limits, key=repr)):
            if limit.columns == ("seconds",):
                total = self.seconds
            else:
                total = sum((sums[name] for name in limit.columns), start=np.zeros(count))
            bits |= (~(total < limit.most * (1 - 1e-6))).astype(np.int64) << place
        return bits > 0, bits


def _same_before(value: Words, run: Ints) -> Iterator[tuple[int, Ints]]:
    """Places of values that stood in their run before, by how far before, in values.

    Values of one run stand together. Few runs have many: from `_NEAR` on only those are looked at.
    """
    head = np.flatnonzero(np.append(True, run[1:] != run[:-1])) if len(run) else run
    count = np.diff(np.append(head, len(run)))
    most = int(count.max(initial=0))
    for distance in range(1, min(most, _NEAR)):
        same = np.flatnonzero(value[distance:] == value[:-distance]) + distance
        yield distance, same[run[same] == run[same - distance]]
    later = np.flatnonzero(np.repeat(count > _NEAR, count)) if most > _NEAR else run[:0]
    for distance in range(_NEAR, most):
        later = later[later >= distance]
        later = later[run[later] == run[later - distance]]
        yield distance, later[value[later] == value[later - distance]]


def _column(rows: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = rows.column(name).to_numpy(zero_copy_only=False)
    return values


def _numbers(rows: pa.RecordBatch, name: str) -> npt.NDArray[np.float64]:
    values = pc.fill_null(rows.column(name).cast(pa.float64()), 0.0)
    numbers: npt.NDArray[np.float64] = values.to_numpy(zero_copy_only=False)
    return numbers
