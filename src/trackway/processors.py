"""Spans that other instrumentors write get the run's identity, and their place in it.

1. Every span that starts inside a run carries the run's identity; a key that the span has already
   keeps its value. Our own spans carry it from birth and are left alone.
2. A foreign span whose operation is a step (a model call, a tool call, a retrieval) also takes the
   run's clock, unless it is the same call seen twice: a span of the same operation (and tool)
   stands right above it, or is our own span around it.
3. Where the provider keeps fewer attributes of a span than `MAX_ATTRIBUTES`, a span inside a run
   gets that many: past the limit the oldest are evicted, which are identity, model and usage.
4. Nothing here raises: a processor that fails loses spans.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import Context, get_current
from opentelemetry.sdk.trace import Span

from trackway.capture import record_capture_error
from trackway.recording import active
from trackway.run import PLACE
from trackway.schema import (
    OPERATION_OF_GENAI_NAME,
    SCOPE_NAME,
    STEP_OPERATIONS,
    GenAI,
    Operation,
    Trackway,
)

MAX_ATTRIBUTES: Final = 512
"""Instrumentors that flatten messages pass OpenTelemetry's 128."""

_OPENINFERENCE: Final = {
    "LLM": Operation.LLM,
    "TOOL": Operation.TOOL,
    "RETRIEVER": Operation.RETRIEVAL,
}
_TRACELOOP: Final = {"tool": Operation.TOOL}
_NONE: Final[Mapping[str, Any]] = {}


def operation_of(attributes: Mapping[str, Any]) -> Operation | None:
    """Return what a span is by its attributes at start; None where none of them tells."""
    name = attributes.get(GenAI.OPERATION_NAME)
    if name is not None:
        return OPERATION_OF_GENAI_NAME.get(str(name), Operation.OTHER)
    kind = attributes.get("openinference.span.kind")
    if kind is not None:
        return _OPENINFERENCE.get(str(kind).upper(), Operation.OTHER)
    kind = attributes.get("traceloop.span.kind")
    if kind is not None:
        return _TRACELOOP.get(str(kind).lower(), Operation.OTHER)
    return Operation.LLM if "llm.request.type" in attributes else None


def stamp(span: Span, parent_context: Context | None) -> None:
    """Add identity to a foreign span that has just started and, to a step, its index."""
    scope = span.instrumentation_scope
    if scope is not None and scope.name == SCOPE_NAME:
        return
    try:
        context = get_current() if parent_context is None else parent_context
        place: Any = context.get(PLACE)
        recorder = active() if place is None else None
        if recorder is not None and recorder.from_baggage is not None:
            place = recorder.from_baggage(context)
        if place is not None and place.run is not None:
            _stamp(span, place, context)
    except Exception as error:  # noqa: BLE001 - a processor must not break the program
        record_capture_error("processor", error)


def _stamp(span: Span, place: Any, context: Context) -> None:
    run = place.run
    present = span.attributes or _NONE
    stamps = {key: value for key, value in run.attributes.items() if key not in present}
    operation = operation_of(present)
    if (
        operation in STEP_OPERATIONS
        and Trackway.STEP_INDEX not in present
        and not _seen(operation, present, trace.get_current_span(context))
        and not _seen(operation, present, place.span)
    ):
        stamps[Trackway.STEP_INDEX] = run.tick()
    _make_room(span)
    span.set_attributes(stamps)


def _make_room(span: Span) -> None:
    held = getattr(span, "_attributes", None)  # the SDK has no public way to a living span's limit
    room = getattr(held, "maxlen", None)
    if held is not None and room is not None and room < MAX_ATTRIBUTES:
        held.maxlen = MAX_ATTRIBUTES


def _seen(operation: Operation | None, present: Mapping[str, Any], span: trace.Span) -> bool:
    above: Mapping[str, Any] = getattr(span, "attributes", None) or _NONE
    if operation_of(above) is not operation:
        return False
    tool, tool_above = (a.get(GenAI.TOOL_NAME, a.get("tool.name")) for a in (present, above))
    return tool == tool_above or tool is None or tool_above is None
