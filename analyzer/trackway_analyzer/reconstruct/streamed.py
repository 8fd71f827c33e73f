"""What does a call whose result came in pieces say of its success? Spans of our recorder alone.

1. What a generator returned besides its pieces (`trackway.stream.returned`) judges the call in the
   place of the pieces, as any result would.
2. Of a stream that was left before its end (`trackway.stream.abandoned`) nobody knows how the call
   would have gone on: it is open, unless what came says that it failed. A lookup gave what was
   read of it, and is judged by that.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from trackway.schema import StepKind, Trackway
from trackway_analyzer.reconstruct.columns import NONE, Mask, SpanColumns
from trackway_analyzer.reconstruct.effect import took_effect
from trackway_analyzer.reconstruct.gap_rows import Evidence, innermost
from trackway_analyzer.reconstruct.layers import Layers
from trackway_analyzer.reconstruct.messages import quickly_parsed

_RETURNED: Final = f'"{Trackway.STREAM_RETURNED}":'.replace(".", r"\.")
_ABANDONED: Final = rf'"{Trackway.STREAM_ABANDONED}":\s*true'.replace(".", r"\.", 2)


def left_early(columns: SpanColumns) -> Mask:
    """Tell for each span whether its stream was left before its end; never of lookups."""
    flags = np.zeros(len(columns), dtype=bool)
    rows = columns.naming(_ABANDONED)
    kinds = columns.values("tool_kind", rows)
    flags[rows] = [kind != StepKind.LOOKUP.value for kind in kinds]
    return flags


def judged_by_returned(
    columns: SpanColumns, layers: Layers, tools: pa.Array, kinds: pa.Array
) -> dict[int, bool | None]:
    """Return what generators returned says of their calls: by place of the step, as `ok`."""
    rows = columns.naming(_RETURNED)
    if not len(rows):
        return {}
    texts = dict(zip(rows.tolist(), columns.values("attributes", rows), strict=True))
    flags = np.zeros(len(columns), dtype=bool)
    flags[rows] = True
    found: dict[int, bool | None] = {}
    for place in np.flatnonzero(layers.any(flags)).tolist():
        span = next(row for row in layers.rows[:, place].tolist() if row != NONE and flags[row])
        told = quickly_parsed(texts[span])
        said = told.get(Trackway.STREAM_RETURNED) if isinstance(told, dict) else None
        tool, kind = tools[place].as_py(), kinds[place].as_py()
        returned = said if isinstance(said, str) else None
        found[place] = took_effect(returned, kind, raised=False, tool=tool)
    return found


def left_early_steps(evidence: Evidence) -> Mask:
    """Tell for each step whether its stream was left before its end; never of lookups."""
    return innermost(evidence, left_early(evidence.columns))


def returning_steps(evidence: Evidence) -> Mask:
    """Tell for each step whether it is judged by what a generator returned."""
    flags = np.zeros(len(evidence.columns), dtype=bool)
    flags[evidence.columns.naming(_RETURNED)] = True
    return innermost(evidence, flags)
