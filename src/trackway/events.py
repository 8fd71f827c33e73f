"""What hangs on a step: decisions, states, waits, effects, context, continuity; and the outcome.

Each call adds one span event to the innermost step or run span of ours, even where a framework's
span lies between. Values are captured, redacted and bounded like arguments. A field that is not
given is absent. Once a span's large values have filled `Limits.span_bytes`, later events keep only
their small fields, and the span says `events` in `trackway.truncated`. Outside any recorded span a
call does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from trackway.capture import Capture, record_capture_error
from trackway.faults import goes_on
from trackway.fields import is_a
from trackway.recording import active, named, put, put_figure, put_text
from trackway.run import current_place, current_run
from trackway.schema import Trackway
from trackway.spans import NOTHING

_OPERATION: Final = "operation_id"
_SMALL: Final = 1024
"""Characters of a value that is kept even where a span's room is spent."""


def _record(
    event: str,
    names: Mapping[str, Any],
    content: Mapping[str, Any] = NOTHING,
    figures: Mapping[str, Any] = NOTHING,
) -> None:
    """Add the event: names and ids, content that is captured like arguments, numbers and flags."""
    place = current_place()
    recorder = active()
    if place is None or recorder is None or not place.span.is_recording():
        return
    try:
        attributes: dict[str, Any] = {
            field: recorder.names.id_text(value)
            if field == _OPERATION and is_a(value, str)
            else named(value, recorder.names)
            for field, value in names.items()
            if value is not None
        }
        for field, value in figures.items():
            put_figure(attributes, field, field, recorder, value)
        for field, value in content.items():
            _put_content(attributes, field, value, recorder.capture)
        size = sum(len(value) for value in attributes.values() if isinstance(value, str))
        if size > _SMALL and not place.spend(size):
            attributes = {k: v for k, v in attributes.items() if len(str(v)) <= _SMALL}
        place.span.add_event(event, attributes)
    except BaseException as error:  # user objects run in here
        if goes_on(error):
            raise
        record_capture_error(event, error)


def _put_content(attributes: dict[str, Any], field: str, value: Any, capture: Capture) -> None:
    if is_a(value, str):
        put_text(attributes, field, field, capture, value)
    elif value is not None:
        put(attributes, field, field, capture.value(value))


def decision(candidates: Any = None, chosen: Any = None, reason: str | None = None) -> None:
    """Record a decision: what could have been chosen, what was, and why."""
    fields = {"candidates": candidates, "chosen": chosen, "reason": reason}
    _record(Trackway.EVENT_DECISION, {}, fields)


def state(name: str, before: Any = None, after: Any = None) -> None:
    """Record that a named state changed."""
    _record(Trackway.EVENT_STATE, {"name": name}, {"before": before, "after": after})


def wait(
    owner: str | None = None,
    *,
    deadline: str | datetime | None = None,
    resume_token: str | None = None,
    reason: str | None = None,
) -> None:
    """Record that the run waits for somebody, until when, and how it is taken up again.

    With content off the owner, who may be a person, is a hash.
    """
    fields = {"deadline": deadline, "resume_token": resume_token}
    _record(Trackway.EVENT_WAIT, fields, {"owner": owner, "reason": reason})


def resume(
    resume_token: str | None = None, *, reason: str | None = None, granted: bool | None = None
) -> None:
    """Record that a wait is over, with the words of who ended it as its reason.

    `granted` says whether what waited was allowed; None: nobody says. A call that was refused is
    read as one without effect, and one that returns the very words of the reason as undecided.
    """
    fields = {"resume_token": resume_token}
    _record(Trackway.EVENT_RESUME, fields, {"reason": reason}, {"granted": granted})


def effect(
    operation: str,
    *,
    operation_id: str | None = None,
    entity: str | None = None,
    applied: bool | None = None,
    ledger: Any = None,
) -> None:
    """Record a change in the world; `applied=None`: nobody knows whether it took place."""
    fields = {
        "operation": operation,
        _OPERATION: operation_id,
        "entity": entity,
    }
    _record(Trackway.EVENT_EFFECT, fields, {"ledger": ledger}, {"applied": applied})


def context(
    tokens: int | None = None,
    limit: int | None = None,
    *,
    dropped_messages: int | None = None,
    truncated: bool | None = None,
) -> None:
    """Record how full the context window is, and what was dropped to make it fit."""
    fields = {
        "tokens": tokens,
        "limit": limit,
        "dropped_messages": dropped_messages,
        "truncated": truncated,
    }
    _record(Trackway.EVENT_CONTEXT, {}, figures=fields)


def continuity(
    required: Sequence[str] | None = (),
    present: Sequence[str] | None = (),
    *,
    digest: str | None = None,
) -> None:
    """Record which earlier decisions a step needs, and which of them it still sees.

    None: nobody says which.
    """
    fields = {"required": _listed(required), "present": _listed(present), "digest": digest}
    _record(Trackway.EVENT_CONTINUITY, fields)


def _listed(ids: Any) -> list[Any] | None:
    if ids is None or is_a(ids, str):
        return None if ids is None else [ids]
    try:
        return list(ids)
    except BaseException as error:  # an iterator of the user's
        if goes_on(error):
            raise
        record_capture_error(Trackway.EVENT_CONTINUITY, error)
        return None


def outcome(
    success: bool | None,
    label: str | None = None,
    failure_mode: str | None = None,
    state: Any = None,
    *,
    censored: bool | None = None,
) -> None:
    """Record the outcome of the current run; see `Run.outcome`."""
    run = current_run()
    if run is not None:
        run.outcome(success, label, failure_mode, state, censored=censored)


def final(text: str | None = None, action: str | None = None, arguments: Any = None) -> None:
    """Record the final text and terminal action of the current run; see `Run.final`."""
    run = current_run()
    if run is not None:
        run.final(text, action, arguments)
