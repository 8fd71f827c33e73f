"""How a run's identity reaches other processes and services, as a carrier.

1. A carrier is a dict of texts (a W3C `traceparent` and the run's identity as JSON) for queues,
   subprocesses and resumption: `carrier()` here, `with carried(carrier):` there. The logical clock
   goes on there from the carrier's value, and is then not unique.
2. Within one process a run is one object, whichever way it was handed over.
3. Baggage only on request: `configure(baggage=True)` writes the run into it, and takes it from the
   baggage of inbound requests.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any, Final

from opentelemetry import baggage, trace
from opentelemetry import context as otel_context
from opentelemetry.context import Context, get_current
from opentelemetry.trace import Span, SpanContext
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from trackway.capture import record_capture_error
from trackway.driving import detach
from trackway.faults import goes_on
from trackway.handed_over import tell_begun, tell_end
from trackway.recording import active, unseen
from trackway.run import PLACE, Identity, Place, Run, current_place, new_clock
from trackway.sampling import tell_kept
from trackway.schema import GenAI

CARRIER_KEY: Final = "trackway-run"
_W3C: Final = TraceContextTextMapPropagator()
_runs: weakref.WeakValueDictionary[str, Run] = weakref.WeakValueDictionary()


class HandedOver:
    """A place that came from elsewhere: its span lives in another thread or process."""

    __slots__ = ("inherited", "run", "span")
    handed_over = True
    context: Context | None = None

    def __init__(self, run: Run, span: Span, agent: str | None) -> None:
        self.run = run
        self.span = span
        self.inherited: Mapping[str, Any] = (
            run.attributes if agent is None else {**run.attributes, GenAI.AGENT_NAME: agent}
        )

    def spend(self, size: int) -> bool:
        """The span is elsewhere and takes nothing."""
        return False


def carrier() -> dict[str, str]:
    """Return the current place as a dict of texts; empty outside any run."""
    place = current_place()
    if place is None or place.run is None:
        return {}
    if place.run.recording:
        _keep_whole(place.run.id)
    texts: dict[str, str] = {}
    _W3C.inject(texts)
    texts[CARRIER_KEY] = _pack(place, place.run)
    return texts


@contextmanager
def carried(texts: Mapping[str, str] | None) -> Iterator[Run | None]:
    """Work in the place that a carrier names; an empty carrier, or None, changes nothing.

    One that `carrier()` did not make changes nothing either, and is counted as a capture error.
    """
    with in_place(texts) as run:
        part = None if run is None or not run.recording else tell_begun(run.attributes)
        before = unseen()
        try:
            yield run
        finally:
            if part is not None and run is not None:
                tell_end(part, run.attributes, run.parts, before)


@contextmanager
def in_place(texts: Mapping[str, str] | None) -> Iterator[Run | None]:
    """Work in the place that a carrier names, and leave no mark of it."""
    found = None if texts is None else _named_by(texts, get_current())
    if found is None:
        yield None
        return
    place, context = found
    token = otel_context.attach(otel_context.set_value(PLACE, place, context))
    try:
        yield place.run
    finally:
        detach(token)


def resumed(texts: Mapping[str, str], changes: Mapping[str, Any]) -> tuple[Run, SpanContext] | None:
    """Return the run that a carrier names, to be taken up by a run span of its own, and its origin.

    None, counted as a capture error, for one that `carrier()` did not make.
    """
    found = _named_by(texts, Context())
    if found is None:
        return None
    place, _ = found
    last_step = place.run.last_step
    identity = replace(place.run.identity, **changes)
    is_recording = place.run.recording
    clock = new_clock(last_step)
    run = Run(identity, recording=is_recording, last_step=last_step, clock=clock)
    _runs[run.id] = run
    return run, place.span.get_span_context()


def with_baggage(context: Context) -> Context:
    """Return the context with its place in the baggage too: it goes into outbound headers."""
    place = current_place(context)
    if place is None or place.run is None:
        return context
    return baggage.set_baggage(CARRIER_KEY, _pack(place, place.run), context)


def place_in_baggage(context: Context) -> HandedOver | None:
    """Return the place that the baggage of an inbound request names, or None."""
    text = baggage.get_baggage(CARRIER_KEY, context)
    return None if text is None else _place(text, context, "baggage")


def _named_by(texts: Mapping[str, str], context: Context) -> tuple[HandedOver, Context] | None:
    """Return the place that a carrier names, and its context; None for an empty one."""
    try:
        if not len(texts):
            return None
        context = _W3C.extract(texts, context=context)
        text = texts.get(CARRIER_KEY)
    except Exception as error:  # whatever a message held in the place of a carrier
        if goes_on(error):
            raise
        record_capture_error("carrier", error)
        return None
    place = _place(text, context, "carrier")
    return None if place is None else (place, context)


def _place(text: object, context: Context, where: str) -> HandedOver | None:
    try:
        if not isinstance(text, str):
            raise TypeError(f"expected a text that trackway.carrier() made, found {text!r}")
        return _unpack(text, context)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        record_capture_error(where, error)
        return None


def _pack(place: Place, run: Run) -> str:
    fields: dict[str, Any] = {k: v for k, v in asdict(run.identity).items() if v is not None}
    agent = place.inherited.get(GenAI.AGENT_NAME)
    _runs[run.id] = run
    more = {"last_step": run.last_step, "recording": run.recording, "agent": agent}
    return json.dumps({**fields, **more}, sort_keys=True)


def _unpack(text: str, context: Context) -> HandedOver:
    fields = json.loads(text)
    last_step, recording = fields.pop("last_step"), fields.pop("recording")
    agent = fields.pop("agent")
    identity = Identity(**fields)
    run = _runs.get(identity.run_id)
    tell_kept(identity.run_id, kept=bool(recording))
    if recording:
        _keep_whole(identity.run_id)
    if run is None:
        clock = new_clock(last_step)
        run = Run(identity, recording=bool(recording), last_step=last_step, clock=clock)
        _runs[run.id] = run
    return HandedOver(run, trace.get_current_span(context), agent)


def _keep_whole(run_id: str) -> None:
    recorder = active()
    if recorder is not None and recorder.keep_whole is not None:
        recorder.keep_whole(run_id)
