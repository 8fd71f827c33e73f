"""Raw values of one span to the typed columns of the span table: one form, whatever the dialect.

1. Tool spans: `arguments` and `result` as canonical JSON out of their wrappers; what the wrapper
   knows (call id, tool, failure) fills the columns that are still empty.
2. Model spans: `input` and `output` as JSON lists of messages in the one form of `messages`.
   Agent, workflow and root spans: `input` and `output` as plain text, the last user and assistant
   message. Other spans keep them in `attributes` only.
3. Retrieval spans: `input` is `{"query": ...}`, `output` the documents, as canonical JSON.
4. A span failed if its status is ERROR, or it has an `error.type`, or the dialect found an error
   flag, or the result's wrapper says so. `error_type` is set on failed spans and on no others:
   `error.type`, else the exception event's type, else `tool_error` or `_OTHER`, without its module.
   `error_message`: the status description (after the exception's message if it is a traceback),
   the exception's message, what the dialect found, the text of a failed result; without the
   traceback and the type that some put around it.
5. A value that cannot be written within the bounds becomes null and is named in `truncated`; so is
   one that begins like JSON and ends before its end.
6. Where another recorder took something out of a value, our mark stands there; a value of which
   nothing else is left is none (`recorder_marks`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

from trackway.schema import Operation
from trackway_analyzer.dialects import tool_values
from trackway_analyzer.dialects.messages import plain_text, value_of, written_messages
from trackway_analyzer.dialects.stop_reasons import STOPPED_FOR_A_CALL, stopped_for_a_call
from trackway_analyzer.dialects.values import (
    finish_reasons,
    integer,
    is_placeholder,
    names,
    number,
    short_type,
    text,
    truth,
)
from trackway_analyzer.json_text import UnencodableError, canonical, is_cut, is_cut_literal
from trackway_analyzer.model import JsonValue
from trackway_analyzer.recorder_marks import TAKEN_OUT, in_our_marks
from trackway_analyzer.spans import RawSpan

TOOL_ERROR: Final = "tool_error"
"""Error type of a call whose result says that it failed; the MCP convention's value."""
OTHER_ERROR: Final = "_OTHER"
"""Error type where nothing names one; the OpenTelemetry convention's value."""

Typed = dict[str, Any]

_integer32 = partial(integer, bits=32)
_SIMPLE: Final[dict[str, Callable[[JsonValue], Any]]] = {
    "trial": _integer32,
    "seed": integer,
    "step_index": _integer32,
    "attempt": _integer32,
    "ok": truth,
    "entity_refs": names,
    "finish_reasons": finish_reasons,
    "tokens_in": integer,
    "tokens_out": integer,
    "tokens_cache_read": integer,
    "tokens_cache_write": integer,
    "tokens_reasoning": integer,
    "cost": number,
    "truncated": names,
    "redacted": names,
}
_TRACEBACK = "Traceback (most recent call last)"
_CONTENT_OPERATIONS = frozenset(
    [Operation.LLM, Operation.RETRIEVAL, Operation.AGENT, Operation.WORKFLOW]
)


Form: TypeAlias = Callable[[JsonValue], Any]


def form_of(column: str) -> Form | None:
    """Return what brings a value to the form of a column that needs nothing but the value."""
    return None if column in _OWN_RULE else _SIMPLE.get(column, text)


def normalised(span: RawSpan, operation: Operation, typed: Typed, found: dict[str, Any]) -> Typed:
    """Return the typed columns, the simple ones and what the dialects found for the others."""
    failed = bool(found.get("failed"))
    if operation is Operation.TOOL:
        failed = _tool(typed, found) or failed
    elif operation is Operation.LLM:
        _put_messages(typed, "input", found, "user")
        _put_messages(typed, "output", found, "assistant")
        _stopped(typed, found.get("output"))
    elif operation is Operation.RETRIEVAL:
        _put(typed, "input", found, lambda value: canonical({"query": value_of(value)}))
        _put(typed, "output", found, lambda value: canonical(tool_values.decoded(value_of(value))))
    elif holds_content(operation, root=span.parent_span_id is None):
        _put(typed, "input", found, _ASKED)
        _put(typed, "output", found, _ANSWERED)
    if failed or span.status == "ERROR" or "error_type" in found:
        _error(typed, span, found, failed)
    return typed


_ASKED: Final = partial(plain_text, role="user")
_ANSWERED: Final = partial(plain_text, role="assistant")


