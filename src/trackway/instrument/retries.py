"""Requests that a model client sends again inside one call, which no instrumentor tells of.

1. The clients of OpenAI and Anthropic number their requests in a header, from 0. A request that is
   sent again puts its number onto the model call's span, as `trackway.step.attempt`: the call was
   that many tries, and its time is theirs together. The span that is current then is a model
   call's, or one of a library that says late what its spans are.
2. Only the public `send` of the HTTP library is wrapped (`httpx`, and `httpx2`, which newer clients
   stand on); it is called as before, and what goes wrong here is counted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from opentelemetry.trace import get_current_span

from trackway.capture import record_capture_error
from trackway.doubles import scope_of
from trackway.faults import goes_on
from trackway.foreign import LATE_SCOPES, attributes_of, operation_of
from trackway.instrument.detection import can_import
from trackway.instrument.library import Undo
from trackway.schema import Operation, Trackway

COUNT_HEADER: Final = "x-stainless-retry-count"
_MODULES: Final = ("httpx", "httpx2")


def watch_retries() -> Undo:
    """Put the number of a repeated request onto its model call; return what stops that."""
    undos = [
        undo
        for module in map(import_module, filter(can_import, _MODULES))
        for undo in (_wrapped(module.Client, _sending), _wrapped(module.AsyncClient, _awaiting))
    ]

    def undo_all() -> None:
        for undo in undos:
            undo()

    return undo_all


def _wrapped(owner: Any, wrap: Callable[[Any], Any]) -> Undo:
    before = owner.send
    owner.send = functools.wraps(before)(wrap(before))

    def undo() -> None:
        owner.send = before

    return undo


def _sending(send: Any) -> Any:
    def note_and_send(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        _note(request)
        return send(self, request, *args, **kwargs)

    return note_and_send


def _awaiting(send: Any) -> Any:
    async def note_and_send(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        _note(request)
        return await send(self, request, *args, **kwargs)

    return note_and_send


def _note(request: Any) -> None:
    try:
        count = request.headers.get(COUNT_HEADER)
        if count is None or count == "0":
            return
        span = get_current_span()
        operation = operation_of(attributes_of(span))
        is_late = operation is None and scope_of(span) in LATE_SCOPES
        if operation is Operation.LLM or is_late:
            span.set_attribute(Trackway.STEP_ATTEMPT, int(count) + 1)
    except Exception as error:  # the user's request must go out
        if goes_on(error):
            raise
        record_capture_error("retries", error)
