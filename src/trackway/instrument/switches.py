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
from trackway.mcp_sessions import recorded_call_tool

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


def _variables(_content: bool, _provider: Any) -> Undo:
    """Nothing beyond the content variables, which are set already."""
    return lambda: None


def _agent_framework(content: bool, _provider: Any) -> Undo:
    settings = import_module("agent_framework.observability").OBSERVABILITY_SETTINGS
    before = settings.enable_sensitive_data
    settings.enable_sensitive_data = content

    def undo() -> None:
        settings.enable_sensitive_data = before

    return undo


def _strands(_content: bool, _provider: Any) -> Undo:
    """Messages on spans instead of on events; content that is off is left out at export."""
    asked = os.environ.get(_STABILITY, "")
    wanted = [token for token in asked.split(",") if token.strip()]
    wanted += [t for t in _STRANDS if t not in wanted]
    return with_variables({_STABILITY: ",".join(wanted)})


def _mcp(_content: bool, _provider: Any) -> Undo:
    session: Any = import_module("mcp.client.session").ClientSession
    before = session.call_tool
    session.call_tool = recorded_call_tool(before)

    def undo() -> None:
        session.call_tool = before

    return undo


_STABILITY: Final = "OTEL_SEMCONV_STABILITY_OPT_IN"
_STRANDS: Final = ("gen_ai_latest_experimental", "gen_ai_span_attributes_only")
SWITCHES: Final[Mapping[str, Switch]] = {
    "agent_framework": _agent_framework,
    "anthropic": _anthropic,
    "mcp": _mcp,
    "pydantic_ai": _pydantic_ai,
    "strands": _strands,
    "variables": _variables,
}
TAKES_PROVIDER: Final = frozenset({"pydantic_ai"})
"""Switches that hand on the provider that records; the spans of the others go to the global one."""
