"""One trace of very many spans is one run, however deep or broad it is, or whatever cycles it has.

With the environment variable `TRACKWAY_LARGE_TRACE=1000000` these are a million spans.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from trackway_analyzer.reconstruct import reconstruct
from trackway_analyzer.tables import SPAN_SCHEMA, table_of

SPANS = int(os.environ.get("TRACKWAY_LARGE_TRACE", "20000"))
"""The quick suite takes few: what is not linear, or recurses, shows at these too."""


def trace(parent_of: Callable[[int], int | None]) -> pa.Table:
    ids = [f"{number + 1:016x}" for number in range(SPANS)]
    parents = [parent_of(number) for number in range(SPANS)]
    start = np.arange(SPANS, dtype=np.int64) * 1000 + 1_700_000_000_000_000_000
    columns = {
        "trace_id": ["f" * 32] * SPANS,
        "span_id": ids,
        "parent_span_id": [None if parent is None else ids[parent] for parent in parents],
        "name": ["execute_tool f"] * SPANS,
        "operation": ["tool"] * SPANS,
        "tool": ["f"] * SPANS,
        "tool_call_id": [f"c{number}" for number in range(SPANS)],
        "arguments": [f'{{"n":{number}}}' for number in range(SPANS)],
        "status": ["OK"] * SPANS,
        "start": start,
        "end": start + 500,
        "source": ["otel-genai"] * SPANS,
    }
    return table_of(SPAN_SCHEMA, columns, SPANS)


@pytest.mark.parametrize(
    "parent_of",
    [
        lambda number: number - 1 if number else None,
        lambda number: 0 if number else None,
        lambda number: (number - 1) // 2 if number else None,
    ],
    ids=["a chain", "a star", "a tree"],
)
def test_a_trace_of_very_many_spans_is_one_run(parent_of: Callable[[int], int | None]) -> None:
    batch = reconstruct(trace(parent_of))
    assert len(batch) == 1
    assert batch.runs["spans"].to_pylist() == [SPANS]
    assert batch.steps["arguments"].to_pylist() == [f'{{"n":{n}}}' for n in range(SPANS)]


@pytest.mark.parametrize("length", [1, 2, 1000])
def test_a_trace_of_nothing_but_cycles_keeps_every_call(length: int) -> None:
    def parent_of(number: int) -> int:
        around = number - number % length
        return around + (number + 1 - around) % min(length, SPANS - around)

    batch = reconstruct(trace(parent_of))
    assert sum(batch.runs["spans"].to_pylist()) == SPANS
    assert len(batch.steps) == SPANS
