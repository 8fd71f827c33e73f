"""What gaps are found in, and how one is written down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from trackway.schema import GapName
from trackway_analyzer.reconstruct.columns import NONE, Ints, Mask, SpanColumns
from trackway_analyzer.reconstruct.rank import Clock
from trackway_analyzer.reconstruct.run_spans import RunSpans
from trackway_analyzer.reconstruct.tree import Tree

GapRow: TypeAlias = dict[str, Any]
Found: TypeAlias = Iterable[tuple[int, GapRow]]
"""Run and gap."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that gaps are found in."""

    columns: SpanColumns
    tree: Tree
    clock: Clock
    run: Ints
    """Run of each span."""
    extra: Ints
    """Rows beyond the first under each span's id."""
    steps: pa.Table
    spans: list[RunSpans]


def gap(
    name: GapName, count: int = 1, position: int | None = None, detail: str | None = None
) -> GapRow:
    """Return a gap as the runs table holds it; no position: it is of the whole run."""
    return {"name": name.value, "position": position, "count": count, "detail": detail}


def of_steps(
    evidence: Evidence,
    name: GapName,
    flags: Mask,
    *,
    of: Mask | None = None,
    detail: str | None = None,
) -> Found:
    """One gap a flagged step; one for the run where all steps of the kind are flagged."""
    rows = np.flatnonzero(flags)
    if not len(rows):
        return
    run = evidence.steps.column("run").to_numpy()
    count = len(evidence.spans)
    flagged = np.bincount(run[rows], minlength=count)
    whole = np.zeros(count, dtype=bool)
    if of is not None:
        kind = np.bincount(run[np.flatnonzero(of)], minlength=count)
        whole = (flagged == kind) & (kind > 0)
        for number in np.flatnonzero(whole).tolist():
            yield number, gap(name, int(flagged[number]), detail=detail)
    for number, position in places(evidence.steps, rows[~whole[run[rows]]]):
        yield number, gap(name, 1, position, detail)


def places(steps: pa.Table, rows: Ints) -> list[tuple[int, int]]:
    """Return run and position of these rows of the steps table."""
    run, position = (steps.column(name).to_numpy()[rows].tolist() for name in ("run", "position"))
    return list(zip(run, position, strict=True))


def innermost(evidence: Evidence, spans: Mask) -> Mask:
    """Tell for each step whether its innermost span is one of these."""
    steps, flags = evidence.steps, np.zeros(len(evidence.steps), dtype=bool)
    rows = np.flatnonzero(spans & (evidence.run != NONE))
    if not len(rows):
        return flags
    known = set(
        zip(evidence.run[rows].tolist(), evidence.columns.values("span_id", rows), strict=True)
    )
    own = zip(steps.column("run").to_pylist(), steps.column("span_id").to_pylist(), strict=True)
    flags[:] = [place in known for place in own]
    return flags
