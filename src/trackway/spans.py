"""One span of ours, from start to end.

1. A `Plan` knows, before any call, what a decorated function's span looks like; `open` starts the
   span with the arguments already on it, so that a crash keeps them.
2. A `Live` span ends exactly once: finished with a result, failed with an error, or abandoned (a
   stream that nobody read to its end: not an error). A stream keeps what it gave either way; what
   a generator returns after its pieces stands beside them, under a key of its own.
3. The context is made here and attached by the lifecycle around user code only.
4. A failing recorder loses an attribute, never a span and never the user's call (`faults`).
5. Inside a run that is not recorded nothing starts: the function is called as it is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from opentelemetry.context import Context, get_current
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, set_span_in_context

from trackway.capture import record_capture_error
from trackway.capture.storage import type_name
from trackway.driving import Opened
from trackway.failures import told
from trackway.faults import goes_on
from trackway.recording import Recorder, active, note_missed, put
from trackway.run import FIRST, PLACE, Attempt, Run, foreign_place, is_over
from trackway.schema import GenAI, Trackway
from trackway.streams import Collector

NOTHING: Final[Mapping[str, Any]] = {}
NO_RESULT: Final = object()
"""A block ended and gave nothing, which is not a result of None."""
_ENDED: Final = Context()


class Live:
    """A started span, and the place on the context that code below it sees."""

    # Class attributes, not slots: what a call does not need is not even set.
    root = False
    """Whether this is the run span."""
    outermost = False
    """Whether this is the first agent below a run that a block opened."""
    done = False
    attempt: Attempt = FIRST
    refs: Sequence[str] = ()
    collector: Collector | None = None
    returned: Any = None
    """What a generator returned beside the pieces that it gave."""
    started = first_chunk = 0.0
    handed_over = False
    spent = 0
    """Characters of large event values so far."""
    attributes: dict[str, Any]
    span: Span
    context: Context

    def __init__(
        self, plan: Plan, recorder: Recorder, run: Run | None, inherited: Mapping[str, Any]
    ) -> None:
        self.plan = plan
        self.recorder = recorder
        self.run = run
        self.inherited = inherited

    def spend(self, size: int) -> bool:
        """Take room for values besides arguments and result; False once the span is full."""
        self.spent += size
        if self.spent <= self.recorder.capture.limits.span_bytes // 2:
            return True
        if "events" not in self.attributes.get(Trackway.TRUNCATED, ()):
            names = [*self.attributes.get(Trackway.TRUNCATED, ()), "events"]
            self.attributes[Trackway.TRUNCATED] = names
            self.span.set_attribute(Trackway.TRUNCATED, names)
        return False

    def start(
        self,
        name: str,
        parent: Context,
        kind: SpanKind,
        attributes: dict[str, Any],
        links: Sequence[Link] = (),
    ) -> Live:
        """Start the span with all of its attributes in one go."""
        name = self.recorder.names.name(name)
        self.attributes = attributes
        self.started = time.perf_counter()
        self.span = self.recorder.tracer.start_span(name, parent, kind, attributes, links)
        self.context = set_span_in_context(self.span, parent)
        # A context is frozen once somebody has it; up to here nobody does.
        dict.__setitem__(self.context, PLACE, self)
        if self.root and self.recorder.to_baggage is not None:
            self.context = self.recorder.to_baggage(self.context)
        return self

    def finish(self, result: Any) -> None:
        """End the span with the call's result."""
        if self.done:
            return
        self.done = True
        try:
            if self.span.is_recording() and result is not NO_RESULT:
                attributes = self.plan.result_attributes(self, result)
                self._describe_stream(attributes)
                self.span.set_attributes(attributes)
        except BaseException as error:  # user objects run in here
            if goes_on(error):
                raise
            self.lost("result", error)
        finally:
            self._end()

    def fail(self, error: BaseException) -> None:
        """End the span with the error that the call raised."""
        if self.done:
            return
        self.done = True
        try:
            if self.collector is not None:
                self._put_what_came(is_failed=True)
            self._record_error(error)
        except BaseException as problem:  # user exceptions may not even print
            if goes_on(problem):
                raise
            self.lost("error", problem)
        finally:
            self._end()

    def abandon(self) -> None:
        """End the span of a stream that was closed or dropped before its end."""
        if self.done:
            return
        self.done = True
        try:
            self._put_what_came(is_failed=False)
        finally:
            self._end()

    def _put_what_came(self, *, is_failed: bool) -> None:
        """Put down the part of a stream that its reader has seen."""
        try:
            if not self.span.is_recording():
                return
            attributes: dict[str, Any] = {}
            if self.collector is not None and self.collector.count:
                attributes = self.plan.partial_attributes(self, self._collected(), is_failed)
            if not is_failed:
                attributes[Trackway.STREAM_ABANDONED] = True
            self._describe_stream(attributes)
            self.span.set_attributes(attributes)
        except BaseException as error:  # user objects run in here
            if goes_on(error):
                raise
            self.lost("result", error)

    @property
    def takes_iterators(self) -> bool:
        """Whether an iterator that the call returns is its result still to come."""
        return self.plan.takes_iterators

    def open_stream(self) -> None:
        """Say that the result will come in pieces."""
        if self.collector is None:
            self.collector = self.plan.collector()

    def item(self, item: Any) -> None:
        """Take one piece of a streamed result."""
        collector = self.collector
        if collector is None or self.done:
            return
        try:
            if not collector.count:
                self.first_chunk = time.perf_counter() - self.started
            collector.add(item)
        except BaseException as error:  # user objects run in here
            if goes_on(error):
                raise
            self.lost("stream", error)

    def exhausted(self, returned: Any = None) -> None:
        """End the span of a stream that was read to its end."""
        collector = self.collector
        if returned is not None and (collector is None or not collector.count):
            self.finish(returned)
            return
        self.returned = returned
        self.finish(self._collected())

    def lost(self, where: str, error: BaseException) -> None:
        """Count what could not be recorded, and say so on the span."""
        record_capture_error(f"{self.plan.name}: {where}", error)
        self.span.set_attribute(Trackway.CAPTURE_ERROR, f"{where}: {type_name(type(error))}")

    def _describe_stream(self, attributes: dict[str, Any]) -> None:
        collector = self.collector
        if collector is None:
            return
        attributes[Trackway.STREAM_CHUNKS] = collector.count
        if collector.count:
            attributes[self.plan.first_chunk_key] = self.first_chunk
        if collector.cut:
            attributes[Trackway.TRUNCATED] = [*attributes.get(Trackway.TRUNCATED, ()), "stream"]
        if self.returned is not None:
            captured = self.recorder.capture.value(self.returned)
            put(attributes, Trackway.STREAM_RETURNED, "returned", captured)

    def _collected(self) -> Any:
        return None if self.collector is None else self.collector.result()

    def _record_error(self, error: BaseException) -> None:
        self.plan.failed(self)
        if not self.span.is_recording():
            return
        event = told(error, self.recorder.capture)
        kind = event["exception.type"]
        self.span.set_attributes({GenAI.ERROR_TYPE: kind, **self.plan.error_attributes(self)})
        self.span.add_event("exception", event)
        self.span.set_status(Status(StatusCode.ERROR, event.get("exception.message")))

    def _end(self) -> None:
        run = self.run
        try:
            if self.root and run is not None:
                run.ended = True
                self.span.set_attributes(
                    {Trackway.RUN_LAST_STEP: run.last_step, **run.parts.attributes()}
                )
            self.span.end()
            if self.root and self.recorder.flush_at_run_end is not None:
                self.recorder.flush_at_run_end()
        except BaseException as error:  # processors of others run in here
            if goes_on(error):
                raise
            record_capture_error(f"{self.plan.name}: end", error)
        finally:
            # The context holds this object: without the cycle it goes at once, uncollected.
            self.context = _ENDED


