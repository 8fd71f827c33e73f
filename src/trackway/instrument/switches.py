"""The switches of libraries that write spans by themselves, and of instrumentors' content.

Each switch takes the content choice and the tracer provider (None: the global one), turns the
library's spans on, and returns what puts everything back. A switch that is a variable works by
being there before the library reads it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from trackway.environment import OTEL_CONTENT
from trackway.instrument.library import Undo

Switch = Callable[[bool, Any], Undo]


def with_variables(variables: Mapping[str, str]) -> Undo:
    """Set environment variables; return what puts the old ones back."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)

    def undo() -> None:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    return undo


def content_variables(content: bool) -> dict[str, str]:
    """Return the variables by which instrumentors are told whether to record content.

    On means on spans. Who asked for events too keeps them: events alone have no place for the
    arguments and results of tools.
    """
    asked = os.environ.get(OTEL_CONTENT, "").strip().upper()
    mode = "SPAN_AND_EVENT" if asked in ("EVENT_ONLY", "SPAN_AND_EVENT") else "SPAN_ONLY"
    return {OTEL_CONTENT: mode if content else "NO_CONTENT"}


def _pydantic_ai(content: bool, provider: Any) -> Undo:
    agent: Any = import_module("pydantic_ai").Agent
    settings = import_module("pydantic_ai.models.instrumented").InstrumentationSettings
    before = getattr(agent, "_instrument_default", False)
    agent.instrument_all(settings(include_content=content, tracer_provider=provider))
    return lambda: agent.instrument_all(before)


def _anthropic(content: bool, _provider: Any) -> Undo:
    mode = "content" if content else "metadata_only"
    return with_variables({"ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": mode})


SWITCHES: Final[Mapping[str, Switch]] = {
    "anthropic": _anthropic,
    "pydantic_ai": _pydantic_ai,
}
