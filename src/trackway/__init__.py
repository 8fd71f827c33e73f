"""Record what an LLM agent really did.

`configure()` once, then decorate: `@agent`, `@tool`, `@llm`, `@retriever`; or open `run(...)` and
`step(...)` blocks. Everything here is public; everything else is not.

The names are imported, all of them, when the first is asked for: whoever needs `trackway.schema`
alone, as the analyzer does, starts without the recorder.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trackway.public import (
        Limits,
        Run,
        TrajectoryRecorder,
        __version__,
        agent,
        capture_errors,
        carried,
        carrier,
        configure,
        context,
        continuity,
        current_run,
        decision,
        effect,
        final,
        flush,
        instrument,
        llm,
        outcome,
        redactor,
        requested,
        resume,
        retriever,
        run,
        shutdown,
        state,
        step,
        tool,
        tools,
        uninstrument,
        wait,
        waiting,
    )

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


class _Package(ModuleType):
    """This package, whose public names come from `trackway.public`."""

    def __getattr__(self, name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module("trackway.public"), name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


def _before_its_module(name: str) -> property:
    """Return the public name for which Python would put the module of that name in its place."""
    found: list[Any] = []

    def get(package: ModuleType) -> Any:
        if not found:
            found.append(getattr(import_module("trackway.public"), name))
        return found[0]

    def put(package: ModuleType, value: Any) -> None:
        if not isinstance(value, ModuleType):
            found[:] = [value]

    return property(get, put)


for _name in ("configure", "instrument", "llm", "run"):
    setattr(_Package, _name, _before_its_module(_name))
sys.modules[__name__].__class__ = _Package
