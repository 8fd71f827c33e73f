"""Secrets that a text sets under a name: `password=...`, `"api_key": "..."`, `Cookie: ...`.

1. The name that stands before `=` or `:` decides, alone or with the word before it (`API key: x`),
   as it would decide on a key (`secret_names.py`).
2. A quoted secret is all between the quotes, or to the end of the line where they do not close;
   quotes may be escaped, since JSON stands in JSON. A bare one ends at white space, quotes,
   brackets, `&`, and at a comma or semicolon before the next name. Behind `authorization` and
   `cookie` it is the rest of the line.
3. No secret: fewer than 4 characters; None, null, true, false; a call or an index
   (`= get_token()`); plain words after a colon and a space (`Reset your password: click here`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Final

from trackway.capture.secret_names import DeniedNames
from trackway.schema import redaction_marker

MARKER: Final = redaction_marker("assignment")

_NAMES: Final = frozenset(
    (
        *("password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "credential"),
        *("credentials", "key", "cvv", "cvc", "jwt", "connectionstring", "connection string"),
        *("connection_string", "authorization", "cookie"),
    )
)
"""How names end behind which a text may hold a secret; the whole name decides."""
_HEADERS: Final = frozenset(("authorization", "cookie"))
_NAME_END: Final = r"[0-9]{0,4}(?:\\{0,%d}[\"'])? {0,4}"
_SET_TO: Final = (
    _NAME_END % 3 + r"(?P<separator>=>?|:)(?P<space>\s{0,4})"
    r"(?:(?P<quote>\\{0,3}[\"'])(?P<quoted>(?!\[redacted:).+?)(?:(?P=quote)|$)|"
)
_value: Final = re.compile(
    _SET_TO
    + r"(?P<bare>(?:[^\s\"'\\&<>(){}\[\],;]|[,;](?!\s|\Z|[A-Za-z0-9_-]{1,64}[\"']?[=:]))+))",
    re.MULTILINE,
).match
_rest_of_line: Final = re.compile(
    _SET_TO + r"(?P<bare>(?!\[redacted:)[^\s\"'\\][^\r\n\"'\\]*))", re.MULTILINE
).match
# Backslashes double in JSON, and the quote gets one of its own.
_SEPARATOR: Final = _NAME_END % 7 + "[:=]"
_separates: Final = re.compile(_SEPARATOR).match
_NAME_CHARACTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_LONGEST_NAME: Final = 64
_CALL: Final = re.compile(r"[A-Za-z_][A-Za-z_.]{0,200}[(\[]")
_SHORTEST: Final = 4
_NO_SECRETS: Final = frozenset(("none", "null", "true", "false", "undefined"))


class Assignments:
    """Finds secrets behind names."""

    def __init__(self, names: DeniedNames) -> None:
        # A text repeats its few names.
        self._denies: Final = lru_cache(maxsize=1024)(names.denies)
        self._ends: Final = tuple(sorted(_NAMES | names.last_words))
        self.screen: Final = f"(?i:{'|'.join(map(re.escape, self._ends))}){_SEPARATOR}"
        """A regular expression without look-around that every assignment matches."""

    def may_stand_in(self, text: str) -> bool:
        """Whether a text, or a string in a JSON text, may hold an assignment."""
        return any(_separates(text, end) for _, end in self._names_in(text))

    def without(self, text: str) -> str:
        """Return the text with each secret replaced by the marker."""
        done = 0
        pieces: list[str] = []
        for name, end in sorted(self._names_in(text), key=itemgetter(1)):
            if end < done or not self._is_denied(text, end):
                continue
            match = (_rest_of_line if name in _HEADERS else _value)(text, end)
            if match is None:
                continue
            group = "bare" if match["quoted"] is None else "quoted"
            if _is_secret(match, group, name):
                start, stop = match.span(group)
                pieces += (text[done:start], MARKER)
                done = stop
        return "".join((*pieces, text[done:])) if pieces else text

    def _names_in(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield each name that may be followed by a secret, and where it ends."""
        if not text.isascii():  # a character must stay a character
            text = text.encode("ascii", "replace").decode()
        lower = text.lower()
        for name in self._ends:
            end = lower.find(name)
            while end >= 0:
                end += len(name)
                yield name, end
                end = lower.find(name, end)

    def _is_denied(self, text: str, end: int) -> bool:
        """Whether the name that ends here is denied, alone or with the word before it."""
        before = text[max(0, end - _LONGEST_NAME) : end]
        rest = before.rstrip(_NAME_CHARACTERS)
        name = before[len(rest) :]
        if self._denies(name) or (rest.endswith("\\") and self._denies(name[1:])):
            return True  # behind a backslash the first letter may be that of an escape
        word = rest[:-1]
        return rest.endswith(" ") and self._denies(before[len(word.rstrip(_NAME_CHARACTERS)) :])


def _is_secret(match: re.Match[str], group: str, name: str) -> bool:
    """Whether what a denied name is set to is a secret, and not prose, code or a placeholder."""
    secret = match[group]
    if len(secret) < _SHORTEST or secret.lower() in _NO_SECRETS:
        return False
    if group == "quoted":
        return True
    if name == "cookie" and "=" not in secret:
        return False
    return not _is_prose(match, secret) and _CALL.match(match.string, match.start(group)) is None


def _is_prose(match: re.Match[str], secret: str) -> bool:
    """Whether what follows a colon and a space is a plain word: `Reset your password: click`."""
    if match["separator"] != ":" or not match["space"]:
        return False
    words = secret.split()
    return all(word.isalpha() and (word.islower() or word.istitle()) for word in words)
