"""How much may a value say, from its looks alone?

1. `NUMBER`: a number, a flag, nothing.
2. `MARK`: a text that no person writes: a number, a flag, a version, a time, a UUID, 16 and more
   hex digits, a word of a program (`end_turn`, `TOOL_ERROR`: lower or upper case, with `_` in it).
   A JSON text of one of these is one too.
3. `WORD`: one word or name without white space, of at most 80 characters.
4. `SPEECH`: all else: white space in it, a script that writes without any (Thai, Khmer, Chinese,
   …), more than 80 characters, a JSON object or list, a `data:` URL, bytes, a mapping.
5. A list says as much as that of its items which says most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Final

_SEVERAL_WORDS: Final = re.compile(
    r"\s|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
)
_LONGEST_NAME: Final = 80
_MARK: Final = re.compile(
    r"""(?P<quote>"?)(?:
        (?i:true|false|null|none)?
        |[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?
        |v?[0-9]+(?:\.[0-9]+)*(?:[-.+]?(?:a|b|rc|dev|post|alpha|beta|preview)[-.]?[0-9]*)?
        |[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+-][0-9]{2}:?[0-9]{2})?
        |(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,})
        |[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+
    )(?P=quote)""",
    re.VERBOSE,
)


class Telling(IntEnum):
    """What a value may say, less first."""

    NOTHING = -1
    NUMBER = 0
    MARK = 1
    WORD = 2
    SPEECH = 3


def telling_of(value: object) -> Telling:
    """Return how much a value may say."""
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, (Mapping, bytes)):
        return Telling.SPEECH
    if isinstance(value, Sequence):
        # A list of numbers is no text, yet more than a number: a vector of an answer's meaning.
        return max(map(telling_of, value), default=Telling.MARK, key=int) or Telling.MARK
    return Telling.NUMBER


def _of_text(text: str) -> Telling:
    if (
        len(text) > _LONGEST_NAME
        or text[:1] in ("{", "[")
        or text[:5].lower() == "data:"
        or _SEVERAL_WORDS.search(text.strip()) is not None
    ):
        return Telling.SPEECH
    return Telling.WORD if _MARK.fullmatch(text) is None else Telling.MARK
