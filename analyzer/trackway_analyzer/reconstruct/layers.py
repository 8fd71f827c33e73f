"""Fetching the fields of steps from the spans that record them, innermost first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.reconstruct.columns import NONE, Ints, Mask
from trackway_analyzer.reconstruct.merge import Calls


@dataclass(frozen=True, slots=True)
class Layers:
    """For each step its spans: row 0 the innermost, then outwards; `NONE` where there is none."""

    rows: Ints

    @classmethod
    def of(cls, innermost: Ints, calls: Calls) -> Layers:
        """Stack the spans of each step."""
        deepest = max((len(outer) for outer in calls.layers.values()), default=0)
        rows = np.full((deepest + 1, len(innermost)), NONE)
        rows[0] = innermost
        if deepest:
            place = {row: number for number, row in enumerate(innermost.tolist())}
            for row, outer in calls.layers.items():
                rows[1 : len(outer) + 1, place[row]] = outer
        return cls(rows)

    def take(self, column: pa.Array) -> pa.Array:
        """Return a column for the steps: of each the first span that recorded it."""
        chosen = self.rows[0]
        if len(self.rows) > 1:
            recorded = np.append(_recorded(column), False)
            for outer in self.rows[1:]:
                bare = ~recorded[chosen] & recorded[outer]
                chosen = np.where(bare, outer, chosen)
        return column.take(pa.array(chosen, pa.int64(), mask=chosen == NONE))

    def any(self, flags: Mask) -> Mask:
        """Tell for each step whether one of its spans has the flag."""
        padded = np.append(flags, False)
        flagged: Mask = np.logical_or.reduce(padded[self.rows], axis=0)
        return flagged


def _recorded(column: pa.Array) -> Mask:
    if pa.types.is_list(column.type):
        lengths = pc.list_value_length(column).fill_null(0)
        return lengths.to_numpy(zero_copy_only=False) > 0  # type: ignore[no-any-return]  # Arrow is untyped
    return column.is_valid().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]  # Arrow is untyped
