"""By which members and words does a result say that its call took no effect, or leave it open?

`happened` decides by them; rule 1 and 2 there are theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from trackway.schema import REDACTION_MARKER
from trackway_analyzer.model import JsonValue
from trackway_analyzer.recorder_marks import CUT, NOTHING_LEFT

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
PENDING: Final = frozenset(
    [
        *("pending", "processing", "queued", "in_progress", "incomplete", "deferred", "on_hold"),
        *("waitlisted", "blocked", "throttled", "rate_limited", "sold_out", "skipped", "ignored"),
        *("noop", "no_op", "dry_run", "unchanged", "not_modified"),
    ]
)
"""Words by which nothing was done so far, or nothing had to be."""
_STILL: Final = ("pending_", "awaiting_", "requires_", "waiting_for_")
"""How a longer word begins that says that something is still to come."""
KNOWN_GOOD: Final = frozenset(
    [
        *("ok", "okay", "success", "succeeded", "successful", "complete", "completed", "done"),
        *("finished", "final", "finalized", "active", "activated", "enabled", "open", "opened"),
        *("new", "created", "submitted", "received", "accepted", "scheduled", "sent", "posted"),
        *("delivered", "shipped", "processed", "started", "running", "ready", "live", "available"),
        *("assigned", "registered", "resolved", "closed", "current", "valid", "verified", "passed"),
        *("authorized", "authorised", "captured", "settled", "published", "merged", "deployed"),
        *("updated", "modified", "changed", "saved", "stored", "added", "removed", "deleted"),
        *("archived", "booked", "reserved", "confirmed", "approved", "issued", "refunded", "paid"),
        *("charged", "placed", "ordered", "granted", "applied", "executed", "logged", "recorded"),
        *("landed", "true", "yes", "none", "null", "no_error"),
    ]
)
"""Words by which a thing is as a change should leave it; one of them in a longer word will do."""
UNDONE: Final = frozenset(
    ["void", "voided", "reversed", "reverted", "rolled_back", "revoked", "withdrawn", "annulled"]
)
"""Words that say that the thing is no more, and not whether the call was what ended it."""
LEFT_OPEN: Final = (
    *(word.replace("_", "[ _-]") for word in sorted(PENDING | UNDONE)),
    *("awaiting", "requires", "waiting"),
)
"""One of them stands in every word that leaves it open."""
_SURELY: Final = frozenset(
    ["failed", "failure", "error", "declined", "denied", "rejected", "refused", "unsuccessful"]
)
"""Parts of a longer word (`card_declined`) by which it says no."""
NO_ERROR: Final = frozenset(
    ["", "0", "none", "null", "no", "false", "n/a", "na", "ok", "success", "no_error", "no_errors"]
)
"""Texts by which nothing went wrong."""
_ENDING: Final = (
    *("cancel", "abort", "void", "revers", "revert", "revok", "withdraw"),
    *("rollback", "roll_back", "annul", "undo"),
)
_NAME_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_STEM: Final = 5
"""So many letters of a word tell its forms: `modif`y, `modif`ied."""
_NEGATING: Final = frozenset(["no", "not", "non", "without", "zero", "free"])


def _spelt(*names: str) -> tuple[str, ...]:
    """Names as they are, with a capital, and in capitals."""
    return tuple(name for base in names for name in (base, base.capitalize(), base.upper()))


_ERROR: Final = _spelt("error")
_IS_ERROR: Final = (
    *("isError", "is_error", "iserror", "IsError", "Is_Error", "IS_ERROR"),
    *("hasError", "has_error", "HasError", "hasErrors", "has_errors", "HasErrors"),
)
DONE: Final = (
    *_spelt("ok", "success", "succeeded", "successful"),
    *("isSuccess", "is_success", "IsSuccess", "isSuccessful", "is_successful", "isOk", "is_ok"),
)
_ERRORS: Final = _spelt("errors")
_IS_FAILED: Final = _spelt("failed")
TRIED: Final = ("dry_run", "dryRun", "DryRun", "simulated")
"""Members by which a result says that the call was only tried out."""
_STATUS: Final = _spelt("status")
STATUS: Final = (*_STATUS, *_spelt("state"))
_HTTP: Final = ("statusCode", "status_code", "StatusCode", *STATUS)
TELLING: Final = tuple(
    dict.fromkeys((*_ERROR, *_IS_ERROR, *DONE, *_ERRORS, *_IS_FAILED, *STATUS, *_HTTP, *TRIED))
)
"""Members by which a result may say that the call took no effect."""
USUAL: Final = ("error", "errors", "isError", "ok", "state", "status", "success")
"""Those of them that results commonly have."""
_WORD_SEPARATOR: Final = re.compile(r"[\s_-]+")
ERROR_TEXT: Final = re.compile(
    r"\s*(?:traceback \(most recent call last\)|an error occurred\b|"
    r"(?:[\w.]*(?:error|exception))\s*(?::|\(|$)|error\s+(?!handling\b)\w+ing\b|failed to\b|"
    r"error\s+handling\s[^.]*:|<(?:tool_use_)?error>|fail\s*[.!]?\s*\Z|"
    r"\S+\s+is\s+not\s+a\s+valid\s+tool\b|no\s+such\s+tool\b|"
    r"\[(?:error|failed|failure|fatal)\]|"
    r"(?:\w+\s+){0,2}(?:execution|request|connection)\s+(?:has\s+)?(?:failed|timed\s+out)\b|"
    r"(?:error|failed|failure)\s*(?::|\s[-–—]\s))",
    re.IGNORECASE,
)
_OF_SERVERS: Final = (
    r"bad\s+request|payment\s+required|method\s+not\s+allowed|request\s+time-?out"
    r"|unprocessable\s+(?:entity|content)|too\s+many\s+requests|internal\s+server\s+error"
    r"|bad\s+gateway|service\s+unavailable|gateway\s+time-?out"
)
_REASONS: Final = (
    rf"(?:{_OF_SERVERS}|unauthori[sz]ed|forbidden|not\s+found|not\s+acceptable|conflict|gone"
    r"|not\s+implemented)"
)
HTTP_TEXT: Final = re.compile(
    rf"\s*(?:https?(?:/\d(?:\.\d)?)?\s+(?:status\s+|error\s+)?(?:code\s*)?[:=]?\s*[45]\d\d\b"
    rf"|status(?:\s+code)?\s*[:=]\s*[45]\d\d\b|[45]\d\d\s*[:-]?\s*{_REASONS}\b"
    rf"|(?:{_OF_SERVERS})\s*[.!]?\s*\Z"
    r"|connection\s+(?:refused|reset|aborted|closed|error)\b|E(?:CONN[A-Z]+|TIMEDOUT|RR_\w+)\b)",
    re.IGNORECASE,
)
"""How a server, or who asked it, tells that it did not answer."""
FAILURE_TEXT: Final = re.compile(
    r"\s*(?:unable\s+to\b|(?:cannot|can['’]t|could\s+not|couldn['’]t)\s+"
    r"(?!find\b|locate\b|be\s+undone\b)|"
    r"(?!(?:no|not|none|nothing|never|if|when|whether|because|\d+)\b)(?:[\w'’]+\s+){0,3}?"
    r"(?!(?:as|to|be|of|was|were)\b)[\w'’]+\s+(?:has\s+|have\s+|had\s+)?(?:failed|timed\s+out)"
    r"\s*(?::(?!\s*(?:0|none)\b)|\s[-–—]\s|[.!]?\s*\Z)|"
    r"(?:(?:the|your)\s+)?(?:card|payment|transaction|charge|permission|access|authori[sz]ation)"
    r"\s+(?:was\s+|has\s+been\s+|is\s+)?(?:declined|denied|refused)\b)",
    re.IGNORECASE,
)
"""How a tool says that it did not do it; of a lookup it may be what it found."""
FAILURE_WORD: Final = re.compile(
    rf"\s*(?:(?:status|state)\s*[:=]\s*)?[\"']?"
    rf"({'|'.join(word.replace('_', '[ _-]') for word in sorted(FAILED))})[\"']?\s*[.!]?\s*",
    re.IGNORECASE,
)
OF_FAILURE: Final = (
    r"error|exception|traceback|fail|fatal|timed?\W+out|declin|den[iy]|reject|refus|abort|block"
    r"|\bhttp|[45]\d\d\b|gateway|bad\s+request|payment\s+required|too\s+many|conflict"
    r"|unprocessable|sorry|no\s+longer|\btaken|interrupt|rate\s+limit|please\s+confirm|\brequires\b"
    r"|missing\s|<error|<tool|\bfalse\b|cancell?ed\s+by"
    r"|connection|\be(?:conn|timedout|rr_)"
    r"|insufficient|unable|can|could|\bnot\b|n['’]t\b|no\s+such|unsuccess|forbid|unauthori|invalid"
    rf"|{'|'.join(word.replace('_', '[ _-]') for word in sorted(FAILED))}"
)
"""One of them stands, in any case, in every text that reads like a failure."""
SAYING: Final = rf"redacted|want\s+to\s+proceed|{OF_FAILURE}"
"""One of them stands, in any case, in every text by which a call says that it took no effect."""
NOT_ALLOWED: Final = re.compile(
    r"\s*(?:(?:the\s+)?user\s+(?:doesn['’]t|does\s+not)\s+want\s+to\s+proceed\s+with\s+this\s+tool"
    r"|(?:the\s+)?user\s+(?:has\s+)?(?:rejected|denied|declined)\s+(?:this|the)\s+tool"
    r"\s+(?:use|call|execution)"
    r"|the\s+tool\s+(?:use|call|execution)\s+was\s+(?:rejected|denied|declined)"
    r"|permission\s+to\s+use\s+\S+\s+(?:has\s+been|was)\s+denied"
    r"|\w+\s+requested\s+permissions?\s+to\s+[^.]*\byou\s+haven['’]t\s+granted"
    r"|(?:the\s+)?user\s+(?:has\s+)?(?:cancell?ed|aborted|interrupted|rejected|denied|declined)"
    r"\s+(?:this|the)\s+(?:action|operation|request|tool|call|command|execution)"
    r"|(?:the\s+)?(?:tool\s+)?(?:action|operation|request|call|command|execution)\s+(?:was\s+)?"
    r"(?:(?:cancell?ed|aborted|interrupted|rejected|denied|declined)\s+by\s+(?:the\s+)?user"
    r"|aborted))\b",
    re.IGNORECASE,
)
"""How a harness tells the model that a person refused."""


class Call(NamedTuple):
    """What is known of a call, beside its result."""

    lookup: bool = False
    mutation: bool = False
    """It is declared to change something: an unknown status leaves it open."""
    meant: frozenset[str] = frozenset()
    """Words that otherwise say no, and by which this call did what it was to do."""
    stems: tuple[str, ...] = ()
    """How words begin that speak of what it was to do."""


def call_of(
    tool: str | None, *, lookup: bool = False, mutation: bool = False, echoed: Iterable[str] = ()
) -> Call:
    """Return what a tool's name, and the words that its arguments asked for, say of a call."""
    meant, stems = _named_for(tool or "")
    return Call(lookup, mutation, meant.union(echoed), stems)


