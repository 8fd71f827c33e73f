"""Does a final text leave something out, so that what it does not say it may have said?

1. Where the recorder cut it, its mark stands there, at the end of the text or of a text inside it.
2. What the recorder cannot read stands there by its name, in quotes: an iterator, a response, an
   object without values of its own; of bytes and large arrays stand their kind and digest. Other
   recorders write Python's `<… object at 0x…>`.
"""

from __future__ import annotations

import re
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import GapName
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP
from trackway_analyzer.rules.values import is_cut

_CUT: Final = re.compile(
    r"\[truncated(?: \d+ (?:chars|items|keys)|: too deep| integer of \d+ bits)\]"
)
_UNREADABLE: Final = re.compile(
    r'"<[A-Za-z_](?:[^"<>]|<locals>|<lambda>)*>"'
    r"|<[\w.<>]+ (?:object )?(?:[\w.<>]+ )?at 0x[0-9a-fA-F]+>"
    r'|"sha256(?:_ends)?":"[0-9a-f]{64}"'
)
_MARKS: Final = ("[truncated ", '"<', " at 0x", '"sha256')
"""One of them stands in every text that leaves something out, unless it is cut as a whole."""


def left_out(text: str) -> str | None:
    """Return the gap that names why a text is not whole; None: it is."""
    if is_cut(text) or _CUT.search(text):
        return GapName.TRUNCATED_VALUE
    return NOT_RECORDED_GAP if _UNREADABLE.search(text) else None


def may_leave_out(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Tell of each text whether it may leave something out: a quick look."""
    found = pc.equal(texts, "…")
    for mark in _MARKS:
        found = pc.or_(found, pc.match_substring(texts, mark))
    return found
