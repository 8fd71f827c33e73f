"""Would the record of a run show that a tool was executed? Then messages alone do not.

1. It would where tool calls of the run have spans.
2. It would where an instrumentor in `WITNESSES` wrote the span of an agent, a tool or a model call
   of the run: those write one for each tool call. Which they are is written down once, in the
   recorder's registry of instrumentors; those that it never turns on are added here.
3. Elsewhere, in a loop around a model client, the messages are all there is: what they answer was
   executed.
4. An answer that stands in the output that asks comes from the provider, who executed the call;
   and so does every answer to a call that is the provider's to carry out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from trackway.instrument.registry import SHOW_TOOLS
from trackway_analyzer.reconstruct.columns import NONE, TOOL, Mask, SpanColumns
from trackway_analyzer.reconstruct.dialogue import Call
from trackway_analyzer.reconstruct.drafts import Drafts

BESIDE_THE_REGISTRY: Final = frozenset(
    {
        "ai",
        "logfire.openai_agents",
        "openinference.instrumentation.google_adk",
        "opentelemetry.instrumentation.langchain",
        "opentelemetry.instrumentation.openai_agents",
    }
)
"""Scopes of instrumentors that `trackway.instrument()` never turns on (`ai`: the Vercel AI SDK)."""

WITNESSES: Final = SHOW_TOOLS | BESIDE_THE_REGISTRY
"""Scopes of instrumentors that write a span for each executed tool call."""


def unwitnessed(calls: Sequence[tuple[int, Call]], drafts: Drafts) -> set[int]:
    """Return the places of calls without a span that were answered, where a span would be."""
    told = [place for place, (_, call) in enumerate(calls) if _is_told_by_messages_alone(call)]
    if not told:
        return set()
    runs = np.unique([calls[place][0] for place in told])
    watched = _watched(drafts, runs)
    return {place for place in told if calls[place][0] in watched}


def _is_told_by_messages_alone(call: Call) -> bool:
    return call.answer is not None and call.reader != NONE and not call.request.by_provider


def showing(columns: SpanColumns) -> Mask:
    """Where a span is of an instrumentor that writes one for each executed tool call."""
    names = columns.array("scope").dictionary.to_pylist()
    codes = [code for code, name in enumerate(names) if name in WITNESSES]
    spans: Mask = np.isin(columns.codes("scope"), codes) & (columns.is_step | columns.is_agent)
    return spans


def _watched(drafts: Drafts, runs: np.typing.NDArray[np.int64]) -> set[int]:
    """Return those of the runs whose tool calls have spans, or would have them."""
    found = set(drafts.run[drafts.operation == TOOL].tolist())
    found.update(drafts.run_of_row[showing(drafts.columns)].tolist())
    return found & set(runs.tolist())
