"""Plain lists of `{step, tool, arguments, result, timestamp}` as a run batch of one.

1. Each record is one executed tool step, in the order of the list. `step` and `timestamp` reorder
   nothing.
2. `tool` is required. A key that is absent is not recorded, which is no null: without `result`
   nobody knows what the call answered.
3. Beside the five keys a record may say `kind`, `ok`, `error` (the call raised), `group` (records
   with the same group were asked for by one model turn), `operation_id`, `entity_refs`, `attempt`,
   `span_id` and `call_id`. Other keys are ignored, unless they look like a key that is missing.
4. Arguments and results that are a JSON text of an object or list are read as that, once.
5. What another recorder took out (`[REDACTED]`, `***`) is not recorded (`recorder_marks`).
6. Whether a call took effect is decided by `happened`, unless the record says `ok`; which call is
   a further attempt of which, as in any trace, by `reconstruct.attempts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, Final

from trackway.schema import Operation
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.json_text import canonical, clean, unwrapped
from trackway_analyzer.model import Trajectory
from trackway_analyzer.reconstruct.attempts import with_attempts
from trackway_analyzer.reconstruct.effect import took_effect
from trackway_analyzer.recorder_marks import in_our_marks, is_taken_out
from trackway_analyzer.tables import RUN_SCHEMA, STEP_SCHEMA, table_of

Record = Mapping[str, Any]
Records = Sequence[Record]

_VALUES: Final = ("arguments", "result")
_COPIED: Final = ("kind", "operation_id", "entity_refs", "attempt", "span_id", "call_id")
_KNOWN: Final = frozenset({"step", "tool", "timestamp", "ok", "error", "group", *_VALUES, *_COPIED})


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a list of records cannot say of its run."""

    run_id: str
    final_text: str | None = None
    input: str | None = None


def trajectory_of(
    records: Records,
    *,
    final_text: str | None = None,
    input: str | None = None,
    run_id: str = "records",
) -> Trajectory:
    """Read a plain list of records as a trajectory.

    Raises ValueError or TypeError that names the record which is none.
    """
    return batch_of(records, final_text=final_text, input=input, run_id=run_id).trajectory(0)


def batch_of(
    records: Records,
    *,
    final_text: str | None = None,
    input: str | None = None,
    run_id: str = "records",
) -> RunBatch:
    """Read a plain list of records as a batch of one run."""
    return batch_of_runs([records], about=[RunFacts(run_id, final_text, input)])


def as_trajectory(subject: Trajectory | Records) -> Trajectory:
    """Return a trajectory for whatever a person handed to an assertion."""
    return subject if isinstance(subject, Trajectory) else trajectory_of(subject)


def batch_of_runs(runs: Sequence[Records], about: Sequence[RunFacts] | None = None) -> RunBatch:
    """Read several plain lists as one batch; run ids count from 0 where `about` gives none."""
    facts = about or [RunFacts(str(ordinal)) for ordinal in range(len(runs))]
    rows = [
        _row(record, ordinal, position, group)
        for ordinal, records in enumerate(runs)
        for position, (record, group) in enumerate(
            zip(_checked(records), _groups(records), strict=True)
        )
    ]
    steps = {name: [row.get(name) for row in rows] for name in STEP_SCHEMA.names}
    tools = [[clean(str(record["tool"])) for record in records] for records in runs]
    columns: dict[str, list[object]] = {
        "run_id": [fact.run_id for fact in facts],
        "input": [_said(fact.input) for fact in facts],
        "final_text": [_said(fact.final_text) for fact in facts],
        "steps": [len(names) for names in tools],
        "tool_calls": [len(names) for names in tools],
        "tools": list(tools),
        "gaps": [[] for _ in runs],
    }
    table = with_attempts(table_of(STEP_SCHEMA, steps, len(rows)))
    return RunBatch.of(table_of(RUN_SCHEMA, columns, len(runs)), table)


def _checked(records: Records) -> Records:
    if isinstance(records, (str, bytes, Mapping)) or not isinstance(records, Sequence):
        raise TypeError(
            f"expected a trajectory or a list of records {{tool, arguments, result}}, "
            f"found {type(records).__name__}"
        )
    for number, record in enumerate(records, start=1):
        if not isinstance(record, Mapping):
            raise TypeError(f"record {number}: expected a dict, found {type(record).__name__}")
        _refuse_misspelt(number, record)
        if not isinstance(record.get("tool"), str):
            raise ValueError(f"record {number}: expected `tool`, found {sorted(record)}")
    return records


def _refuse_misspelt(number: int, record: Record) -> None:
    for key in record.keys() - _KNOWN:
        near = get_close_matches(str(key), _KNOWN - record.keys(), n=1)
        if near:
            raise ValueError(f"record {number}: unknown key {key!r}, did you mean {near[0]!r}?")


def _groups(records: Records) -> list[int]:
    """Position of the first record of each record's group: neighbours that name one group."""
    groups: list[int] = []
    for position, record in enumerate(records):
        named = record.get("group")
        joins = position > 0 and named is not None and records[position - 1].get("group") == named
        groups.append(groups[-1] if joins else position)
    return groups


def _row(record: Record, ordinal: int, position: int, group: int) -> dict[str, object]:
    error = record.get("error")
    row: dict[str, object] = {name: _writable(record.get(name)) for name in _COPIED}
    row |= {name: _value(record[name]) for name in _VALUES if name in record}
    return row | {
        "run": ordinal,
        "position": position,
        "group": group,
        "operation": Operation.TOOL,
        "tool": clean(record["tool"]),
        "executed": True,
        "synthesised": False,
        "id_inferred": False,
        "ok": _ok(record, row, raised=bool(error)),
        "step_index": _index(record.get("step")),
        "error_type": clean(str(error)) if error else None,
        "start": _time(record.get("timestamp")),
    }


def _ok(record: Record, row: Record, *, raised: bool) -> bool | None:
    if "ok" in record:
        return record["ok"]  # type: ignore[no-any-return]  # a row is untyped
    kind = record.get("kind")
    result, arguments = row.get("result"), row.get("arguments")
    return took_effect(
        result if isinstance(result, str) else None,
        kind if isinstance(kind, str) else None,
        raised=raised,
        tool=record["tool"],
        arguments=arguments if isinstance(arguments, str) else None,
    )


def _value(value: object) -> str | None:
    """A value as JSON; None where another recorder took all of it out."""
    if isinstance(value, str) and is_taken_out(value):
        return None
    return in_our_marks(unwrapped(clean(canonical(value))))


def _said(text: str | None) -> str | None:
    """A text; None where another recorder took all of it out."""
    return None if text is None or is_taken_out(text) else in_our_marks(clean(text))


def _writable(value: object) -> object:
    """A value without lone surrogates, which no text of a table can hold."""
    return clean(value) if isinstance(value, str) else value


def _index(step: object) -> int | None:
    return step if isinstance(step, int) and not isinstance(step, bool) else None


def _time(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, UTC)
    if isinstance(value, str):
        try:
            return _time(datetime.fromisoformat(value))
        except ValueError:
            return None
    return None
