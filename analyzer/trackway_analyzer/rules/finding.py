"""What a check answers: a table of findings, and one finding with its sentence.

1. A run that is not in the table holds. `violated` says that the record contradicts the rule,
   `insufficient` that a named gap hides the answer. No evidence is never a pass.
2. A row is small: run ordinal, rule ordinal, state, position of the first violating step, compact
   detail. Only a row that somebody prints becomes a `Finding` with a sentence.
3. Tables of several batches concatenate in any order once their run ordinals are shifted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trackway_analyzer.json_text import compact, parsed
from trackway_analyzer.model import JsonValue


class State(StrEnum):
    """The three values of a rule."""

    HOLDS = "holds"
    VIOLATED = "violated"
    INSUFFICIENT = "insufficient"


class Severity(StrEnum):
    """Whether a violation fails the check."""

    ERROR = "error"
    WARNING = "warning"


class Layer(StrEnum):
    """What a rule protects; reports group by it."""

    TRAJECTORY = "trajectory"
    SAFETY = "safety"
    OUTCOME = "outcome"


FINDING_SCHEMA: pa.Schema = pa.schema(
    [
        pa.field("run", pa.int32(), nullable=False),
        pa.field("rule", pa.int32(), nullable=False),
        pa.field("state", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        ("position", pa.int32()),
        # JSON object, read by the rule's own `explain`
        ("detail", pa.dictionary(pa.int32(), pa.string())),
    ]
)


@dataclass(frozen=True, slots=True)
class Result:
    """What a rule says of one run that does not hold."""

    run: int
    state: State
    position: int | None = None
    detail: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One violated or undecidable rule of one run, for a person."""

    rule: str
    layer: Layer
    severity: Severity
    state: State
    run_id: str
    sentence: str
    step: int | None = None
    """Number of the first violating step, from 1."""
    span_id: str | None = None
    expected: JsonValue = None
    got: JsonValue = None
    nearest: str | None = None
    """The nearest thing that was recorded instead."""


def findings_table(rule: int, results: Iterable[Result]) -> pa.Table:
    """Encode one rule's results; results that hold are left out."""
    rows = [result for result in results if result.state is not State.HOLDS]
    return _table(
        rule,
        pa.array([row.run for row in rows], pa.int32()),
        _states(np.array([_STATES.index(row.state.value) for row in rows], np.int8)),
        pa.array([row.position for row in rows], pa.int32()),
        pa.array([detail_text(row.detail) for row in rows], pa.string()).dictionary_encode(),
    )


@dataclass(frozen=True)
class Violations:
    """Who breaks a rule, a row a run, whatever the rule's number."""

    runs: pa.Array
    positions: pa.Array
    details: pa.Array

    @classmethod
    def of(
        cls, runs: npt.NDArray[np.int64], positions: pa.Array, details: pa.Array | None = None
    ) -> Violations:
        """Without details where there is nothing to say."""
        nothing = _no_details(_room(len(runs))).slice(0, len(runs))
        listed = pa.array(runs.astype(np.int32))
        return cls(listed, positions, nothing if details is None else details)

    def table(self, rule: int) -> pa.Table:
        """Encode them under a number."""
        states = _all_violated(_room(len(self.runs))).slice(0, len(self.runs))
        return _table(rule, self.runs, states, self.positions, self.details)


_KEPT: Final = 1 << 17
"""Numbers of a rule that are kept for the next batch: half a megabyte."""


def _room(size: int) -> int:
    return 1 << size.bit_length()


def _table(
    rule: int, runs: pa.Array, states: pa.Array, positions: pa.Array, details: pa.Array
) -> pa.Table:
    columns = [
        runs,
        _all_of(rule, len(runs)),
        states,
        positions,
        details,
    ]
    return pa.Table.from_arrays(columns, schema=FINDING_SCHEMA)


def _all_of(rule: int, size: int) -> pa.Array:
    """The number of a rule, so many times."""
    if _room(size) > _KEPT:
        return pa.array(np.full(size, rule, np.int32))
    return _repeated(rule, _room(size)).slice(0, size)


@lru_cache(maxsize=32)
def _repeated(rule: int, size: int) -> pa.Array:
    return pa.array(np.full(size, rule, np.int32))


@cache
def _all_violated(room: int) -> pa.DictionaryArray:
    state = _STATES.index(State.VIOLATED.value)
    return _states(np.full(room, state, np.int8))


@cache
def _no_details(room: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.nulls(room, pa.int32()), pa.array([], pa.string()))


def _states(codes: npt.NDArray[np.int8]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(_STATES))


def detail_text(detail: Mapping[str, JsonValue]) -> str | None:
    """Encode the detail of a result; nothing to say is null."""
    return compact(dict(detail)) if detail else None


def detail_of(text: str | None) -> dict[str, JsonValue]:
    """Decode a detail, integers of any length exactly."""
    detail = parsed(text) if text else {}
    return detail if isinstance(detail, dict) else {}


def results_of(table: pa.Table) -> list[Result]:
    """Decode findings of one rule."""
    return [
        Result(
            row["run"],
            State(row["state"]),
            row["position"],
            detail_of(row["detail"]),
        )
        for row in table.to_pylist()
    ]


_STATES = [state.value for state in State]
"""Dictionary of the column `state`."""
