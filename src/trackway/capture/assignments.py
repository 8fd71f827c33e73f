"""Secrets that a text sets under a name: `password=...`, `"api_key": "..."`, `<token>...</token>`.

1. The name that stands before `=`, `==`, `->`, `:`, `:=` or, both in quotes, a comma decides, alone
   or with the word before it (`API key: x`), as it would decide on a key (`secret_names.py`);
   `pass`, `pw` and `auth` only in quotes or before `=`. So does the name of an element of XML, or
   one that is the value of another attribute (`tags.py`).
2. How far a value goes says `assigned.py`. Behind `authorization` and `cookie`, and behind
   `password:` where it begins a line, it is the rest of the line.
3. No secret: fewer than 4 characters; None, null, true, false; what stands for a value
   (`is_stand_in`); a call or an index (`= await get_token()`), a type (`password: str = x`), and,
   where white space or a comma parts it as in code, another name of a secret (`settings.API_KEY`,
   `self.token = token`); a number of `tokens`; plain words after a colon and a space
   (`Reset your password: click here`) or after a comma (`["password", "username"]`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from trackway.capture.assigned import (
    BEFORE_COMMA,
    BEFORE_SEPARATOR,
    Assigned,
    element_at,
    is_marker,
    value_at,
)
from trackway.capture.search import LOOK, Work
from trackway.capture.secret_names import (
    MORE,
    DeniedNames,
    is_alone,
    is_password,
    is_stand_in,
    is_wording,
)
from trackway.capture.tags import ATTRIBUTE_BEFORE, ATTRIBUTE_BEHIND, is_attribute, value_beside
from trackway.schema import redaction_marker

MARKER: Final = redaction_marker("assignment")

_NAMES: Final = frozenset(
    (
        *(
            "pass",
            "pw",
            "auth",
            "secret",
            "token",
            "credential",
            "key",
            "otp",
            "cvv",
            "cvc",
            "jwt",
            "connectionstring",
            "connection string",
        ),
        *("connection_string", "authorization", "cookie", "ssn", "pin", "mnemonic"),
        *("kennwort", "wachtwoord", "senha", "contrasena", "depasse", "de_passe", "de passe"),
        "sessid",
    )
)
"""What names hold near their end behind which there may be a secret; the whole name decides."""
_LONGER: Final = {
    "code": ("y_code", "ycode", "y code", "p_code", "pcode", "p code", "a_code", "acode", "a code"),
    "phrase": ("d_phrase", "dphrase", "d phrase", "y_phrase", "yphrase", "y phrase", "t_phrase"),
    "words": ("d_words", "dwords", "d words"),
    "answer": ("y_answer", "yanswer", "y answer", "t_answer", "tanswer", "t answer"),
    "number": ("y_number", "ynumber", "y number"),
}
"""By a word that is common the ends of names that hold it: `recovery_code`."""
_HEADERS: Final = frozenset(("authorization", "cookie"))
# `pass` is the beginning of several names, `pw` that of one.
_REST: Final = f"(?:word|wd|wort|phrase|code|d)?{MORE}?"
_SEPARATOR: Final = f"(?:{BEFORE_SEPARATOR}|{BEFORE_COMMA})"
_separates: Final = re.compile(f"(?P<rest>{_REST})(?:{_SEPARATOR})").match
_ends_attribute: Final = re.compile(rf"(?P<rest>{_REST})(?:{ATTRIBUTE_BEHIND})").match
_opens: Final = re.compile(rf"(?P<rest>{_REST})[0-9]{{0,4}}(?:\s[^<>]{{0,256}})?>").match
_NAME_CHARACTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_LONGEST_NAME: Final = 64
_STRETCH: Final = 4096
"""Characters in which names are looked for before any is looked at."""
_NAME: Final = 24
"""What it costs to find a name, in characters of plain search."""
_ASSIGNED: Final = 128
"""What it costs besides where something is set to it, """
_VALUE: Final = 2 * LOOK
"""What it costs to find where a value ends, in characters of plain search."""
_HARMLESS: Final = 32
"""and where that is denied nothing."""
_TAGS: Final = 2
"""So many times the cost of a name where it may be that of an element."""
_QUOTES: Final = ('"', "'", "\\")
_TAG: Final = 512
"""Characters before a name in which its tag begins."""
_TAG_CHARACTERS: Final = _NAME_CHARACTERS + ":"
_is_amount: Final = re.compile(r"[0-9][0-9.,_]*").fullmatch
_CALL: Final = re.compile(r"(?:(?:await|new|yield) {1,4})?[A-Za-z_$][A-Za-z_.?]{0,200}[(\[]")
_TYPE: Final = re.compile(
    r"(?:[A-Za-z_]{1,32}\.)?(?:str|[Ss]tring|bytes|int|bool|boolean|object|[Aa]ny|SecretStr|Optional"
    r"|Union|Annotated|Literal|Field|Column)(?=\s*(?:[=|\[(,;)?}]|\Z))"
)
_is_name: Final = re.compile(r"(?:[A-Za-z_$][A-Za-z_]*\??\.)*[A-Za-z_][A-Za-z_]*").fullmatch
_SHORTEST: Final = 4
_TOLD: Final = (":", "->")
"""Separators that stand in prose, too."""
_NO_SECRETS: Final = frozenset(("none", "null", "true", "false", "undefined"))


class Assignments:
    """Finds secrets behind names."""

    def __init__(self, names: DeniedNames) -> None:
        # A text repeats its few names.
        self._denies: Final = lru_cache(maxsize=1024)(names.denies)
        self._is_password: Final = lru_cache(maxsize=1024)(is_password)
        self._counts: Final = lru_cache(maxsize=1024)(names.counts)
        self._common: Final = tuple(sorted(_NAMES | names.last_words))
        longer = {ending for endings in _LONGER.values() for ending in endings}
        self.endings: Final = tuple(sorted({*self._common, *longer}))
        """What stands near the end of the names with a secret behind, in lower case."""
        either = f"(?i:{'|'.join(map(re.escape, self.endings))})"
        self.screens: Final = (
            f"{either}(?i:{_REST}){_SEPARATOR}",
            f"<[A-Za-z0-9_.:-]*{either}",
            f"{ATTRIBUTE_BEFORE}{either}(?i:{_REST}){ATTRIBUTE_BEHIND}",
        )
        """Regular expressions without look-around; every assignment matches one."""

    def may_stand_in(self, text: str, look: Work) -> bool:
        """Whether a text, or a string in a JSON text, may hold an assignment; paid from `look`."""
        lower = _ascii(text).lower()
        elements, attributes = _may_hold_elements(lower), _may_hold_attributes(lower)
        cost = _NAME * _TAGS if elements or attributes else _NAME
        for name in self._ends_in(lower):
            end = lower.find(name)
            while end >= 0:
                end += len(name)
                if (
                    not look.spend(cost)
                    or _separates(lower, end)
                    or (elements and _is_in_tag(lower, end))
                    or (attributes and _ends_attribute(lower, end) and is_attribute(lower, end))
                ):
                    return True
                end = lower.find(name, end)
        return False

    def _ends_in(self, lower: str) -> tuple[str, ...]:
        """Return the ends of names to look for in a text."""
        longer = [ending for word in _LONGER if word in lower for ending in _LONGER[word]]
        return (*self._common, *longer) if longer else self._common

    def without(self, text: str, work: Work) -> str:
        """Return the text with each secret replaced by the marker."""
        done = no_cookie_before = 0
        pieces: list[str] = []
        for end, name in self._assigned_in(text, work):
            if not name:
                text = text[: max(end, done)]
                break
            if end < done or (end < no_cookie_before and name == "cookie"):
                continue
            found = self._denied(text, end)
            if not work.spend(_HARMLESS if found is None else _VALUE):
                text = text[:end]
                break
            value = None if found is None else self._value(text, end, name, found, work)
            if work.stopped:
                text = text[:end]
                break
            if found is None or value is None:
                continue
            if value.start >= done and self._is_secret(text, value, name, found):
                pieces += (text[done : value.start], MARKER)
                done = value.stop
            elif name == "cookie":  # it has no `=`, and neither has the rest of its line
                no_cookie_before = value.stop
        return "".join((*pieces, text[done:])) if pieces else text

    def _assigned_in(self, text: str, work: Work) -> Iterator[tuple[int, str]]:
        """Yield where each name ends that is set to something, and what stands in it, in order.

        Where the work is spent the last name is empty: from there on nothing was looked at.
        """
        lower = _ascii(text).lower()
        names = [name for name in self._ends_in(lower) if name in lower]
        elements, attributes = _may_hold_elements(lower), _may_hold_attributes(lower)
        cost = _NAME * _TAGS if elements or attributes else _NAME
        for start in range(0, len(lower) if names else 0, _STRETCH):
            found: list[tuple[int, str]] = []
            looks = 0
            for name in names:
                length = len(name)
                stop = start + _STRETCH + length - 1
                end = lower.find(name, start, stop) + length
                while end >= length:
                    looks += 1
                    match = _separates(lower, end)
                    if match is None and elements and _is_in_tag(lower, end):
                        match = _opens(lower, end)
                    if match is None and attributes and is_attribute(lower, end):
                        match = _ends_attribute(lower, end)
                    if match is not None:
                        found.append((match.end("rest"), name))
                    end = lower.find(name, end, stop) + length
            if looks and not work.spend(cost * looks + _ASSIGNED * len(found)):
                yield start, ""
                return
            yield from sorted(found)

    def _denied(self, text: str, end: int) -> str | None:
        """Return the name that ends here where it is denied, alone or with the word before it."""
        before = text[max(0, end - _LONGEST_NAME) : end]
        rest = before.rstrip(_NAME_CHARACTERS)
        name = before[len(rest) :]
        if self._denies(name):
            return name
        if rest.endswith("\\") and self._denies(name[1:]):
            return name[1:]  # behind a backslash the first letter may be that of an escape
        word = rest[:-1]
        both = before[len(word.rstrip(_NAME_CHARACTERS)) :]
        return both if rest.endswith(" ") and self._denies(both) else None

    def _value(self, text: str, end: int, name: str, whole: str, work: Work) -> Assigned | None:
        """Return what a denied name is set to."""
        start = end - len(whole)
        header, password = name in _HEADERS, self._is_password(whole)
        value = value_at(text, start, end, work, header=header, password=password)
        if value is None:
            if "<" not in text[max(0, start - _TAG) : start]:
                return None
            if _is_in_tag(text, end):
                return element_at(text, end)
            return value_beside(text, start, end, work) if is_attribute(text, end) else None
        if value.separator == "," and text[start - 1 : start] not in ("'", '"'):
            return None
        bare = text[end : end + 1] not in _QUOTES and "=" not in value.separator
        return None if bare and is_alone(whole) and self._counts(whole) else value

    def _is_secret(self, text: str, value: Assigned, name: str, whole: str) -> bool:
        """Whether what a denied name is set to is a secret, and not prose, code, a placeholder."""
        secret = text[value.start : value.stop]
        if len(secret) < _SHORTEST or secret.lower() in _NO_SECRETS or is_marker(secret):
            return False
        if _is_amount(secret) and self._counts(whole) and not is_alone(whole):
            return False
        if is_stand_in(secret, whole):
            return False
        if value.quoted:
            return value.separator != "," or not is_wording(secret)
        if name == "cookie" and "=" not in secret:
            return False
        if value.separator in _TOLD and value.spaced and is_wording(secret):
            return False
        if value.separator == ":" and _TYPE.match(secret) is not None:
            return False
        if secret == whole or self._is_other_name(secret, spaced=value.spaced):
            return False
        return _CALL.match(text, value.start) is None

    def _is_other_name(self, text: str, *, spaced: bool) -> bool:
        """Whether a text is the name of a secret, as code has it."""
        code = text.rstrip(";")
        dotted = "." in code
        if not (spaced or dotted) or _is_name(code) is None:
            return False
        return self._denies(code) and (dotted or code[-1].islower())


def _may_hold_elements(text: str) -> bool:
    return "<" in text and ("</" in text or "<\\" in text)


def _may_hold_attributes(text: str) -> bool:
    return "<" in text and ('="' in text or "='" in text or "=\\" in text)


def _is_in_tag(text: str, end: int) -> bool:
    """Whether the name that ends here is that of an opening tag."""
    return text[max(0, end - _LONGEST_NAME) : end].rstrip(_TAG_CHARACTERS).endswith("<")


def _ascii(text: str) -> str:
    """Return the text with a stand-in for each other character, so that places stay places."""
    return text if text.isascii() else text.encode("ascii", "replace").decode()
