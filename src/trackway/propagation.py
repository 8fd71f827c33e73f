"""How a run's identity reaches threads and other processes.

1. Tasks and `asyncio.to_thread` copy the context on their own. `ThreadPoolExecutor.submit`,
   `Thread.start`, `ProcessPoolExecutor.submit`, the methods of `multiprocessing.Pool` and
   `Process.start` do not: `configure()` makes them hand the place over when, and only when, they
   are called inside a run.
2. A worker that a pool starts inside a run takes nothing along: it outlives the run.
3. A carrier is a dict of texts (a W3C `traceparent` and the run's identity as JSON) for queues,
   subprocesses and resumption: `carrier()` here, `with carried(carrier):` there. The logical clock
   goes on there from the carrier's value, and is then not unique.
4. Within one process a run is one object, whichever way it was handed over.
5. Baggage only on request: `configure(baggage=True)` writes the run into it, and takes it from the
   baggage of inbound requests.
"""

from __future__ import annotations

import functools
import json
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
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
from trackway.greenlets import hand_over_to_greenlets, stop_handing_over_to_greenlets
from trackway.handed_over import tell_begun, tell_ended
from trackway.recording import active
from trackway.run import PLACE, Identity, Place, Run, current_place, current_run, new_clock
from trackway.sampling import tell_kept
from trackway.schema import GenAI

CARRIER_KEY: Final = "trackway-run"
_FUNCTION: Final = "func"
_POOL_METHODS: Final = (
    *("apply_async", "map", "map_async", "starmap", "starmap_async", "imap", "imap_unordered"),
)
"""`apply` calls `apply_async`; the others each reach the queue by a way of their own."""
_SERVICES: Final = ("multiprocessing.", "concurrent.")
"""Workers of pools and servers of managers: they serve whoever asks."""
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
    with _in_place(texts) as run:
        part = None if run is None or not run.recording else tell_begun(run.attributes)
        try:
            yield run
        finally:
            if part is not None and run is not None:
                tell_ended(part, run.attributes, run.parts)


@contextmanager
def _in_place(texts: Mapping[str, str] | None) -> Iterator[Run | None]:
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
    except Exception as error:  # noqa: BLE001 - whatever a message held in the place of a carrier
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
        is_recording = recording and active() is not None
        clock = new_clock(last_step)
        run = Run(identity, recording=is_recording, last_step=last_step, clock=clock)
        _runs[run.id] = run
    return HandedOver(run, trace.get_current_span(context), agent)


def _keep_whole(run_id: str) -> None:
    recorder = active()
    if recorder is not None and recorder.keep_whole is not None:
        recorder.keep_whole(run_id)


class _InThread:
    """A function that runs under the context of the thread that submitted it."""

    __slots__ = ("_context", "_function")

    def __init__(self, function: Callable[..., Any], context: Context) -> None:
        self._function = function
        self._context = context

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        token = otel_context.attach(self._context)
        try:
            return self._function(*args, **kwargs)
        finally:
            detach(token)


class _InProcess:
    """A function that runs in the place of its submitter, in another process.

    It is a part of the run from when it is pickled or forked (`handed_over.py`); not in a pool of
    threads.
    """

    def __init__(self, function: Callable[..., Any], run: Run) -> None:
        self._function = function
        self._texts = carrier()
        self._run = run
        self._part: str | None = None

    def hand_over(self) -> None:
        """Make it a part of the run, once; of one that is not recorded nothing is missed."""
        if self._part is None and self._run.recording:
            self._part = self._run.parts.hand_over()

    def __reduce__(self) -> tuple[Any, ...]:
        self.hand_over()
        return _Part, (self._function, self._texts, self._part)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Part(self._function, self._texts, self._part)(*args, **kwargs)


class _Part:
    """The same as it arrives in the other process; a pool may call it for several items."""

    def __init__(
        self, function: Callable[..., Any], texts: Mapping[str, str], part: str | None
    ) -> None:
        self._function = function
        self._texts = texts
        self._part = part

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with _in_place(self._texts) as run:
            try:
                return self._function(*args, **kwargs)
            finally:
                part, self._part = self._part, None
                if part is not None and run is not None:
                    tell_ended(part, run.attributes, run.parts)


@contextmanager
def _outside() -> Iterator[None]:
    """Do what starts or forks workers, which must not keep the run for life."""
    token = otel_context.attach(Context())
    try:
        yield
    finally:
        detach(token)


def _submitting(
    submit: Callable[..., Any],
    hand_over: Callable[[Callable[..., Any], Run], Callable[..., Any]],
) -> Callable[..., Any]:
    def submit_in_place(self: Any, *args: Any, **kwargs: Any) -> Any:
        run = current_run()
        if run is None:
            return submit(self, *args, **kwargs)
        if args:
            args = (hand_over(args[0], run), *args[1:])
        elif _FUNCTION in kwargs:
            kwargs[_FUNCTION] = hand_over(kwargs[_FUNCTION], run)
        with _outside():
            return submit(self, *args, **kwargs)

    return submit_in_place


def _submit_to_threads(submit: Callable[..., Any]) -> Callable[..., Any]:
    return _submitting(submit, lambda function, _: _InThread(function, get_current()))


def _submit_to_processes(submit: Callable[..., Any]) -> Callable[..., Any]:
    return _submitting(submit, _InProcess)


def _start_thread(start: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    def start_in_place(self: threading.Thread) -> None:
        if current_run() is not None and not self.name.startswith("trackway-"):
            # On the instance: the class stays as it is, and so do other threads.
            self.run = _InThread(self.run, get_current())  # type: ignore[method-assign]  # of this thread alone
        start(self)

    return start_in_place


def _start_process(start: Callable[[Any], None]) -> Callable[[Any], None]:
    def start_in_place(self: Any) -> None:
        target, run = getattr(self, "_target", None), current_run()
        if target is None or run is None:
            start(self)
        elif str(getattr(target, "__module__", "")).startswith(_SERVICES):
            with _outside():
                start(self)
        else:
            part = self._target = _InProcess(target, run)
            part.hand_over()
            try:
                start(self)
            except BaseException:  # whatever it is, it is the caller's: nothing has started
                run.parts.take_back()
                raise
            finally:
                self._target = target

    return start_in_place


class _Patches:
    """The standard library's functions as they were, to be put back."""

    originals: list[tuple[type, str, Any]] = []  # noqa: RUF012 - one per process


def hand_over_to_threads_and_processes() -> None:
    """Make pools and threads that are used inside a run take the run along; once."""
    if _Patches.originals:
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.pool import Pool
    from multiprocessing.process import BaseProcess

    replacements: tuple[tuple[type, str, Callable[[Any], Any]], ...] = (
        (ThreadPoolExecutor, "submit", _submit_to_threads),
        (ProcessPoolExecutor, "submit", _submit_to_processes),
        (threading.Thread, "start", _start_thread),
        (BaseProcess, "start", _start_process),
        *((Pool, name, _submit_to_processes) for name in _POOL_METHODS),
    )
    for owner, name, patch in replacements:
        original = getattr(owner, name)
        _Patches.originals.append((owner, name, original))
        patched = patch(original)
        setattr(owner, name, functools.wraps(original)(patched))
    hand_over_to_greenlets()


def stop_handing_over() -> None:
    """Put the standard library's own functions back."""
    stop_handing_over_to_greenlets()
    while _Patches.originals:
        owner, name, original = _Patches.originals.pop()
        setattr(owner, name, original)
