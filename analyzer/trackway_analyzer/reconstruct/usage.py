"""Of which model calls do the sums of tokens and cost know nothing?

1. A sum is stated where one call of the run recorded the number. A call that did not, in such a
   run, is missing in the sum, which is then too small by an unknown amount.
2. A call that failed without an answer used nothing that somebody could have told.
3. Where no call recorded the number there is no sum, and nothing is missing in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import GapName, Operation
from trackway_analyzer.reconstruct.columns import Mask
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap, places

TOKENS: Final = ("tokens_in", "tokens_out")
COST: Final = ("cost",)
_GAPS: Final = ((GapName.MISSING_TOKENS, TOKENS), (GapName.MISSING_COST, COST))


def untold(steps: pa.Table, names: Sequence[str]) -> dict[str, Mask]:
    """Flag by column the model calls that are missing in the column's sum."""
    run = steps.column("run").to_numpy()
    model = _flags(pc.equal(steps.column("operation"), Operation.LLM.value))
    silent = _flags(pc.equal(steps.column("ok"), False)) & _null(steps, "output")
    found = {}
    for name in names:
        lacks = _null(steps, name)
        stated = np.unique(run[~lacks])
        found[name] = model & lacks & ~silent & np.isin(run, stated)
    return found


def without(steps: pa.Table, names: Sequence[str], totals: Sequence[pa.Array]) -> pa.Array:
    """Count by run the model calls that are missing in one of these sums; null without a sum."""
    missing = np.logical_or.reduce(list(untold(steps, names).values()))
    run = steps.column("run").to_numpy()
    counts = np.bincount(run[missing], minlength=len(totals[0]))
    unstated = np.logical_and.reduce(
        [total.is_null().to_numpy(zero_copy_only=False) for total in totals]
    )
    return pa.array(counts, pa.int32(), mask=unstated)


def gaps_of_usage(evidence: Evidence) -> Found:
    """Model calls that are missing in a sum, one gap each."""
    for name, columns in _GAPS:
        flags = untold(evidence.steps, columns)
        rows = np.flatnonzero(np.logical_or.reduce(list(flags.values())))
        for (run, position), row in zip(places(evidence.steps, rows), rows.tolist(), strict=True):
            detail = ", ".join(column for column in columns if flags[column][row])
            yield run, gap(name, 1, position, detail)


def _null(steps: pa.Table, name: str) -> Mask:
    nulls: Mask = steps.column(name).combine_chunks().is_null().to_numpy(zero_copy_only=False)
    return nulls


def _flags(values: pa.ChunkedArray) -> Mask:
    flags: Mask = values.combine_chunks().fill_null(False).to_numpy(zero_copy_only=False)
    return flags
