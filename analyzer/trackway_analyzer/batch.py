"""The run batch: the one interface between reconstruction and everything after it.

A batch is two Arrow tables, `runs` and `steps`, and the offsets that cut the second by the first.

1. A run is whole inside one batch.
2. Steps are contiguous by run and in reconstructed order; `position` counts from 0 in each run.
3. A reference to a step is (run ordinal, position).
4. A function of a batch never depends on what else is in the batch: results of several batches
   merge in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trackway.schema import Operation
from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import NOT_RECORDED, JsonValue, NotRecorded, Step, Trajectory
from trackway_analyzer.tables import RUN_SCHEMA, STEP_SCHEMA
from trackway_analyzer.times import decoded

Ints = npt.NDArray[np.int64]

_JSON_COLUMNS = ("arguments", "result", "input", "output")
_LIST_COLUMNS = ("entity_refs", "finish_reasons", "truncated")
_FLAG_DEFAULTS = {"executed": True, "synthesised": False, "id_inferred": False}
_STEP_FIELDS = tuple(Step.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class StepShape:
    """What a shape rule may look at: a step without its values."""

    operation: str
    tool: str | None
    kind: str | None
    ok: bool | None
    group: int
    executed: bool


@dataclass(frozen=True)
class Variants:
    """The distinct sequences of a batch and which run has which."""

    of_run: Ints
    """Variant id of each run."""
    shapes: tuple[tuple[StepShape, ...], ...]
    """The sequence of each variant, by id."""


@dataclass(frozen=True)
class RunBatch:
    """Whole runs with their steps, as two Arrow tables."""

    runs: pa.Table
    steps: pa.Table
    offsets: Ints
    """Row of the first step of each run, and one past the last step: one longer than `runs`."""

    @classmethod
    def of(cls, runs: pa.Table, steps: pa.Table) -> RunBatch:
        """Cut `steps`, sorted by run and position, into the runs of `runs`."""
        counts = np.bincount(_ints(steps, "run"), minlength=len(runs)) if len(steps) else None
        offsets = np.zeros(len(runs) + 1, dtype=np.int64)
        if counts is not None:
            np.cumsum(counts, out=offsets[1:])
        return cls(runs.combine_chunks(), steps.combine_chunks(), offsets)

    @classmethod
    def empty(cls) -> RunBatch:
        """A batch of no runs."""
        return cls.of(RUN_SCHEMA.empty_table(), STEP_SCHEMA.empty_table())

    @classmethod
    def concat(cls, batches: Sequence[RunBatch]) -> RunBatch:
        """Put batches one after the other."""
        if not batches:
            return cls.empty()
        if len(batches) == 1:
            return batches[0]
        steps, first = [], 0
        run_field = STEP_SCHEMA.field("run")
        for batch in batches:
            shifted = pa.array((_ints(batch.steps, "run") + first).astype(np.int32))
            steps.append(batch.steps.set_column(0, run_field, shifted))
            first += len(batch)
        runs = pa.concat_tables([batch.runs for batch in batches]).unify_dictionaries()
        return cls.of(runs, pa.concat_tables(steps).unify_dictionaries())

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Trajectory]:
        return (self.trajectory(ordinal) for ordinal in range(len(self)))

    def bounds(self, ordinal: int) -> tuple[int, int]:
        """First row and one past the last row of a run's steps."""
        return int(self.offsets[ordinal]), int(self.offsets[ordinal + 1])

    def trajectory(self, ordinal: int) -> Trajectory:
        """Return a view of one run."""
        if not 0 <= ordinal < len(self):
            raise IndexError(f"run {ordinal} of {len(self)}")
        return Trajectory(self, ordinal)

    def take(self, ordinals: Sequence[int] | Ints) -> RunBatch:
        """Return a batch of these runs, in this order."""
        wanted = np.asarray(ordinals, dtype=np.int64)
        ranges = [np.arange(*self.bounds(int(ordinal))) for ordinal in wanted]
        rows = np.concatenate(ranges) if ranges else np.empty(0, dtype=np.int64)
        lengths = [len(r) for r in ranges]
        steps = self.steps.take(pa.array(rows, pa.int64()))
        run = pa.array(np.repeat(np.arange(len(wanted), dtype=np.int32), lengths), pa.int32())
        steps = steps.set_column(0, STEP_SCHEMA.field("run"), run)
        return RunBatch.of(self.runs.take(pa.array(wanted, pa.int64())), steps)

    def step(self, row: int) -> Step:
        """Decode one row of `steps`."""
        return self.steps_between(row, row + 1)[0]

    def steps_between(self, first: int, last: int) -> tuple[Step, ...]:
        """Decode the rows of `steps` from `first` up to, without, `last`."""
        rows = self.steps.slice(first, last - first)
        columns: dict[str, list[Any]] = {n: decoded(rows.column(n)) for n in _STEP_FIELDS}
        for name in _JSON_COLUMNS:
            columns[name] = [self.decode(text) for text in columns[name]]
        for name in _LIST_COLUMNS:
            columns[name] = [tuple(values or ()) for values in columns[name]]
        for name, default in _FLAG_DEFAULTS.items():
            columns[name] = [default if flag is None else flag for flag in columns[name]]
        records = zip(*columns.values(), strict=True)
        return tuple(Step(**dict(zip(_STEP_FIELDS, record, strict=True))) for record in records)

    def decode(self, text: str | None) -> JsonValue | NotRecorded:
        """Parse a JSON text once per distinct text; text that is no JSON stays a string."""
        if text is None:
            return NOT_RECORDED
        cached = self._decoded.get(text, NOT_RECORDED)
        if cached is not NOT_RECORDED:
            return cached
        value = parsed(text)
        self._decoded[text] = value
        return value

    @cached_property
    def _decoded(self) -> dict[str, JsonValue]:
        return {}

    @cached_property
    def variants(self) -> Variants:
        """The distinct sequences, found once."""
        names = ("operation", "tool", "kind", "ok", "executed")
        coded = [_codes(self.steps, name) for name in names]
        group = _ints(self.steps, "group")
        matrix = np.column_stack([*coded, group]) if len(self.steps) else np.empty((0, 6), np.int64)
        ids: dict[bytes, int] = {}
        firsts: list[int] = []
        of_run = np.empty(len(self), dtype=np.int64)
        for ordinal in range(len(self)):
            first, last = self.bounds(ordinal)
            key = matrix[first:last].tobytes()
            if key not in ids:
                ids[key] = len(ids)
                firsts.append(ordinal)
            of_run[ordinal] = ids[key]
        return Variants(of_run, tuple(self.shapes(ordinal) for ordinal in firsts))

    def shapes(self, ordinal: int) -> tuple[StepShape, ...]:
        """Return the steps of a run without their values: much less to decode."""
        first, last = self.bounds(ordinal)
        rows = self.steps.slice(first, last - first)
        columns = [rows.column(name).to_pylist() for name in StepShape.__dataclass_fields__]
        return tuple(StepShape(*values) for values in zip(*columns, strict=True))

    def validate(self) -> None:
        """Raise AssertionError where an invariant of the module text is broken."""
        assert self.runs.schema.equals(RUN_SCHEMA), "runs table has another schema"
        assert self.steps.schema.equals(STEP_SCHEMA), "steps table has another schema"
        run, position = _ints(self.steps, "run"), _ints(self.steps, "position")
        assert int(self.offsets[-1]) == len(self.steps), "a step belongs to no run"
        assert bool(np.all(np.diff(run) >= 0)), "steps are not sorted by run"
        expected = np.arange(len(self.steps)) - self.offsets[run]
        assert bool(np.array_equal(position, expected)), "positions do not count from 0"


def _ints(table: pa.Table, name: str) -> Ints:
    column = table.column(name).combine_chunks()
    values: Ints = column.to_numpy(zero_copy_only=False).astype(np.int64)
    return values


def _codes(table: pa.Table, name: str) -> Ints:
    """Small integers for the values of a column; -1 is null."""
    column = table.column(name).combine_chunks()
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    elif pa.types.is_dictionary(column.type):
        column = column.indices
    codes: Ints = column.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def is_tool_step(step: Step | StepShape) -> bool:
    """Whether sequence rules look at the step: a tool call that was executed."""
    return step.operation == Operation.TOOL and step.executed