@lru_cache(4096)
def _named_for(tool: str) -> tuple[frozenset[str], tuple[str, ...]]:
    words = [word.lower() for word in _NAME_PARTS.findall(tool)]
    meant = {form for word in words for form in _done_forms(word)}
    if any(word in tool.lower() for word in _ENDING):
        meant |= CANCELLED | UNDONE
    return frozenset(meant), tuple(word[:_STEM] for word in words if len(word) >= _STEM)


def _done_forms(word: str) -> set[str]:
    """`deny`: deny, denied; `cancel`: cancel, canceled, cancelled; nothing that is only to come."""
    forms = {word + "ed", word + "d", word + "n", word + word[-1] + "ed", word[:-1] + "ied"}
    return forms if word in PENDING else {*forms, word}


def refusing(result: Mapping[str, JsonValue], *, lookup: bool = False) -> str | None:
    """Return the member by which a result says that the call took no effect; None: none does."""
    said = [name for name in TELLING if name in result]
    return next((name for name in said if _says_no(name, result[name], lookup=lookup)), None)


def _says_no(name: str, value: JsonValue, *, lookup: bool) -> bool:
    if name in _ERROR:
        return holds_error(value)
    if name in _IS_ERROR:
        return value is True or status_word(value) in ("true", "yes")
    if name in DONE:
        return _is_false(value)
    if lookup:
        return name in STATUS and status_word(value) == "error"
    if name in _ERRORS:
        return holds_error(value)
    if name in _IS_FAILED:
        return value is True
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return 400 <= value < 600
    return name in STATUS and is_failure(status_word(value) or "")


