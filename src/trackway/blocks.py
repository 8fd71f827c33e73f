"""The blocks `with run(...)` and `with step(...)`, for code that is no function of its own.

1. `run` opens a run with a run span; what starts inside belongs to it. A run within a run is a run
   of its own.
2. `step` records one step: a tool step of the kind `lookup`, `mutate`, `notify` or `other`, a model
   call, a retrieval or a wait.
3. A run block that is left out of turn, inside a generator, leaves a hole in each clock concerned.
4. Both are sync and async context managers. An exception that leaves the block is recorded and goes
   on unchanged.
5. A run that is dropped at its head starts no span, and neither does anything inside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import Token
from datetime import datetime
from types import TracebackType
from typing import Any, Final
from weakref import WeakSet

from opentelemetry import context as otel_context
from opentelemetry.context import Context, get_current
from opentelemetry.trace import Link, SpanContext, SpanKind

from trackway.capture import Captured, record_capture_error
from trackway.capture.redact import KEY_NAME_MARKER
from trackway.capture.refs import id_text
from trackway.capture.storage import type_name
from trackway.decorators import checked_kind
from trackway.driving import Opened, detach
from trackway.faults import goes_on
from trackway.fields import is_a, text_of
from trackway.handed_over import tell_begun
from trackway.late_steps import leave, steps_outside
from trackway.llm import LlmPlan
from trackway.plans import Request, StepPlan, ToolPlan
from trackway.propagation import resumed
from trackway.recording import Recorder, active, named, note_missed, put, put_text
from trackway.retrieval import RetrieverPlan
from trackway.run import REQUESTED, Run, new_identity
from trackway.schema import SCHEMA_VERSION, GenAI, StepKind, Trackway
from trackway.spans import NO_RESULT, Live, Plan
from trackway.unrecorded import Unrecorded


class _RunPlan(Plan):
    name = "run"


_RUN: Final = _RunPlan()


class _Block:
    """Attaches a context for the length of a `with` block and ends its span afterwards."""

    _live: Opened | None = None
    _token: Token[Context] | None = None
    _outside = 0
    """How many steps outside any run there had been when it began."""

    def _leave(self, error: BaseException | None) -> None:
        live, self._live = self._live, None
        token, self._token = self._token, None
        if token is not None:
            leave(live, token, self._outside)
        if live is None:
            return
        if error is None:
            live.finish(NO_RESULT)
        else:
            live.fail(error)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        stack: TracebackType | None,
    ) -> None:
        self._leave(error)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        stack: TracebackType | None,
    ) -> None:
        self._leave(error)


def opened_too_early() -> list[Run]:
    """Return the runs that are open and were opened before anybody had configured recording."""
    return [run for run in list(_unheard_of) if not run.ended]


_unheard_of: WeakSet[Run] = WeakSet()


class run(_Block):
    """Open a run: `with trackway.run("refund", trial=3, seed=7) as run: …`.

    task, suite, trial, seed, variant, version and conversation become the identity that every span
    of the run carries. `deadline` is an RFC 3339 text or a datetime, `input` the exact input.
    `resume_from` takes up a run that waited, from its `carrier()`: the same run id, a new run span,
    linked to the old one; the clock goes on. Texts that no `carrier()` made open a new run. Further
    keywords are the fingerprint: what must match for two runs to be comparable.
    """

    def __init__(
        self,
        /,
        task: str | None = None,
        *,
        trial: int | None = None,
        seed: int | None = None,
        suite: str | None = None,
        variant: str | None = None,
        version: str | None = None,
        conversation: str | None = None,
        deadline: str | datetime | None = None,
        input: Any = None,
        resume_from: Mapping[str, str] | None = None,
        **fingerprint: Any,
    ) -> None:
        self._fields = {
            "task": task,
            "trial": trial,
            "seed": seed,
            "suite": suite,
            "variant": variant,
            "version": version,
            "conversation": conversation,
        }
        self._deadline = deadline
        self._input = input
        self._carrier = resume_from
        self._fingerprint = fingerprint

    def __enter__(self) -> Run:
        recorder = active()
        is_unheard_of = recorder is None and not note_missed()
        given = {name: value for name, value in self._fields.items() if value is not None}
        if recorder is not None:
            given = _cleaned(given, recorder)
        defaults = {} if recorder is None else recorder.defaults
        earlier = None if self._carrier is None else resumed(self._carrier, given)
        fresh = Run(new_identity(**{**defaults, **given})), None
        opened, origin = fresh if earlier is None else earlier
        self._live = None
        is_kept = opened.recording  # of one that is resumed, its carrier says so
        if recorder is not None and recorder.keep is not None:
            is_kept = is_kept and recorder.keep(opened.id)
        if recorder is not None and is_kept:
            try:
                self._live = self._start(recorder, opened, origin)
            except BaseException as error:  # processors of others run in here
                if goes_on(error):
                    raise
                record_capture_error("run: start", error)
        if self._live is None:
            self._live = Unrecorded(opened, get_current())
            if is_unheard_of:
                _unheard_of.add(opened)
        self._token = otel_context.attach(self._live.context)
        self._outside = steps_outside()
        return opened

    async def __aenter__(self) -> Run:
        return self.__enter__()

    def _start(self, recorder: Recorder, opened: Run, origin: SpanContext | None) -> Live:
        attributes: dict[str, Any] = {**opened.attributes}
        attributes[Trackway.SCHEMA_VERSION] = SCHEMA_VERSION
        attributes[GenAI.OPERATION_NAME] = "invoke_workflow"
        if opened.clock is not None:
            attributes[Trackway.STEP_CLOCK] = opened.clock
        try:
            if self._deadline is not None:
                attributes[Trackway.DEADLINE] = named(self._deadline, recorder.names)
            if is_a(self._input, str):
                put_text(attributes, Trackway.INPUT, "input", recorder.capture, self._input)
            elif self._input is not None:
                put(attributes, Trackway.INPUT, "input", recorder.capture.value(self._input))
            _put_fingerprint(attributes, recorder, self._fingerprint)
        except BaseException as error:  # user objects run in here
            if goes_on(error):
                raise
            record_capture_error("run: input", error)
        task = opened.identity.task
        live = Live(_RUN, recorder, opened, opened.attributes)
        live.root = True
        name = f"run {task}" if task else "run"
        links = () if origin is None or not origin.is_valid else (Link(origin),)
        live.start(name, get_current(), SpanKind.INTERNAL, attributes, links)
        opened.begin(live.span, input_given=self._input is not None)
        opened.recording = live.span.is_recording()
        if origin is not None and opened.recording:
            part = tell_begun(opened.attributes, live.context)
            live.span.set_attribute(Trackway.HANDED_OVER_PART, part)
        return live


def _cleaned(fields: Mapping[str, Any], recorder: Recorder) -> dict[str, Any]:
    """Return identity fields without secrets; one that can't be cleaned is left out."""
    cleaned: dict[str, Any] = {}
    for name, value in fields.items():
        try:
            cleaned[name] = named(value, recorder.names)
        except BaseException as error:  # patterns and hooks of the user run in here
            if goes_on(error):
                raise
            record_capture_error(f"run: {name}", error)
    return cleaned


