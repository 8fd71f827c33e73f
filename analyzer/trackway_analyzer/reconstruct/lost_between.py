"""Is a span lost that was the run's own, or is one still open? Then so may any call be.

A span whose parent is not in the source is as a rule the top of what one service recorded: what
called it, a gateway or the server of the request, records elsewhere, or nothing. Then nothing of
the run is missing. It is otherwise where the missing parent is of the same process:

1. The span says so: OTLP writes into its flags whether its parent was remote. Then the parent had
   not ended when the process did, or what it was exported with is lost: the run may have gone on.
2. The flags say nothing, no span of the run is a root, and the span is no agent, but a call of a
   model or a tool or above one. Nothing is there that could have made it. Not where an agent of the
   run stands below the same parent, nor where the span's own kind says that another process called
   it (a server's, a consumer's).
3. Another span of the trace was open when it began, of the same service: a root, or an agent that
   something beyond the source called, while the span is no agent. The missing parent then began
   inside it. Not where the span's own kind says otherwise.
4. Spans below one missing parent are neighbours: none of them tells of what is above both.
5. Runs with a run id are told by their clocks (`clocks`) and run spans (`run_parts`), and by what
   their sessions name (`named_holes`).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np

from trackway.schema import GapName
from trackway_analyzer.reconstruct.columns import LLM, NEVER, NONE, TOOL, Ints, Mask, SpanColumns
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap
from trackway_analyzer.reconstruct.tree import topmost
from trackway_analyzer.spans import NO_TIME

_LOST: Final = "a span between spans of the run is not in the source: what it was is not known"
_OPEN: Final = (
    "what stands above a span of the run is not in the source, and was of the same process: it had "
    "not ended, or is lost, and more with it"
)
_TOLD: Final = 0x100
_REMOTE: Final = 0x200
"""Bits of OTLP's flags: it is known whether the parent was remote, and it was."""
_CALLED_FROM_ELSEWHERE: Final = ("SERVER", "CONSUMER")
_NEVER_ENDS: Final = np.iinfo(np.int64).max


def gaps_of_spans_between(evidence: Evidence) -> Found:
    """One gap for the spans of a run whose missing parents were the run's own, two if need be."""
    columns, tree, run = evidence.columns, evidence.tree, evidence.run
    named = columns.recorded("run_id")
    orphan = tree.orphan & (run != NONE) & ~named
    if not orphan.any():
        return
    flags = columns.ints("flags", 0)
    local = orphan & ((flags & _TOLD) != 0) & ((flags & _REMOTE) == 0)
    rows = np.flatnonzero(orphan & ~local)
    kinds = columns.values("kind", rows)
    rows = rows[[kind not in _CALLED_FROM_ELSEWHERE for kind in kinds]]
    headless = _headless(evidence, rows[(flags[rows] & _TOLD) == 0])
    own = np.concatenate((np.flatnonzero(local), headless))
    yield from _told(_parents(columns, run, own), GapName.UNFINISHED_SPAN, _OPEN)
    rows = np.setdiff1d(rows, headless)
    rows = rows[columns.start[rows] != NO_TIME]
    concerned = np.isin(columns.trace, columns.trace[rows])
    tops = np.flatnonzero(concerned & (tree.parent == NONE) & (columns.start != NO_TIME))
    inside = _within(columns, tops, rows, tree.orphan[tops])
    yield from _told(_parents(columns, run, inside), GapName.MISSING_STEPS, _LOST)


def _told(parents: dict[int, set[str]], name: GapName, detail: str) -> Found:
    for number, missing in sorted(parents.items()):
        yield number, gap(name, len(missing), detail=detail)


def _parents(columns: SpanColumns, run: Ints, rows: Ints) -> dict[int, set[str]]:
    """Return the missing parents of these spans, by run."""
    found: dict[int, set[str]] = defaultdict(set)
    above = columns.values("parent_span_id", rows)
    for number, parent in zip(run[rows].tolist(), above, strict=True):
        found[number].add(parent)
    return found


def _headless(evidence: Evidence, orphans: Ints) -> Ints:
    """Return those of the orphans that made calls, in runs without a root, for no agent."""
    columns, tree, run = evidence.columns, evidence.tree, evidence.run
    above = topmost(tree.parent)
    calling = np.unique(above[(columns.operation == LLM) | (columns.operation == TOOL)])
    rooted = run[(tree.parent == NONE) & ~tree.orphan]
    rows = orphans[np.isin(orphans, calling) & ~np.isin(run[orphans], rooted)]
    if not len(rows):
        return rows
    agents = np.flatnonzero(tree.orphan & columns.is_agent)
    parents = _parents(columns, run, agents)
    names = zip(run[rows].tolist(), columns.values("parent_span_id", rows), strict=True)
    beside = np.array([parent in parents.get(number, ()) for number, parent in names], dtype=bool)
    return rows[~beside & ~columns.is_agent[rows]]


def _within(columns: SpanColumns, tops: Ints, orphans: Ints, called: Mask) -> Ints:
    """Return the orphans that began inside another top of their service."""
    service, trace = columns.codes("service"), columns.trace
    above = dict(zip(tops.tolist(), columns.values("parent_span_id", tops), strict=True))
    ends = np.where(columns.end == NEVER, _NEVER_ENDS, columns.end)
    found: list[int] = []
    open_spans: dict[tuple[int, int, bool], list[tuple[int, str | None]]] = {}
    wanted, remote = set(orphans.tolist()), dict(zip(tops.tolist(), called.tolist(), strict=True))
    ordered = tops[np.argsort(columns.start[tops], kind="stable")]
    # What starts at once is all open before any of it is asked, whatever the order of the rows.
    for rows in np.split(ordered, np.flatnonzero(np.diff(columns.start[ordered])) + 1):
        for row in rows.tolist():
            if columns.is_agent[row] or not remote[row]:
                key = (int(trace[row]), int(service[row]), remote[row])
                open_spans[key] = _longest(open_spans.get(key, []), int(ends[row]), above[row])
        for row in rows.tolist():
            parent, start = above[row], int(columns.start[row])
            if row not in wanted or parent is None:
                continue
            place = int(trace[row]), int(service[row])
            roots = open_spans.get((*place, False), ())
            agents = () if columns.is_agent[row] else open_spans.get((*place, True), ())
            if any(end > start and other != parent for end, other in (*roots, *agents)):
                found.append(row)
    return np.array(found, dtype=np.int64)


def _longest(
    known: list[tuple[int, str | None]], end: int, parent: str | None
) -> list[tuple[int, str | None]]:
    """Keep of the spans that are open the two that end last and have different parents."""
    best: dict[str | None, int] = {}
    for until, above in (*known, (end, parent)):
        best[above] = max(until, best.get(above, until))
    ranked = sorted(((until, above) for above, until in best.items()), key=lambda each: -each[0])
    return ranked[:2]
