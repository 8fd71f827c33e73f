"""Outcomes that lie beside the traces, joined to the runs that they judge.

1. A row names its run by `run_id`, else by `session_id`, else by `task_id` and `trial`: the first
   of these that it has.
2. A row judges by `success` (true or false) or by `reward` (1 is a success, any other number a
   failure; null judges nothing). `label` and `failure_mode` are taken too, and task and trial where
   the run has none.
3. Rows come from JSON Lines, a JSON list, or CSV.
4. A row that fits several runs raises, and so does one that contradicts what a run recorded: nobody
   chooses silently. A row that fits no run is counted (`Joined.unused`).
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Final

import pyarrow as pa

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.json_text import canonical, parsed
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.byte_stream import ByteStream
from trackway_analyzer.read.json_documents import MAX_DOCUMENT, documents
from trackway_analyzer.read.quarantine import Quarantine
from trackway_analyzer.read.source import files
from trackway_analyzer.read.transcripts.written import SUCCESSFUL
from trackway_analyzer.tables import RUN_SCHEMA

Row = Mapping[str, JsonValue]

_COLUMNS: Final = (
    *("task_id", "trial", "outcome_success"),
    *("outcome_label", "outcome_failure_mode", "outcome_state"),
)
_JSON: Final = (b"{", b"[")


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """What one row says of one run."""

    place: int
    """From 1."""
    key: tuple[str, ...]
    """Names of the columns that name the run."""
    name: tuple[JsonValue, ...]
    """Values of these columns."""
    columns: Mapping[str, JsonValue]
    """Columns of the runs table."""

    def __str__(self) -> str:
        named = ", ".join(f"{key}={value}" for key, value in zip(self.key, self.name, strict=True))
        return f"outcome row {self.place} ({named})"


@dataclass(frozen=True, slots=True)
class Joined:
    """Runs with their outcomes."""

    batch: RunBatch
    unused: int
    """Rows that fit no run."""


def outcome_rows(source: str | PathLike[str] | Iterable[Row]) -> tuple[OutcomeRow, ...]:
    """Read rows from a file, or take them as mappings. Raises OSError, ValueError."""
    rows = _rows_of(source) if isinstance(source, str | PathLike) else source
    return tuple(_row(place, row) for place, row in enumerate(rows, start=1))


def joined(batch: RunBatch, rows: Sequence[OutcomeRow]) -> Joined:
    """Join outcomes to runs. Raises ValueError by rule 4."""
    indexes: dict[tuple[str, ...], dict[tuple[JsonValue, ...], list[int]]] = {}
    columns = {name: batch.runs.column(name).to_pylist() for name in _COLUMNS}
    unused = 0
    for row in rows:
        if row.key not in indexes:
            indexes[row.key] = _index(batch, row.key)
        runs = indexes[row.key].get(row.name, [])
        if len(runs) > 1:
            hint = "; --by session joins its traces into one run" if "session_id" in row.key else ""
            raise ValueError(f"{row} fits {len(runs)} runs: it must name one{hint}")
        for run in runs:
            _judge(row, run, columns)
        unused += not runs
    table = batch.runs
    for name, values in columns.items():
        table = table.set_column(
            table.column_names.index(name), RUN_SCHEMA.field(name), _array(name, values)
        )
    return Joined(RunBatch(table, batch.steps, batch.offsets), unused)


def _judge(row: OutcomeRow, run: int, columns: dict[str, list[Any]]) -> None:
    for name, value in row.columns.items():
        recorded = columns[name][run]
        if recorded is None or name == "outcome_state":
            columns[name][run] = value
        elif recorded != value:
            raise ValueError(f"{row} says {name} {value!r}, the run recorded {recorded!r}")


def _index(batch: RunBatch, key: tuple[str, ...]) -> dict[tuple[JsonValue, ...], list[int]]:
    found: dict[tuple[JsonValue, ...], list[int]] = defaultdict(list)
    values = (batch.runs.column(name).to_pylist() for name in key)
    for run, name in enumerate(zip(*values, strict=True)):
        found[name].append(run)
    return found


def _array(name: str, values: list[Any]) -> pa.Array:
    kind = RUN_SCHEMA.field(name).type
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode()
    return pa.array(values, kind)


def _row(place: int, row: Row) -> OutcomeRow:
    if not isinstance(row, Mapping):
        raise ValueError(f"outcome row {place}: expected an object, found {type(row).__name__}")
    given = {key: value for key, value in row.items() if value not in (None, "")}
    task = None if "task_id" not in given else str(given["task_id"])
    trial = _whole(place, given["trial"]) if "trial" in given else None
    columns: dict[str, JsonValue] = {"task_id": task, "trial": trial, **_verdict(place, row)}
    columns |= {f"outcome_{name}": given.get(name) for name in ("label", "failure_mode")}
    columns = {name: value for name, value in columns.items() if value is not None}
    for name in ("run_id", "session_id"):
        if name in given:
            return OutcomeRow(place, (name,), (str(given[name]),), columns)
    if task is not None and trial is not None:
        return OutcomeRow(place, ("task_id", "trial"), (task, trial), columns)
    raise ValueError(
        f"outcome row {place} names no run: expected run_id, session_id, or task_id and trial, "
        f"found {', '.join(sorted(map(str, given))) or 'nothing'}"
    )


def _verdict(place: int, row: Row) -> dict[str, JsonValue]:
    if "success" in row:
        success = _decoded(row["success"])
        if success is None or isinstance(success, bool):
            return {"outcome_success": success}
        raise ValueError(f"outcome row {place}: expected success true or false, found {success!r}")
    if "reward" in row:
        reward = _decoded(row["reward"])
        if reward is None:
            return {}
        if isinstance(reward, int | float):
            state = canonical({"reward": float(reward)})
            return {"outcome_success": reward >= SUCCESSFUL, "outcome_state": state}
        raise ValueError(f"outcome row {place}: expected a number as reward, found {reward!r}")
    raise ValueError(f"outcome row {place} has neither success nor reward")


def _whole(place: int, value: JsonValue) -> int:
    value = _decoded(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(f"outcome row {place}: expected a whole number as trial, found {value!r}")


def _decoded(value: JsonValue) -> JsonValue:
    """Values of CSV are texts."""
    if isinstance(value, str):
        value = parsed(value.strip().lower())
    return None if value == "" else value


def _rows_of(source: str | PathLike[str]) -> Iterable[Row]:
    (file,) = files(source)
    stream = ByteStream(file)
    try:
        if stream.head().lstrip().startswith(_JSON):
            quarantine = Quarantine(file.name, strict=True)
            for _, document in documents(stream, quarantine):
                yield from document if isinstance(document, list) else [document]
        else:
            text = stream.read_exactly(MAX_DOCUMENT).decode("utf-8-sig", errors="replace")
            yield from csv.DictReader(io.StringIO(text))
    finally:
        stream.close()
