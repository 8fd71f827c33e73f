"""Spans of calls that waited for a person's approval, or were refused it: nothing was carried out.

The OpenAI Agents SDK opens a function span for a call that needs approval and ends it at once,
without a result and without an error; the run stops there. Once approved, perhaps in another
process, the call gets a span of its own. So it is told by all of these:

1. The span is of an instrumentor of that SDK, has arguments, and ended without result or error.
2. No model call of its trace starts after it: a tool that gave nothing would have been read.

LangGraph interrupts a tool by an exception, and runs it anew, from its beginning, once somebody has
answered:

3. The span failed with one of `INTERRUPTS`.

Google ADK gives the call a span and a result where its function was not even called, once for the
wait and once for a refusal:

4. The span is of an instrumentor of ADK, and its result is one of `UNCONFIRMED`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from trackway_analyzer.reconstruct.columns import LLM, NEVER, TOOL, Mask, SpanColumns
from trackway_analyzer.reconstruct.messages import quickly_parsed

SCOPES: Final = (
    "opentelemetry.instrumentation.genai.openai_agents",
    "openinference.instrumentation.openai_agents",
    "opentelemetry.instrumentation.openai_agents",
)
"""Instrumentors of openai-agents (0.24), which all pass on the function span."""


INTERRUPTS: Final = frozenset({"GraphInterrupt", "NodeInterrupt"})
"""Exceptions of langgraph (1.2), with or without their module."""

ADK_SCOPES: Final = ("gcp.vertex.agent", "openinference.instrumentation.google_adk")
UNCONFIRMED: Final = frozenset(
    {
        "This tool call requires confirmation, please approve or reject.",
        "This tool call is rejected.",
    }
)
"""The `error` that google-adk (2.13) gives in place of a result that needs confirmation."""


def waiting_calls(columns: SpanColumns, steps: Mask) -> Mask:
    """Return which tool spans stand for a call that waits, or was refused."""
    found = _interrupted(columns, steps) | _unconfirmed(columns, steps)
    waiting = _tools_of(SCOPES, columns, steps)
    if not waiting.any():
        return found
    waiting &= columns.recorded("arguments") & ~columns.recorded("result")
    waiting &= ~columns.failed & (columns.end != NEVER)
    if waiting.any():
        models = columns.operation == LLM
        last = np.zeros(int(columns.trace.max()) + 1, dtype=np.int64)
        np.maximum.at(last, columns.trace[models], columns.start[models])
        waiting &= last[columns.trace] < columns.start
    return waiting | found


def _tools_of(scopes: tuple[str, ...], columns: SpanColumns, steps: Mask) -> Mask:
    names = columns.array("scope").dictionary.to_pylist()
    codes = [code for code, name in enumerate(names) if name in scopes]
    if not codes:
        return np.zeros_like(steps)
    found: Mask = steps & (columns.operation == TOOL) & np.isin(columns.codes("scope"), codes)
    return found


def _unconfirmed(columns: SpanColumns, steps: Mask) -> Mask:
    of_adk = _tools_of(ADK_SCOPES, columns, steps)
    rows = np.flatnonzero(of_adk & columns.recorded("result")) if of_adk.any() else ()
    found = np.zeros_like(steps)
    for row, result in zip(rows, columns.values("result", rows) if len(rows) else (), strict=True):
        found[row] = any(text in result for text in UNCONFIRMED) and is_unconfirmed(
            quickly_parsed(result)
        )
    return found


def is_unconfirmed(result: object) -> bool:
    """Whether ADK gave this result in place of the tool's."""
    return isinstance(result, dict) and len(result) == 1 and result.get("error") in UNCONFIRMED


def _interrupted(columns: SpanColumns, steps: Mask) -> Mask:
    names = columns.array("error_type").dictionary.to_pylist()
    codes = [code for code, name in enumerate(names) if name.rpartition(".")[2] in INTERRUPTS]
    if not codes:
        return np.zeros_like(steps)
    found: Mask = steps & (columns.operation == TOOL) & np.isin(columns.codes("error_type"), codes)
    return found
