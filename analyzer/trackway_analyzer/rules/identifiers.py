"""Which values in arguments, results and texts are telling enough to be looked for elsewhere?

1. Passed over as trivial: bool, null, numbers under three digits, text without a digit or `@`
   (enumerated words, names, prose). A version or an address (`1.2.3`, `10.0.0.2`) is no number.
2. Of a text with spaces, each word with a digit or `@` counts by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.values import is_number, members

SMALLEST_NUMBER: Final = 100
_SHORTEST: Final = 3
_OUTSIDE: Final = r"\s\"'`,;(){}\[\]<>|*=+?!"
_WORD: Final = re.compile(rf"[^{_OUTSIDE}]*[\d@][^{_OUTSIDE}]*")
_DOTTED: Final = re.compile(r"\d+(?:\.\d+){2,}")
"""Versions and addresses of hosts: no numbers."""
_AROUND: Final = ".:#$€£%-_/\\&"


def identifiers(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Identifiers inside a value, each with its path; trivial values left out."""
    for path, _, item in members(value):
        if is_number(item):
            if abs(item) >= SMALLEST_NUMBER:
                yield path, item
        elif isinstance(item, str):
            yield from ((path, word) for word in words(item))


def short_ones(value: JsonValue) -> Iterator[JsonValue]:
    """Small numbers and short ids inside a value, which many texts hold by chance."""
    for _, _, item in members(value):
        small = is_number(item) and abs(item) < SMALLEST_NUMBER
        if small or (isinstance(item, str) and re.search(r"\d", item) and not words(item)):
            yield item


def words(text: str) -> list[str]:
    """Telling words of a text."""
    bare = text.strip()
    found = [bare] if not re.search(r"\s", bare) else _WORD.findall(text)
    return [word for item in found if _telling(word := item.strip(_AROUND))]


def words_of_prose(text: str) -> list[str]:
    """Telling words of a text in which words stand beside each other, also without blanks."""
    return [word for item in _WORD.findall(text) if _telling(word := item.strip(_AROUND))]


def candidates(text: str) -> list[str]:
    """Words of a text that an identifier may be mistaken for."""
    return _WORD.findall(text)


def _telling(word: str) -> bool:
    if "@" in word:
        return True
    if _DOTTED.fullmatch(word):
        return True
    if re.fullmatch(r"[\d.,]+", word):
        return sum(char.isdigit() for char in word.split(".")[0]) >= _SHORTEST
    return len(word) >= _SHORTEST and any(char.isdigit() for char in word)
