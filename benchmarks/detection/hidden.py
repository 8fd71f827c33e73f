"""Healthy runs from which evidence is taken away: they must be insufficient, never pass.

1. `configuration` is how the run was recorded; `lost` says which spans did not arrive.
2. Nothing went wrong in these runs, so a violation would be a false alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan

from benchmarks.detection.recording import record
from benchmarks.detection.script import Agent, Script
from trackway import Limits

Spans = Sequence[ReadableSpan]

_PREFACE = (
    "Thank you for your patience, and for the photographs that you have sent. I have looked into it"
    " with care, and this is what I found and did."
)
"""Longer than the shortest limit, so that what matters is cut off."""


@dataclass(frozen=True, slots=True)
class Hiding:
    """One way in which evidence of a run is missing."""

    name: str
    configuration: Mapping[str, Any] = field(default_factory=dict)
    lost: Callable[[Agent, ReadableSpan], bool] = lambda agent, span: False

    def recorded(self, agent: Agent, script: Script) -> dict[str, Spans]:
        """Record one run that way."""
        longer = replace(script, answer=f"{_PREFACE} {script.answer}")
        spans = record(agent, {self.name: longer}, **self.configuration)[self.name]
        return {self.name: [span for span in spans if not self.lost(agent, span)]}


def _is(tool: str, span: ReadableSpan) -> bool:
    return span.name == f"execute_tool {tool}"


HIDDEN = (
    Hiding("content switched off", {"capture_content": False}),
    Hiding("values cut at 128 bytes", {"limits": Limits(value_bytes=128)}),
    Hiding("span of the mutation lost", lost=lambda agent, span: _is(agent.mutation, span)),
    Hiding("span of the notification lost", lost=lambda agent, span: _is(agent.notify, span)),
    Hiding("span of the check lost", lost=lambda agent, span: _is(agent.guard, span)),
    Hiding("span of the lookup lost", lost=lambda agent, span: _is(agent.lookup, span)),
    Hiding("span of the approval lost", lost=lambda agent, span: _is(agent.approval, span)),
    Hiding("all tool spans lost", lost=lambda agent, span: span.name.startswith("execute_tool")),
    Hiding("process killed before the end", lost=lambda agent, span: span.parent is None),
)
