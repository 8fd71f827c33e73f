"""Spans that other instrumentors write: what they are, and whose run they are in.

1. A span's attributes say what it is: the GenAI conventions first, then OpenInference, then
   OpenLLMetry, then the Model Context Protocol. Its name says nothing. Libraries in `LATE_SCOPES`
   write these attributes after the start.
2. An agent or workflow span outside any run opens one: it is its root. What starts below it, at any
   depth and whoever writes it, belongs to that run.
3. Two spans of one operation, one right inside the other, are one call seen twice: the same tool,
   or no tool named. A tool that calls another tool is two.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from opentelemetry.trace import Span

from trackway.schema import OPERATION_OF_GENAI_NAME, SCOPE_NAME, GenAI, Operation

NOTHING: Final[Mapping[str, Any]] = {}

LATE_SCOPES: Final = frozenset(
    {
        "agent_framework",
        "gcp.vertex.agent",
        "openinference.instrumentation.litellm",
        "strands.telemetry.tracer",
    }
)
"""Scopes whose spans start without a word of what they are."""
_MERGED: Final = "(merged tools)"
"""What Google's ADK calls a span about several calls that have spans of their own."""
_OPENINFERENCE: Final = {
    "LLM": Operation.LLM,
    "TOOL": Operation.TOOL,
    "RETRIEVER": Operation.RETRIEVAL,
    "AGENT": Operation.AGENT,
}
_TRACELOOP: Final = {
    "tool": Operation.TOOL,
    "agent": Operation.AGENT,
    "workflow": Operation.WORKFLOW,
}
_OPENS_RUNS: Final = frozenset({Operation.AGENT, Operation.WORKFLOW})


def operation_of(attributes: Mapping[str, Any]) -> Operation | None:
    """Return what a span is by its attributes at start; None where none of them tells."""
    name = attributes.get(GenAI.OPERATION_NAME)
    if name is not None:
        if attributes.get(GenAI.TOOL_NAME) == _MERGED:
            return Operation.OTHER
        return OPERATION_OF_GENAI_NAME.get(str(name), Operation.OTHER)
    kind = attributes.get("openinference.span.kind")
    if kind is not None:
        return _OPENINFERENCE.get(str(kind).upper(), Operation.OTHER)
    kind = attributes.get("traceloop.span.kind")
    if kind is not None:
        return _TRACELOOP.get(str(kind).lower(), Operation.OTHER)
    if "llm.request.type" in attributes:
        return Operation.LLM
    method = attributes.get("mcp.method.name")
    return Operation.TOOL if method == "tools/call" else None


def is_told(attributes: Mapping[str, Any]) -> bool:
    """Whether the attributes say by now what the span is; of a tool call, which tool's."""
    operation = operation_of(attributes)
    return operation is not None and (operation is not Operation.TOOL or bool(tool_of(attributes)))


def opens_run(operation: Operation | None) -> bool:
    """Whether a span of this operation, outside any run, is the root of one."""
    return operation in _OPENS_RUNS


def tool_of(attributes: Mapping[str, Any]) -> str | None:
    """Return the tool that a span names, or None."""
    name = attributes.get(GenAI.TOOL_NAME, attributes.get("tool.name"))
    return None if name is None else str(name)


def attributes_of(span: Span) -> Mapping[str, Any]:
    """Return the attributes of a living span; nothing of one that is not recorded."""
    return getattr(span, "attributes", None) or NOTHING


def is_own(span: Span) -> bool:
    """Whether our own instrumentation writes this living span."""
    scope = getattr(span, "instrumentation_scope", None)
    return scope is not None and scope.name == SCOPE_NAME


def is_same_call(operation: Operation | None, tools: Collection[str], above: Span) -> bool:
    """Whether the span above is this same call: its operation, and its tool under any name."""
    attributes = attributes_of(above)
    if not attributes or operation_of(attributes) is not operation:
        return False
    tool_above = tool_of(attributes)
    return not tools or tool_above is None or tool_above in tools
