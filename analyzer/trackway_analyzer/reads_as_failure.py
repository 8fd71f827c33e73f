"""Does a result that no member speaks against read like a failure all the same?

Asked of a call that `happened` would take for done. It is left open where

1. a text reads so: the result itself or a member of `_WORDS` (`message`, `detail`, `outcome`, …),
   by one of its sentences ("Your card was declined", "The refund could not be processed"), by one
   word of failure, as the answer of a server ("HTTP 500 Internal Server Error"), or as an object or
   list that speaks against it, written in JSON or as Python shows it (`{'error': 'declined'}`).
   What stands in quotes or behind `if` does not count;
2. a member is named after what went wrong (`error_message`, `decline_code`) and holds something,
   or a `type` is that of an error;
3. a `code` is a word of failure or an HTTP status from 400 on, an `exit_code` another than 0;
4. nothing but flags that are false is there, one of which is the name of what was to be done
   (`{"refunded": false}`), and texts;
5. what stands in a member of `_WRAPPERS` (`data`, `result`, …), or every item of a list, speaks
   against it or is left open. An item of MCP's `content` is its `text`.

Of a lookup only what opens like an error message counts in 1 ("Error: no such table", "HTTP 500"),
what says no
of the call itself in 5, and nothing else: the rest is of what it found. Nothing of all this counts
where `ok` or `success` is true, an `exit_code` is 0 or a `status` says so, nor 1 where another
sentence says that it was done ("Refund issued. Shipping cannot be refunded").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from trackway_analyzer.json_text import parsed, parsed_literal
from trackway_analyzer.model import JsonValue
from trackway_analyzer.said_no import (
    DONE,
    ERROR_TEXT,
    FAILURE_TEXT,
    FAILURE_WORD,
    HTTP_TEXT,
    LEFT_OPEN,
    OF_FAILURE,
    STATUS,
    TELLING,
    Call,
    holds_error,
    is_failure,
    leaving_open,
    refusing,
    status_word,
)

_WORDS: Final = (
    *("message", "msg", "detail", "details"),
    *("outcome", "result", "response", "output", "statusText", "status_text"),
)
_CODES: Final = ("code", "http_status", "httpStatus", "http_code", "httpCode")
_EXITS: Final = ("exit_code", "exitCode", "returncode", "return_code")
_WRAPPERS: Final = (
    *("data", "result", "response", "body", "payload", "output", "content"),
    *("structuredContent", "structured_content"),
)
_WENT_WRONG: Final = (
    r"(?:error|err|exception|fault|failure|decline|rejection)s?"
    r"_?(?:message|msg|code|reason|description|type|details?|text|string|info)?"
)
_NAMED_AFTER_IT: Final = re.compile(_WENT_WRONG, re.IGNORECASE)
_TO_BE_DONE: Final = frozenset(
    [
        *("refunded", "sent", "cancelled", "canceled", "booked", "charged", "deleted", "removed"),
        *("updated", "saved", "created", "issued", "executed", "applied", "processed", "completed"),
        *("done", "delivered", "paid", "submitted", "transferred", "scheduled", "placed", "added"),
        *("modified", "changed", "accepted", "reserved", "captured", "scheduled", "published"),
    ]
)
_AFFECTED: Final = re.compile(
    r"(?:rows?_?)?affected(?:_?rows?|_?count)?|(?:row|modified|updated|deleted|matched|inserted)_?count",
    re.IGNORECASE,
)
"""Names for how many things a change touched."""
_FAILURES: Final = frozenset(["failed", "failures", "rejected", "errors", "skipped", "unsent"])
"""Names for what of it was not done."""
_OF_SERVERS: Final = frozenset(["statusCode", "status_code", "StatusCode"])
_DONE_WORDS: Final = frozenset(
    [*_TO_BE_DONE, *DONE, "okay", "complete", "approved", "confirmed", "true", "yes", "passed"]
)
_ERROR_TYPE: Final = re.compile(r"(?:\w+\.)*\w+(?:Error|Exception)")
"""The type of an error that was returned, not raised."""
_DEEPEST: Final = 4
_LONGEST: Final = 400
"""Longer texts are what a tool found or made, not what it says of itself."""

_PARTICIPLE: Final = r"(?:\w+ed|sent|made|done|paid|found|taken|given|put|set|begun|written)"
_DID: Final = (
    r"(?:success(?:ful(?:ly)?)?|succeeded|issued|processed|completed|sent|created|updated|refunded"
    r"|cancell?ed|booked|confirmed|approved|scheduled|saved|added|removed|deleted|done|paid|charged"
    r"|submitted|accepted|recorded|logged|opened|posted|placed|cleared|reset|dropped|escalated"
    r"|archived|assigned|closed|activated|enabled|moved|renamed|uploaded|merged|deployed|restored"
    r"|restarted|registered|reserved|ordered|shipped|stored)"
)
_SAYS_SO: Final = re.compile(
    r"\b(?:was|were|is|are|been|got)\s+(?:\w+ly\s+)?"
    r"(?:declined|denied|rejected|refused|aborted|blocked|unsuccessful)\b"
    rf"|\b(?:could|did|was|were|has|have|had)(?:\s+not|n['’]t)\s+(?:yet\s+)?(?:be\s+|been\s+)?"
    rf"(?:{_PARTICIPLE}|go\s+through|complete|succeed|work|exist)\b"
    rf"|\b(?:cannot|can\s+not|can['’]t)\s+(?:be\s+{_PARTICIPLE}|\w+)"
    r"|\bunable\s+to\b|\bunsuccessful(?:ly)?\b|\bdeclined\b|\btimed\s+out\b|\bno\s+such\b"
    r"|\binsufficient\s+\w+|\bnot\s+enough\b|\bnot\s+(?:authori[sz]ed|permitted|allowed|eligible"
    r"|possible|available|supported|valid|successful|processed|completed|found)\b"
    r"|\bdoes(?:\s+not|n['’]t)\s+exist\b|\bforbidden\b|\bunauthori[sz]ed\b"
    r"|(?<!as )(?<!to )(?<!be )\bfailed"
    r"(?=\s*(?:[.!]|$|\b(?:because|due|with|for|at|on|to)\b))"
    r"|\bno\s+longer\s+(?:available|possible|valid)\b|^\s*sorry\b|\b(?:already\s+|is\s+)taken\b"
    r"|\b(?:aborted|cancell?ed|interrupted)\s+by\b|\brate\s+limit(?:ed)?\b"
    r"|\brequires\s+(?:\w+\s+)?(?:confirmation|approval|authori[sz]ation)\b|^\s*please\s+confirm\b"
    r"|\bmissing\s+(?:required\s+)?(?:parameter|argument|field)\b|\w\s+not\s+(?!refus|declin|reject|den)\w+ed\s*[.!]?\s*$"
    r"|^\s*(?:error|invalid|denied|rejected|refused)\b"
    rf"(?!\s+(?:(?!was|were|is|are|has|have|had|not|in|to)\w+\s+){{1,2}}{_DID}\b)",
    re.IGNORECASE,
)
_IS_DONE: Final = re.compile(rf"(?<!not )(?<!un)(?<!n['’]t )\b{_DID}\b", re.IGNORECASE)
_UNLESS: Final = re.compile(
    r"\b(?:if|unless|in\s+case|when(?:ever)?|whether|until|should|no|none|nothing|never|without|\d+\s+of)\b|\b\d+\s*$",
    re.IGNORECASE,
)
"""What stands behind one of these was not said to have happened."""
_LONGEST_SHOWN: Final = 4000
_IN_QUOTES: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|(?<!\w)['‘][^'’\n]*['’](?!\w)|“[^”]*”|«[^»]*»")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])\s+|\n+")

_BLANKS: Final = r"(?:\s|\\[nrt])*"
_IN_TEXT: Final = r"(?:[^\"\\]|\\.)*?"
DOUBTED: Final = (
    rf'"(?:{"|".join((*_WORDS, *_CODES))})":"{_IN_TEXT}(?i:{OF_FAILURE})'
    rf'|"(?:{"|".join(_WORDS)})":"{_BLANKS}[\[{{]'
    rf'|"(?:{"|".join(_WRAPPERS)})":"{_BLANKS}(?:[\[{{]|(?i:{_IN_TEXT}(?:error|exception|fail)|traceback))'
    rf'|"(?i:{_WENT_WRONG})":'
    r'|"type":"[\w.]+(?:Error|Exception)"'
    rf'|"(?:{"|".join(_CODES)})":"?[45]\d\d\b|"(?:{"|".join(_EXITS)})":'
    rf'|"(?:{"|".join(_WRAPPERS)})":[{{\[]'
    rf'|"(?i:{"|".join(sorted(_TO_BE_DONE))})":(?:false|0\b|\[\]|{{}})'
    rf'|"(?i:{_AFFECTED.pattern})":(?:false|0\b|\[\]|{{}})'
    rf'|:\[.*(?:(?i:{OF_FAILURE})|false,")'
    rf'|[:\[,][{{].*"(?:{"|".join(TELLING)})":(?:false|true|0\b|[1-9{{]|\[[^\]]|"[^"])'
)
"""Stands in the JSON text of every object that reads like a failure."""
DOUBTED_LIST: Final = (
    rf'(?i:{OF_FAILURE}|{"|".join(LEFT_OPEN)}|redacted|truncated|…|false|"no"|:0\b|[45]\d\d\b)'
)
"""Stands in the JSON text of every list that does."""


_ANY: Final = Call()


def reads_as_failure(result: JsonValue, call: Call = _ANY) -> bool:
    """Tell whether a result reads like a failure and nothing in it says that the call was done."""
    return _reads(result, call, 0)


def doubtful_member(result: Mapping[str, JsonValue], call: Call = _ANY) -> str | None:
    """Return the member that reads like a failure; None: none does."""
    return next(_doubtful(result, call, 0), None)


def _reads(value: JsonValue, call: Call, depth: int) -> bool:
    if isinstance(value, str):
        return _text_reads(value, call)
    if depth >= _DEEPEST:
        return False
    if isinstance(value, Mapping):
        return not _says_done(value) and any(_doubtful(value, call, depth))
    if isinstance(value, list):
        if not call.lookup and _is_refusing_pair(value, call):
            return True
        against = (_against(item, call, depth + 1) for item in value)
        return bool(value) and (all(against) or any(map(_flags_a_failure, value)))
    return False


def _is_refusing_pair(value: list[JsonValue], call: Call) -> bool:
    """Whether a list is what a function returns for no and why: `(False, "declined")`."""
    if len(value) != 2 or not isinstance(value[1], str):
        return False
    return value[0] is False or (value[0] is None and _text_reads(value[1], call))


def _flags_a_failure(value: JsonValue, depth: int = 0) -> bool:
    """Whether a flag or an error in a value says that what it tells of was not done."""
    if depth >= _DEEPEST:
        return False
    if isinstance(value, list):
        return any(_flags_a_failure(item, depth + 1) for item in value)
    if not isinstance(value, Mapping):
        return False
    name = refusing(value)
    flagged = name is not None and name not in STATUS and name not in _OF_SERVERS
    return flagged or any(_flags_a_failure(inner, depth + 1) for inner in value.values())


def _against(value: JsonValue, call: Call, depth: int) -> bool:
    """Whether what is wrapped says no, leaves it open or reads so."""
    if isinstance(value, Mapping):
        no = refusing(value, lookup=call.lookup)
        if no is not None and not (no in STATUS and status_word(value[no]) in call.meant):
            return True
        member = None if call.lookup else leaving_open(value)
        if member is not None and status_word(value[member]) not in call.meant:
            return True
    return _reads(value, call, depth)


def _doubtful(result: Mapping[str, JsonValue], call: Call, depth: int) -> Iterator[str]:
    said = _WORDS if result.get("type") != "text" else (*_WORDS, "text")
    for name, value in result.items():
        if isinstance(value, str) and name in said:
            speaks = _text_reads(value, call)
        elif isinstance(value, str) and name in _WRAPPERS:
            speaks = ERROR_TEXT.match(value) is not None or _shows_a_failure(value, call)
        elif isinstance(value, (Mapping, list)) and name in _WRAPPERS:
            speaks = _against(value, call, depth + 1)
        elif call.lookup:
            speaks = False
        else:
            speaks = _tells_a_failure(name, value) or _holds_a_failure(name, value, call)
        if speaks:
            yield name
    if not call.lookup:
        yield from _undone(result)


def _holds_a_failure(name: str, value: JsonValue, call: Call) -> bool:
    """Whether what stands inside a member speaks against the call, not only of what it found.

    What a member that is named after what the call was to do (`refund` of `refund_api.create`) says
    by its status is of the call.
    """
    if not isinstance(value, (Mapping, list)):
        return False
    parts = name.lower().split("_")
    own = any(part.startswith(stem) for part in parts for stem in call.stems)
    return _flags_a_failure(value) or (own and _against(value, call, 1))


def _undone(result: Mapping[str, JsonValue]) -> Iterator[str]:
    """What was to be done and is false, 0 or empty, where nothing but texts stands beside.

    How many of them failed stands beside, too.
    """
    rest = {name: value for name, value in result.items() if not _counts_failures(name, value)}
    if any(value and not isinstance(value, str) for value in rest.values()):
        return
    if any(not value for name, value in result.items() if _counts_failures(name, value)):
        return
    for name, value in rest.items():
        if value is not None and not value and _is_to_be_done(name) and not isinstance(value, str):
            yield name


def _is_to_be_done(name: str) -> bool:
    return name.lower() in _TO_BE_DONE or _AFFECTED.fullmatch(name) is not None


def _counts_failures(name: str, value: JsonValue) -> bool:
    return name.lower() in _FAILURES and isinstance(value, (int, list)) and value is not False


def _says_done(result: Mapping[str, JsonValue]) -> bool:
    return (
        any(result.get(name) is True for name in DONE)
        or any(status_word(result.get(name)) in _DONE_WORDS for name in STATUS)
        or any(result.get(name) in (0, "0") for name in _EXITS)
    )


def _tells_a_failure(name: str, value: JsonValue) -> bool:
    if name in _CODES:
        return _is_code_of_failure(value)
    if name in _EXITS:
        return holds_error(value)
    if name == "type" and isinstance(value, str):
        return _ERROR_TYPE.fullmatch(value) is not None
    return _is_named_after_it(name) and holds_error(value)


@lru_cache(4096)
def _is_named_after_it(name: str) -> bool:
    return _NAMED_AFTER_IT.fullmatch(name) is not None


def _is_code_of_failure(value: JsonValue) -> bool:
    if isinstance(value, str):
        word = status_word(value) or ""
        return is_failure(word) or (word.isdecimal() and 400 <= int(word) < 600)
    return isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600


def _text_reads(text: str, call: Call) -> bool:
    if _shows_a_failure(text, call):
        return True
    if len(text) > _LONGEST:
        return False
    if HTTP_TEXT.match(text):
        return True
    if text.strip().lower() == "false":
        return not call.lookup
    if call.lookup:
        return ERROR_TEXT.match(text) is not None
    word = FAILURE_WORD.fullmatch(text)
    if word is not None:
        return status_word(word[1]) not in call.meant
    if ERROR_TEXT.match(text) or FAILURE_TEXT.match(text):
        return True
    sentences = _SENTENCE_END.split(_QUOTED.sub(" ", text))
    reading = [_sentence_reads(sentence) for sentence in sentences]
    done = (
        _IS_DONE.search(sentence)
        for sentence, reads in zip(sentences, reading, strict=True)
        if not reads
    )
    return any(reading) and not any(done)


def _shows_a_failure(text: str, call: Call) -> bool:
    """Whether a text is an object or list, written out, that speaks against the call."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    shown = _shown(text) if len(text) <= _LONGEST_SHOWN else None
    if shown is not None:
        return _against(shown, call, 1)
    return any(ERROR_TEXT.match(quoted[1:-1]) for quoted in _IN_QUOTES.findall(text[:_LONGEST]))


@lru_cache(1024)
def _shown(text: str) -> JsonValue:
    """The value that a text writes out, in JSON or as Python shows it; None: it is none."""
    value = parsed(text)
    value = parsed_literal(text) if isinstance(value, str) else value
    return value if isinstance(value, (dict, list)) else None


def _sentence_reads(sentence: str) -> bool:
    found = _SAYS_SO.search(sentence)
    if found is None:
        return False
    before = sentence[: found.start()]
    return _UNLESS.search(before) is None and _IS_DONE.search(before) is None
