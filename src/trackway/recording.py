"""What records now, and how a captured value lands on a span.

1. One `Recorder` at a time: `configure()` makes it. Without it the decorators record into a global
   tracer provider if the program has set one, and else call the user's function directly.
2. A captured value becomes one JSON text under its key; `trackway.truncated`, `trackway.redacted`
   and `trackway.content.sha256.<field>` name the field when it was cut, cleaned or left out.
3. Whatever goes wrong while recording is counted and logged once; it never reaches the user.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import ProxyTracerProvider, Tracer

from trackway.capture import Capture, Captured
from trackway.capture.convert import parts_of
from trackway.capture.integers import whole
from trackway.capture.parts import Inner
from trackway.declaration import Declaration
from trackway.environment import is_disabled
from trackway.fields import is_a
from trackway.schema import SCOPE_NAME, Trackway

VERSION: Final = "0.1.0"


@dataclass(frozen=True, slots=True)
class Recorder:
    """Where spans go and how values are captured."""

    tracer: Tracer
    capture: Capture
    names: Capture = field(default_factory=Capture)
    """The same with content on, for names, ids and counts: those are recorded always."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Identity fields of runs that name none themselves (version, variant, …)."""
    keep: Callable[[str], bool] | None = None
    """Decides at its head, by run id, whether a run is recorded; None: every run."""
    keep_whole: Callable[[str], None] | None = None
    """Takes a run, by its id, out of the decision at its end: other processes have parts of it."""
    to_baggage: Callable[[Context], Context] | None = None
    """Writes the place of a run that opens into the baggage of its context."""
    from_baggage: Callable[[Context], Any] | None = None
    """Finds the place that the baggage of a context without one names."""
    flush_at_run_end: Callable[[], object] | None = None
    declared: Declaration | None = None
    """What is said of tools that nobody decorated."""


def put(attributes: dict[str, Any], key: str, name: str, captured: Captured) -> None:
    """Place a captured value under `key`; `name` is the field's name in the change lists."""
    text, truncated, redacted, digest = captured
    if text is not None:
        attributes[key] = text
    if digest is not None:
        attributes[f"{Trackway.CONTENT_SHA256}.{name}"] = digest
    if truncated:
        attributes[Trackway.TRUNCATED] = [*attributes.get(Trackway.TRUNCATED, ()), name]
    if redacted:
        attributes[Trackway.REDACTED] = [*attributes.get(Trackway.REDACTED, ()), name]


def put_text(attributes: dict[str, Any], key: str, name: str, capture: Capture, text: str) -> None:
    """Place a text as it is, not as a JSON string; only its hash where content is off."""
    captured = capture.value(text)
    if captured.text is not None:
        captured = captured._replace(text=json.loads(captured.text))
    put(attributes, key, name, captured)


def named(value: Any, capture: Capture) -> str | bool | int | float | None:
    """Return a name, an id, a number or a flag as it stands on a span; anything else as JSON.

    An integer beyond 64 bits is a text: no format of spans has room for it.
    """
    if value is None or type(value) is bool:
        return value
    if is_a(value, datetime):
        return rfc3339(value)
    if is_a(value, str):
        return capture.text(value)
    parts = parts_of(value)
    if isinstance(parts, Inner):
        parts = parts.value
    if type(parts) is int:
        return whole(parts)
    if type(parts) is bool or type(parts) is float:
        return parts
    return capture.value(value).text


def put_figure(
    attributes: dict[str, Any], key: str, name: str, recorder: Recorder, value: Any
) -> None:
    """Place a number or a flag; whatever else stands in its place is content, which may be off."""
    told = named(value, recorder.names)
    if told is None:
        return
    if not is_a(told, str) or (is_a(value, int) and not is_a(value, Enum)):
        attributes[key] = told
    elif is_a(value, str):
        put_text(attributes, key, name, recorder.capture, value)
    else:
        put(attributes, key, name, recorder.capture.value(value))


def rfc3339(moment: datetime) -> str:
    """Write a moment with its offset; one without a time zone is local time."""
    return (moment if moment.tzinfo else moment.astimezone()).isoformat()


class _State:
    """The one mutable cell; `configure()` and its undoing write it."""

    recorder: Recorder | None = None
    disabled: bool = is_disabled()
    missed: Callable[[], object] | None = None
    unseen: int = 0
    """Spans that would have started if recording had been asked for."""


def install(
    recorder: Recorder | None,
    *,
    disabled: bool = False,
    missed: Callable[[], object] | None = None,
) -> None:
    """Make this the recorder of the process; `missed` is told of spans that start without one."""
    _State.recorder = recorder
    _State.disabled = disabled
    _State.missed = missed


def note_missed() -> bool:
    """Take note of a span that does not start, for `active` has returned None.

    False: recording was not shut down, nobody has ever asked for it.
    """
    missed = _State.missed
    if missed is None:
        _State.unseen += 1
        return False
    missed()
    return True


def is_shut_down() -> bool:
    """Whether recording was shut down, and what starts now is counted as lost."""
    return _State.missed is not None


def unseen() -> int:
    """Return how many spans did not start in this process because nobody had configured it."""
    return _State.unseen


def active() -> Recorder | None:
    """Return the recorder, or None when nothing records: then user code runs untouched."""
    return _State.recorder or (None if _State.disabled else _from_global_provider())


def _from_global_provider() -> Recorder | None:
    provider = trace.get_tracer_provider()
    if isinstance(provider, ProxyTracerProvider):
        return None
    _State.recorder = Recorder(provider.get_tracer(SCOPE_NAME, VERSION), Capture())
    return _State.recorder
