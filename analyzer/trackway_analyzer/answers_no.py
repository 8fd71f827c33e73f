"""Does an answer say no, or that nothing was found?

The call may have done its work all the same: `valid: false` is an answer. But a later step that
needs a yes must not build on it. Looked at are flags that ask for a yes (`valid`, `verified`,
`eligible`, `found`, …; not `exists` or `fraud`, of which false may be what was hoped for), a status
of `not_found` or 404, and short texts that say so (`No`, `Order B2 not found`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trackway_analyzer.model import JsonValue
from trackway_analyzer.said_no import STATUS, status_word

_YES: Final = (
    r"(?:is_?|was_?|identity_?|user_?)?(?:valid|verified|authenticated|authori[sz]ed|eligible"
    r"|approved|allowed|permitted|granted|match(?:es|ed)?|found|passed|confirmed|recogni[sz]ed)"
)
_FLAG: Final = re.compile(_YES, re.IGNORECASE)
_CODES: Final = ("code", "statusCode", "status_code", *STATUS)
_TEXTS: Final = ("message", "msg", "detail", "result", "text", "content")
_NO: Final = frozenset(["no", "false", "denied", "not_found"])
_LONGEST: Final = 200
_SAYS_NO: Final = re.compile(
    r"(?:\bnot|n['’]t)\s+(?:be\s+|been\s+|yet\s+)?(?:found|verified|valid|authenticated|eligible"
    r"|authori[sz]ed|approved|allowed|permitted|recogni[sz]ed|match\w*|find|exist)\b"
    r"|\bno\s+(?:\w+\s+){0,3}?(?:found|record|match\w*)\b|^\s*unknown\s|:\s*unknown\s"
    r"|\b(?:0|no)\s+results\b|^\s*(?:access\s+)?denied\b",
    re.IGNORECASE,
)
MAY_ANSWER_NO: Final = (
    rf'"(?i:{_YES})":(?:false|"(?i:no|false|denied|not))|\b404\b'
    r'|(?i:\bnot\b|\bnot_found|n[\'’]t\b|^"\s*no\b|"\s*no\b|\bno\s|unknown\s|denied|\b0\s+results)'
    r'|^"\s*(?i:false)'
)
"""Stands in the JSON text of every answer that says no."""


def answers_no(answer: JsonValue) -> str | None:
    """Return the member by which an answer says no, empty for a text; None: it does not."""
    if isinstance(answer, str):
        return "" if _text_says_no(answer) else None
    if not isinstance(answer, Mapping):
        return None
    return next((name for name, value in answer.items() if _member_says_no(name, value)), None)


def _member_says_no(name: str, value: JsonValue) -> bool:
    no = value is False or (isinstance(value, str) and status_word(value) in _NO)
    if no and _FLAG.fullmatch(name):
        return True
    if name in _CODES:
        return value in (404, "404") or status_word(value) == "not_found"
    return name in _TEXTS and isinstance(value, str) and _text_says_no(value)


def _text_says_no(text: str) -> bool:
    if len(text) > _LONGEST:
        return False
    return status_word(text) in _NO or _SAYS_NO.search(text) is not None
