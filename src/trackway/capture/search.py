"""Replace what a pattern finds, left to right, for as long as a budget of work lasts.

1. A text is searched from its beginning. Where the work is spent, the text ends: what was not
   looked at is not given out.
2. Work is counted, not timed: the same text ends at the same place on any machine.
3. Places to look at come from the literals that stand in every match, at the speed of `str.find`;
   a pattern without literals, or with any number of characters before them, is searched for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from trackway.capture.secret_patterns import SecretPattern
from trackway.schema import redaction_marker

LOOK: Final = 128
"""What a place that may be a secret costs, in characters of plain search."""
MARGIN: Final = 1024
"""Characters before the end of a search that are not given out either."""
_UNLIMITED: Final = 1 << 62

Place: TypeAlias = "tuple[int, re.Match[str] | None]"
"""Where to look next (-1: nowhere), and what was found there."""


class Work:
    """What a search may still cost, in characters, and whether it ended before the text did."""

    __slots__ = ("left", "stopped")

    def __init__(self, left: int = _UNLIMITED) -> None:
        self.left = left
        self.stopped = False

    def spend(self, cost: int) -> bool:
        """Pay for a look; False where too little is left."""
        if self.left < cost:
            self.stopped = True
            return False
        self.left -= cost
        return True


class _Free(Work):
    """Work that costs nothing."""

    __slots__ = ()

    def spend(self, cost: int) -> bool:
        return True


FREE: Final = _Free()
"""For looks at texts that are short anyway."""


def replaced(kind: SecretPattern, text: str, work: Work) -> str:
    """Return the text with each secret of one kind replaced by its marker."""
    anchored = kind.before is not None or kind.most_before is not None
    following = _behind_anchors(kind, text) if anchored else _searched(kind, text)
    group: str | int = "secret" if "secret" in kind.pattern.groupindex else 0
    pieces: list[str] = []
    done = place = 0
    while True:
        start, match = following(place)
        if start < 0:
            break
        if not work.spend(LOOK):
            text = text[:start]
            break
        place = start + 1
        if match is None:
            continue
        if kind.accepts(match):
            begin, end = match.span(group)
            if begin >= 0:
                pieces += (text[done:begin], redaction_marker(kind.label))
                done = end
        elif kind.overlaps:
            continue
        place = max(place, match.end())
    return "".join((*pieces, text[done:])) if pieces else text


def _searched(kind: SecretPattern, text: str) -> Callable[[int], Place]:
    search = kind.pattern.search

    def following(place: int) -> Place:
        match = search(text, place)
        return (-1, None) if match is None else (match.start(), match)

    return following


def _behind_anchors(kind: SecretPattern, text: str) -> Callable[[int], Place]:
    before = kind.before or 0
    further = kind.most_before or 0
    match_at = kind.pattern.match
    ahead = {anchor: -1 for anchor in kind.anchors if anchor in text}
    """Each literal of the text, and where it stands next."""

    def following(place: int) -> Place:
        nearest = -1
        for anchor, found in list(ahead.items()):
            if found < place + before:
                found = text.find(anchor, place + before)
                if found < 0:
                    del ahead[anchor]
                    continue
                ahead[anchor] = found
            if nearest < 0 or found < nearest:
                nearest = found
        if nearest < 0:
            return -1, None
        start = nearest - before
        for begin in range(max(place, start - further), start):
            match = match_at(text, begin)
            if match is not None:
                return begin, match
        return start, match_at(text, start)

    return following
