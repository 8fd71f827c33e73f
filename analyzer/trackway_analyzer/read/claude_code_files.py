"""Which files of Claude Code hold one session, or sessions that go on from one another?

1. Files whose main conversations have one session id, whose first lines are one (a copied history),
   or one of which begins behind a line of the other, belong together; so do files of sub-agents of
   sessions that lie in several files.
2. Files that belong together are read as one, the earliest first, of copies the shortest, and
   forks last; each other by itself, as it comes.
3. That is told by the first 64 KiB of each file. A line that is looked for is searched for in all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from trackway_analyzer.read.byte_stream import ByteStream, UnreadableStreamError
from trackway_analyzer.read.source import TraceFile

_SESSION: Final = re.compile(rb'"sessionId"\s*:\s*"([^"]+)"')
_UUID: Final = re.compile(rb'"uuid"\s*:\s*"([^"]+)"')
_PARENT: Final = re.compile(rb'"(?:parentUuid|logicalParentUuid)"\s*:\s*"([^"]+)"')
_ASIDE: Final = re.compile(rb'"isSidechain"\s*:\s*(true|false)')
_TIME: Final = re.compile(rb'"timestamp"\s*:\s*"([^"]+)"')
_FORKED: Final = re.compile(rb'"forkedFrom"\s*:\s*\{')
_OVERLAP: Final = 256


class Head(NamedTuple):
    """What the beginning of a file says."""

    session: bytes
    uuid: bytes
    is_aside: bool
    """Whether sub-agents alone speak."""
    time: bytes
    is_forked: bool
    wanted: frozenset[bytes]
    """Lines that others follow and that do not stand before them."""


def head_of(content: bytes) -> Head | None:
    """Return what the beginning of a file of session lines says; None where it is none."""
    session, uuid = _SESSION.search(content), _UUID.search(content)
    if session is None or uuid is None:
        return None
    aside, time = _ASIDE.findall(content), _TIME.search(content)
    return Head(
        session[1],
        uuid[1],
        bool(aside) and b"false" not in aside,
        b"" if time is None else time[1],
        _FORKED.search(content) is not None,
        frozenset(_PARENT.findall(content)) - frozenset(_UUID.findall(content)),
    )


def belonging_together(files: Sequence[TraceFile], heads: dict[int, Head]) -> list[list[int]]:
    """Return the places of files that are read as one, in the order in which they are read."""
    groups = _Groups(heads)
    for place, head in heads.items():
        groups.join(("line", head.uuid), place)
        if not head.is_aside:
            groups.join(("session", head.session), place)
    wanted: dict[bytes, list[int]] = defaultdict(list)
    for place, head in heads.items():
        for line in () if head.is_aside else head.wanted:
            wanted[line].append(place)
    if wanted and len(heads) > 1:
        for place in heads:
            for line in _holding(files[place], wanted):
                for other in wanted[line]:
                    groups.join(("line", line), place)
                    groups.join(("line", line), other)
    several = [places for places in groups.found() if len(places) > 1]
    for places in several:
        for place in places:
            groups.join(("session", heads[place].session), place)
    several_sessions = {heads[place].session: place for places in several for place in places}
    for place, head in heads.items():
        if head.is_aside and head.session in several_sessions:
            groups.join(("session", head.session), place)

    def turn(place: int) -> tuple[bool, bytes, int]:
        return heads[place].is_forked, heads[place].time, _size(files[place])

    return [sorted(places, key=turn) for places in groups.found() if len(places) > 1]


class _Groups:
    """Places that are joined by what they have in common."""

    def __init__(self, places: Iterable[int]) -> None:
        self._above = {place: place for place in places}
        self._first: dict[object, int] = {}

    def join(self, key: object, place: int) -> None:
        """Put a place to the others with the key."""
        other = self._first.setdefault(key, place)
        one, two = self._top(other), self._top(place)
        self._above[max(one, two)] = min(one, two)

    def found(self) -> list[list[int]]:
        """Return the places that belong together."""
        groups: dict[int, list[int]] = defaultdict(list)
        for place in self._above:
            groups[self._top(place)].append(place)
        return list(groups.values())

    def _top(self, place: int) -> int:
        while self._above[place] != place:
            self._above[place] = self._above[self._above[place]]
            place = self._above[place]
        return place


def _holding(file: TraceFile, wanted: Iterable[bytes]) -> set[bytes]:
    """Return which of the lines that are wanted a file holds."""
    sought = re.compile(rb'"uuid"\s*:\s*"(' + b"|".join(map(re.escape, wanted)) + rb')"')
    found: set[bytes] = set()
    try:
        stream = ByteStream(file)
    except OSError:
        return found  # its own reading will say so
    try:
        before = b""
        while chunk := stream.read():
            found.update(sought.findall(before + chunk))
            before = chunk[-_OVERLAP:]
    except (OSError, UnreadableStreamError):
        pass  # its own reading will say so
    finally:
        stream.close()
    return found


def _size(file: TraceFile) -> int:
    if file.content is not None:
        return len(file.content)
    if file.filesystem is not None:
        return int(file.filesystem.get_file_info(file.path).size or 0)
    return Path(file.path).stat().st_size
