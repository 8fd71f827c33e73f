"""What does a plain word of a policy file stand for? The core schema of YAML 1.2, and no surprise.

1. `null`, `~` and nothing are null; `true` and `false` are flags; decimal numbers are numbers;
   everything else is text, dates too. What stands in quotes is text.
2. A word that readers of YAML take for different things is refused with what to write instead:
   `no` (false or a text), `0100` (64, 100 or a text), `1:30` (90 or a text), `20_000`, `0x1F`.
"""

from __future__ import annotations

import re
from typing import Final

Scalar = str | int | float | bool | None

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_FLAGS: Final = {
    word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}
_SWITCHES: Final = {
    **dict.fromkeys(("yes", "Yes", "YES", "on", "On", "ON"), "true"),
    **dict.fromkeys(("no", "No", "NO", "off", "Off", "OFF"), "false"),
}
_WHOLE: Final = re.compile(r"[-+]?(?:0|[1-9]\d*)\Z", re.ASCII)
_NUMBER: Final = re.compile(r"[-+]?(?:\.\d+|(?:0|[1-9]\d*)(?:\.\d*)?)(?:[eE][-+]?\d+)?\Z", re.ASCII)
_NO_FINITE: Final = re.compile(r"(?P<sign>[-+]?)\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_TWO_MEANINGS: Final = re.compile(
    r"[-+]?(?:0\d[\d_]*(?:\.\d*)?|\d[\d_]*_[\d_]*(?:\.[\d_]*)?|0[xob][\da-fA-F_]+"
    r"|\d+(?::[0-5]?\d)+(?:\.\d*)?)\Z",
    re.ASCII,
)


def plain_scalar(word: str) -> Scalar:
    """Read a word that stands without quotes. Raises ValueError where it has two meanings."""
    if word in _NULLS:
        return None
    if word in _FLAGS:
        return _FLAGS[word]
    if word in _SWITCHES:
        raise ValueError(
            f"some readers of YAML take {word} for {_SWITCHES[word]}, others for a text:"
            f" write {_SWITCHES[word]}, or '{word}' in quotes"
        )
    if _WHOLE.match(word):
        return int(word)
    if _NUMBER.match(word):
        return float(word)
    if match := _NO_FINITE.match(word):
        return float("nan") if "a" in word.lower() else float(f"{match['sign']}inf")
    if _TWO_MEANINGS.match(word):
        raise ValueError(
            f"some readers of YAML take {word} for another number, others for a text:"
            f" write a decimal number such as 100, or '{word}' in quotes"
        )
    return word
