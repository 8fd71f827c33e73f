"""Did a tool call do what it was asked to? Yes, no, or the record does not say.

The call did not happen if it raised, or if its result says so: a non-empty `error`, `isError` true,
`ok` or `success` false (or the text `false`), `status` one of `FAILED`, a text that opens like an
error message (`Failed: card declined`), is one of `FAILED` and nothing else (`status: failed` too),
or says that a person did not let the tool run. A `status` of `PENDING`, a bare false, and a result
that was not recorded, was redacted or could not be read (`recorder_marks`) leave it open; so does
one whose last keys the recorder cut (it keeps them in their order), where one of those that say no
may be among them, and JSON in a text that was cut. Everything else happened, whatever a `message`
says; a list is not looked into.
A lookup's `status`, and a text of one such word, is that of the thing it found, and false is its
answer; `error` there speaks of the call. A tool that cancels, by its name, did so if the thing is
cancelled now.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trackway.schema import REDACTION_MARKER
from trackway_analyzer.model import JsonValue, NotRecorded
from trackway_analyzer.recorder_marks import CUT, NOTHING_LEFT, is_unreadable

UNNAMED_ERRORS: Final = frozenset({"_OTHER", "tool_error"})
"""Types that stand for an error of which the record names no type."""

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
        "refused",
        "unsuccessful",
    ]
)
CANCELLED: Final = frozenset(["cancelled", "canceled"])
PENDING: Final = frozenset(["pending", "processing", "queued"])

_LONGEST_MARK: Final = 48
_TELLING: Final = ("error", "isError", "ok", "success", "status")
"""Members by which a result may say that the call took no effect."""
_ERROR_TEXT: Final = re.compile(
    r"\s*(?:traceback \(most recent call last\)|an error occurred\b|"
    r"(?:[\w.]*(?:error|exception))\s*(?::|\(|$)|error\s+\w+ing\b|failed to\b|"
    r"(?:error|failed|failure)\s*(?::|\s[-–—]\s))",
    re.IGNORECASE,
)

_FAILURE_WORD: Final = re.compile(
    rf"\s*(?:status\s*[:=]\s*)?[\"']?({'|'.join(sorted(FAILED))})[\"']?\s*[.!]?\s*", re.IGNORECASE
)
_NOT_ALLOWED: Final = re.compile(
    r"\s*(?:(?:the\s+)?user\s+(?:doesn['’]t|does\s+not)\s+want\s+to\s+proceed\s+with\s+this\s+tool"
    r"|(?:the\s+)?user\s+(?:has\s+)?(?:rejected|denied|declined)\s+(?:this|the)\s+tool"
    r"\s+(?:use|call|execution)"
    r"|the\s+tool\s+(?:use|call|execution)\s+was\s+(?:rejected|denied|declined)"
    r"|permission\s+to\s+use\s+\S+\s+(?:has\s+been|was)\s+denied)\b",
    re.IGNORECASE,
)
"""How a harness tells the model that a person refused."""


def cancels(tool: str | None) -> bool:
    """Tell whether a tool cancels something, by its name."""
    return tool is not None and "cancel" in tool.lower()


def happened(
    result: JsonValue | NotRecorded, *, raised: bool, lookup: bool = False, cancels: bool = False
) -> bool | None:
    """Return whether a call took effect; None where the record leaves it open."""
    if raised:
        return False
    if isinstance(result, NotRecorded) or is_unreadable(result):
        return None
    if isinstance(result, str):
        return None if _tells_nothing(result) else not _refuses(result, lookup, cancels)
    if isinstance(result, Mapping):
        if cancels and refusing(result) == "status" and _status(result) in CANCELLED:
            return True
        return _says(result, lookup=lookup)
    return None if result is False and not lookup else True


def _tells_nothing(text: str) -> bool:
    begins = text.strip()
    if begins == NOTHING_LEFT or REDACTION_MARKER.fullmatch(begins):
        return True
    return begins.startswith(("{", "[")) and begins.endswith("]") and _ends_cut(begins)


def _refuses(text: str, lookup: bool, cancels: bool) -> bool:
    if _ERROR_TEXT.match(text) or _NOT_ALLOWED.match(text):
        return True
    word = None if lookup else _FAILURE_WORD.fullmatch(text)
    return word is not None and not (cancels and word[1].lower() in CANCELLED)


def _ends_cut(text: str) -> bool:
    return CUT.search(text, max(0, len(text) - _LONGEST_MARK)) is not None


def refusing(result: Mapping[str, JsonValue], *, lookup: bool = False) -> str | None:
    """Return the member by which a result says that the call took no effect; None: none does."""
    if result.get("error"):
        return "error"
    if result.get("isError") is True:
        return "isError"
    denied = next((key for key in ("ok", "success") if _is_false(result.get(key))), None)
    if denied is not None:
        return denied
    failing = {"error"} if lookup else FAILED
    return "status" if _status(result) in failing else None


def _is_false(value: JsonValue) -> bool:
    return value is False or (isinstance(value, str) and value.strip().lower() == "false")


def _says(result: Mapping[str, JsonValue], *, lookup: bool) -> bool | None:
    if refusing(result, lookup=lookup) is not None:
        return False
    word = None if lookup else _status(result)
    if word is None:
        return None if _may_refuse_unseen(result) else True
    hidden = REDACTION_MARKER.search(word) or word.startswith(NOTHING_LEFT) or CUT.search(word)
    return None if word in PENDING or hidden else True


def _may_refuse_unseen(result: Mapping[str, JsonValue]) -> bool:
    """Tell whether a member that says no may be among the keys that the recorder cut."""
    cut = result.get(NOTHING_LEFT)
    if not isinstance(cut, str) or not CUT.search(cut):
        return False
    if result.get("ok") is True or result.get("success") is True:
        return False
    last = max((key for key in result if key != NOTHING_LEFT), default="")
    return any(key > last for key in _TELLING)


def _status(result: Mapping[str, JsonValue]) -> str | None:
    status = result.get("status")
    return status.strip().lower() if isinstance(status, str) else None
