"""Record what an LLM agent really did.

`configure()` once, then decorate: `@agent`, `@tool`, `@llm`, `@retriever`; or open `run(...)` and
`step(...)` blocks. Everything here is public; everything else is not.
"""

from trackway.blocks import run, step
from trackway.capture import capture_errors
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
from trackway.recording import VERSION as __version__
from trackway.run import Run, current_run

__all__ = [
    "Run",
    "__version__",
    "agent",
    "capture_errors",
    "configure",
    "context",
    "continuity",
    "current_run",
    "decision",
    "effect",
    "final",
    "flush",
    "llm",
    "outcome",
    "resume",
    "retriever",
    "run",
    "shutdown",
    "state",
    "step",
    "tool",
    "wait",
]