def _put_fingerprint(
    attributes: dict[str, Any], recorder: Recorder, fingerprint: Mapping[str, Any]
) -> None:
    redactor = recorder.names.redactor
    for given, value in fingerprint.items():
        name = recorder.names.name(given)
        if redactor is not None and redactor.denies(given) and _is_withheld(given, value, recorder):
            captured = Captured(KEY_NAME_MARKER, redacted=True)
            put(attributes, f"{Trackway.FINGERPRINT}.{name}", f"fingerprint.{name}", captured)
        elif is_a(value, str):
            attributes[f"{Trackway.FINGERPRINT}.{name}"] = recorder.names.text(value)
        elif value is not None:
            captured = recorder.names.value(value)
            put(attributes, f"{Trackway.FINGERPRINT}.{name}", f"fingerprint.{name}", captured)


def _is_withheld(name: str, value: Any, recorder: Recorder) -> bool:
    """Whether a value is hidden under its name; told by its record, for `==` is the user's code."""
    text = recorder.names.value({name: value}).text
    return text is not None and KEY_NAME_MARKER in json.loads(text).values()


class _WaitPlan(StepPlan):
    operation_name = "wait"
    input_key, input_field = Trackway.INPUT, "input"
    output_key, output_field = Trackway.OUTPUT, "output"

    def read(
        self,
        recorder: Recorder,
        arguments: dict[str, Any],
        attributes: dict[str, Any],
    ) -> Request:
        return Request(recorder.capture.arguments(arguments))


