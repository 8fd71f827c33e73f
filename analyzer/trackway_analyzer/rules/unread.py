"""Does a final text leave something out, so that what it does not say it may have said?

`recorder_marks` says what stands in the place of what was cut or could not be read.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import GapName
from trackway_analyzer.recorder_marks import CUT, NOTHING_LEFT, UNREADABLE, UNREADABLE_MARKS
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP
from trackway_analyzer.rules.values import is_cut

_MARKS: Final = ("[truncated ", *UNREADABLE_MARKS)
"""One of them stands in every text that leaves something out, unless it is cut as a whole."""


def left_out(text: str) -> str | None:
    """Return the gap that names why a text is not whole; None: it is."""
    if is_cut(text) or CUT.search(text):
        return GapName.TRUNCATED_VALUE
    return NOT_RECORDED_GAP if UNREADABLE.search(text) else None


def may_leave_out(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Tell of each text whether it may leave something out: a quick look."""
    found = pc.equal(texts, NOTHING_LEFT)
    for mark in _MARKS:
        found = pc.or_(found, pc.match_substring(texts, mark))
    return found
