"""Did a tool call do what it was asked to? Yes, no, or the record does not say.

1. The call did not happen if it raised, or if its result says so: by a member (an `error` or
   `errors` that tells of one, `isError` or `failed` true, `ok` or `success` false, a `status` or
   `state` that is one of `FAILED` or an HTTP status from 400 on; `is_error`, `isSuccess`, `Status`,
   `OK` and such spellings too), by a text that opens like an error message (`Failed: card
   declined`, `[ERROR] declined`, `Refund failed`, `Unable to pay`), that is one of `FAILED` and
   nothing else (`status: failed` too), or that says that a person did not let the tool run.
2. A `status` or `state` of `PENDING` or `UNDONE`, of a mutation also a `status` that nobody knows,
   a `dry_run` that is true, a bare false, and a result that was not recorded, was redacted or
   could not be read (`recorder_marks`) leave it open; so does one whose last keys the recorder cut
   (it keeps them in their order), where one of those that say no may be among them, and JSON in a
   text that was cut, by the recorder or whoever else. What a lookup found is there all the same.
3. Of any other result, what reads like a failure leaves it open (`reads_as_failure`), unless the
   result says that it was done. Everything else happened.
4. A word that otherwise says no says that the call was done where the tool is named for it
   (`reject_application`: rejected; `cancel`, `void`, `revert`: cancelled, or is no more) or its own
   argument asked for it (`set_status(status="cancelled")`). A text that is one of the call's own
   arguments says nothing of it.
5. A lookup's `status`, `state` and `errors`, and a text of one such word, are those of the thing it
   found, and false is its answer; `error` there speaks of the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trackway.schema import REDACTION_MARKER
from trackway_analyzer.json_text import is_cut
from trackway_analyzer.model import JsonValue, NotRecorded
from trackway_analyzer.reads_as_failure import reads_as_failure
from trackway_analyzer.recorder_marks import CUT, NOTHING_LEFT, is_unreadable
from trackway_analyzer.said_no import (
    DONE,
    ERROR_TEXT,
    FAILURE_TEXT,
    FAILURE_WORD,
    NOT_ALLOWED,
    STATUS,
    TELLING,
    Call,
    call_of,
    leaving_open,
    refusing,
    status_word,
)

UNNAMED_ERRORS: Final = frozenset({"_OTHER", "tool_error"})
"""Types that stand for an error of which the record names no type."""

_LONGEST_MARK: Final = 48
_SAYS_LITTLE: Final = frozenset(["failed", "failure", "error", "errored", "unsuccessful"])
"""Words that a thing and a call have in common: `mark_failed` may have failed."""


def happened(
    result: JsonValue | NotRecorded,
    *,
    raised: bool,
    lookup: bool = False,
    mutation: bool = False,
    tool: str | None = None,
    arguments: JsonValue | NotRecorded = None,
) -> bool | None:
    """Return whether a call took effect; None where the record leaves it open."""
    if raised:
        return False
    if isinstance(result, NotRecorded) or is_unreadable(result):
        return None
    call = call_of(tool, lookup=lookup, mutation=mutation)
    said = _said(result, call)
    if said is True or not isinstance(arguments, Mapping):
        return said
    if isinstance(result, str) and result in arguments.values() and not _has_marks(result):
        return True
    asked = (status_word(value) for value in arguments.values() if not _has_marks(value))
    return _said(result, call._replace(meant=call.meant.union(filter(None, asked))))


def _said(result: JsonValue, call: Call) -> bool | None:
    if isinstance(result, str):
        if _tells_nothing(result) or (is_cut(result.lstrip()) and not call.lookup):
            return None
        if _refuses(result, call):
            return False
    elif isinstance(result, Mapping):
        word = _only_meant(result, call)
        if word is not None:
            return None if word in _SAYS_LITTLE else True
        said = _says(result, call)
        if not said:
            return said
    if result is False:
        return True if call.lookup else None
    return None if reads_as_failure(result, call) else True


def _has_marks(value: JsonValue) -> bool:
    """Whether two values that are written like this one need not be the same."""
    marked = isinstance(value, str) and (REDACTION_MARKER.search(value) or CUT.search(value))
    return bool(marked) or value == NOTHING_LEFT


def _tells_nothing(text: str) -> bool:
    begins = text.strip()
    if begins == NOTHING_LEFT or REDACTION_MARKER.fullmatch(begins):
        return True
    return begins.startswith(("{", "[")) and begins.endswith("]") and _ends_cut(begins)


def _refuses(text: str, call: Call) -> bool:
    if ERROR_TEXT.match(text) or NOT_ALLOWED.match(text):
        return True
    if call.lookup:
        return False
    word = FAILURE_WORD.fullmatch(text)
    if word is None:
        return FAILURE_TEXT.match(text) is not None
    return status_word(word[1]) not in call.meant


def _ends_cut(text: str) -> bool:
    return CUT.search(text, max(0, len(text) - _LONGEST_MARK)) is not None


def _only_meant(result: Mapping[str, JsonValue], call: Call) -> str | None:
    """The status that alone speaks against a call, and that it was to bring about."""
    name = refusing(result) or leaving_open(result)
    word = status_word(result[name]) if name in STATUS else None
    if word is None or word not in call.meant:
        return None
    rest = {key: value for key, value in result.items() if status_word(value) not in call.meant}
    return word if refusing(rest) is None and leaving_open(rest) is None else None


def _says(result: Mapping[str, JsonValue], call: Call) -> bool | None:
    if refusing(result, lookup=call.lookup) is not None:
        return False
    if not call.lookup and leaving_open(result, call) is not None:
        return None
    if not call.lookup and any(status_word(result.get(name)) is not None for name in STATUS):
        return True
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
