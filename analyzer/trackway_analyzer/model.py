"""One run, seen by a person or by one assertion: `Trajectory`, `Step`, `Gap`.

Bulk work goes through `RunBatch`; these are views of it for one run at a time. Nothing is converted
until somebody looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from trackway.schema import Operation
from trackway_analyzer.times import decoded

if TYPE_CHECKING:
    from trackway_analyzer.batch import RunBatch

JsonValue: TypeAlias = Any
"""None, bool, int, float, str, or a list or dict of these."""


class NotRecorded(Enum):
    """The type of `NOT_RECORDED`: a value that the record does not hold. It is no null."""

    NOT_RECORDED = "not recorded"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NOT_RECORDED"


NOT_RECORDED: Final = NotRecorded.NOT_RECORDED


@dataclass(frozen=True, slots=True)
class Gap:
    """A named hole in the evidence of a run."""

    name: str
    position: int | None = None
    """The step that it hides; None: it concerns the whole run."""
    count: int = 1
    detail: str | None = None


NAMES_PARTED: Final = ", "
"""What stands between the names in the detail of a gap `possible_calls`."""
MORE_NAMES: Final = "…"
"""What stands for those names that are too many to list."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the task's oracle said, never what the agent said. None: nobody judged."""

    success: bool | None = None
    label: str | None = None
    failure_mode: str | None = None
    censored: bool | None = None
    state: JsonValue = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A model call, tool call, retrieval or wait. Column meanings: `tables.STEP_SCHEMA`."""

    position: int
    group: int
    operation: str
    tool: str | None = None
    tool_alias: str | None = None
    kind: str | None = None
    ok: bool | None = None
    executed: bool = True
    requested: bool | None = None
    synthesised: bool = False
    id_inferred: bool = False
    turn: int | None = None
    span_id: str | None = None
    call_id: str | None = None
    attempt: int | None = None
    retry_of: int | None = None
    step_index: int | None = None
    agent: str | None = None
    agent_path: str | None = None
    arguments: JsonValue | NotRecorded = NOT_RECORDED
    result: JsonValue | NotRecorded = NOT_RECORDED
    input: JsonValue | NotRecorded = NOT_RECORDED
    output: JsonValue | NotRecorded = NOT_RECORDED
    error_type: str | None = None
    error_message: str | None = None
    entity_refs: tuple[str, ...] = ()
    operation_id: str | None = None
    model_requested: str | None = None
    model_answered: str | None = None
    provider: str | None = None
    finish_reasons: tuple[str, ...] = ()
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cache_read: int | None = None
    tokens_cache_write: int | None = None
    tokens_reasoning: int | None = None
    cost: float | None = None
    start: datetime | None = None
    end: datetime | None = None
    truncated: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """Position as a person counts it, from 1."""
        return self.position + 1

    @property
    def name(self) -> str:
        """The tool, else the model, else the operation."""
        return self.tool or self.model_answered or self.model_requested or self.operation


class Trajectory:
    """The ordered record of one run; iterating gives its steps."""

    def __init__(self, batch: RunBatch, ordinal: int) -> None:
        self.batch = batch
        self.ordinal = ordinal

    @cached_property
    def run(self) -> dict[str, Any]:
        """The run's row of the runs table, by column (`tables.RUN_SCHEMA`)."""
        row: dict[str, Any] = decoded(self.batch.runs.slice(self.ordinal, 1))[0]
        return row

    @property
    def run_id(self) -> str:
        """The run id, else the trace id."""
        return str(self._value("run_id"))

    @property
    def session_id(self) -> str | None:
        """The conversation that the run belongs to."""
        return self._value("session_id")  # type: ignore[no-any-return]  # a row is untyped

    @property
    def task_id(self) -> str | None:
        """The task that the run attempted."""
        return self._value("task_id")  # type: ignore[no-any-return]  # a row is untyped

    @property
    def trial(self) -> int | None:
        """Which attempt at its task the run was."""
        return self._value("trial")  # type: ignore[no-any-return]  # a row is untyped

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All steps in reconstructed order."""
        return self.batch.steps_between(*self.batch.bounds(self.ordinal))

    @cached_property
    def tool_steps(self) -> tuple[Step, ...]:
        """Tool steps that were executed, in order: what sequence rules look at."""
        return tuple(s for s in self.steps if s.operation == Operation.TOOL and s.executed)

    @property
    def tools(self) -> list[str]:
        """Names of the executed tools, in order."""
        return [step.tool or "" for step in self.tool_steps]

    @property
    def input(self) -> str | None:
        """What the run was asked."""
        return self._value("input")  # type: ignore[no-any-return]  # a row is untyped

    @property
    def final_text(self) -> str | None:
        """What the agent said last; None: not recorded."""
        return self._value("final_text")  # type: ignore[no-any-return]  # a row is untyped

    @property
    def final_action(self) -> str | None:
        """The recorded terminal action, else the last executed tool."""
        recorded = self._value("final_action")
        if recorded is not None:
            return str(recorded)
        return self.tools[-1] if self.tool_steps else None

    @property
    def outcome(self) -> Outcome:
        """What the task's oracle said."""
        run = self.run
        return Outcome(
            success=run["outcome_success"],
            label=run["outcome_label"],
            failure_mode=run["outcome_failure_mode"],
            censored=run["outcome_censored"],
            state=run["outcome_state"],
        )

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """Named holes in the evidence."""
        return tuple(Gap(**gap) for gap in self._value("gaps") or ())

    def _value(self, column: str) -> Any:
        """One value of the run's row, without decoding the others."""
        return self.batch.runs.column(column)[self.ordinal].as_py()

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return f"Trajectory({self.run_id!r}, tools={self.tools})"

    def __str__(self) -> str:
        # Looking at a run is the one call upward; what it looks like is the report's business.
        from trackway_analyzer.report.terminal import trajectory_text

        return trajectory_text(self)

    def _repr_html_(self) -> str:
        from trackway_analyzer.report.html import trajectory_html

        return trajectory_html(self)
