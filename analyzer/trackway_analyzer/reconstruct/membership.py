"""Which spans do these runs consist of?

As `reconstruct` parts them, copies included: a span that was exported twice belongs twice.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.reconstruct.copies import without_copies
from trackway_analyzer.reconstruct.runs import By, runs_of
from trackway_analyzer.reconstruct.tree import tree_of


def spans_of_runs(spans: pa.Table, run_ids: Collection[str], *, by: By) -> pa.Table:
    """Return the rows of a span table that belong to these runs, in their order."""
    if not len(spans):
        return spans
    columns, _ = without_copies(spans)
    runs = runs_of(columns, tree_of(columns), by)
    wanted = [ordinal for ordinal, run_id in enumerate(runs.ids) if run_id in run_ids]
    belongs = pa.array(np.isin(runs.of_row, wanted))
    return spans.filter(pc.is_in(_key(spans), _key(columns.table).filter(belongs)))


def rows_of_runs(spans: pa.Table, *, by: By) -> dict[str, list[int]]:
    """Return the rows of a span table that belong to each run, by its id, in their order."""
    if not len(spans):
        return {}
    columns, _ = without_copies(spans)
    runs = runs_of(columns, tree_of(columns), by)
    run = dict(zip(_key(columns.table).to_pylist(), runs.of_row.tolist(), strict=True))
    rows: dict[str, list[int]] = {run_id: [] for run_id in runs.ids}
    for row, key in enumerate(_key(spans).to_pylist()):
        if run[key] >= 0:
            rows[runs.ids[run[key]]].append(row)
    return rows


def _key(spans: pa.Table) -> pa.ChunkedArray:
    names = (spans.column("trace_id"), spans.column("span_id"))
    return pc.binary_join_element_wise(*names, "/").combine_chunks()
