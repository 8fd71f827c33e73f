"""Secrets in tags of XML and HTML whose name is the value of another attribute.

1. `<property name="password" value="…"/>`, `<input value="…" name="password">`: the attributes
   `value`, `content`, `val`, `data`, `text` and `default`, before the name or behind it.
2. `<entry key="password">…</entry>`: without such an attribute the text behind the tag.
3. Tags are looked at for 512 characters on either side of the name.
"""

from __future__ import annotations

import re
from typing import Final

from trackway.capture.assigned import Assigned, quoted_span
from trackway.capture.search import Work

NAME_CHARACTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-:"
ATTRIBUTE_BEFORE: Final = r"=\\*[\"'][A-Za-z0-9_.:-]*"
"""What stands before how the name ends, for engines that know no look-around."""
ATTRIBUTE_BEHIND: Final = r"[0-9]*\\*[\"']"
_LOOK: Final = 256
"""What it costs to look at a tag."""
_AROUND: Final = 512
_LONGEST_NAME: Final = 64
_value: Final = re.compile(
    r"(?<![A-Za-z0-9_.:-])(?i:value|content|val|data|text|default)\s{0,4}=\s{0,4}(?=\\*[\"'])"
)
_text: Final = re.compile(
    r"[0-9]*\\*[\"'][^<>]{0,512}>\s{0,64}(?:<!\[CDATA\[)?"
    r"(?P<text>(?!\[redacted:)[^<>\s][^<>]{0,1023})(?:\]\]>)?<\\{0,7}/"
).match


def is_attribute(text: str, end: int) -> bool:
    """Whether what ends here stands in quotes behind `=`; what follows is not looked at."""
    before = text[max(0, end - _LONGEST_NAME) : end].rstrip(NAME_CHARACTERS)
    return before[-1:] in ("'", '"') and before[:-1].rstrip("\\").endswith("=")


def value_beside(text: str, start: int, end: int, work: Work) -> Assigned | None:
    """Return the value of the tag in whose attribute a name stands, from `start` to `end`."""
    begin = text.rfind("<", max(0, start - _AROUND), start)
    if begin < 0 or text.find(">", begin, start) >= 0 or not work.spend(_LOOK):
        return None
    closing = text.find(">", end, end + _AROUND)
    limit = closing if closing >= 0 else end + _AROUND
    for match in _value.finditer(text, begin, limit):
        span = quoted_span(text, match.end(), work)
        if span is not None and not span[0] <= start < span[1]:
            return Assigned(*span, "=", False, True)
    behind = _text(text, end)
    return None if behind is None else Assigned(*behind.span("text"), ",", False, True)
