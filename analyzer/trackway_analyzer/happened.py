"""Did a tool call do what it was asked to? Yes, no, or the record does not say.

The call did not happen if it raised, or if its result says so: a non-empty `error`, `isError` true,
`ok` or `success` false, `status` one of `FAILED`, or a text that opens like an error message. A
`status` of `PENDING` and a result that was not recorded leave it open. Everything else happened.
A lookup's `status` is that of the thing it found; only `error` there speaks of the call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trackway_analyzer.model import JsonValue, NotRecorded

FAILED: Final = frozenset(
    [
        "failed",
        "failure",
        "error",
        "declined",
        "denied",
        "rejected",
        "cancelled",
        "canceled",
        "expired",
    ]
)
PENDING: Final = frozenset(["pending", "processing", "queued"])

_ERROR_TEXT: Final = re.compile(
    r"\s*(?:traceback \(most recent call last\)|an error occurred\b|"
    r"(?:[\w.]*(?:error|exception))\s*(?::|\(|$)|error\s+\w+ing\b|failed to\b)",
    re.IGNORECASE,
)


def happened(result: JsonValue | NotRecorded, *, raised: bool, lookup: bool = False) -> bool | None:
    """Return whether a call took effect; None where the record leaves it open."""
    if raised:
        return False
    if isinstance(result, NotRecorded):
        return None
    if isinstance(result, str):
        return not _ERROR_TEXT.match(result)
    if isinstance(result, Mapping):
        return _says(result, lookup=lookup)
    return True


def _says(result: Mapping[str, JsonValue], *, lookup: bool) -> bool | None:
    if result.get("error") or result.get("isError") is True:
        return False
    if result.get("ok") is False or result.get("success") is False:
        return False
    status = result.get("status")
    word = status.strip().lower() if isinstance(status, str) else None
    if lookup:
        return word != "error"
    if word in FAILED:
        return False
    return None if word in PENDING else True
