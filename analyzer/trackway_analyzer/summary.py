"""What is in these runs? Small tables over a run batch: gaps, sessions, variants, tools, totals.

1. A gap row names its run and, where it hides one step, that step's number, from 1.
2. A session row is one conversation id; runs without one are in no row.
3. Two runs are the same variant if their tools print the same: names in order, calls of one model
   turn in parentheses and sorted, `✗` a call that failed, `?` one that was asked for and never ran.
   Model turns and arguments do not count.
4. Counts are of what was recorded. A sum over runs where some recorded nothing says how many did
   (`of`); a sum where no run recorded anything is null, not 0. Model calls inside those runs that
   recorded nothing are counted beside it (`lacking_calls`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import Operation
from trackway_analyzer.batch import RunBatch, StepShape
from trackway_analyzer.model import Step

GAP_SCHEMA: Final = pa.schema(
    [
        ("run_id", pa.string()),
        ("name", pa.string()),
        ("step", pa.int32()),
        ("count", pa.int32()),
        ("detail", pa.string()),
    ]
)

GAP_SUMMARY_SCHEMA: Final = pa.schema(
    [
        ("gap", pa.string()),
        ("runs", pa.int64()),
        ("count", pa.int64()),
        ("detail", pa.string()),  # the most frequent one
    ]
)

VARIANT_SCHEMA: Final = pa.schema(
    [
        ("sequence", pa.string()),
        ("runs", pa.int64()),
        ("share", pa.float64()),
        ("succeeded", pa.int64()),
        ("failed", pa.int64()),
        ("example", pa.string()),
    ]
)

TOOL_SCHEMA: Final = pa.schema(
    [
        ("tool", pa.string()),
        ("kind", pa.string()),
        ("calls", pa.int64()),
        ("failed", pa.int64()),
        ("never_executed", pa.int64()),
        ("runs", pa.int64()),
    ]
)


SESSION_NAMES: Final = [
    "session_id",
    "runs",
    "start",
    "end",
    "steps",
    "tool_calls",
    "tokens_in",
    "tokens_out",
    "calls_without_tokens",
]


def gap_table(batch: RunBatch) -> pa.Table:
    """One row a gap, in the order of the runs (`GAP_SCHEMA`)."""
    gaps = batch.runs.column("gaps").combine_chunks()
    rows, values = pc.list_parent_indices(gaps), pc.list_flatten(gaps)
    if not isinstance(values, pa.StructArray):
        values = values.combine_chunks()
    named = [
        batch.runs.column("run_id").take(rows),
        values.field("name"),
        pc.add(values.field("position"), pa.scalar(1, pa.int32())),
        values.field("count"),
        values.field("detail"),
    ]
    return pa.Table.from_arrays(named, schema=GAP_SCHEMA)


def gap_summary(gaps: pa.Table) -> pa.Table:
    """One row a name of gaps: in how many runs, how often, what was found most."""
    rows = []
    listed: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for gap in gaps.to_pylist():
        listed[gap["name"]].append(gap)
    for name, found in sorted(listed.items()):
        runs = {gap["run_id"] for gap in found} - {None}
        details = Counter(gap["detail"] for gap in found if gap["detail"])
        count = sum(gap["count"] for gap in found)
        most = details.most_common(1)[0][0] if details else None
        rows.append({"gap": name, "runs": len(runs), "count": count, "detail": most})
    return pa.Table.from_pylist(rows, schema=GAP_SUMMARY_SCHEMA)


def session_table(batch: RunBatch) -> pa.Table:
    """One row a session: its runs, when it began and ended, what it used."""
    known = batch.runs.filter(pc.is_valid(batch.runs.column("session_id")))
    grouped = known.group_by("session_id", use_threads=False).aggregate(
        [
            ("run_id", "count"),
            ("start", "min"),
            ("end", "max"),
            ("steps", "sum"),
            ("tool_calls", "sum"),
            ("tokens_in", "sum"),
            ("tokens_out", "sum"),
            ("calls_without_tokens", "sum"),
        ]
    )
    return grouped.rename_columns(SESSION_NAMES)


def variant_table(batch: RunBatch) -> pa.Table:
    """One row a distinct sequence of tools, the most frequent first (`VARIANT_SCHEMA`)."""
    texts = [sequence_text(shape) for shape in batch.variants.shapes]
    members: dict[str, list[int]] = defaultdict(list)
    for ordinal, variant in enumerate(batch.variants.of_run.tolist()):
        members[texts[variant]].append(ordinal)
    outcomes = batch.runs.column("outcome_success").to_pylist()
    ids = batch.runs.column("run_id")
    rows = [
        {
            "sequence": text,
            "runs": len(runs),
            "share": len(runs) / len(batch),
            "succeeded": sum(outcomes[run] is True for run in runs),
            "failed": sum(outcomes[run] is False for run in runs),
            "example": ids[runs[0]].as_py(),
        }
        for text, runs in members.items()
    ]
    rows.sort(key=lambda row: (-row["runs"], row["sequence"]))
    return pa.Table.from_pylist(rows, schema=VARIANT_SCHEMA)


def tool_table(batch: RunBatch) -> pa.Table:
    """One row a tool, the most used first (`TOOL_SCHEMA`). `calls` counts executed calls."""
    names = ("run", "operation", "tool", "kind", "executed", "ok")
    wanted = batch.steps.select(names)
    wanted = wanted.filter(pc.equal(wanted.column("operation"), Operation.TOOL.value))
    rows: dict[str, dict[str, object]] = {}
    runs: dict[str, set[int]] = defaultdict(set)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    columns = [
        wanted.column(name).to_pylist() for name in ("run", "tool", "kind", "executed", "ok")
    ]
    for run, tool, kind, executed, ok in zip(*columns, strict=True):
        rows.setdefault(tool, {"tool": tool, "kind": kind})
        runs[tool].add(run)
        counts[tool]["never_executed" if executed is False else "calls"] += 1
        counts[tool]["failed"] += executed is not False and ok is False
    for tool, row in rows.items():
        row["runs"] = len(runs[tool])
        row |= {name: counts[tool][name] for name in ("calls", "failed", "never_executed")}
    ordered = sorted(rows.values(), key=lambda row: (-int(str(row["calls"])), str(row["tool"])))
    return pa.Table.from_pylist(ordered, schema=TOOL_SCHEMA)


@dataclass(frozen=True, slots=True)
class Total:
    """A sum over runs and how many of them recorded the number."""

    value: int | float | None
    of: int
    lacking_calls: int = 0
    """Model calls of these runs that did not record the number: the sum is short of theirs."""


@dataclass(frozen=True, slots=True)
class Totals:
    """How much there is."""

    runs: int
    sessions: int
    tasks: int
    succeeded: int
    failed: int
    not_judged: int
    runs_with_gaps: int
    variants: int
    summed: dict[str, Total]
    """steps, model_calls, tool_calls, retries, tokens_in, tokens_out, cost, duration_s."""


SUMMED: Final = (
    "steps",
    "model_calls",
    "tool_calls",
    "retries",
    "tokens_in",
    "tokens_out",
    "cost",
    "duration_s",
)


LACKING: Final = {
    "tokens_in": "calls_without_tokens",
    "tokens_out": "calls_without_tokens",
    "cost": "calls_without_cost",
}
"""Sums of what model calls record, and the column that counts those that did not."""


def totals(batch: RunBatch) -> Totals:
    """Count runs and sum what they recorded."""
    runs = batch.runs
    succeeded = pc.sum(runs.column("outcome_success")).as_py() or 0
    judged = len(runs) - runs.column("outcome_success").null_count
    gaps = pc.fill_null(pc.list_value_length(runs.column("gaps")), 0)
    return Totals(
        runs=len(runs),
        sessions=_distinct(runs.column("session_id")),
        tasks=_tasks(runs),
        succeeded=succeeded,
        failed=judged - succeeded,
        not_judged=len(runs) - judged,
        runs_with_gaps=int(np.count_nonzero(gaps.to_numpy())),
        variants=len(variant_table(batch)),
        summed={name: _total(runs, name) for name in SUMMED},
    )


def sequence_text(steps: Iterable[Step | StepShape]) -> str:
    """Put the tools of a run on one line: `a → (b ∥ c) → d ✗`."""
    groups: dict[int, list[str]] = {}
    for step in steps:
        if step.operation == Operation.TOOL:
            groups.setdefault(step.group, []).append(_name(step))
    return " → ".join(_group(names) for names in groups.values()) or "no tool call"


def _group(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({' ∥ '.join(sorted(names))})"


def _name(step: Step | StepShape) -> str:
    name = step.tool or "?"
    if step.executed is False:
        return f"{name} ?"
    return f"{name} ✗" if step.ok is False else name


def _distinct(column: pa.ChunkedArray) -> int:
    return len(column.drop_null().unique())


def _tasks(runs: pa.Table) -> int:
    """Count tasks; suites may use one id for tasks of their own."""
    names = (runs.column(name).to_pylist() for name in ("suite_id", "task_id"))
    return len({(suite, task) for suite, task in zip(*names, strict=True) if task is not None})


def _total(runs: pa.Table, name: str) -> Total:
    column = runs.column(name)
    lacking = 0
    if name in LACKING:
        lacking = pc.sum(runs.column(LACKING[name]).filter(column.is_valid())).as_py() or 0
    return Total(pc.sum(column).as_py(), len(column) - column.null_count, lacking)
