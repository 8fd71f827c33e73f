"""Does a final text leave something out, so that what it does not say it may have said?

1. `recorder_marks` says what stands in the place of what was cut or could not be read; the marker
   of a redaction stands where a secret was, and nobody knows how much of the text that was.
2. What stands between the marks was said. A place that a mark touches (the `A1` of `A1…[truncated 9
   chars]`, the whole of `[redacted:card]`) may have gone on, or been anything.
"""

from __future__ import annotations

import re
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import REDACTION_MARKER, GapName
from trackway_analyzer.recorder_marks import CUT, NOTHING_LEFT, UNREADABLE, UNREADABLE_MARKS
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP, REDACTED_GAP
from trackway_analyzer.rules.values import is_cut

_MARK: Final = re.compile(rf"(?:…?{CUT.pattern})|{REDACTION_MARKER.pattern}")
_MARKED_WORD: Final = re.compile(rf"\S*…{CUT.pattern}|{_MARK.pattern}")
_MARKS: Final = ("[truncated", "[redacted:", *UNREADABLE_MARKS)
"""One of them stands in every text that leaves something out, unless it is cut as a whole."""


def left_out(text: str) -> str | None:
    """Return the gap that names why a text is not whole; None: it is."""
    if is_cut(text) or CUT.search(text):
        return GapName.TRUNCATED_VALUE
    if REDACTION_MARKER.search(text):
        return REDACTED_GAP
    return NOT_RECORDED_GAP if UNREADABLE.search(text) else None


def marked(text: str, start: int, end: int) -> str | None:
    """Return the gap of a mark that a place of a text touches; None: all of it was said."""
    for mark in _MARK.finditer(text):
        if mark.start() <= end and start <= mark.end():
            redacted = REDACTION_MARKER.fullmatch(mark.group())
            return REDACTED_GAP if redacted else GapName.TRUNCATED_VALUE
    return None


def words_shown(text: str) -> str:
    """Return what a text still shows, without marks and the part of a word before a cut."""
    return _MARKED_WORD.sub(" ", text)


def is_mark(text: str, start: int, end: int) -> bool:
    """Tell whether a place of a text lies within a mark: these words nobody said."""
    return any(m.start() <= start and end <= m.end() for m in _MARK.finditer(text))


def may_leave_out(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Tell of each text whether it may leave something out: a quick look."""
    found = pc.equal(texts, NOTHING_LEFT)
    for mark in _MARKS:
        found = pc.or_(found, pc.match_substring(texts, mark))
    return found
