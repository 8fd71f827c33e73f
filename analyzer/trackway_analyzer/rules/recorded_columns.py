"""Columns of a batch as rules read them, each listed once, and the executed calls of each run."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
import pyarrow.compute as pc

from trackway.schema import Operation
from trackway_analyzer.batch import Ints
from trackway_analyzer.rules.columns import Codes, Flags, is_null, listed
from trackway_analyzer.rules.gaps import WithGaps

T = TypeVar("T")


@dataclass(frozen=True)
class WithColumns(WithGaps):
    """A batch of which each column is listed once."""

    @cached_property
    def tool(self) -> list[str | None]:
        """Tool of each row of `steps`; likewise the columns below."""
        return self._column("tool")

    @cached_property
    def kind(self) -> list[str | None]:
        """Settled kind."""
        return self._column("kind")

    @cached_property
    def ok(self) -> list[bool | None]:
        """Settled success."""
        return self._column("ok")

    @cached_property
    def group(self) -> list[int]:
        """Group; rows of one run with the same group are unordered."""
        return self._column("group")

    @cached_property
    def operation_id(self) -> list[str | None]:
        """Idempotency key."""
        return self._column("operation_id")

    @cached_property
    def _arguments(self) -> list[str | None]:
        return self._column("arguments")

    @cached_property
    def _results(self) -> list[str | None]:
        return self._column("result")

    @cached_property
    def entity_refs(self) -> list[tuple[str, ...]]:
        """Recorded `type:id` of each row."""
        return [tuple(refs or ()) for refs in self._column("entity_refs")]

    @cached_property
    def error_type(self) -> list[str | None]:
        """Type of the error that the call raised."""
        return self._column("error_type")

    @cached_property
    def _truncated(self) -> list[list[str] | None] | None:
        if is_null(self.batch.steps, "truncated").all():
            return None
        return self._column("truncated")

    @cached_property
    def run(self) -> list[int]:
        """Run ordinal."""
        return self._column("run")

    def _column(self, name: str) -> list[Any]:
        return listed(self.batch.steps, name)

    def codes(self, column: str) -> Codes:
        """A dictionary column of `steps` as small integers."""
        return self.memo(("codes", column), partial(Codes.of, self.batch.steps, column))

    def is_operation(self, operation: Operation) -> Flags:
        """Which rows have this operation."""
        found = self.codes("operation")
        flags: Flags = found.codes == found.code(operation)
        return flags

    @cached_property
    def operation_of(self) -> list[str]:
        """Operation of each row."""
        return self._column("operation")

    @cached_property
    def inputs(self) -> list[str | None]:
        """What each row was given: the messages of a model call."""
        return self._column("input")

    @cached_property
    def outputs(self) -> list[str | None]:
        """What each row gave: the messages of a model call."""
        return self._column("output")

    @cached_property
    def requested(self) -> list[bool | None]:
        """Whether a model asked for the call."""
        return self._column("requested")

    @cached_property
    def _memos(self) -> dict[Hashable, Any]:
        return {}

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """Make something once for this evidence."""
        if key not in self._memos:
            self._memos[key] = make()
        made: T = self._memos[key]
        return made

    @cached_property
    def is_call(self) -> list[bool]:
        """Whether the row is a tool call that was executed: what sequence rules look at."""
        values: list[bool] = self._call_flags.tolist()
        return values

    @cached_property
    def _call_flags(self) -> Flags:
        executed = pc.fill_null(self.batch.steps.column("executed"), True).to_numpy()
        flags: Flags = self.is_operation(Operation.TOOL) & executed.astype(bool)
        return flags

    @cached_property
    def call_rows(self) -> Ints:
        """Rows of all executed tool calls, in order."""
        rows: Ints = np.flatnonzero(self._call_flags)
        return rows

    @cached_property
    def call_cuts(self) -> Ints:
        """Where the executed tool calls of each run begin in `call_rows`, and one past the last."""
        if self._call_flags.all():
            return self.batch.offsets
        before = np.zeros(len(self._call_flags) + 1, dtype=np.int64)
        np.cumsum(self._call_flags, out=before[1:])
        cuts: Ints = before.take(self.batch.offsets)
        return cuts

    @cached_property
    def _calls(self) -> tuple[list[int], list[int]]:
        return self.call_rows.tolist(), self.call_cuts.tolist()

    def calls(self, ordinal: int) -> list[int]:
        """Rows of the executed tool calls of a run, in order."""
        rows, cuts = self._calls
        return rows[cuts[ordinal] : cuts[ordinal + 1]]

    def rows(self, tool: str) -> dict[int, list[int]]:
        """Rows of the executed calls of a tool, by run."""
        return self.memo(("rows", tool), partial(self._find_rows, tool))

    def _find_rows(self, tool: str) -> dict[int, list[int]]:
        found, cuts = self.rows_of(tool)
        rows = found.tolist()
        runs = np.flatnonzero(np.diff(cuts)).tolist()
        first = cuts.tolist()
        return {run: rows[first[run] : first[run + 1]] for run in runs}

    def rows_of(self, tool: str) -> tuple[Ints, Ints]:
        """Rows of the executed calls of a tool, and where those of each run begin."""
        rows = self.codes("tool").where(tool)
        rows = rows[self._call_flags[rows]]
        return rows, np.searchsorted(rows, self.batch.offsets)

    def position(self, row: int) -> int:
        """Position of a row in its run."""
        return row - self._offsets[self.run[row]]

    def first_row(self, run: int) -> int:
        """Row of the first step of a run."""
        return self._offsets[run]

    @cached_property
    def _offsets(self) -> list[int]:
        offsets: list[int] = self.batch.offsets.tolist()
        return offsets

    def text(self, ordinal: int, column: str) -> str | None:
        """A text column of a run: `input`, `final_text`."""
        return self.texts(column)[ordinal]

    def texts(self, column: str) -> list[str | None]:
        """A text column of all runs."""
        return self.memo(("texts", column), partial(listed, self.batch.runs, column))
