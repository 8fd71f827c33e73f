"""Which run is this, and where in it are we?

1. A run is one execution of an agent. Its identity (run id, task, suite, trial, seed, variant,
   version, conversation) never changes; its logical clock counts the steps 1, 2, 3, … as they
   start, without a wall clock.
2. The current place travels on the OpenTelemetry Context under a key of our own, not in baggage:
   propagators write baggage into outbound headers.
3. A `Place` is a run together with our innermost span in it; events are recorded there.
4. A step that repeats a failed call with the same input is the next attempt of the same operation;
   after a success the same input starts a new one.
5. The runs that are open in this process are known, so that each can be told what came over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast
from weakref import WeakSet

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Span, get_current_span

from trackway import ids
from trackway.after_end import say_after_end
from trackway.capture import record_capture_error
from trackway.capture.integers import whole
from trackway.fates import fate_of
from trackway.faults import goes_on
from trackway.forks import Counting
from trackway.handed_over import Parts
from trackway.recording import active, named, note_missed, put, put_figure, put_text
from trackway.said import both_texts
from trackway.schema import GenAI, Trackway

PLACE: Final = "trackway.place"
REQUESTED: Final = "trackway.requested"
"""Context key of the call id under which the model requested the tool call to come."""
FOREIGN_PLACE: Final = "_trackway_place"
"""Attribute of a living foreign span: the place in which it started."""
_NO_FIGURES: Final[Mapping[str, Any]] = {}
_MAX_OPEN_FAILURES: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What every span of a run carries."""

    run_id: str
    task: str | None = None
    suite: str | None = None
    trial: int | None = None
    seed: int | None = None
    variant: str | None = None
    version: str | None = None
    conversation: str | None = None

    def attributes(self) -> dict[str, Any]:
        """Return the span attributes; a field that nobody set has none."""
        pairs = {
            Trackway.RUN_ID: self.run_id,
            Trackway.TASK_ID: self.task,
            Trackway.SUITE_ID: self.suite,
            Trackway.TRIAL_INDEX: self.trial,
            Trackway.TRIAL_SEED: self.seed,
            Trackway.VARIANT: self.variant,
            Trackway.AGENT_VERSION: self.version,
            GenAI.CONVERSATION_ID: self.conversation,
        }
        return {
            key: whole(value) if isinstance(value, int) else value
            for key, value in pairs.items()
            if value is not None
        }


@dataclass(frozen=True, slots=True)
class Attempt:
    """Which try of which operation a step is."""

    number: int
    operation_id: str | None


def new_clock(last_step: int) -> str:
    """Return the name of a clock that goes on beside another one, from the value that it had."""
    return f"{ids.run_id()[:16]}:{last_step}"