def holds_error(value: JsonValue) -> bool:
    """Whether what stands under a name of errors tells of one: `"none"` and code 0 do not."""
    if isinstance(value, str):
        return value.strip() != "" and (status_word(value) or value) not in NO_ERROR
    if isinstance(value, Mapping):
        return any(map(holds_error, value.values()))
    return any(map(holds_error, value)) if isinstance(value, list) else bool(value)


def is_failure(word: str) -> bool:
    """Whether a word, as `status_word` gives it, says no."""
    parts = set(word.split("_"))
    return word in FAILED or bool(parts & _SURELY and not parts & _NEGATING)


def _is_false(value: JsonValue) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in ("false", "no", "0")
    return isinstance(value, (bool, int, float)) and not value


def leaving_open(result: Mapping[str, JsonValue], call: Call | None = None) -> str | None:
    """Return the member by which a result leaves it open whether the call took effect."""
    said = (name for name in STATUS if _leaves_open(status_word(result.get(name)) or ""))
    tried = (name for name in TRIED if result.get(name) is True)
    status = [name for name in _STATUS if call is not None and call.mutation]
    unknown = (
        name for name in status if _is_unknown(status_word(result.get(name)), call or Call())
    )
    return next(chain(said, tried, unknown), None)


def _is_unknown(word: str | None, call: Call) -> bool:
    """Whether a status is neither known to be good nor a word of what the call was to do."""
    if not word or word in KNOWN_GOOD or word in call.meant:
        return False
    parts = word.strip("()").split("_")
    if parts[0].isdecimal() or parts[-1].isdecimal():
        return False
    alike = any(part.startswith(stem) for part in parts for stem in call.stems)
    good = not KNOWN_GOOD.isdisjoint(parts) and "not" not in parts
    return not alike and not good


def _leaves_open(word: str) -> bool:
    if word in PENDING or word in UNDONE or word.startswith((*_STILL, NOTHING_LEFT)):
        return True
    return bool(REDACTION_MARKER.search(word) or CUT.search(word))


def status_word(value: JsonValue) -> str | None:
    """A status as one word in small letters; a mark of the recorder as it is."""
    if not isinstance(value, str):
        return None
    word = value.strip().lower()
    return word if "[" in word else _WORD_SEPARATOR.sub("_", word).strip("_.!")
