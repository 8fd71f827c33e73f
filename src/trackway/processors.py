"""Spans that other instrumentors write get the run's identity, and their place in it.

1. Every span that starts inside a run carries the run's identity; a key that the span has already
   keeps its value. Our own spans carry it from birth and are left alone.
2. A foreign agent or workflow span outside any run opens one, as an agent of ours does: it gets a
   run id, and the clock's last value when it ends. What starts below it is inside.
3. A foreign span whose operation is a step (a model call, a tool call, a retrieval) also takes the
   run's clock, unless it is the same call seen twice: a span of the same operation (and tool)
   stands right above it, or is our own span around it. Two instrumentors that see one call are
   told of once.
4. A library that says only after the start what a span is (`LATE_SCOPES`) gets all this then. Most
   say it at once; those that say it at the end take the clock late, after what is inside.
5. A foreign tool call gets what the declaration says of the tool: its kind when it starts, its
   entities and its idempotency key when it ends and its arguments and result are known.
6. Where the provider keeps fewer attributes of a span than `MAX_ATTRIBUTES`, a span inside a run
   gets that many: past the limit the oldest are evicted, which are identity, model and usage.
7. A span that opens a run says which libraries are on; it, and a step outside any run, says which
   of those that were turned on no longer record (`watching`).
8. Nothing here raises: a processor that fails loses spans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import Context, get_current
from opentelemetry.sdk.trace import ReadableSpan, Span

from trackway import streamed_answers
from trackway.capture import record_capture_error
from trackway.declared import kind_attributes, outcome_attributes
from trackway.doubles import note_double
from trackway.export.ended import changed
from trackway.faults import goes_on
from trackway.foreign import (
    LATE_SCOPES,
    NOTHING,
    is_own,
    is_same_call,
    is_told,
    opens_run,
    operation_of,
    tool_of,
)
from trackway.late_steps import next_step, note_outside
from trackway.recording import Recorder, active
from trackway.run import FOREIGN_PLACE, PLACE, Run, is_over, new_identity
from trackway.sampling import is_drawn_alone, is_dropped_elsewhere
from trackway.schema import (
    SCHEMA_VERSION,
    SCOPE_NAME,
    STEP_OPERATIONS,
    GenAI,
    Operation,
    Trackway,
)
from trackway.watching import is_watching, lost, watched

MAX_ATTRIBUTES: Final = 512
"""Instrumentors that flatten messages pass OpenTelemetry's 128."""
_RESENT: Final = "http.request.resend_count"
"""On a model call: how often its client sent the request again (Anthropic's own spans)."""
_WRITERS: Final = ("set_attribute", "set_attributes")
_MAX_OPEN_ROOTS: Final = 10_000


class ForeignPlace:
    """The place below a foreign span that opened a run: every span in it points here."""

    handed_over = False
    context: Context | None = None

    def __init__(self, run: Run, span: Span, inherited: Mapping[str, Any]) -> None:
        self.run = run
        self.span = span
        self.inherited = inherited

    def spend(self, size: int) -> bool:
        """The span is another instrumentor's: the exporter keeps it to its size."""
        return True


_roots: dict[int, Run] = {}
"""Runs that a foreign span opened and that have not ended, by the id of that span."""


def stamp(span: Span, parent_context: Context | None) -> None:
    """Add identity to a foreign span that has just started and, to a step, its index."""
    scope = span.instrumentation_scope
    if scope is not None and scope.name == SCOPE_NAME:
        if is_watching() and Trackway.SCHEMA_VERSION in (span.attributes or NOTHING):
            _say_what_is_on(span)
        return
    try:
        context = get_current() if parent_context is None else parent_context
        _enter(span, context)
        if (
            scope is not None
            and scope.name in LATE_SCOPES
            and operation_of(span.attributes or NOTHING) is None
        ):
            _enter_again_once_known(span, context)
    except Exception as error:  # a processor must not break the program
        if goes_on(error):
            raise
        record_capture_error("processor", error)


def _enter(span: Span, context: Context) -> None:
    """Find the place of a span, or open the run that it is the root of, and stamp it."""
    parent = trace.get_current_span(context)
    # A foreign span was opened inside the place that the context holds, or opened a run itself.
    place: Any = getattr(parent, FOREIGN_PLACE, None) or context.get(PLACE)
    recorder = active()
    if place is None and recorder is not None and recorder.from_baggage is not None:
        place = recorder.from_baggage(context)
    present = span.attributes or NOTHING
    operation = operation_of(present)
    if recorder is not None and opens_run(operation) and is_over(place):
        place = _opened(span, recorder, present)
        _say_what_is_on(span)
    elif operation in STEP_OPERATIONS and is_over(place):
        _say_what_is_lost(span)
        if place is None:
            note_outside(parent)
    if place is not None and place.run is not None:
        setattr(span, FOREIGN_PLACE, place)
        _stamp(span, place, parent, operation, recorder)


def _say_what_is_on(span: Span) -> None:
    on = watched()
    if on:
        span.set_attribute(Trackway.INSTRUMENTATION_ON, on)
    _say_what_is_lost(span)


def _say_what_is_lost(span: Span) -> None:
    found = lost()
    if found:
        span.set_attribute(Trackway.INSTRUMENTATION_LOST, found)


