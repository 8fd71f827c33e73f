"""Is a span lost between spans of a run? Then nobody knows what it was: a call, perhaps.

A span whose parent is not in the source is as a rule the top of what one service recorded: what
called it, a gateway or the server of the request, records elsewhere, or nothing. Then nothing of
the run is missing. It is otherwise where another span of the trace was open when it began, of the
same service:

1. That other is a root, or an agent that something beyond the source called, while the span is no
   agent. The missing parent then began inside it, and is one of the run's own spans.
   Not where the span's own kind says that another process called it (a server's, a consumer's).
2. Spans below one missing parent are neighbours: none of them tells of what is above both.
3. Runs with a run id are told by their clocks (`clocks`) and run spans (`run_parts`), and by what
   their sessions name (`named_holes`).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np

from trackway.schema import GapName
from trackway_analyzer.reconstruct.columns import NEVER, NONE, Ints, Mask, SpanColumns
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap
from trackway_analyzer.spans import NO_TIME

_LOST: Final = "a span between spans of the run is not in the source: what it was is not known"
_CALLED_FROM_ELSEWHERE: Final = ("SERVER", "CONSUMER")
_NEVER_ENDS: Final = np.iinfo(np.int64).max


def gaps_of_spans_between(evidence: Evidence) -> Found:
    """One gap for the spans of a run whose missing parents were the run's own."""
    columns, tree, run = evidence.columns, evidence.tree, evidence.run
    named = columns.recorded("run_id")
    orphans = np.flatnonzero(tree.orphan & (run != NONE) & ~named & (columns.start != NO_TIME))
    kinds = columns.values("kind", orphans)
    orphans = orphans[[kind not in _CALLED_FROM_ELSEWHERE for kind in kinds]]
    if not len(orphans):
        return
    concerned = np.isin(columns.trace, columns.trace[orphans])
    tops = np.flatnonzero(concerned & (tree.parent == NONE) & (columns.start != NO_TIME))
    parents: dict[int, set[str]] = defaultdict(set)
    for row, parent in _within(columns, tops, orphans, tree.orphan[tops]):
        parents[int(run[row])].add(parent)
    for number, missing in sorted(parents.items()):
        yield number, gap(GapName.MISSING_STEPS, len(missing), detail=_LOST)


def _within(columns: SpanColumns, tops: Ints, orphans: Ints, called: Mask) -> list[tuple[int, str]]:
    """Return the orphans that began inside another top of their service, with their parents."""
    service, trace = columns.codes("service"), columns.trace
    above = dict(zip(tops.tolist(), columns.values("parent_span_id", tops), strict=True))
    ends = np.where(columns.end == NEVER, _NEVER_ENDS, columns.end)
    found = []
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
                found.append((row, parent))
    return found


def _longest(
    known: list[tuple[int, str | None]], end: int, parent: str | None
) -> list[tuple[int, str | None]]:
    """Keep of the spans that are open the two that end last and have different parents."""
    best: dict[str | None, int] = {}
    for until, above in (*known, (end, parent)):
        best[above] = max(until, best.get(above, until))
    ranked = sorted(((until, above) for above, until in best.items()), key=lambda each: -each[0])
    return ranked[:2]
