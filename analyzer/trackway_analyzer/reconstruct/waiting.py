"""Spans of calls that only waited for a person's approval: nothing was carried out.

The OpenAI Agents SDK opens a function span for a call that needs approval and ends it at once,
without a result and without an error; the run stops there. Once approved, perhaps in another
process, the call gets a span of its own. So it is told by all of these:

1. The span is of an instrumentor of that SDK, has arguments, and ended without result or error.
2. No model call of its trace starts after it: a tool that gave nothing would have been read.

LangGraph interrupts a tool by an exception, and runs it anew, from its beginning, once somebody has
answered:

3. The span failed with one of `INTERRUPTS`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from trackway_analyzer.reconstruct.columns import LLM, NEVER, TOOL, Mask, SpanColumns

SCOPES: Final = (
    "opentelemetry.instrumentation.genai.openai_agents",
    "openinference.instrumentation.openai_agents",
    "opentelemetry.instrumentation.openai_agents",
)
"""Instrumentors of openai-agents (0.24), which all pass on the function span."""


INTERRUPTS: Final = frozenset({"GraphInterrupt", "NodeInterrupt"})
"""Exceptions of langgraph (1.2), with or without their module."""


def waiting_calls(columns: SpanColumns, steps: Mask) -> Mask:
    """Return which tool spans stand for a call that waits."""
    names = columns.array("scope").dictionary.to_pylist()
    codes = [code for code, name in enumerate(names) if name in SCOPES]
    interrupted = _interrupted(columns, steps)
    if not codes:
        return interrupted
    waiting: Mask = steps & (columns.operation == TOOL) & np.isin(columns.codes("scope"), codes)
    waiting &= columns.recorded("arguments") & ~columns.recorded("result")
    waiting &= ~columns.failed & (columns.end != NEVER)
    if waiting.any():
        models = columns.operation == LLM
        last = np.zeros(int(columns.trace.max()) + 1, dtype=np.int64)
        np.maximum.at(last, columns.trace[models], columns.start[models])
        waiting &= last[columns.trace] < columns.start
    return waiting | interrupted


def _interrupted(columns: SpanColumns, steps: Mask) -> Mask:
    names = columns.array("error_type").dictionary.to_pylist()
    codes = [code for code, name in enumerate(names) if name.rpartition(".")[2] in INTERRUPTS]
    if not codes:
        return np.zeros_like(steps)
    found: Mask = steps & (columns.operation == TOOL) & np.isin(columns.codes("error_type"), codes)
    return found