def _enter_again_once_known(span: Span, context: Context) -> None:
    """Wait for the attribute that says what the span is."""
    writers = {name: getattr(span, name) for name in _WRITERS}

    def written_by(name: str) -> Callable[..., None]:
        def write(*args: Any, **kwargs: Any) -> None:
            writers[name](*args, **kwargs)
            if is_told(span.attributes or NOTHING):
                told()

        return write

    def told() -> None:
        waiting = [span.__dict__.pop(name, None) for name in _WRITERS]
        if waiting[0] is None:  # one writer calls the other
            return
        try:
            _enter(span, context)
        except Exception as error:  # a processor must not break the program
            if goes_on(error):
                raise
            record_capture_error("processor", error)

    span.__dict__.update({name: written_by(name) for name in _WRITERS})


def completed(span: ReadableSpan) -> ReadableSpan | None:
    """Return an ended span with what only its end tells; None: its run is dropped."""
    recorder = active()
    if recorder is None:
        return span
    try:
        if is_dropped_elsewhere(span):
            return None
        if recorder.keep is not None and not _is_kept(span, recorder.keep):
            return None
        scope = span.instrumentation_scope
        name = None if scope is None else scope.name
        if name == SCOPE_NAME:
            return span
        quiet = not _roots and recorder.declared is None and name != streamed_answers.SCOPE
        if quiet and _RESENT not in (span.attributes or NOTHING):
            return span
        return _completed(span, recorder)
    except Exception as error:  # a processor must not break the program
        if goes_on(error):
            raise
        record_capture_error("processor", error)
        return span


def _completed(span: ReadableSpan, recorder: Recorder) -> ReadableSpan | None:
    scope = span.instrumentation_scope
    present = span.attributes or NOTHING
    added: dict[str, Any] = {}
    run = None if span.context is None else _roots.pop(span.context.span_id, None)
    if run is not None:
        run.ended = True
        added = {Trackway.RUN_LAST_STEP: run.last_step, **run.parts.attributes()}
    resent = present.get(_RESENT)
    if isinstance(resent, int) and resent > 0 and operation_of(present) is Operation.LLM:
        added[Trackway.STEP_ATTEMPT] = resent + 1
    if scope is not None and scope.name == streamed_answers.SCOPE:
        answer = streamed_answers.streamed_answer(present)
        if answer is not None:
            added[streamed_answers.OUTPUT] = answer
    if recorder.declared is not None and operation_of(present) is Operation.TOOL:
        added |= outcome_attributes(recorder, tool_of(present), present)
    if not added:
        return span
    return changed(
        span,
        name=span.name,
        attributes={**present, **added},
        events=span.events,
        links=span.links,
        status=span.status,
        resource=span.resource,
    )


def _is_kept(span: ReadableSpan, keep: Callable[[str], bool]) -> bool:
    """A foreign span starts before anybody knows whether the run that it opens is kept."""
    run_id = (span.attributes or NOTHING).get(Trackway.RUN_ID)
    return keep(run_id) if isinstance(run_id, str) else is_drawn_alone(span, keep)


def _opened(span: Span, recorder: Recorder, present: Mapping[str, Any]) -> ForeignPlace:
    """Open the run whose root this span is."""
    fields = dict(recorder.defaults)
    conversation = present.get(GenAI.CONVERSATION_ID)
    if isinstance(conversation, str):
        fields["conversation"] = conversation
    run = Run(new_identity(**fields))
    agent = present.get(GenAI.AGENT_NAME)
    inherited = run.attributes if agent is None else {**run.attributes, GenAI.AGENT_NAME: agent}
    run.begin(span, input_given=False)
    run.recording = recorder.keep is None or recorder.keep(run.id)
    if run.recording:
        span.set_attribute(Trackway.SCHEMA_VERSION, SCHEMA_VERSION)
    context = span.context
    if context is not None:
        if len(_roots) >= _MAX_OPEN_ROOTS:  # spans that nobody ends must not keep the others out
            _roots.pop(next(iter(_roots)), None)
        _roots[context.span_id] = run
    return ForeignPlace(run, span, inherited)


def _stamp(
    span: Span,
    place: Any,
    parent: trace.Span,
    operation: Operation | None,
    recorder: Recorder | None,
) -> None:
    run = place.run
    present = span.attributes or NOTHING
    stamps = {key: value for key, value in run.attributes.items() if key not in present}
    if operation in STEP_OPERATIONS:
        tool = tool_of(present)
        tools = () if tool is None else (tool,)
        twice = is_same_call(operation, tools, parent)
        if twice and not is_own(parent):
            note_double(parent, span)
        if (
            not twice
            and not is_same_call(operation, tools, place.span)
            and Trackway.STEP_INDEX not in present
        ):
            stamps[Trackway.STEP_INDEX] = next_step(place, run)
            if run.clock is not None:
                stamps[Trackway.STEP_CLOCK] = run.clock
        if operation is Operation.TOOL and recorder is not None and recorder.declared is not None:
            stamps |= kind_attributes(recorder, tool, present)
    _make_room(span)
    span.set_attributes(stamps)


def _make_room(span: Span) -> None:
    held = getattr(span, "_attributes", None)  # the SDK has no public way to a living span's limit
    room = getattr(held, "maxlen", None)
    if held is not None and room is not None and room < MAX_ATTRIBUTES:
        held.maxlen = MAX_ATTRIBUTES
