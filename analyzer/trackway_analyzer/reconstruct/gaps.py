"""What is missing from the record of a run? Each hole is named, counted and placed.

1. `missing_parent`: a span's parent is not in the source. Counts spans.
2. `no_root`: no span of the run is a root.
3. `parent_cycle`: spans were their own ancestors; cut above the earliest. Counts cycles.
4. `duplicate_span_id`: further rows under an id that was seen already. Counts rows.
5. `clock_skew`: a span started more than 1 ms before its parent. Counts spans.
6. `unfinished_span`: a step never ended; or spans that are no steps, counted together; or a run
   of our SDK lacks its run span, which is exported when the run ends. Counts run ids.
7. `truncated_value`: values were cut at a limit. Counts fields.
8. `dropped_attributes`: the SDK that wrote the span dropped some. Counts attributes.
9. `content_off`: a tool step has neither arguments nor result, a model step no messages.
10. `unparsable_arguments`: arguments that look like a JSON object or list and are none.
11. `missing_steps`: a hole in the logical clock, up to the last step that the run span names.
    Counts steps.
12. `tools_not_observable`: nothing can tell whether tools were called: they were offered to a model
    whose output is not recorded; the last turn asked for a call in a run without any tool span; an
    agent ended well and no call of it is recorded.
13. `missing_timestamps`: steps whose start or end the source does not hold. Counts steps.

A gap of one step has its position. A gap of all steps of a kind is one gap of the run, without one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import GapName, Operation, Trackway
from trackway_analyzer.reconstruct.columns import LLM, NEVER, NONE, Ints, Mask, SpanColumns, paired
from trackway_analyzer.reconstruct.messages import quickly_parsed
from trackway_analyzer.reconstruct.rank import Clock
from trackway_analyzer.reconstruct.run_spans import RunSpans
from trackway_analyzer.reconstruct.tree import Tree
from trackway_analyzer.spans import NO_TIME

GapRow = dict[str, Any]

_OFFERED: Final = (
    '"gen_ai.tool.definitions"',
    '"gen_ai.agent.tools"',
    '"llm.tools.',
    '"llm.request.functions.',
    '"ai.prompt.tools"',
    '"mlflow.chat.tools"',
)
"""Attributes of several dialects that list the tools a model may call."""


_OF_RUN_SPAN: Final = rf'"(?:{Trackway.SCHEMA_VERSION}|{Trackway.RUN_LAST_STEP})":'.replace(
    ".", r"\."
)
"""An attribute of run spans alone: of each from its start, or from its end."""
_NO_RUN_SPAN: Final = "the run span is missing: the run did not end, or its span was lost"
_MOST: Final = 2**31 - 1


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


def gaps_of(evidence: Evidence) -> list[list[GapRow]]:
    """Return the gaps of each run, sorted by name and position."""
    gaps: list[list[GapRow]] = [[] for _ in evidence.spans]
    for finder in _FINDERS:
        for run, gap in finder(evidence):
            gaps[run].append(gap)
    for rows in gaps:
        rows.sort(key=_place)
    return gaps


def _place(gap: GapRow) -> tuple[str, int, int, str]:
    position = NONE if gap["position"] is None else gap["position"]
    return gap["name"], position, gap["count"], gap["detail"] or ""


def _gap(
    name: GapName, count: int = 1, position: int | None = None, detail: str | None = None
) -> GapRow:
    return {"name": name.value, "position": position, "count": count, "detail": detail}


Found = Iterable[tuple[int, GapRow]]


def _structure(evidence: Evidence) -> Found:
    """Holes in the tree of spans."""
    columns, tree, run = evidence.columns, evidence.tree, evidence.run
    members = run != NONE
    rootless = np.ones(len(evidence.spans), dtype=bool)
    roots = members & (tree.parent == NONE) & ~tree.orphan
    roots[tree.cut] = False
    rootless[run[roots]] = False
    below = np.flatnonzero(members & (tree.parent != NONE))
    entries = below[run[tree.parent[below]] != run[below]]
    rootless[run[entries]] = False
    yield from _counted(evidence, GapName.MISSING_PARENT, tree.orphan)
    yield from _counted(evidence, GapName.PARENT_CYCLE, _mask(columns, tree.cut))
    yield from _counted(evidence, GapName.CLOCK_SKEW, _mask(columns, evidence.clock.skewed))
    for number in np.flatnonzero(rootless).tolist():
        yield number, _gap(GapName.NO_ROOT)
    for number, count in _sums(evidence, evidence.extra):
        yield number, _gap(GapName.DUPLICATE_SPAN_ID, count)


def _spans(evidence: Evidence) -> Found:
    """What the spans themselves admit."""
    columns = evidence.columns
    for number, count in _sums(evidence, columns.ints("dropped_attributes", 0)):
        yield number, _gap(GapName.DROPPED_ATTRIBUTES, count)
    open_wrappers = (columns.end == NEVER) & ~columns.is_step
    yield from _counted(evidence, GapName.UNFINISHED_SPAN, open_wrappers)
    cut = pc.list_value_length(columns.array("truncated")).fill_null(0).to_numpy()
    for number, count in _sums(evidence, np.where(columns.is_step, 0, cut)):
        yield number, _gap(GapName.TRUNCATED_VALUE, count)


def _untimed(evidence: Evidence) -> Found:
    """Steps whose times are not in the source, one gap a run."""
    columns = evidence.columns
    lacks_start = columns.is_step & (columns.start == NO_TIME)
    lacks_end = columns.is_step & (columns.end == NO_TIME)
    starts, ends = dict(_sums(evidence, lacks_start)), dict(_sums(evidence, lacks_end))
    for number, count in _sums(evidence, lacks_start | lacks_end):
        lacking = [word for word, runs in (("start", starts), ("end", ends)) if number in runs]
        yield number, _gap(GapName.MISSING_TIMESTAMPS, count, detail=" and ".join(lacking))


def _run_spans(evidence: Evidence) -> Found:
    """Runs with an id of ours whose run span is not there: killed, or the span was lost."""
    columns, run = evidence.columns, evidence.run
    own = columns.codes("run_id")
    rows = np.flatnonzero(~columns.is_step & (own != NONE))
    texts = columns.array("attributes").take(pa.array(rows))
    marked = pc.match_substring_regex(texts, _OF_RUN_SPAN).fill_null(False)
    ended = np.unique(own[rows[marked.to_numpy(zero_copy_only=False)]])
    bare = np.flatnonzero((own != NONE) & (run != NONE) & ~np.isin(own, ended))
    pairs = np.unique(np.stack((run[bare], own[bare])), axis=1)
    for number, count in zip(*np.unique(pairs[0], return_counts=True), strict=True):
        yield int(number), _gap(GapName.UNFINISHED_SPAN, int(count), detail=_NO_RUN_SPAN)


def _clock_holes(evidence: Evidence) -> Found:
    """Values of the logical clock that no span bears."""
    columns, run = evidence.columns, evidence.run
    index = columns.ints("step_index")
    rows = np.flatnonzero((index > 0) & (run != NONE))
    clock = paired(run[rows], columns.codes("run_id")[rows])
    order = np.lexsort((index[rows], clock))
    rows, clock = rows[order], clock[order]
    fresh = np.ones(len(rows), dtype=bool)
    fresh[1:] = (clock[1:] != clock[:-1]) | (index[rows[1:]] != index[rows[:-1]])
    rows, clock = rows[fresh], clock[fresh]
    first = np.flatnonzero(np.diff(clock, prepend=NONE))
    bounds = np.append(first, len(rows))
    clocks_of = np.bincount(run[rows[first]], minlength=len(evidence.spans))
    named = np.array([_last_step(span) for span in evidence.spans], dtype=np.int64)
    # Runs joined to a conversation bring a clock each; no one last step speaks for all of them.
    named[clocks_of > 1] = 0
    for number in np.flatnonzero((clocks_of == 0) & (named > 0)).tolist():
        yield number, _hole(index[:0], int(named[number]))
    last = np.maximum(index[rows[bounds[1:] - 1]], named[run[rows[first]]])
    for place in np.flatnonzero(last > np.diff(bounds)).tolist():
        there = rows[bounds[place] : bounds[place + 1]]
        yield int(run[there[0]]), _hole(index[there], int(last[place]))


def _last_step(span: RunSpans) -> int:
    value = span.attributes.get(Trackway.RUN_LAST_STEP)
    return min(value, _MOST) if isinstance(value, int) else 0


def _hole(there: Ints, last: int) -> GapRow:
    """Name the missing numbers as ranges, the first few."""
    edges = np.concatenate(([0], there, [last + 1]))
    wide = np.flatnonzero(np.diff(edges) > 1)
    ranges = [(int(edges[place]) + 1, int(edges[place + 1]) - 1) for place in wide[:5].tolist()]
    texts = [str(low) if low == high else f"{low}-{high}" for low, high in ranges]
    detail = ", ".join(texts) + (", …" if len(wide) > 5 else "")
    return _gap(GapName.MISSING_STEPS, last - len(there), detail=detail)


def _step_values(evidence: Evidence) -> Found:
    """Values that steps lack."""
    steps = evidence.steps
    operation = steps.column("operation").combine_chunks()
    is_tool = pc.equal(operation, Operation.TOOL.value).to_numpy(zero_copy_only=False)
    is_model = pc.equal(operation, Operation.LLM.value).to_numpy(zero_copy_only=False)
    spanned = ~steps.column("synthesised").to_numpy()
    bare = {
        name: steps.column(name).combine_chunks().is_null().to_numpy(zero_copy_only=False)
        for name in ("arguments", "result", "input", "output", "end")
    }
    off = (is_tool & bare["arguments"] & bare["result"], is_model & bare["input"] & bare["output"])
    for kind, silent, word in ((is_tool, off[0], "tool calls"), (is_model, off[1], "model calls")):
        yield from _of_steps(evidence, GapName.CONTENT_OFF, silent, of=kind, detail=word)
    unfinished = spanned & bare["end"] & ~_end_unknown(evidence)
    yield from _of_steps(evidence, GapName.UNFINISHED_SPAN, unfinished)
    yield from _of_steps(evidence, GapName.UNPARSABLE_ARGUMENTS, _unparsable(steps, is_tool))
    truncated = steps.column("truncated").combine_chunks()
    lengths = pc.list_value_length(truncated).fill_null(0).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(lengths)
    for (run, position), fields in zip(
        _places(steps, rows), truncated.take(pa.array(rows)).to_pylist(), strict=True
    ):
        detail = ", ".join(sorted(fields))
        yield run, _gap(GapName.TRUNCATED_VALUE, len(fields), position, detail)


def _end_unknown(evidence: Evidence) -> Mask:
    """Steps that ended at a time which the source does not hold."""
    columns, steps = evidence.columns, evidence.steps
    rows = np.flatnonzero((columns.end == NO_TIME) & columns.is_step)
    if not len(rows):
        return np.zeros(len(steps), dtype=bool)
    ended = set(zip(evidence.run[rows].tolist(), columns.values("span_id", rows), strict=True))
    names = ("run", "span_id")
    own = zip(*(steps.column(name).to_pylist() for name in names), strict=True)
    return np.fromiter((place in ended for place in own), dtype=bool, count=len(steps))


def _unparsable(steps: pa.Table, is_tool: Mask) -> Mask:
    """Arguments that open like an object or a list and are none."""
    texts = steps.column("arguments").combine_chunks()
    doubtful = pc.match_substring_regex(texts, r'^\s*(?:[{\[]|"\s*[{\[])').fill_null(False)
    rows = np.flatnonzero(doubtful.to_numpy(zero_copy_only=False) & is_tool)
    flags = np.zeros(len(steps), dtype=bool)
    flags[rows] = [
        isinstance(quickly_parsed(text), str) for text in texts.take(pa.array(rows)).to_pylist()
    ]
    return flags


def _unobservable(evidence: Evidence) -> Found:
    """Agents with tools whose calls nobody could have seen."""
    columns, run, steps = evidence.columns, evidence.run, evidence.steps
    step_run = steps.column("run").to_numpy()
    operation = steps.column("operation").combine_chunks()
    tool = pc.equal(operation, Operation.TOOL.value).to_numpy(zero_copy_only=False)
    spanless = steps.column("synthesised").to_numpy()
    unrun = ~steps.column("executed").combine_chunks().to_numpy(zero_copy_only=False)
    with_tool_spans = np.unique(step_run[tool & ~spanless])
    hidden = np.flatnonzero(tool & unrun & ~np.isin(step_run, with_tool_spans))
    for number, position in _places(steps, hidden):
        yield number, _gap(GapName.TOOLS_NOT_OBSERVABLE, 1, position, "asked for in the last turn")
    models = np.flatnonzero((columns.operation == LLM) & (run != NONE))
    models = models[~np.isin(run[models], np.unique(step_run[tool]))]
    offers = _offers(columns, models)
    said = columns.recorded("output")[models]
    for number in np.unique(run[models[offers & ~said]]).tolist():
        yield number, _gap(GapName.TOOLS_NOT_OBSERVABLE, detail="tools were offered")
    # An agent that ended well without one recorded call was not watched, unless we watched it.
    watched = np.isin(run, np.unique(step_run)) | columns.recorded("run_id")
    finished = columns.is_agent & ~columns.failed & (columns.end != NEVER) & (run != NONE)
    unwatched = np.setdiff1d(run[finished & ~watched], run[watched])
    for number in unwatched.tolist():
        yield number, _gap(GapName.TOOLS_NOT_OBSERVABLE, detail="no call of the agent is recorded")


def _offers(columns: SpanColumns, models: Ints) -> Mask:
    """Model spans that list tools, or that stopped for a call that is not recorded."""
    texts = columns.array("attributes").take(pa.array(models))
    offers = np.zeros(len(models), dtype=bool)
    for mark in _OFFERED:
        found = pc.match_substring(texts, mark).fill_null(False)
        offers |= found.to_numpy(zero_copy_only=False)
    reasons = columns.values("finish_reasons", models)
    offers |= np.array(["tool_call" in (some or ()) for some in reasons], dtype=bool)
    return offers


_FINDERS: Final = (
    _structure,
    _spans,
    _untimed,
    _run_spans,
    _clock_holes,
    _step_values,
    _unobservable,
)


def _of_steps(
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
            yield number, _gap(name, int(flagged[number]), detail=detail)
    for number, position in _places(evidence.steps, rows[~whole[run[rows]]]):
        yield number, _gap(name, 1, position, detail)


def _places(steps: pa.Table, rows: Ints) -> list[tuple[int, int]]:
    run, position = (steps.column(name).to_numpy()[rows].tolist() for name in ("run", "position"))
    return list(zip(run, position, strict=True))


def _counted(evidence: Evidence, name: GapName, flags: Mask) -> Found:
    for number, count in _sums(evidence, flags.astype(np.int64)):
        yield number, _gap(name, count)


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
