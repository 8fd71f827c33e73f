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
from typing import Final

from trackway.capture.search import LOOK, Work
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
    + r"(?P<bare>(?:[^\s\"'\\&<>(){}\[\],;]++|[,;](?!\s|\Z|[A-Za-z0-9_-]{1,64}[\"']?[=:]))++))",
    re.MULTILINE,
).match
_rest_of_line: Final = re.compile(
    _SET_TO + r"(?P<bare>(?!\[redacted:|[A-Za-z_][A-Za-z_.]{0,200}[(\[])[^\s\"'\\][^\r\n\"'\\]*))",
    re.MULTILINE,
).match
# Backslashes double in JSON, and the quote gets one of its own.
_SEPARATOR: Final = _NAME_END % 7 + "[:=]"
_separates: Final = re.compile(_SEPARATOR).match
_NAME_CHARACTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_LONGEST_NAME: Final = 64
_STRETCH: Final = 4096
"""Characters in which names are looked for before any is looked at."""
_NAME: Final = 24
"""What it costs to find a name, in characters of plain search."""
_ASSIGNED: Final = 40
"""What it costs besides where something is set to it, """
_HARMLESS: Final = 32
"""and where that is denied nothing."""
_CALL: Final = re.compile(r"[A-Za-z_][A-Za-z_.]{0,200}[(\[]")
_SHORTEST: Final = 4
_NO_SECRETS: Final = frozenset(("none", "null", "true", "false", "undefined"))


class Assignments:
    """Finds secrets behind names."""

    def __init__(self, names: DeniedNames) -> None:
        # A text repeats its few names.
        self._denies: Final = lru_cache(maxsize=1024)(names.denies)
        self.endings: Final = tuple(sorted(_NAMES | names.last_words))
        """How the names end behind which a text may hold a secret, in lower case."""
        self.screen: Final = f"(?i:{'|'.join(map(re.escape, self.endings))}){_SEPARATOR}"
        """A regular expression without look-around that every assignment matches."""

    def may_stand_in(self, text: str, look: Work) -> bool:
        """Whether a text, or a string in a JSON text, may hold an assignment; paid from `look`."""
        lower = _ascii(text).lower()
        for name in self.endings:
            end = lower.find(name)
            while end >= 0:
                end += len(name)
                if not look.spend(_NAME) or _separates(lower, end):
                    return True
                end = lower.find(name, end)
        return False

    def without(self, text: str, work: Work) -> str:
        """Return the text with each secret replaced by the marker."""
        done = no_cookie_before = 0
        pieces: list[str] = []
        for end, name in self._assigned_in(text, work):
            if end < done or (end < no_cookie_before and name == "cookie"):
                continue
            denied = self._is_denied(text, end)
            if not name or not work.spend(LOOK if denied else _HARMLESS):
                text = text[:end]
                break
            match = (_rest_of_line if name in _HEADERS else _value)(text, end) if denied else None
            if match is None:
                continue
            group = "bare" if match["quoted"] is None else "quoted"
            if _is_secret(match, group, name):
                start, stop = match.span(group)
                pieces += (text[done:start], MARKER)
                done = stop
            elif name == "cookie":  # it has no `=`, and neither has the rest of its line
                no_cookie_before = match.end()
        return "".join((*pieces, text[done:])) if pieces else text

    def _assigned_in(self, text: str, work: Work) -> Iterator[tuple[int, str]]:
        """Yield where each name ends that a separator follows, and the name, in order.

        Where the work is spent the last name is empty: from there on nothing was looked at.
        """
        lower = _ascii(text).lower()
        names = [name for name in self.endings if name in lower]
        for start in range(0, len(lower) if names else 0, _STRETCH):
            found: list[tuple[int, str]] = []
            looks = 0
            for name in names:
                length = len(name)
                stop = start + _STRETCH + length - 1
                end = lower.find(name, start, stop) + length
                while end >= length:
                    looks += 1
                    if _separates(lower, end):
                        found.append((end, name))
                    end = lower.find(name, end, stop) + length
            if looks and not work.spend(_NAME * looks + _ASSIGNED * len(found)):
                yield start, ""
                return
            yield from sorted(found)

    def _is_denied(self, text: str, end: int) -> bool:
        """Whether the name that ends here is denied, alone or with the word before it."""
        before = text[max(0, end - _LONGEST_NAME) : end]
        rest = before.rstrip(_NAME_CHARACTERS)
        name = before[len(rest) :]
        if self._denies(name) or (rest.endswith("\\") and self._denies(name[1:])):
            return True  # behind a backslash the first letter may be that of an escape
        word = rest[:-1]
        return rest.endswith(" ") and self._denies(before[len(word.rstrip(_NAME_CHARACTERS)) :])


def _ascii(text: str) -> str:
    """Return the text with a stand-in for each other character, so that places stay places."""
    return text if text.isascii() else text.encode("ascii", "replace").decode()


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
