"""What is missing from the record of a run? Each hole is named, counted and placed.

1. `missing_parent`: a span's parent is not in the source. Counts spans. What stands above a run
   span of our SDK is no part of its run, and is not missed.
2. `no_root`: no span of the run is a root. A run span is one, whatever stands above it.
3. `parent_cycle`: spans were their own ancestors; cut above the earliest. Counts cycles.
4. `duplicate_span_id`: further rows under an id that was seen already. Counts rows.
5. `clock_skew`: a span started more than 1 ms before its parent, or ended so long before it
   started. Counts spans. Or steps beside others have neither a start nor a logical clock: no clock
   orders them. Counts those steps.
6. `unfinished_span`: a step never ended; or spans that are no steps, counted together; or what
   stands above a span was of the same process and is not in the source (`lost_between`): counts
   the parents that are missing; or a run of our SDK lacks the run span of a part, which is exported
   when it ends, or parts of it that went to other processes left no mark of their end
   (`run_parts`): counts run ids, or parts.
7. `truncated_value`: values were cut at a limit. Counts fields.
8. `dropped_attributes`: the SDK that wrote the span dropped some. Counts attributes.
9. `content_off`: a tool step has neither arguments nor result, a model step no messages.
10. `missing_value`: a finished call lacks its arguments, or one that did not fail its result, or
    the rest of it (`streamed`); or what a person answered stands in its place (`resumed`).
11. `unparsable_arguments`: arguments that are a text which holds names and values, and no object.
12. `missing_steps`: a hole in a logical clock of the run (`clocks`). Counts steps. Or what a
    session names and nobody gives (`named_holes`): counts names. Or a span between spans of the run
    that is not in the source (`lost_between`): counts the parents that are missing.
13. `tools_not_observable`: nothing can tell whether tools were called: they were offered to a model
    whose output is not recorded; the last turn asked for a call in a run without any tool span; a
    call was answered and lacks the span that it would have, or was not answered in a form that is
    read though its model went on, or its agent failed, perhaps in it; its tool is not named; a
    model's output is not recorded in a run where nothing shows tools (`witnesses`), or is there in
    part, or without the call that it stopped for (`unread_turns`); what a model said writes a call
    out that no reader takes for one (`written_calls`); an agent ended well and no call of it is
    recorded; a transcript holds no step, however it ended; libraries were on when
    the run began, and it has no model, tool or retrieval step.
14. `missing_timestamps`: steps whose start or end the source does not hold. Counts steps.
15. `instrumentation_lost`: the recorder says that a library which it had turned on was cut off when
    the run began, or that it was turned on or off inside the run; what it did is not in the record.
    Counts libraries.
16. `missing_tokens`, `missing_cost`: a model call that the run's sum knows nothing of (`usage`).
17. `capture_error`: the recorder says that it could not record a part of a span: a value of the
    user's raised when it was read, or what was to say whether the call succeeded did (`faults`).
18. `possible_calls`: spans of no kind with an input or output, which may be calls of the tool of
    their name, and tools that an answer names which could not be read (`possible_calls`). Counts
    spans and names.

A gap of one step has its position. A gap of all steps of a kind is one gap of the run, without one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow.compute as pc

from trackway.schema import GapName, Trackway
from trackway_analyzer.reconstruct.clocks import gaps_of_clocks
from trackway_analyzer.reconstruct.columns import NEVER, NONE, Ints, Mask, SpanColumns
from trackway_analyzer.reconstruct.faults import gaps_of_faults
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, GapRow, gap
from trackway_analyzer.reconstruct.lost_between import gaps_of_spans_between
from trackway_analyzer.reconstruct.messages import quickly_parsed
from trackway_analyzer.reconstruct.named_holes import gaps_of_named_holes
from trackway_analyzer.reconstruct.possible_calls import gaps_of_possible_calls
from trackway_analyzer.reconstruct.rank import TOLERANCE
from trackway_analyzer.reconstruct.run_parts import (
    gaps_of_handed_over,
    gaps_of_run_parts,
    run_spans,
)
from trackway_analyzer.reconstruct.unobserved import gaps_of_the_unobserved
from trackway_analyzer.reconstruct.usage import gaps_of_usage
from trackway_analyzer.reconstruct.value_gaps import gaps_of_values
from trackway_analyzer.reconstruct.written_calls import gaps_of_written_calls
from trackway_analyzer.spans import NO_TIME

_LOST: Final = f'"{Trackway.INSTRUMENTATION_LOST}"'.replace(".", r"\.")

_UNORDERED: Final = "steps without a start, and no logical clock orders them"
_MOST: Final = 2**31 - 1


def gaps_of(evidence: Evidence) -> list[list[GapRow]]:
    """Return the gaps of each run, sorted by name and position."""
    gaps: list[list[GapRow]] = [[] for _ in evidence.spans]
    for finder in _FINDERS:
        for run, row in finder(evidence):
            gaps[run].append(row)
    for rows in gaps:
        rows.sort(key=_place)
    return gaps


def _place(row: GapRow) -> tuple[str, int, int, str]:
    position = NONE if row["position"] is None else row["position"]
    return row["name"], position, row["count"], row["detail"] or ""


def _structure(evidence: Evidence) -> Found:
    """Holes in the tree of spans."""
    columns, tree, run = evidence.columns, evidence.tree, evidence.run
    members = run != NONE
    rootless = np.ones(len(evidence.spans), dtype=bool)
    orphan = tree.orphan.copy()
    orphan[run_spans(columns)] = False
    roots = members & (tree.parent == NONE) & ~orphan
    roots[tree.cut] = False
    rootless[run[roots]] = False
    below = np.flatnonzero(members & (tree.parent != NONE))
    entries = below[run[tree.parent[below]] != run[below]]
    rootless[run[entries]] = False
    yield from _counted(evidence, GapName.MISSING_PARENT, orphan)
    yield from _counted(evidence, GapName.PARENT_CYCLE, _mask(columns, tree.cut))
    timed = (columns.start != NO_TIME) & (columns.end != NO_TIME) & (columns.end != NEVER)
    skewed = _mask(columns, evidence.clock.skewed) | (
        timed & (columns.end + TOLERANCE < columns.start)
    )
    yield from _counted(evidence, GapName.CLOCK_SKEW, skewed)
    for number in np.flatnonzero(rootless).tolist():
        yield number, gap(GapName.NO_ROOT)
    for number, count in _sums(evidence, evidence.extra):
        yield number, gap(GapName.DUPLICATE_SPAN_ID, count)


def _spans(evidence: Evidence) -> Found:
    """What the spans themselves admit."""
    columns = evidence.columns
    for number, count in _sums(evidence, columns.ints("dropped_attributes", 0)):
        yield number, gap(GapName.DROPPED_ATTRIBUTES, count)
    open_wrappers = (columns.end == NEVER) & ~columns.is_step
    yield from _counted(evidence, GapName.UNFINISHED_SPAN, open_wrappers)
    cut = pc.list_value_length(columns.array("truncated")).fill_null(0).to_numpy()
    for number, count in _sums(evidence, np.where(columns.is_step, 0, cut)):
        yield number, gap(GapName.TRUNCATED_VALUE, count)


def _untimed(evidence: Evidence) -> Found:
    """Steps whose times are not in the source, one gap a run."""
    columns = evidence.columns
    lacks_start = columns.is_step & (columns.start == NO_TIME)
    lacks_end = columns.is_step & (columns.end == NO_TIME)
    unordered = lacks_start & (columns.ints("step_index") == NONE)
    several = dict(_sums(evidence, columns.is_step))
    for number, count in _sums(evidence, unordered):
        if several[number] > 1:
            yield number, gap(GapName.CLOCK_SKEW, count, detail=_UNORDERED)
    starts, ends = dict(_sums(evidence, lacks_start)), dict(_sums(evidence, lacks_end))
    for number, count in _sums(evidence, lacks_start | lacks_end):
        lacking = [word for word, runs in (("start", starts), ("end", ends)) if number in runs]
        yield number, gap(GapName.MISSING_TIMESTAMPS, count, detail=" and ".join(lacking))


def _cut_off(evidence: Evidence) -> Found:
    """Libraries that the recorder was cut off from."""
    columns, run = evidence.columns, evidence.run
    rows = columns.naming(_LOST)
    rows = rows[run[rows] != NONE]
    found: dict[int, set[str]] = defaultdict(set)
    for row, text in zip(rows.tolist(), columns.values("attributes", rows), strict=True):
        told = quickly_parsed(text)
        listed = told.get(Trackway.INSTRUMENTATION_LOST) if isinstance(told, dict) else None
        found[int(run[row])].update(map(str, listed if isinstance(listed, list) else ()))
    for number, said in found.items():
        if said:
            count = len({text.partition(": ")[0] for text in said})
            yield number, gap(GapName.INSTRUMENTATION_LOST, count, detail="; ".join(sorted(said)))


_FINDERS: Final = (
    _structure,
    _spans,
    _untimed,
    _cut_off,
    gaps_of_run_parts,
    gaps_of_handed_over,
    gaps_of_clocks,
    gaps_of_named_holes,
    gaps_of_spans_between,
    gaps_of_values,
    gaps_of_usage,
    gaps_of_faults,
    gaps_of_the_unobserved,
    gaps_of_possible_calls,
    gaps_of_written_calls,
)


def _counted(evidence: Evidence, name: GapName, flags: Mask) -> Found:
    for number, count in _sums(evidence, flags.astype(np.int64)):
        yield number, gap(name, count)


def _sums(evidence: Evidence, values: Ints | Mask) -> Iterable[tuple[int, int]]:
    rows = np.flatnonzero((values > 0) & (evidence.run != NONE))
    totals: dict[int, int] = defaultdict(int)
    for number, value in zip(evidence.run[rows].tolist(), values[rows].tolist(), strict=True):
        totals[number] += value
    return totals.items()


def _mask(columns: SpanColumns, rows: Ints) -> Mask:
    mask = np.zeros(len(columns), dtype=bool)
    mask[rows] = True
    return mask