class Run:
    """One execution of an agent, as `run(...)` and `current_run()` return it."""

    __slots__ = (
        "__weakref__",
        "_attributes",
        "_counts",
        "_failures",
        "_final_given",
        "_final_text",
        "_forks",
        "_input_given",
        "_step",
        "clock",
        "ended",
        "fate",
        "identity",
        "parts",
        "recording",
        "span",
    )

    def __init__(
        self,
        identity: Identity,
        *,
        recording: bool = True,
        last_step: int = 0,
        clock: str | None = None,
    ) -> None:
        self.identity = identity
        self.fate = fate_of(identity.run_id) if recording else None
        """What is decided of its spans, if there are any; held for those that come late."""
        self.clock = clock
        """The name of its clock here, where another process or part of the run has one too."""
        self._forks = Counting.forks
        self._attributes: Mapping[str, Any] | None = None
        self.recording = recording
        """False: nothing of this run is recorded (not configured, or dropped at its head)."""
        self.ended = False
        self.span: Span = INVALID_SPAN
        """The run span, once it has started."""
        self._input_given = False
        self._final_given = False
        self._final_text: str | None = None
        self._step = last_step
        self.parts = Parts()
        """What went to other processes."""
        self._failures: dict[object, Attempt] = {}
        self._counts: dict[object, int] = {}

    def __repr__(self) -> str:
        task = f" task={self.identity.task!r}" if self.identity.task else ""
        return f"<Run {self.id}{task} steps={self._step}>"

    @property
    def id(self) -> str:
        """The run id."""
        return self.identity.run_id

    @property
    def attributes(self) -> Mapping[str, Any]:
        """What every span of the run carries."""
        if self._attributes is None:
            self._attributes = self.identity.attributes()
        return self._attributes

    @property
    def last_step(self) -> int:
        """The logical clock's last value; 0 before the first step."""
        return self._step

    def tick(self) -> int:
        """Take the next value of the logical clock, from 1."""
        with Counting.lock:
            if self._forks != Counting.forks:  # a forked child counts on beside its parent
                self._forks, self.clock = Counting.forks, new_clock(self._step)
            self._step += 1
            return self._step

    def attempt(self, key: object, operation_id: str | None) -> Attempt:
        """Tell which try this is: by the declared operation id, else by what failed before."""
        with Counting.lock:
            if operation_id is None:
                return self._failures.pop(key, FIRST)
            number = self._counts.get((key, operation_id), 0) + 1
            self._counts[key, operation_id] = number
            return Attempt(number, operation_id)

    def failed(self, key: object, attempt: Attempt) -> None:
        """Remember that this call failed, so that a repetition counts as its next attempt."""
        with Counting.lock:
            if len(self._failures) >= _MAX_OPEN_FAILURES:
                self._failures.pop(next(iter(self._failures)))
            self._failures[key] = Attempt(attempt.number + 1, attempt.operation_id)

    @property
    def has_failures(self) -> bool:
        """Whether some failed call has not been tried again yet."""
        return bool(self._failures)

    def begin(self, span: Span, *, input_given: bool) -> None:
        """Take the run span; `input_given` tells whether the run's input is on it already."""
        self.span = span
        self._input_given = input_given
        with Counting.lock:
            _begun.add(self)

    def tell(self, key: str, said: Iterable[str]) -> None:
        """Add what is said to a list on the run span."""
        held = getattr(self.span, "attributes", None) or {}
        known = list(held.get(key, ()))
        fresh = [one for one in said if one not in known]
        if fresh and not self.ended:
            self.span.set_attribute(key, [*known, *fresh])

    def lend(
        self, *, input: Mapping[str, Any] | None = None, final: Mapping[str, Any] | None = None
    ) -> None:
        """Take an agent's input and final text where the run was given none of its own."""
        if input is not None and not self._input_given:
            self._input_given = True
            self.span.set_attributes(input)
        if final is not None and not self._final_given:
            self.span.set_attributes(final)

    def outcome(
        self,
        success: bool | None,
        label: str | None = None,
        failure_mode: str | None = None,
        state: Any = None,
        *,
        censored: bool | None = None,
    ) -> None:
        """Record what is true at the end, judged from state and effects, not from what was said.

        `success=None` means unknown. `censored` marks a run cut off by a cost or time cap. It may
        come after the end of the run (`after_end.py`).
        """
        names = {
            Trackway.OUTCOME_LABEL: label,
            Trackway.OUTCOME_FAILURE_MODE: failure_mode,
        }
        figures = {Trackway.OUTCOME_SUCCESS: success, Trackway.OUTCOME_CENSORED: censored}
        self._record("outcome", names, Trackway.OUTCOME_STATE, state, figures=figures)

    def final(
        self, text: str | None = None, action: str | None = None, arguments: Any = None
    ) -> None:
        """Record the final text and the terminal action: two different claims.

        Of several texts all stand, of several actions the last. They may come after the run's end.
        """
        self._final_given = self._final_given or text is not None
        if type(text) is str:
            text = self._final_text = both_texts(self._final_text, text, self.identity.task)
        names = {Trackway.FINAL_ACTION: action}
        self._record("final", names, Trackway.FINAL_ARGUMENTS, arguments, text)

    def _record(
        self,
        what: str,
        names: Mapping[str, Any],
        key: str,
        value: Any,
        text: str | None = None,
        figures: Mapping[str, Any] = _NO_FIGURES,
    ) -> None:
        recorder = active()
        if recorder is None or not self.recording:
            if self.ended and self.recording:
                note_missed()
            return
        attributes: dict[str, Any] = {}
        try:
            if text is not None:
                put_text(attributes, Trackway.OUTPUT, "output", recorder.capture, text)
            if value is not None:
                put(attributes, key, key.removeprefix("trackway."), recorder.capture.value(value))
            for name, given in figures.items():
                put_figure(attributes, name, name.removeprefix("trackway."), recorder, given)
            said = {name: named(given, recorder.names) for name, given in names.items()}
            attributes.update({k: v for k, v in said.items() if v is not None})
            if not self.ended:
                self.span.set_attributes(attributes)
            elif attributes:
                say_after_end(recorder, what, self.span, self.attributes, attributes)
        except BaseException as error:  # user objects run in here
            if goes_on(error):
                raise
            record_capture_error(what, error)


_begun: WeakSet[Run] = WeakSet()
"""Runs that were opened here, as long as anything still holds them."""


def open_runs() -> list[Run]:
    """Return the recorded runs that this process opened and that have not ended."""
    with Counting.lock:
        begun = list(_begun)
    return [run for run in begun if not run.ended]


FIRST: Final = Attempt(1, None)


class Place(Protocol):
    """Where the program is: a run, our innermost span in it, and what its steps inherit."""

    @property
    def run(self) -> Run | None:
        """The run; None for a span outside any run."""

    @property
    def span(self) -> Span:
        """The span on which events are recorded."""

    @property
    def inherited(self) -> Mapping[str, Any]:
        """Attributes that every step below carries."""

    @property
    def handed_over(self) -> bool:
        """Whether a carrier named it: then it is meant, even when the run has ended here."""

    def spend(self, size: int) -> bool:
        """Take room on the span for large event values; False once it is full."""


def current_place(context: Context | None = None) -> Place | None:
    """Return the place of this context (default: the current one), or None."""
    context = otel_context.get_current() if context is None else context
    place = context.get(PLACE)
    return cast("Place | None", foreign_place(context) or place if is_over(place) else place)


def is_over(place: Any) -> bool:
    """Whether no run goes on at this place: there is none, or it has ended here."""
    return place is None or (place.run is not None and place.run.ended and not place.handed_over)


def foreign_place(context: Context) -> Any:
    """Return the place of the foreign span that is current there: its agent opened the run."""
    return getattr(get_current_span(context), FOREIGN_PLACE, None)


def current_run() -> Run | None:
    """Return the run that this code belongs to, or None."""
    place = current_place()
    return None if place is None else place.run


def new_identity(**fields: Any) -> Identity:
    """Return an identity with a fresh run id."""
    return Identity(run_id=ids.run_id(), **fields)
