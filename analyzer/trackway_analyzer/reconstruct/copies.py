"""Spans that were exported more than once, and spans that share an id by accident.

1. Rows with the same trace id, span id, name and start are copies of one span (an exporter's retry,
   a file read twice, a snapshot before the end). The most complete one stays: finished before
   unfinished, then the longest content, then the most values. No order of the rows decides. Stores
   keep times to the microsecond or millisecond: a start that is the other's so rounded is the same.
2. Rows with the same ids and another name or start are different spans; all stay, and children
   belong to the earliest.
3. Each row beyond the first under one id counts as a duplicate span id.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.reconstruct.columns import Ints, SpanColumns, distinct
from trackway_analyzer.times import decoded

_CONTENT = ("arguments", "result", "input", "output", "attributes", "error_message", "status")


def without_copies(table: pa.Table) -> tuple[SpanColumns, Ints]:
    """Return distinct spans, and for each how many further rows bore its id."""
    columns = SpanColumns(distinct(table))
    key = pc.binary_join_element_wise(columns.array("trace_id"), columns.array("span_id"), "/")
    encoded = key.dictionary_encode()
    extra = np.zeros(len(columns), dtype=np.int64)
    if len(encoded.dictionary) == len(columns):
        return columns, extra
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    order = np.arange(len(columns))
    dropped = np.zeros(len(columns), dtype=bool)
    for rows in _rows_by_id(codes).values():
        spans = _spans(columns, rows)
        for copies in spans:
            dropped[copies[:-1]] = True
        kept = [copies[-1] for copies in spans]
        # Children find the first row under an id: put the earliest of different spans there.
        order[sorted(kept)] = kept
        extra[kept[0]] = len(rows) - 1
    order = order[~dropped]
    return SpanColumns(columns.table.take(pa.array(order))), extra[order]


def _rows_by_id(codes: Ints) -> dict[int, Ints]:
    """Return the rows under each id that several rows bear."""
    shared = np.flatnonzero(np.bincount(codes)[codes] > 1)
    by_id: dict[int, list[int]] = defaultdict(list)
    for row, code in zip(shared.tolist(), codes[shared].tolist(), strict=True):
        by_id[code].append(row)
    return {code: np.array(rows) for code, rows in by_id.items()}


def _spans(columns: SpanColumns, rows: Ints) -> list[list[int]]:
    """Part rows under one id into spans, the earliest first; of each the most complete row last."""
    names = columns.values("name", rows)
    texts = list(zip(*(columns.values(name, rows) for name in _CONTENT), strict=True))
    spans: dict[tuple[int, str], list[tuple[int, int, str, int]]] = defaultdict(list)
    for row, name, content in zip(rows.tolist(), names, texts, strict=True):
        text = "\x00".join(part or "" for part in content)
        spans[int(columns.start[row]), name].append((int(columns.end[row]), len(text), text, row))
    joined: list[_Copies] = []
    for start, name in sorted(spans):
        known = _known(joined, start, name)
        if known is None:
            joined.append(_Copies(start, name, spans[start, name]))
        else:
            known.start = start
            known.rows += spans[start, name]
    return [_ordered(columns, sorted(each.rows)) for each in joined]


def _known(joined: list[_Copies], start: int, name: str) -> _Copies | None:
    """Return the span that a row is of, among those that started no later."""
    for each in reversed(joined):
        if start - each.start >= _UNITS[-1]:
            return None
        if each.holds(start, name):
            return each
    return None


@dataclass(slots=True)
class _Copies:
    """Rows of one span: their latest start, their name, and what they hold."""

    start: int
    name: str
    rows: list[tuple[int, int, str, int]]

    def holds(self, start: int, name: str) -> bool:
        """Tell whether a row is of this span: it started then, but for rounding."""
        return self.name == name and _is_rounded(self.start, start)


def _is_rounded(one: int, other: int) -> bool:
    """Tell whether one time is the other to a coarser unit, or both are of one that is coarse."""
    apart = abs(one - other)
    if apart == _UNITS[0]:
        return one % apart == 0 and other % apart == 0
    return any(apart < unit and (one % unit == 0 or other % unit == 0) for unit in _UNITS)


_UNITS: Final = (1_000, 1_000_000)
"""Nanoseconds of what stores round times to."""


def _ordered(columns: SpanColumns, copies: list[tuple[int, int, str, int]]) -> list[int]:
    """Rows of copies that are sorted by content; the last of equal content by all their values."""
    rows = [copy[-1] for copy in copies]
    alike = [copy[-1] for copy in copies if copy[:-1] == copies[-1][:-1]]
    if len(alike) > 1:
        values = decoded(columns.table.take(pa.array(alike)))
        told = [(sum(v is not None for v in row.values()), repr(row)) for row in values]
        kept = alike[told.index(max(told))]
        rows = [row for row in rows if row != kept] + [kept]
    return rows
