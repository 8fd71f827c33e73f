"""Which identifiers did the agent make up? Asked without any rule, of every call.

1. Looked at: what `identifiers` finds inside the arguments of executed calls.
2. An identifier is grounded if it stands, as a word of its own and in any case, in an earlier
   successful result (its keys too) or in what the agent was told before: the run's input, user
   messages, instructions. Numbers are compared as numbers.
3. Calls of one model turn ground nothing for each other. What the agent itself wrote grounds
   nothing.
4. Values that were computed (a sum, a date from "tomorrow") are reported as well: this is a list
   to look at, no verdict. Calls whose arguments were not recorded cannot be looked at; they are
   counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import pyarrow as pa

from trackway.schema import Operation
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.frames import frame
from trackway_analyzer.json_text import compact
from trackway_analyzer.model import JsonValue, Trajectory
from trackway_analyzer.records import Records, trajectory_of
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.identifiers import candidates, identifiers
from trackway_analyzer.rules.terms import Source
from trackway_analyzer.rules.told import INSTRUCTIONS, USER, Text, texts_of

if TYPE_CHECKING:
    import pandas as pd

UNGROUNDED_SCHEMA: Final = pa.schema(
    [
        pa.field("run_id", pa.string(), nullable=False),
        pa.field("step", pa.int32(), nullable=False),  # from 1
        ("span_id", pa.string()),
        ("tool", pa.string()),
        pa.field("argument", pa.string(), nullable=False),  # JSONPath
        pa.field("value", pa.string(), nullable=False),  # JSON
        ("nearest", pa.string()),  # the most alike identifier that the agent had seen
    ]
)


class HasBatch(Protocol):
    """Runs as a batch: `Trajectories`."""

    @property
    def batch(self) -> RunBatch:
        """All runs."""


def find_ungrounded(runs: HasBatch | RunBatch | Trajectory | Records) -> pd.DataFrame:
    """List the identifiers in arguments that stand in nothing that the agent had seen.

    One row an identifier, columns as in `UNGROUNDED_SCHEMA`. `attrs["identifiers"]` counts all that
    were looked at, `attrs["not_recorded"]` the calls whose arguments nobody recorded.
    """
    found = ungrounded(_batch_of(runs))
    table = frame(found.table)
    table.attrs |= {"identifiers": found.identifiers, "not_recorded": found.not_recorded}
    return table


@dataclass(frozen=True, slots=True)
class Ungrounded:
    """What was found, and how much was looked at."""

    table: pa.Table
    identifiers: int
    not_recorded: int


def ungrounded(batch: RunBatch) -> Ungrounded:
    """Look for identifiers from nowhere in every run of a batch."""
    evidence = Evidence.of(batch)
    run_ids = batch.runs.column("run_id").to_pylist()
    span_ids = batch.steps.column("span_id").to_pylist()
    rows: list[dict[str, Any]] = []
    looked_at = hidden = 0
    for run in range(len(batch)):
        for call in _calls(evidence, run):
            hidden += call.identifiers is None
            looked_at += len(call.identifiers or ())
            for path, value in call.identifiers or ():
                if not call.seen.holds(value):
                    rows.append(
                        {
                            "run_id": run_ids[run],
                            "step": evidence.position(call.row) + 1,
                            "span_id": span_ids[call.row],
                            "tool": evidence.tool[call.row],
                            "argument": path,
                            "value": compact(value),
                            "nearest": call.seen.nearest(value),
                        }
                    )
    return Ungrounded(pa.Table.from_pylist(rows, schema=UNGROUNDED_SCHEMA), looked_at, hidden)


@dataclass(slots=True)
class _Seen:
    """What the agent had seen up to some step."""

    texts: dict[str, Text] = field(default_factory=dict)

    def add(self, text: Text) -> None:
        self.texts.setdefault(text.text, text)

    def holds(self, value: JsonValue) -> bool:
        return any(text.holds(value) for text in reversed(self.texts.values()))

    def nearest(self, value: JsonValue) -> str | None:
        words = {word for text in self.texts.values() for word in candidates(text.text)}
        found = get_close_matches(str(value), words, n=1, cutoff=0.6)
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class _Call:
    row: int
    identifiers: list[tuple[str, JsonValue]] | None
    """None: the arguments were not recorded."""
    seen: _Seen
    """Grows as the run goes on: look at it before the next call is asked for."""


def _calls(evidence: Evidence, run: int) -> Iterator[_Call]:
    """The calls of a run in order, with what had been seen before each."""
    seen = _Seen()
    waiting: list[int] = []
    for text in texts_of(evidence, evidence.text(run, "input")):
        seen.add(text)
    for row in range(*evidence.batch.bounds(run)):
        if waiting and evidence.group[waiting[0]] != evidence.group[row]:
            _add_results(evidence, waiting, seen)
            waiting = []
        if evidence.operation_of[row] == Operation.LLM:
            for text in texts_of(evidence, evidence.inputs[row]):
                if text.role in USER | INSTRUCTIONS:
                    seen.add(text)
        elif evidence.is_call[row]:
            arguments = evidence.arguments(row)
            found = list(identifiers(arguments.value)) if isinstance(arguments, Source) else None
            yield _Call(row, found, seen)
        waiting.append(row)


def _add_results(evidence: Evidence, rows: list[int], seen: _Seen) -> None:
    for row in rows:
        text = evidence.result_text(row)
        is_result = evidence.is_call[row] or evidence.operation_of[row] == Operation.RETRIEVAL
        if is_result and text is not None and evidence.answered(row) is not False:
            seen.add(evidence.memo(("result", text), partial(Text, text, "tool")))


def _batch_of(runs: HasBatch | RunBatch | Trajectory | Records) -> RunBatch:
    if isinstance(runs, RunBatch):
        return runs
    if isinstance(runs, Trajectory):
        return runs.batch.take([runs.ordinal])
    if isinstance(runs, (list, tuple)):
        return trajectory_of(runs).batch
    return runs.batch  # type: ignore[union-attr]  # told apart above
