"""What a framework's result waits for: approvals of tools, told by shape, no framework imported.

1. LangGraph: the interrupts under `__interrupt__` of a result; the token is the interrupt's id.
2. OpenAI Agents: the `interruptions` of a run's result; the token is the call id.
3. Pydantic AI: an output with deferred `approvals` and `calls`; the token is the call id.
4. Microsoft Agent Framework: the `user_input_requests` of a response for functions; the token is
   the request's id.
5. Google ADK: an event, or a list of events, with calls of `adk_request_confirmation`; the token is
   the id of that call, under which it is answered.
6. Each becomes one `trackway.wait` on the current step or run: what waits stands in its reason.
7. Any other result waits for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from trackway.capture import record_capture_error
from trackway.events import wait
from trackway.faults import goes_on
from trackway.propagation import carrier


def get(holder: Any, name: str) -> Any:
    """Return a dict's item or an attribute, properties too: the framework's own object is asked."""
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)


_CONFIRMATION: Final = "adk_request_confirmation"


class _Pending(NamedTuple):
    token: str | None
    reason: str | None


def waiting(
    result: Any, owner: str | None = None, *, deadline: str | datetime | None = None
) -> dict[str, str]:
    """Record what a framework's result waits for; return the carrier to take the run up with.

    Empty where nothing waits. `with trackway.run(resume_from=carrier): trackway.resume(token)`
    takes the run up, in this process or another.
    """
    try:
        pending = list(_pending(result))
    except Exception as error:  # the framework's objects run in here
        if goes_on(error):
            raise
        record_capture_error("waiting", error)
        return {}
    for one in pending:
        wait(owner, deadline=deadline, resume_token=one.token, reason=one.reason)
    return carrier() if pending else {}


def _pending(result: Any) -> Iterator[_Pending]:
    if isinstance(result, Mapping):
        for interrupt in result.get("__interrupt__") or ():
            yield _Pending(_text(get(interrupt, "id")), _text(get(interrupt, "value")))
        return
    for event in result if isinstance(result, list | tuple) else (result,):
        yield from _confirmations(event)
    for content in get(result, "user_input_requests") or ():
        asked = get(content, "function_call")
        if asked is not None:
            yield _call(get(asked, "name"), get(asked, "arguments"), get(content, "id"))
    for item in get(result, "interruptions") or ():
        raw = get(item, "raw_item")
        yield _call(get(item, "tool_name"), get(raw, "arguments"), get(raw, "call_id"))
    output = get(result, "output")
    for name in ("approvals", "calls"):
        for part in get(output, name) or ():
            if get(part, "tool_call_id") is None:  # an output of the user's own
                continue
            yield _call(get(part, "tool_name"), get(part, "args"), get(part, "tool_call_id"))


def _confirmations(event: Any) -> Iterator[_Pending]:
    for part in get(get(event, "content"), "parts") or ():
        call = get(part, "function_call")
        if get(call, "name") == _CONFIRMATION:
            asked = get(get(call, "args"), "originalFunctionCall")
            yield _call(get(asked, "name"), get(asked, "args"), get(call, "id"))


def _call(tool: Any, arguments: Any, call_id: Any) -> _Pending:
    return _Pending(_text(call_id), f"{tool}({_text(arguments) or ''})")


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except (TypeError, ValueError):
        return str(value)
