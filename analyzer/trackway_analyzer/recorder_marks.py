"""How does a record say that it does not hold a value, or not all of it?

1. Where the recorder cut something, its mark stands there: at the end of a text, as the last item
   of a list, under the key `…` of an object, or in place of a value that had no room.
2. What the recorder cannot read stands there by its name, in quotes: an iterator, a response, an
   object without values of its own; of bytes and large arrays stand their kind and digest. Other
   recorders write Python's `<… object at 0x…>`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trackway_analyzer.model import JsonValue

NOTHING_LEFT: Final = "…"
"""What is left of a value without any room, and the key under which cut keys are counted."""
CUT: Final = re.compile(
    r"\[truncated(?: \d+ (?:chars|items|keys)|: too deep| integer of \d+ bits)?\]"
)
"""The mark of a cut, wherever it stands in a text."""
_NAME: Final = r"<[A-Za-z_](?:[^\"<>]|<locals>|<lambda>)*>"
_OBJECT: Final = r"<[\w.<>]+ (?:object )?(?:[\w.<>]+ )?at 0x[0-9a-fA-F]+>"
UNREADABLE: Final = re.compile(rf'"{_NAME}"|{_OBJECT}|"sha256(?:_ends)?":"[0-9a-f]{{64}}"')
"""What stands for a value that could not be read, wherever it stands in a JSON text."""
UNREADABLE_MARKS: Final = ('"<', " at 0x", '"sha256')
"""One of them stands in every JSON text with such a value."""
_NAMED: Final = re.compile(f"{_NAME}|{_OBJECT}")
_DIGESTS: Final = ("sha256", "sha256_ends")


def is_unreadable(value: JsonValue) -> bool:
    """Whether a value as a whole is only the name or the digest of what could not be read."""
    if isinstance(value, str):
        return value.startswith("<") and _NAMED.fullmatch(value.strip()) is not None
    return isinstance(value, Mapping) and "type" in value and any(map(value.__contains__, _DIGESTS))