def holds_content(operation: Operation, *, root: bool) -> bool:
    """Tell whether `input` and `output` are filled on spans of an operation."""
    if operation is Operation.TOOL:
        return False
    return root or operation in _CONTENT_OPERATIONS


_OWN_RULE = frozenset(
    ["arguments", "result", "input", "output", "error_type", "error_message", "failed"]
)


def _put(typed: Typed, column: str, found: dict[str, Any], form: Callable[[Any], Any]) -> None:
    value = found.get(column)
    if value is None:
        return
    if value.__class__ is bytes:
        cut = is_cut_literal(value)
    else:
        cut = isinstance(value, str) and is_cut(value)
    if cut:
        _mark(typed, column)
    try:
        formed = form(value)
        if isinstance(formed, str):
            formed = in_our_marks(formed)
        if formed is not None and formed not in _TAKEN_OUT:
            typed[column] = formed
    except UnencodableError:
        _mark(typed, column)


_TAKEN_OUT: Final = (TAKEN_OUT, f'"{TAKEN_OUT}"', f'{{"input":"{TAKEN_OUT}"}}')


def _put_messages(typed: Typed, column: str, found: dict[str, Any], role: str) -> None:
    value = found.get(column)
    if value is None:
        return
    try:
        messages, cut = written_messages(value, role)
    except UnencodableError:
        messages, cut = None, True
    if messages is not None:
        typed[column] = messages
    if cut:
        _mark(typed, column)


def _stopped(typed: Typed, answer: Any) -> None:
    """Say that a model stopped for a call where nothing but its answer says so, and shows none."""
    if answer is None or typed.get("finish_reasons"):
        return
    shows = _CALL in (typed.get("output") or b"")
    if not shows and stopped_for_a_call(answer):
        typed["finish_reasons"] = [STOPPED_FOR_A_CALL]


_CALL: Final = b'"tool_call"'


def _mark(typed: Typed, column: str) -> None:
    known = typed.get("truncated") or []
    typed["truncated"] = known if column in known else [*known, column]


def _tool(typed: Typed, found: dict[str, Any]) -> bool:
    """Fill the columns of a tool span; True where the result says that the call failed."""
    call_id = None

    def arguments(value: JsonValue) -> str:
        nonlocal call_id
        unwrapped = tool_values.arguments(value)
        call_id = unwrapped.call_id
        return canonical(unwrapped.value)

    if found.get("arguments") != "N/A":
        _put(typed, "arguments", found, arguments)
    outcome = tool_values.Result(None)

    def result(value: JsonValue) -> str:
        nonlocal outcome
        outcome = tool_values.result(value)
        return canonical(outcome.value)

    _put(typed, "result", found, result)
    typed["tool"] = typed.get("tool") or outcome.tool
    typed["tool_call_id"] = typed.get("tool_call_id") or outcome.call_id or call_id
    if outcome.failed and not found.get("error_message") and isinstance(outcome.value, str):
        found["error_message"] = outcome.value
    if outcome.failed:
        found.setdefault("error_type", TOOL_ERROR)
    return outcome.failed


def _error(typed: Typed, span: RawSpan, found: dict[str, Any], failed: bool) -> None:
    named = short_type(found.get("error_type"))
    if not (failed or named or span.status == "ERROR"):
        return
    exception = next((event for event in span.events if event.name == "exception"), None)
    described = exception.attributes if exception is not None else {}
    typed["error_type"] = named or short_type(described.get("exception.type")) or OTHER_ERROR
    messages = [span.status_message, described.get("exception.message")]
    if span.status_message and _TRACEBACK in span.status_message:
        messages.reverse()
    for message in messages:
        if isinstance(message, str) and message and not is_placeholder(message):
            _describe(typed, message)
            return
    typed["error_message"] = text(found.get("error_message"))


def _describe(typed: Typed, message: str) -> None:
    """Set the message without its traceback and without the type that some write before it."""
    message = message.partition(_TRACEBACK)[0].rstrip() or message
    printed = _EXCEPTION_REPR.fullmatch(message)
    if printed is not None:
        typed["error_type"] = (
            printed[1] if typed["error_type"] in _VAGUE_TYPES else typed["error_type"]
        )
        message = printed[3]
    typed["error_message"] = message.removeprefix(f"{typed['error_type']}: ")


_EXCEPTION_REPR = re.compile(r"(\w+)\((['\"])(.*)\2\)", re.DOTALL)
_VAGUE_TYPES = ("Exception", OTHER_ERROR)