class Plan:
    """What the spans of one decorated function look like: decided once, at decoration."""

    opens_runs: ClassVar[bool] = False
    """Whether a call outside any run, or after the run's end, opens a run of its own."""
    takes_iterators: ClassVar[bool] = False
    first_chunk_key: ClassVar[str] = Trackway.STREAM_FIRST_CHUNK
    name: str
    static: Mapping[str, Any] = NOTHING
    """Attributes that every span has: names above all."""
    _fixed: tuple[object, object, Mapping[str, Any]] = (None, None, NOTHING)

    def __getstate__(self) -> dict[str, Any]:
        """What goes along where the function is pickled by value: nothing of this recorder."""
        return {name: value for name, value in vars(self).items() if name != "_fixed"}

    def fixed(self, recorder: Recorder) -> Mapping[str, Any]:
        """Return the static attributes without secrets; found once for a recorder."""
        known = self._fixed
        if known[0] is recorder and known[1] is self.static:
            return known[2]
        clean = recorder.names.name
        found = {k: clean(v) if type(v) is str else v for k, v in self.static.items()}
        self._fixed = recorder, self.static, found
        return found

    def open(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Opened | None:
        """Start the span of one call; None: record nothing, just call the function."""
        recorder = active()
        if recorder is None:
            if note_missed():
                self.missed()
            return None
        context = get_current()
        place: Any = context.get(PLACE)
        if is_over(place):
            place = foreign_place(context) or place
        if place is None and recorder.from_baggage is not None:
            place = recorder.from_baggage(context)
        if place is not None and place.run is not None:
            if self.opens_runs and place.run.ended and not place.handed_over:
                context, place = _ENDED, None
            elif not place.run.recording:
                return None
        try:
            return self.start(recorder, context, place, args, kwargs)
        except BaseException as error:  # user objects run in here
            if goes_on(error):
                raise
            record_capture_error(f"{self.name}: arguments", error)
            return None

    def start(
        self,
        recorder: Recorder,
        context: Context,
        place: Live | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Opened:
        """Start the span of one call."""
        raise NotImplementedError

    def result_attributes(self, live: Live, result: Any) -> dict[str, Any]:
        """Return the attributes of a result."""
        raise NotImplementedError

    def partial_attributes(self, live: Live, result: Any, is_failed: bool) -> dict[str, Any]:
        """Return the attributes of what came of a stream that failed or was left early."""
        return self.result_attributes(live, result)

    def missed(self) -> None:
        """Take note of a call of which nothing is recorded, for recording was shut down."""

    def failed(self, live: Live) -> None:
        """Take note that the call failed."""

    def error_attributes(self, live: Live) -> dict[str, Any]:
        """Return the attributes that an error adds to `error.type`."""
        return {}

    def collector(self) -> Collector:
        """Return what puts a streamed result together."""
        return Collector()
