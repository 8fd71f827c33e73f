"""Which runs are meant? Columns of the runs table and the values that they may have.

1. A name is a column of the runs table, or one of the short names in `ALIASES`. Any other name is
   an error that says the nearest one.
2. Several columns: all of them must match. Several values of one column: any of them does.
3. None matches the runs that did not record the column.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.tables import RUN_SCHEMA

Where: TypeAlias = tuple[tuple[str, tuple[Any, ...]], ...]
"""Columns of the runs table and the values that they may have."""

ALIASES: Final = {
    "run": "run_id",
    "session": "session_id",
    "suite": "suite_id",
    "task": "task_id",
    "version": "agent_version",
}
"""Short names of columns."""


def column_of(name: str) -> str:
    """Return the column that a name means. Raises ValueError."""
    column = ALIASES.get(name, name)
    if column not in RUN_SCHEMA.names:
        near = get_close_matches(name, [*RUN_SCHEMA.names, *ALIASES], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"{name!r} is no column of the runs table{hint}")
    return column


def where(columns: Mapping[str, Any]) -> Where:
    """Read `column=value` and `column=[value, …]`. Raises ValueError."""
    return tuple((column_of(name), _values(wanted)) for name, wanted in columns.items())


def matching(batch: RunBatch, wanted: Where) -> RunBatch:
    """Keep the runs that match, in their order."""
    if not wanted:
        return batch
    keep = [True] * len(batch)
    for column, values in wanted:
        recorded = batch.runs.column(column).to_pylist()
        keep = [kept and value in values for kept, value in zip(keep, recorded, strict=True)]
    return batch.take([ordinal for ordinal, kept in enumerate(keep) if kept])


def _values(wanted: Any) -> tuple[Any, ...]:
    return tuple(wanted) if isinstance(wanted, list | tuple | set | frozenset) else (wanted,)
