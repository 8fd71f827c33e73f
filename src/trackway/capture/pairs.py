"""Secrets that stand beside their name, not under it.

1. In a list of pairs, as of HTTP headers, what follows a denied name: `[["x-api-key", "…"]]`. So in
   a pair alone, unless plain words follow: `["password", "username"]` are names of fields.
2. In an object with a name and a value, that of a denied name: `{"name": "Cookie", "value": "…"}`.
   The words for both are those of `_NAMES` and `_VALUES`, in lower case, upper case or with a
   capital. `content`, `data`, `text` and `answer` are values beside a `field`, `param` and their
   like, not beside a `name` or `id`: what a tool says has the tool's name beside it.
3. In a list of arguments of a command, what follows a denied option: `["--password", "…"]`, and
   the password behind the name of a user: `["curl", "-u", "bob:…"]`, or in the option of a client
   of a data base: `["mysql", "-p…"]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from trackway.capture.assigned import is_marker
from trackway.capture.screen import SEARCHED
from trackway.capture.secret_names import AGAIN, is_wording
from trackway.capture.secret_patterns import CLIENTS
from trackway.schema import redaction_marker

_PAIR: Final = 2
MARKER: Final = redaction_marker("key_name")
_SURE_NAMES: Final = (
    *("key", "header", "field", "k", "param", "parameter", "label", "property", "attribute"),
    *("option", "variable"),
)
_NAMES: Final = (*_SURE_NAMES, "name", "id")
_SURE_VALUES: Final = ("value", "val", "v")
_VALUES: Final = (*_SURE_VALUES, "content", "data", "text", "answer")


def _in_each_case(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(case for word in words for case in (word, word.capitalize(), word.upper()))


_PARAMETER_KEYS: Final = frozenset(("ParameterKey", "parameterKey"))
_PARAMETER_VALUES: Final = frozenset(("ParameterValue", "parameterValue"))
"""As CloudFormation has them."""
_ANY_NAME: Final = _in_each_case(_NAMES) | _PARAMETER_KEYS
_ANY_VALUE: Final = _in_each_case(_VALUES) | _PARAMETER_VALUES
_TOLD_BY_ANY_NAME: Final = _in_each_case(_SURE_VALUES) | _PARAMETER_VALUES
_TELLS_ANY_VALUE: Final = _in_each_case(_SURE_NAMES) | _PARAMETER_KEYS
_sure_key: Final = re.compile(
    rf'"(?:parameter)?(?:{"|".join((*_SURE_VALUES, *_SURE_NAMES))})":'
).search
_USER_OPTIONS: Final = frozenset(("-u", "-U", "-user", "--user", "--proxy-user"))
_OPTION_MARKER: Final = redaction_marker("command_option")
# Of numbers alone it is a user and a group.
_user: Final = re.compile(r"[^\s:]{1,64}:(?P<secret>(?![0-9]+\Z)[^\s:/]{4,})\Z").match
_is_password: Final = re.compile(r"(?!\[redacted:|[0-9]{1,5}\Z)[^\s<${-].{3,}").fullmatch
_SHORTEST_OPTION: Final = 6
"""Of `-p` and a password."""
_FEW: Final = 64
"""Keys that are looked at one by one."""
_MORE_ENDINGS: Final = (
    *("password", "passwd", "passphrase", "passcode", "pwd", "bearer", "code", "otp", "hash"),
    *("passwort", "passe", "phrase", "words", "answer"),
    *("value", "assertion", "number", "header", "keyid", "key_id", "key-id", "key id"),
)
# Whatever is no letter of ASCII, escapes with one, and the quote that ends the string; escaped once
# more where the JSON stands in a text. Vectorscan is quick at this as long as nothing is counted.
_NO_LETTER: Final = r"(?:[^A-Za-z\\]|\\+[^u\\]|\\+u[0-9a-fA-F]{4})*"
_STRING_END: Final = rf"(?i:s|[ !#-/_]{{0,3}}{AGAIN})?{_NO_LETTER}\\*\"[,}}]"
_NO_NAMES: Final[Mapping[int, tuple[object, str]]] = {}
_ends_string: Final = re.compile(_STRING_END).match


def names_no_pair(lower: str) -> bool:
    """Whether no key of JSON text in lower case announces a name or the value of one."""
    return _sure_key(lower) is None


class Pairs:
    """Finds secrets beside their names.

    Args:
        withholds: whether a value must never be recorded under a name.
        endings: how denied names end, in lower case.
    """

    def __init__(self, withholds: Callable[[str, Any], bool], endings: Iterable[str]) -> None:
        self._withholds: Final = withholds
        self._endings: Final = tuple(sorted({*endings, *_MORE_ENDINGS}))
        self.screen: Final = f"(?i:{'|'.join(map(re.escape, self._endings))}){_STRING_END}"
        """A regular expression without look-around: such a name ends a string of a JSON text."""

    def may_stand_in(self, text: str) -> bool:
        """Whether a JSON text without white space may hold a secret beside its name."""
        if text[:1] == '"':
            return False
        listed = '["' in text or '"-' in text
        if len(text) > SEARCHED:
            return listed or '":' in text
        lower = text.lower()
        if not listed and names_no_pair(lower):
            return False
        for ending in self._endings:
            place = lower.find(ending)
            while place >= 0:
                place += len(ending)
                if _ends_string(lower, place):
                    return True
                place = lower.find(ending, place)
        return False

    def hide_in_list(
        self, items: list[Any], names: Mapping[int, tuple[object, str]] = _NO_NAMES
    ) -> bool:
        """Replace the secrets among the items of a list; tell whether there was one.

        `names` are the texts of names that are no text themselves, by the id of what is recorded.
        """
        if not items or (len(items) < 2 and type(items[0]) is not list):
            return False
        if all(type(item) is list and len(item) == _PAIR for item in items):
            return sum(self._hide(item, 1, _text(item[0], names)) for item in items) > 0
        if len(items) == _PAIR and not (type(items[1]) is str and is_wording(items[1])):
            name = _text(items[0], names)
            if name is not None and self._hide(items, 1, name):
                return True
        hidden = _hide_client_password(items)
        options = [
            (place, option)
            for place, option in enumerate(items[:-1], 1)
            if type(option) is str and option[:1] == "-"
        ]
        return (
            sum(
                _hide_password(items, place)
                if option in _USER_OPTIONS
                else self._hide(items, place, option)
                for place, option in options
            )
            > 0
            or hidden
        )

    def hide_in_object(
        self, members: dict[str, Any], names: Mapping[int, tuple[object, str]] = _NO_NAMES
    ) -> bool:
        """Replace the value of a denied name; tell whether there was one."""
        if len(members) > _FEW:
            places = [word for word in _ANY_VALUE if word in members]
        elif _ANY_VALUE.isdisjoint(members):
            return False
        else:
            places = [word for word in members if word in _ANY_VALUE]
        told = [
            (place, text)
            for place in places
            for name in _ANY_NAME
            if name in members and (text := _text(members[name], names)) is not None
            if name in _TELLS_ANY_VALUE or place in _TOLD_BY_ANY_NAME
        ]
        return sum(self._hide(members, place, text) for place, text in told) > 0

    def _hide(self, owner: Any, place: int | str, name: str | None) -> bool:
        if name is None:
            return False
        value = owner[place]
        # Quick looks find no name in other letters than those of ASCII.
        name = name if name.isascii() else name.encode("ascii", "ignore").decode()
        if value == MARKER or not self._withholds(name, value):
            return False
        owner[place] = MARKER
        return True


def _hide_password(items: list[Any], place: int) -> bool:
    """Replace the password behind the name of a user."""
    match = _user(items[place]) if type(items[place]) is str else None
    if match is None or is_marker(match["secret"]):
        return False
    items[place] = items[place][: match.start("secret")] + _OPTION_MARKER
    return True


def _hide_client_password(items: list[Any]) -> bool:
    """Replace the password in the option of a client: `-p` and the password, without a space.

    Behind `login` and `sshpass` the password is the next item.
    """
    client = login = hidden = False
    for place, item in enumerate(items):
        if type(item) is not str:
            continue
        if client and len(item) >= _SHORTEST_OPTION and item[:2] == "-p":
            if not is_marker(item[2:]):
                items[place], hidden = "-p" + _OPTION_MARKER, True
        elif login and items[place - 1] == "-p" and _is_password(item):
            items[place], hidden = _OPTION_MARKER, True
        elif item == "login" or item.rpartition("/")[2] == "sshpass":
            client, login = client or item != "login", True
        elif item.rpartition("/")[2].startswith(CLIENTS):
            client = True
    return hidden


def _text(name: object, names: Mapping[int, tuple[object, str]]) -> str | None:
    if type(name) is str:
        return name
    if type(name) is bytes:
        return name.decode("latin-1")
    known = names.get(id(name))
    return None if known is None else known[1]
