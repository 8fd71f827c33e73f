"""What could the recorder not record, by its own word?

1. A span of ours whose `trackway.capture_error` is set lacks something: `arguments: KeyError`.
2. Where it is the predicate that says whether a call succeeded (`success: KeyError`), the result
   alone does not: nobody knows whether the call took effect. One that raised did not.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from trackway.schema import GapName, Trackway
from trackway_analyzer.reconstruct.columns import NONE, Mask, SpanColumns
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap, innermost

_UNJUDGED: Final = rf'"{Trackway.CAPTURE_ERROR}":\s*"success: '.replace(".", r"\.")


def unjudged(columns: SpanColumns) -> Mask:
    """Tell for each span whether what was to judge its result failed."""
    mask = np.zeros(len(columns), dtype=bool)
    mask[columns.naming(_UNJUDGED)] = True
    return mask


def unjudged_steps(evidence: Evidence) -> Mask:
    """Tell for each step whether what was to judge its result failed."""
    return innermost(evidence, unjudged(evidence.columns))


def gaps_of_faults(evidence: Evidence) -> Found:
    """One gap a span, at its step where it is one's innermost."""
    columns, run = evidence.columns, evidence.run
    told = columns.told(Trackway.CAPTURE_ERROR, run != NONE)
    if not told:
        return
    positions = _positions(evidence)
    span_ids = columns.values("span_id", [row for row, _ in told])
    for (row, said), span_id in zip(told, span_ids, strict=True):
        number = int(run[row])
        yield number, gap(GapName.CAPTURE_ERROR, 1, positions.get((number, span_id)), str(said))


def _positions(evidence: Evidence) -> dict[tuple[int, str], int]:
    columns = (evidence.steps.column(name).to_pylist() for name in ("run", "span_id", "position"))
    return {(run, span): position for run, span, position in zip(*columns, strict=True)}
