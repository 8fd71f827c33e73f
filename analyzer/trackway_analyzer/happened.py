"""Did a tool call do what it was asked to? Yes, no, or the record does not say.

1. The call did not happen if it raised, or if its result says so: by a member (a non-empty `error`
   or `errors`, `isError` true, `failed` true, `ok` or `success` false, a `status` or `state` that
   is one of `FAILED` or an HTTP status from 400 on; `is_error`, `Status`, `OK` and such spellings
   too), by a text that opens like an error message (`Failed: card declined`, `[ERROR] declined`,
   `Refund failed`, `Unable to pay`), that is one of `FAILED` and nothing else (`status: failed`
   too), or that says that a person did not let the tool run.
2. A `status` or `state` of `PENDING`, a bare false, and a result that was not recorded, was
   redacted or could not be read (`recorder_marks`) leave it open; so does one whose last keys the
   recorder cut (it keeps them in their order), where one of those that say no may be among them,
   and JSON in a text that was cut.
3. Everything else happened, whatever a `message` says; a list is not looked into.
4. A lookup's `status`, `state` and `errors`, and a text of one such word, are those of the thing it
   found, and false is its answer; `error` there speaks of the call. A tool that cancels, by its
   name, did so if the thing is cancelled now.
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
        "errored",
        "declined",
        "denied",
        "rejected",
        "cancelled",
        "canceled",
        "aborted",
        "expired",
        "forbidden",
        "invalid",
        "not_found",
        "refused",
        "timed_out",
        "timeout",
        "unauthorised",
        "unauthorized",
        "unavailable",
        "unsuccessful",
    ]
)
"""Words by which a result says no; between two parts of one may stand a blank or a hyphen, too."""
CANCELLED: Final = frozenset(["cancelled", "canceled", "aborted"])
PENDING: Final = frozenset(["pending", "processing", "queued", "in_progress", "incomplete"])
_STILL: Final = ("pending_", "awaiting_", "requires_", "waiting_for_")
"""How a longer word begins that says that something is still to come."""
_SURELY: Final = frozenset(
    ["failed", "failure", "error", "declined", "denied", "rejected", "refused", "unsuccessful"]
)
"""Parts of a longer word (`card_declined`) by which it says no."""
_NEGATING: Final = frozenset(["no", "not", "non", "without", "zero", "free"])

_LONGEST_MARK: Final = 48


def _spelt(*names: str) -> tuple[str, ...]:
    """Names as they are, with a capital, and in capitals."""
    return tuple(name for base in names for name in (base, base.capitalize(), base.upper()))


_ERROR: Final = _spelt("error")
_IS_ERROR: Final = ("isError", "is_error", "iserror", "IsError", "Is_Error", "IS_ERROR")
_DONE: Final = _spelt("ok", "success", "succeeded", "successful")
_ERRORS: Final = _spelt("errors")
_IS_FAILED: Final = _spelt("failed")
_STATUS: Final = _spelt("status", "state")
_HTTP: Final = ("statusCode", "status_code", "StatusCode", *_STATUS)
TELLING: Final = tuple(
    dict.fromkeys((*_ERROR, *_IS_ERROR, *_DONE, *_ERRORS, *_IS_FAILED, *_STATUS, *_HTTP))
)
"""Members by which a result may say that the call took no effect."""
USUAL: Final = ("error", "errors", "isError", "ok", "state", "status", "success")
"""Those of them that results commonly have."""
_WORD_SEPARATOR: Final = re.compile(r"[\s_-]+")
_ERROR_TEXT: Final = re.compile(
    r"\s*(?:traceback \(most recent call last\)|an error occurred\b|"
    r"(?:[\w.]*(?:error|exception))\s*(?::|\(|$)|error\s+\w+ing\b|failed to\b|"
    r"\[(?:error|failed|failure|fatal)\]|"
    r"(?:\w+\s+){0,2}(?:execution|request|connection)\s+(?:has\s+)?(?:failed|timed\s+out)\b|"
    r"(?:error|failed|failure)\s*(?::|\s[-–—]\s))",
    re.IGNORECASE,
)
_FAILURE_TEXT: Final = re.compile(
    r"\s*(?:unable\s+to\b|(?:cannot|can['’]t|could\s+not|couldn['’]t)\s+(?!find\b|locate\b)|"
    r"(?!(?:no|not|none|nothing|never|if|when|whether|because|\d+)\b)(?:[\w'’]+\s+){0,3}?"
    r"(?!(?:as|to|be|of|was|were)\b)[\w'’]+\s+(?:has\s+|have\s+|had\s+)?(?:failed|timed\s+out)"
    r"\s*(?::(?!\s*(?:0|none)\b)|\s[-–—]\s|[.!]?\s*\Z)|"
    r"(?:(?:the|your)\s+)?(?:card|payment|transaction|charge|permission|access|authori[sz]ation)"
    r"\s+(?:was\s+|has\s+been\s+|is\s+)?(?:declined|denied|refused)\b)",
    re.IGNORECASE,
)
"""How a tool says that it did not do it; of a lookup it may be what it found."""
_FAILURE_WORD: Final = re.compile(
    rf"\s*(?:(?:status|state)\s*[:=]\s*)?[\"']?"
    rf"({'|'.join(word.replace('_', '[ _-]') for word in sorted(FAILED))})[\"']?\s*[.!]?\s*",
    re.IGNORECASE,
)
SAYING: Final = (
    r"error|exception|traceback|fail|fatal|redacted|timed\s+out|^\W*(?:unable|can|could)|"
    rf"want\s+to\s+proceed|{'|'.join(word.replace('_', '[ _-]') for word in sorted(FAILED))}"
)
"""One of them stands, in any case, in every text by which a call says that it took no effect."""
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
    return tool is not None and any(word in tool.lower() for word in ("cancel", "abort"))


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
        if cancels and _only_cancelled(result):
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
    if lookup:
        return False
    word = _FAILURE_WORD.fullmatch(text)
    if word is None:
        return _FAILURE_TEXT.match(text) is not None
    return not (cancels and word[1].lower() in CANCELLED)


def _ends_cut(text: str) -> bool:
    return CUT.search(text, max(0, len(text) - _LONGEST_MARK)) is not None


def refusing(result: Mapping[str, JsonValue], *, lookup: bool = False) -> str | None:
    """Return the member by which a result says that the call took no effect; None: none does."""
    said = [name for name in TELLING if name in result]
    return next((name for name in said if _says_no(name, result[name], lookup=lookup)), None)


def _says_no(name: str, value: JsonValue, *, lookup: bool) -> bool:
    if name in _ERROR:
        return bool(value)
    if name in _IS_ERROR:
        return value is True
    if name in _DONE:
        return _is_false(value)
    if lookup:
        return name in _STATUS and _word(value) == "error"
    if name in _ERRORS:
        return bool(value)
    if name in _IS_FAILED:
        return value is True
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return 400 <= value < 600
    return name in _STATUS and _is_failure(_word(value) or "")


def _is_failure(word: str) -> bool:
    parts = set(word.split("_"))
    return word in FAILED or bool(parts & _SURELY and not parts & _NEGATING)


def _is_false(value: JsonValue) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in ("false", "no", "0")
    return isinstance(value, (bool, int, float)) and not value


def _only_cancelled(result: Mapping[str, JsonValue]) -> bool:
    """Whether nothing says no but that the thing is cancelled."""
    name = refusing(result)
    rest = {key: value for key, value in result.items() if _word(value) not in CANCELLED}
    return name in _STATUS and _word(result[name]) in CANCELLED and refusing(rest) is None


def _says(result: Mapping[str, JsonValue], *, lookup: bool) -> bool | None:
    if refusing(result, lookup=lookup) is not None:
        return False
    if not lookup and any(_word(result.get(name)) is not None for name in _STATUS):
        return None if leaving_open(result) is not None else True
    return None if _may_refuse_unseen(result) else True


def leaving_open(result: Mapping[str, JsonValue]) -> str | None:
    """Return the member by which a result leaves it open whether the call took effect."""
    return next((name for name in _STATUS if _leaves_open(_word(result.get(name)) or "")), None)


def _leaves_open(word: str) -> bool:
    if word in PENDING or word.startswith((*_STILL, NOTHING_LEFT)):
        return True
    return bool(REDACTION_MARKER.search(word) or CUT.search(word))


def _may_refuse_unseen(result: Mapping[str, JsonValue]) -> bool:
    """Tell whether a member that says no may be among the keys that the recorder cut."""
    cut = result.get(NOTHING_LEFT)
    if not isinstance(cut, str) or not CUT.search(cut):
        return False
    if any(result.get(name) is True for name in _DONE):
        return False
    last = max((key for key in result if key != NOTHING_LEFT), default="")
    return any(key > last for key in TELLING)


def _word(value: JsonValue) -> str | None:
    """A status as one word in small letters; a mark of the recorder as it is."""
    if not isinstance(value, str):
        return None
    word = value.strip().lower()
    return word if "[" in word else _WORD_SEPARATOR.sub("_", word).strip("_.!")