def _step_plan(name: str, kind: str) -> StepPlan:
    if kind == "llm":
        return LlmPlan(name, dict)
    if kind == "retrieval":
        return RetrieverPlan(name, dict)
    if kind == "wait":
        return _WaitPlan(name, dict, {})
    return ToolPlan(name, dict, kind=checked_kind(kind, "llm", "retrieval", "wait"))


def _step_name(given: Any) -> str:
    """Return a name as a text; one that is none is counted, and its class stands for it."""
    text = text_of(given)
    if text is not None:
        return text
    try:
        return id_text(given)
    except (TypeError, ValueError) as error:
        record_capture_error("step: name", error)
        return type_name(type(given))


def _checked_text(given: Any) -> str:
    text = text_of(given)
    if text is None:
        raise TypeError(f"expected a text, found {type_name(type(given))}")
    return text


@contextmanager
def requested(call_id: str) -> Iterator[None]:
    """Run a tool for a request of the model: the next tool call inside carries the request's id.

    `with trackway.requested(call.id): result = TOOLS[call.function.name](**arguments)`
    """
    token = otel_context.attach(otel_context.set_value(REQUESTED, call_id))
    try:
        yield
    finally:
        detach(token)


class Step:
    """The step of a `with step(...)` block."""

    __slots__ = ("_result", "index")

    def __init__(self, index: int | None) -> None:
        self.index = index
        """The step's place on the run's logical clock; None where nothing records it."""
        self._result: Any = NO_RESULT

    def result(self, value: Any) -> None:
        """Say what the step gave; recorded when the block ends."""
        self._result = value


class step(_Block):
    """Record a block as one step: `with trackway.step("charge", kind="mutate", amount=4) as s: …`.

    kind: `lookup`, `mutate`, `notify` or `other` for a tool step; `llm`, `retrieval` or `wait`.
    Further keywords are the step's arguments: `messages`, `model`, … of a model call, `query` of a
    retrieval. `s.result(value)` says what it gave. Another kind is recorded as `other`, and counted
    as a capture error.
    """

    def __init__(self, /, name: str, kind: str = "other", **arguments: Any) -> None:
        named = _step_name(name)
        try:
            self._plan = _step_plan(named, _checked_text(kind))
        except (ValueError, TypeError) as error:
            record_capture_error("step: kind", error)
            self._plan = _step_plan(named, StepKind.OTHER)
        self._arguments = arguments
        self._step: Step | None = None

    def __enter__(self) -> Step:
        self._live = live = self._plan.open((), self._arguments)
        index = None
        if live is not None:
            self._token = otel_context.attach(live.context)
            if isinstance(live, Live):
                index = live.attributes.get(Trackway.STEP_INDEX)
        self._step = Step(index)
        return self._step

    async def __aenter__(self) -> Step:
        return self.__enter__()

    def _leave(self, error: BaseException | None) -> None:
        if error is None and self._live is not None and self._step is not None:
            self._live.finish(self._step._result)
        super()._leave(error)
