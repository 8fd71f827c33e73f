"""Secrets that stand beside their name, not under it.

1. In a list of pairs, as of HTTP headers, what follows a denied name: `[["x-api-key", "…"]]`.
2. In an object with a name and a value, that of a denied name: `{"name": "Cookie", "value": "…"}`.
3. In a list of arguments of a command, what follows a denied option: `["--password", "…"]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from trackway.capture.screen import SEARCHED
from trackway.schema import redaction_marker

MARKER: Final = redaction_marker("key_name")
_NAMES: Final = ("name", "key", "header", "field")
_VALUE: Final = "value"
_MORE_ENDINGS: Final = ("auth", "bearer", "cookies", "mfacode", "mfa-code", "otp", "secrets")
_STRING_END: Final = r"[0-9]{0,4}\\{0,7}\"[,}]"
_ends_string: Final = re.compile(_STRING_END).match


class Pairs:
    """Finds secrets beside their names.

    Args:
        denies: whether the value of a name must never be recorded.
        endings: how denied names end, in lower case.
    """

    def __init__(self, denies: Callable[[str], bool], endings: Iterable[str]) -> None:
        self._denies: Final = denies
        self._endings: Final = tuple(sorted({*endings, *_MORE_ENDINGS}))
        self.screen: Final = f"(?i:{'|'.join(map(re.escape, self._endings))}){_STRING_END}"
        """A regular expression without look-around: such a name ends a string of a JSON text."""

    def may_stand_in(self, text: str) -> bool:
        """Whether a JSON text without white space may hold a secret beside its name."""
        if text[:1] == '"' or not ('[["' in text or '"-' in text or '"value":' in text):
            return False
        if len(text) > SEARCHED:
            return True
        lower = text.lower()
        for ending in self._endings:
            place = lower.find(ending)
            while place >= 0:
                place += len(ending)
                if _ends_string(lower, place):
                    return True
                place = lower.find(ending, place)
        return False

    def hide_in_list(self, items: list[Any]) -> bool:
        """Replace the secrets among the items of a list; tell whether there was one."""
        if not items or (len(items) < 2 and type(items[0]) is not list):
            return False
        if all(type(item) is list and len(item) == 2 for item in items):
            return sum(self._hide(item, 1, item[0]) for item in items) > 0
        options = [
            (place, option)
            for place, option in enumerate(items[:-1], 1)
            if type(option) is str and option[:1] == "-"
        ]
        return sum(self._hide(items, place, option) for place, option in options) > 0

    def hide_in_object(self, members: dict[str, Any]) -> bool:
        """Replace the value of a denied name; tell whether there was one."""
        if _VALUE not in members:
            return False
        return sum(self._hide(members, _VALUE, members.get(name)) for name in _NAMES) > 0

    def _hide(self, owner: Any, place: int | str, name: object) -> bool:
        if type(name) is not str or not self._denies(name):
            return False
        value = owner[place]
        if value is None or type(value) is bool or value in ("", MARKER):
            return False
        owner[place] = MARKER
        return True
