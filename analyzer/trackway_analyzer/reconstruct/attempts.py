"""Which calls are tries of one operation?

1. Executed calls with one operation id are attempts of one operation, wherever they stand.
2. Without an operation id, a call is a further attempt of the call before it if that one failed,
   had the same tool, arguments and agent, and stands in the same group or the one before among the
   agent's tool calls.
3. `retry_of` is the position of the first attempt. A recorded attempt number wins over a counted
   one; a number above 1 whose first try is not in the record has no `retry_of`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import Operation
from trackway_analyzer.reconstruct.columns import NONE, Ints, Mask
from trackway_analyzer.tables import STEP_SCHEMA


@dataclass(slots=True)
class _Try:
    position: int
    number: int
    first: int
    failed: bool
    turn: int
    """Number of the group among the agent's tool calls."""


def with_attempts(steps: pa.Table) -> pa.Table:
    """Fill `attempt` and `retry_of`."""
    executed = steps.column("executed").combine_chunks()
    is_tool = pc.and_(pc.equal(steps.column("operation"), Operation.TOOL.value), executed)
    tool = np.flatnonzero(is_tool.to_numpy())
    attempt = steps.column("attempt").combine_chunks()
    numbers: Ints = attempt.cast(pa.int64()).fill_null(NONE).to_numpy().copy()
    retry_of = np.full(len(steps), NONE)
    numbers[tool] = np.where(numbers[tool] == NONE, 1, numbers[tool])
    run = steps.column("run").to_numpy()
    doubtful = np.isin(run[tool], run[_hints(steps, is_tool)])
    _count(steps, tool[doubtful], numbers, retry_of)
    for name, values in (("attempt", numbers), ("retry_of", retry_of)):
        array = pa.array(values, pa.int32(), mask=values == NONE)
        place = steps.schema.get_field_index(name)
        steps = steps.set_column(place, STEP_SCHEMA.field(name), array)
    return steps


def _hints(steps: pa.Table, is_tool: pa.ChunkedArray) -> Mask:
    """Rows that make a retry possible: a failed call, a recorded attempt, an id that recurs."""
    failed = _failed(steps)
    again = pc.greater(steps.column("attempt"), 1).fill_null(False)
    hints: Mask = pc.and_(pc.or_(failed, again), is_tool).to_numpy().copy()
    named = np.flatnonzero(pc.and_(pc.is_valid(steps.column("operation_id")), is_tool).to_numpy())
    hints[named] |= _come_again(steps.select(["run", "operation_id"]).take(pa.array(named)))
    return hints


def _failed(steps: pa.Table) -> pa.ChunkedArray:
    """Which steps failed, also where what they had set going may have gone through."""
    said_no = pc.equal(steps.column("ok"), False).fill_null(False)
    is_open = pc.is_null(steps.column("ok"))
    return pc.or_(said_no, pc.and_(is_open, pc.is_valid(steps.column("error_type"))))


def _come_again(named: pa.Table) -> Mask:
    """Which steps share their operation id with another of their run."""
    operation = named.column("operation_id").combine_chunks().dictionary_encode()
    code = operation.indices.to_numpy().astype(np.int64)
    key = named.column("run").to_numpy() * np.int64(len(operation.dictionary)) + code
    _, which, count = np.unique(key, return_inverse=True, return_counts=True)
    several: Mask = count[which] > 1
    return several


def _count(steps: pa.Table, rows: Ints, numbers: Ints, retry_of: Ints) -> None:
    names = ("run", "position", "group", "tool", "arguments", "agent_path", "operation_id")
    wanted = steps.take(pa.array(rows))
    by_operation: dict[tuple[int, str], _Try] = {}
    by_content: dict[tuple[object, ...], _Try] = {}
    turns: dict[tuple[int, str | None], tuple[int, int]] = defaultdict(lambda: (NONE, 0))
    columns = [wanted.column(name).to_pylist() for name in names]
    columns.append(_failed(wanted).to_pylist())
    for row, run, position, group, tool, arguments, path, operation, failed in zip(
        rows.tolist(), *columns, strict=True
    ):
        last_group, turn = turns[run, path]
        turn += group != last_group
        turns[run, path] = group, turn
        content = (run, path, tool, arguments)
        before = by_operation.get((run, operation)) if operation is not None else None
        if operation is None:
            before = by_content.get(content)
            if before is not None and not (before.failed and before.turn >= turn - 1):
                before = None
        recorded = int(numbers[row])
        number = recorded
        if before is not None:
            number = recorded if recorded > 1 else before.number + 1
            retry_of[row] = before.first
        numbers[row] = number
        first = before.first if before is not None else position
        this = _Try(position, number, first, failed, turn)
        by_content[content] = this
        if operation is not None:
            by_operation[run, operation] = this
