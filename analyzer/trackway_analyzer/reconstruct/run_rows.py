"""The runs table: one row a run, summed and picked from its spans and steps.

1. Identity (session, task, variant, …) is what a head of the run says, else the first span that
   does.
2. Tokens and cost are summed over the steps; an agent span repeats its models' tokens. Only a run
   whose steps recorded none takes those of its heads. A sum of nothing recorded is null. Model
   calls that a sum lacks are counted (`usage`).
3. Events of ours on spans that are no steps (a decision of the agent, a wait of the run) are the
   run's.
4. `tools` are the executed tools in order; `retries` counts steps that are a further attempt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import Operation
from trackway_analyzer.reconstruct.columns import NEVER, NONE, Ints, Mask, SpanColumns, paired
from trackway_analyzer.reconstruct.gap_rows import GapRow
from trackway_analyzer.reconstruct.run_spans import (
    RunSpans,
    attribute_columns,
    said_after_end,
)
from trackway_analyzer.reconstruct.usage import COST, TOKENS, without
from trackway_analyzer.spans import NO_TIME
from trackway_analyzer.tables import RUN_SCHEMA

_PICKED: Final = (
    "session_id",
    "suite_id",
    "task_id",
    "trial",
    "seed",
    "variant",
    "agent_version",
    "service",
    "agent",
)


_OURS: Final = "trackway."


def runs_table(
    columns: SpanColumns,
    run: Ints,
    ids: Sequence[str],
    heads: Ints,
    rank: Ints,
    steps: pa.Table,
    spans: list[RunSpans],
    gaps: list[list[GapRow]],
) -> pa.Table:
    """Build the runs table. `heads` are sorted by run and start."""
    count = len(ids)
    rows = _by_importance(columns, run, heads, rank)
    arrays: dict[str, Any] = {name: _first(columns, run, rows, name, count) for name in _PICKED}
    arrays |= attribute_columns(spans)
    for name in ("input", "said", "final_text", "error_type", "error_message"):
        arrays[name] = [getattr(span, name) for span in spans]
    arrays["run_id"] = list(ids)
    arrays["trace_ids"] = _distinct(columns, run, rows, "trace_id", count)
    arrays["sources"] = _distinct(columns, run, rows, "source", count)
    arrays |= _times(columns, run, rows[~np.isin(rows, said_after_end(columns))], count)
    arrays["spans"] = pa.array(np.bincount(run[rows], minlength=count), pa.int32())
    arrays |= _of_steps(columns, run, heads, steps, count)
    arrays["gaps"] = gaps
    arrays["events"] = _events(columns, run, rank, count)
    return pa.Table.from_arrays(
        [_array(arrays[field.name], field.type) for field in RUN_SCHEMA], schema=RUN_SCHEMA
    )


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    if not isinstance(values, list):
        return values
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode()
    return pa.array(values, kind)


def _by_importance(columns: SpanColumns, run: Ints, heads: Ints, rank: Ints) -> Ints:
    """Rows of runs sorted by run, heads first, then by start."""
    head = np.zeros(len(columns), dtype=bool)
    head[heads] = True
    rows = np.flatnonzero(run != NONE)
    keys = (rank[rows], columns.start[rows], ~head[rows], run[rows])
    return rows[np.lexsort(keys)]


def _first(columns: SpanColumns, run: Ints, rows: Ints, name: str, count: int) -> pa.Array:
    recorded = rows[columns.recorded(name)[rows]]
    runs, first = np.unique(run[recorded], return_index=True)
    chosen = np.full(count, NONE)
    chosen[runs] = recorded[first]
    return columns.array(name).take(pa.array(chosen, pa.int64(), mask=chosen == NONE))


def _distinct(
    columns: SpanColumns, run: Ints, rows: Ints, name: str, count: int
) -> list[list[str]]:
    """Return the distinct values of a text column, by run, in order of appearance."""
    codes = columns.codes(name)[rows]
    recorded = codes != NONE
    numbers, codes = run[rows][recorded], codes[recorded]
    first = np.sort(np.unique(paired(numbers, codes), return_index=True)[1])
    values: list[list[str]] = [[] for _ in range(count)]
    for number, code in zip(numbers[first].tolist(), codes[first].tolist(), strict=True):
        values[number].append(columns.name_of(name, code))
    return values


def _times(columns: SpanColumns, run: Ints, rows: Ints, count: int) -> dict[str, pa.Array]:
    start = np.full(count, np.iinfo(np.int64).max)
    end = np.full(count, NEVER)
    timed = rows[columns.start[rows] != NO_TIME]
    np.minimum.at(start, run[timed], columns.start[timed])
    np.maximum.at(end, run[rows], columns.end[rows])
    no_start = np.bincount(run[timed], minlength=count) == 0
    no_end = (end == NEVER) | (end == NO_TIME)
    unknown = no_start | no_end
    seconds = np.where(unknown, 0, end - np.where(unknown, 0, start)) / 1e9
    kind = RUN_SCHEMA.field("start").type
    return {
        "start": pa.array(start, pa.int64(), mask=no_start).cast(kind),
        "end": pa.array(end, pa.int64(), mask=no_end).cast(kind),
        "duration_s": pa.array(seconds, mask=unknown),
    }


def _of_steps(
    columns: SpanColumns, run: Ints, heads: Ints, steps: pa.Table, count: int
) -> dict[str, Any]:
    step_run = steps.column("run").to_numpy()
    operation = steps.column("operation").combine_chunks()
    model = _where(operation, Operation.LLM)
    executed = steps.column("executed").combine_chunks().to_numpy(zero_copy_only=False)
    tool = _where(operation, Operation.TOOL) & executed
    again = steps.column("retry_of").combine_chunks().is_valid().to_numpy(zero_copy_only=False)
    again |= pc.greater(steps.column("attempt"), 1).fill_null(False).to_numpy()
    counts = {"steps": np.ones_like(tool), "model_calls": model, "tool_calls": tool}
    arrays: dict[str, Any] = {
        name: pa.array(np.bincount(step_run[flags], minlength=count), pa.int32())
        for name, flags in (counts | {"retries": again & executed}).items()
    }
    for name in ("tokens_in", "tokens_out", "cost"):
        own = columns.array(name).take(pa.array(heads))
        recorded = steps.column(name).combine_chunks()
        arrays[name] = _sum(recorded, step_run, own, run[heads], count)
    for name, summed in (("calls_without_tokens", TOKENS), ("calls_without_cost", COST)):
        arrays[name] = without(steps, summed, [arrays[column] for column in summed])
    arrays["tools"] = _tools(steps, step_run, tool, count)
    return arrays


def _sum(values: pa.Array, of: Ints, spare: pa.Array, spare_of: Ints, count: int) -> pa.Array:
    """Sum recorded values by run; a run without any takes its spare."""
    totals = np.zeros(count, dtype=np.float64 if pa.types.is_floating(values.type) else np.int64)
    known = np.zeros(count, dtype=bool)
    for array, runs in ((values, of), (spare, spare_of)):
        there = array.is_valid().to_numpy(zero_copy_only=False) & ~known[runs]
        np.add.at(totals, runs[there], array.filter(pa.array(there)).to_numpy())
        known[runs[there]] = True
    return pa.array(totals, mask=~known)


def _tools(steps: pa.Table, run: Ints, tool: Mask, count: int) -> pa.ListArray:
    rows = np.flatnonzero(tool)
    names = steps.column("tool").combine_chunks().take(pa.array(rows)).dictionary_decode()
    offsets = np.concatenate(([0], np.cumsum(np.bincount(run[rows], minlength=count))))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), names)


def _where(operation: pa.Array, wanted: Operation) -> Mask:
    return pc.equal(operation, wanted.value).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]  # Arrow is untyped


def _events(columns: SpanColumns, run: Ints, rank: Ints, count: int) -> pa.ListArray:
    """Events of ours on spans of runs that are no steps, by run and time."""
    events = columns.array("events")
    owner = pc.list_parent_indices(events).to_numpy(zero_copy_only=False).astype(np.int64)
    flat = pc.list_flatten(events)
    ours = pc.starts_with(flat.field("name"), _OURS).fill_null(False)
    kept = ours.to_numpy(zero_copy_only=False) & (run[owner] != NONE) & ~columns.is_step[owner]
    places = np.flatnonzero(kept)
    owner = owner[places]
    time = flat.field("time").cast(pa.int64()).fill_null(NEVER).to_numpy()[places]
    order = np.lexsort((places, rank[owner], time, run[owner]))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(run[owner], minlength=count))))
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), flat.take(pa.array(places[order]))
    )
