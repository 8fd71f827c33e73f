"""Did a tool call do what it was asked to? Yes, no, or the record does not say.

1. The call did not happen if it raised, or if its result says so: by a member (a non-empty `error`
   or `errors`, `isError` true, `failed` true, `ok` or `success` false, a `status` or `state` that
   is one of `FAILED` or an HTTP status from 400 on; `is_error`, `Status`, `OK` and such spellings
   too), by a text that opens like an error message (`Failed: card declined`, `[ERROR] declined`,
   `Refund failed`, `Unable to pay`), that is one of `FAILED` and nothing else (`status: failed`
   too), or that says that a person did not let the tool run.
2. A `status` or `state` of `PENDING` or `UNDONE`, a bare false, and a result that was not recorded,
   was redacted or could not be read (`recorder_marks`) leave it open; so does one whose last keys
   the recorder cut (it keeps them in their order), where one of those that say no may be among
   them, and JSON in a text that was cut.
3. Of any other result, what reads like a failure leaves it open (`reads_as_failure`), unless the
   result says that it was done. Everything else happened.
4. A lookup's `status`, `state` and `errors`, and a text of one such word, are those of the thing it
   found, and false is its answer; `error` there speaks of the call. A tool that cancels, voids
   or reverts, by its name, did so if the thing is cancelled or is no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trackway.schema import REDACTION_MARKER
from trackway_analyzer.model import JsonValue, NotRecorded
from trackway_analyzer.reads_as_failure import reads_as_failure
from trackway_analyzer.recorder_marks import CUT, NOTHING_LEFT, is_unreadable
from trackway_analyzer.said_no import (
    CANCELLED,
    DONE,
    ERROR_TEXT,
    FAILURE_TEXT,
    FAILURE_WORD,
    NOT_ALLOWED,
    STATUS,
    TELLING,
    UNDONE,
    leaving_open,
    refusing,
    status_word,
)

UNNAMED_ERRORS: Final = frozenset({"_OTHER", "tool_error"})
"""Types that stand for an error of which the record names no type."""

_LONGEST_MARK: Final = 48
_ENDING: Final = (
    *("cancel", "abort", "void", "revers", "revert", "revok", "withdraw"),
    *("rollback", "roll_back", "annul", "undo"),
)


def cancels(tool: str | None) -> bool:
    """Tell whether a tool cancels something, by its name."""
    return tool is not None and any(word in tool.lower() for word in _ENDING)


def happened(
    result: JsonValue | NotRecorded, *, raised: bool, lookup: bool = False, cancels: bool = False
) -> bool | None:
    """Return whether a call took effect; None where the record leaves it open."""
    if raised:
        return False
    if isinstance(result, NotRecorded) or is_unreadable(result):
        return None
    if isinstance(result, str):
        if _tells_nothing(result):
            return None
        if _refuses(result, lookup, cancels):
            return False
    elif isinstance(result, Mapping):
        if cancels and _only_cancelled(result):
            return True
        said = _says(result, lookup=lookup)
        if not said:
            return said
    if result is False:
        return True if lookup else None
    return None if reads_as_failure(result, lookup=lookup, cancels=cancels) else True


def _tells_nothing(text: str) -> bool:
    begins = text.strip()
    if begins == NOTHING_LEFT or REDACTION_MARKER.fullmatch(begins):
        return True
    return begins.startswith(("{", "[")) and begins.endswith("]") and _ends_cut(begins)


def _refuses(text: str, lookup: bool, cancels: bool) -> bool:
    if ERROR_TEXT.match(text) or NOT_ALLOWED.match(text):
        return True
    if lookup:
        return False
    word = FAILURE_WORD.fullmatch(text)
    if word is None:
        return FAILURE_TEXT.match(text) is not None
    return not (cancels and word[1].lower() in CANCELLED)


def _ends_cut(text: str) -> bool:
    return CUT.search(text, max(0, len(text) - _LONGEST_MARK)) is not None


def _only_cancelled(result: Mapping[str, JsonValue]) -> bool:
    """Whether nothing says no but that the thing is cancelled, or is no more."""
    ended = CANCELLED | UNDONE
    name = refusing(result) or leaving_open(result)
    rest = {key: value for key, value in result.items() if status_word(value) not in ended}
    only = name in STATUS and status_word(result[name]) in ended
    return only and refusing(rest) is None and leaving_open(rest) is None


def _says(result: Mapping[str, JsonValue], *, lookup: bool) -> bool | None:
    if refusing(result, lookup=lookup) is not None:
        return False
    if not lookup and any(status_word(result.get(name)) is not None for name in STATUS):
        return None if leaving_open(result) is not None else True
    return None if _may_refuse_unseen(result) else True


def _may_refuse_unseen(result: Mapping[str, JsonValue]) -> bool:
    """Tell whether a member that says no may be among the keys that the recorder cut."""
    cut = result.get(NOTHING_LEFT)
    if not isinstance(cut, str) or not CUT.search(cut):
        return False
    if any(result.get(name) is True for name in DONE):
        return False
    last = max((key for key in result if key != NOTHING_LEFT), default="")
    return any(key > last for key in TELLING)
