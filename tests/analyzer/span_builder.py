"""Spans for tests, written down as what happened.

    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[call("lookup_order", {"id": 7}, "c1")])
    record.tool("lookup_order", {"id": 7}, {"total": 84}, agent, call_id="c1")

Each span starts 10 ms after the one before it and lasts 5 ms (agents and wrappers: 10 s) unless
`at` and `lasts` say otherwise.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from trackway_analyzer.model import Step, Trajectory
from trackway_analyzer.reconstruct import reconstruct
from trackway_analyzer.tables import SPAN_SCHEMA, table_of

EPOCH = 1_700_000_000_000_000_000
MS = 1_000_000
Message = dict[str, Any]
Row = dict[str, Any]


def call(name: str, arguments: Any = None, id: str | None = None) -> Message:
    """A part that asks for a call."""
    part = {"type": "tool_call", "name": name, "id": id, "arguments": arguments}
    return {key: value for key, value in part.items() if value is not None}


def user(text: str) -> Message:
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def asked(*calls: Message) -> Message:
    return {"role": "assistant", "parts": list(calls)}


def said(text: str) -> Message:
    return {"role": "assistant", "parts": [{"type": "text", "content": text}]}


def answered(id: str | None, response: Any, **more: Any) -> Message:
    part = {"type": "tool_call_response", "id": id, "response": response, **more}
    return {"role": "tool", "parts": [part]}


class Recording:
    """Spans of one trace, or of several with `trace=` on each span."""

    def __init__(self, trace: str = "t1", **common: Any) -> None:
        self.rows: list[Row] = []
        self._common = {"trace_id": trace, "source": "otel-genai", **common}
        self._ids = itertools.count(1)
        self._now = 0.0

    def span(
        self,
        operation: str,
        inside: str | None = None,
        *,
        at: float | None = None,
        lasts: float | None = 5,
        trace: str | None = None,
        attributes: dict[str, Any] | None = None,
        **columns: Any,
    ) -> str:
        """Add a span and return its id. `lasts=None`: it never ended."""
        self._now = self._now + 10 if at is None else at
        start = EPOCH + int(self._now * MS)
        row: Row = {
            **self._common,
            "span_id": f"s{next(self._ids)}",
            "parent_span_id": inside,
            "operation": operation,
            "name": operation,
            "status": "UNSET",
            "start": start,
            "end": None if lasts is None else start + int(lasts * MS),
            "attributes": json.dumps(attributes or {}),
            **columns,
        }
        if trace is not None:
            row["trace_id"] = trace
        self.rows.append(row)
        return str(row["span_id"])

    def agent(self, name: str | None = None, inside: str | None = None, **columns: Any) -> str:
        return self.span("agent", inside, **{"agent": name, "lasts": 10_000, **columns})

    def wrapper(self, inside: str | None = None, **columns: Any) -> str:
        return self.span("other", inside, **{"lasts": 10_000, **columns})

    def model(
        self,
        inside: str | None = None,
        *,
        told: Sequence[Message] | None = None,
        asks: Sequence[Message] = (),
        says: str | None = None,
        **columns: Any,
    ) -> str:
        """A model call; without `asks` and `says` its output is not recorded."""
        output = None
        if asks or says is not None:
            texts = [] if says is None else [{"type": "text", "content": says}]
            output = json.dumps([{"role": "assistant", "parts": [*texts, *asks]}])
        told_text = None if told is None else json.dumps(list(told))
        return self.span("llm", inside, **{"input": told_text, "output": output, **columns})

    def tool(
        self,
        name: str | None,
        arguments: Any = None,
        result: Any = None,
        inside: str | None = None,
        *,
        call_id: str | None = None,
        raises: str | None = None,
        **columns: Any,
    ) -> str:
        """A tool call; `raises` is the type of its error."""
        values = {
            "tool": name,
            "arguments": None if arguments is None else json.dumps(arguments, sort_keys=True),
            "result": None if result is None else json.dumps(result),
            "tool_call_id": call_id,
        }
        if raises is not None:
            values |= {"status": "ERROR", "error_type": raises, "error_message": raises}
        return self.span("tool", inside, **{**values, **columns})

    def table(self) -> pa.Table:
        return spans_of(self.rows)

    def runs(self, **options: Any) -> list[Trajectory]:
        """Reconstruct and return all runs."""
        batch = reconstruct(self.table(), **options)
        batch.validate()
        return list(batch)

    def run(self, **options: Any) -> Trajectory:
        """Reconstruct the only run."""
        (run,) = self.runs(**options)
        return run


def spans_of(rows: Iterable[Row]) -> pa.Table:
    """The span table of these rows, in this order."""
    rows = list(rows)
    names = {name for row in rows for name in row}
    columns = {name: [row.get(name) for row in rows] for name in names}
    return table_of(SPAN_SCHEMA, columns, len(rows))


def outline(run: Trajectory) -> list[str]:
    """The steps in words: groups in parentheses, `!` failed, `?` unknown, `-` never executed."""
    groups: dict[int, list[str]] = {}
    for step in run:
        groups.setdefault(step.group, []).append(_word(step))
    return [words[0] if len(words) == 1 else f"({' '.join(words)})" for words in groups.values()]


def _word(step: Step) -> str:
    if step.operation == "llm":
        return "llm" if step.ok else "llm!"
    name = step.tool or step.operation
    if not step.executed:
        return f"{name}-"
    return name + {True: "", False: "!", None: "?"}[step.ok]


def gaps(run: Trajectory) -> dict[str, int]:
    """Names of gaps and their counts, steps added up."""
    counts: dict[str, int] = {}
    for gap in run.gaps:
        counts[gap.name] = counts.get(gap.name, 0) + gap.count
    return counts
