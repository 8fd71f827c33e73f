"""Which spans may be calls of a tool, although nothing says that they are?

Some instrumentors trace any function that is decorated, and call it a tool only where the program
says so: Langfuse's `@observe()`, `mlflow.trace`, Traceloop's `@task`, a chain of OpenInference.

1. Such a span has an input and an output, no kind that makes it a step, and no step below it.
2. It may be a call of the tool of its name, and of no other. Where a step of the run has that tool,
   the run tells its calls, and the span is what stands around one.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import SCOPE_NAME, GapName, Operation
from trackway_analyzer.model import MORE_NAMES, NAMES_PARTED
from trackway_analyzer.reconstruct.columns import NONE, Ints, Mask, SpanColumns
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap
from trackway_analyzer.reconstruct.tree import Tree

_IN_AND_OUT: Final = (
    ('"langfuse.observation.input"', '"langfuse.observation.output"'),
    ('"mlflow.spanInputs"', '"mlflow.spanOutputs"'),
    ('"traceloop.entity.input"', '"traceloop.entity.output"'),
    ('"input.value"', '"output.value"'),
    ('"gen_ai.prompt"', '"gen_ai.completion"'),
)
_KINDS: Final = (".task", ".tool")
_MOST: Final = 200
_DEEPEST: Final = 1000


def gaps_of_possible_calls(evidence: Evidence) -> Found:
    """One gap for the spans of a run that may be calls, with their names."""
    columns, run = evidence.columns, evidence.run
    other = pc.equal(columns.array("operation"), Operation.OTHER.value).fill_null(False)
    ours = pc.equal(columns.array("source"), SCOPE_NAME).fill_null(False)
    flags: Mask = other.to_numpy(zero_copy_only=False) & ~ours.to_numpy(zero_copy_only=False)
    flags = flags & (run != NONE)
    rows = np.flatnonzero(flags & ~_above_steps(columns, evidence.tree))
    rows = rows[_tell_both(columns.array("attributes").take(pa.array(rows)))]
    if not len(rows):
        return
    known = _tools(evidence)
    names: dict[int, dict[str, int]] = defaultdict(dict)
    for number, name in zip(run[rows].tolist(), columns.values("name", rows), strict=True):
        bare = _bare(name or "")
        if bare and (number, bare) not in known:
            names[number][bare] = names[number].get(bare, 0) + 1
    for number, found in sorted(names.items()):
        listed = [*sorted(found)[:_MOST], *([MORE_NAMES] if len(found) > _MOST else [])]
        detail = NAMES_PARTED.join(name.replace(NAMES_PARTED, " ") for name in listed)
        yield number, gap(GapName.POSSIBLE_CALLS, sum(found.values()), detail=detail)


def _above_steps(columns: SpanColumns, tree: Tree) -> Mask:
    """Where a span has a step below it, or an agent."""
    above = np.zeros(len(columns), dtype=bool)
    rows: Ints = np.flatnonzero(columns.is_step | columns.is_agent)
    for _ in range(_DEEPEST):
        rows = tree.parent[rows]
        rows = np.unique(rows[rows != NONE])
        rows = rows[~above[rows]]
        if not len(rows):
            break
        above[rows] = True
    return above


def _tell_both(attributes: pa.Array) -> Mask:
    """Where an input and an output stand among the attributes."""
    both = np.zeros(len(attributes), dtype=bool)
    for marks in _IN_AND_OUT:
        told, gave = (pc.match_substring(attributes, mark).fill_null(False) for mark in marks)
        both |= pc.and_(told, gave).to_numpy(zero_copy_only=False)
    return both


def _tools(evidence: Evidence) -> set[tuple[int, str]]:
    """Return run and tool of the steps, under each name of the tool."""
    steps = evidence.steps
    run = steps.column("run").to_pylist()
    columns = (steps.column(name).to_pylist() for name in ("tool", "tool_alias"))
    return {
        (number, _bare(name))
        for column in columns
        for number, name in zip(run, column, strict=True)
        if name
    }


def _bare(name: str) -> str:
    for kind in _KINDS:
        name = name.removesuffix(kind)
    return name
