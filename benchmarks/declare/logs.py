"""Seeded logs, as a batch of runs for us and as an event log for pm4py."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.declare.templates import ALPHABET
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.tables import RUN_SCHEMA, STEP_SCHEMA, table_of

Trace = tuple[str, ...]

USUAL: Trace = tuple("abcdeabc")


def random_traces(count: int, seed: int = 0) -> list[Trace]:
    """Return traces of 1 to 10 activities, all as likely."""
    chance = random.Random(seed)
    return [tuple(chance.choices(ALPHABET, k=chance.randint(1, 10))) for _ in range(count)]


def usual_traces(count: int, seed: int = 0) -> list[Trace]:
    """Return traces as agents leave them: one usual way of eight steps, one in ten changed."""
    chance = random.Random(seed)
    traces = []
    for _ in range(count):
        trace = list(USUAL)
        if chance.random() < 0.1:
            place = chance.randrange(len(trace))
            trace[place : place + chance.randrange(2)] = chance.choices(
                ALPHABET, k=chance.randrange(3)
            )
        traces.append(tuple(trace))
    return traces


def batch(traces: list[Trace]) -> RunBatch:
    """Runs of successful calls, a turn each."""
    lengths = np.array([len(trace) for trace in traces])
    total = int(lengths.sum())
    positions = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    tools = [activity for trace in traces for activity in trace]
    columns: dict[str, list[Any]] = {
        "run": np.repeat(np.arange(len(traces)), lengths).tolist(),
        "position": positions.tolist(),
        "group": positions.tolist(),
        "operation": ["tool"] * total,
        "tool": tools,
        "executed": [True] * total,
        "ok": [True] * total,
    }
    empty = pa.array([[]] * len(traces), RUN_SCHEMA.field("gaps").type)
    runs = table_of(
        RUN_SCHEMA,
        {"run_id": [str(n) for n in range(len(traces))], "spans": (lengths + 1).tolist()},
        len(traces),
    )
    index = RUN_SCHEMA.get_field_index("gaps")
    runs = runs.set_column(index, RUN_SCHEMA.field("gaps"), empty)
    return RunBatch.of(runs, table_of(STEP_SCHEMA, columns, total))


def event_log(traces: list[Trace]) -> Any:
    """Return the log that pm4py takes without converting anything."""
    from pm4py.objects.log.obj import Event, EventLog
    from pm4py.objects.log.obj import Trace as PmTrace

    return EventLog(
        [
            PmTrace(
                [Event({"concept:name": activity}) for activity in trace],
                attributes={"concept:name": str(number)},
            )
            for number, trace in enumerate(traces)
        ]
    )
