"""Spans as another instrumentor writes them."""

from __future__ import annotations

from typing import Any

from opentelemetry import trace

OPERATION = "gen_ai.operation.name"
TOOL = "gen_ai.tool.name"
ARGUMENTS = "gen_ai.tool.call.arguments"
RESULT = "gen_ai.tool.call.result"


def span(name: str, scope: str = "someone.else", **attributes: Any) -> Any:
    """Open a span of another scope; a double underscore in a name stands for a dot."""
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return trace.get_tracer(scope).start_as_current_span(name, attributes=named)


def agent(name: str, **attributes: Any) -> Any:
    """Open the span of an agent."""
    said = {"gen_ai__operation__name": "invoke_agent", "gen_ai__agent__name": name, **attributes}
    return span(f"invoke_agent {name}", **said)


def model(scope: str = "someone.else") -> Any:
    """Open the span of a model call."""
    return span("chat gpt", scope, gen_ai__operation__name="chat")


def tool(name: str, scope: str = "someone.else") -> Any:
    """Open the span of a tool call."""
    said = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": name}
    return span(f"tool {name}", scope, **said)
