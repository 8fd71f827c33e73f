"""Everything that is public, imported together: what `trackway` hands out."""

from trackway.approvals import waiting
from trackway.blocks import requested, run, step
from trackway.capture import Limits, capture_errors, redactor
from trackway.configure import configure, flush, shutdown
from trackway.decorators import agent, llm, retriever, tool
from trackway.events import (
    context,
    continuity,
    decision,
    effect,
    final,
    outcome,
    resume,
    state,
    wait,
)
from trackway.instrument import instrument, uninstrument
from trackway.propagation import carried, carrier
from trackway.recorder import TrajectoryRecorder
from trackway.recording import VERSION as __version__
from trackway.registry import tools
from trackway.run import Run, current_run

__all__ = [
    "Limits",
    "Run",
    "TrajectoryRecorder",
    "__version__",
    "agent",
    "capture_errors",
    "carried",
    "carrier",
    "configure",
    "context",
    "continuity",
    "current_run",
    "decision",
    "effect",
    "final",
    "flush",
    "instrument",
    "llm",
    "outcome",
    "redactor",
    "requested",
    "resume",
    "retriever",
    "run",
    "shutdown",
    "state",
    "step",
    "tool",
    "tools",
    "uninstrument",
    "wait",
    "waiting",
]
