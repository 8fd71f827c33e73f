"""What a check answers: a table of findings, and one finding with its sentence.

1. A run that is not in the table holds. `violated` says that the record contradicts the rule,
   `insufficient` that a named gap hides the answer. No evidence is never a pass.
2. A row is small: run ordinal, rule ordinal, state, position of the first violating step, compact
   detail. Only a row that somebody prints becomes a `Finding` with a sentence.
3. Tables of several batches concatenate in any order once their run ordinals are shifted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

import orjson
import pyarrow as pa

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
        ("detail", pa.string()),  # JSON object, read by the rule's own `explain`
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
    states = pa.array([row.state.value for row in rows], pa.string())
    columns = [
        pa.array([row.run for row in rows], pa.int32()),
        pa.array([rule] * len(rows), pa.int32()),
        pa.DictionaryArray.from_arrays(
            pa.array([_STATES.index(s) for s in states.to_pylist()], pa.int8()), pa.array(_STATES)
        ),
        pa.array([row.position for row in rows], pa.int32()),
        pa.array(
            [orjson.dumps(row.detail).decode() if row.detail else None for row in rows], pa.string()
        ),
    ]
    return pa.Table.from_arrays(columns, schema=FINDING_SCHEMA)


_STATES = [state.value for state in State]
