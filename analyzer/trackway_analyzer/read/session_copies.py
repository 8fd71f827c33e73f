"""Histories that a session copied from another: their calls count once, where they happened.

1. A session of Claude Code that was resumed under a new id may begin with the lines of the one
   before, ids and all; a fork of Codex (`forked_from_id`) with the items of another session.
2. Files are read in an order in which what was copied comes before its copy: of files that begin
   with the same line the shortest first, a fork behind what it was forked from.
3. Of a copy, what is new is the run; it says where it goes on from. A copy whose original is not
   in the source keeps its history.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trackway_analyzer.read.byte_stream import ByteStream
from trackway_analyzer.read.source import STDIN, TraceFile

_HEAD: Final = 64 * 1024
_LINES: Final = re.compile(r"\.(?:jsonl|ndjson)\b", re.IGNORECASE)
_UUID: Final = re.compile(rb'"uuid"\s*:\s*"([^"]+)"')
_ID: Final = re.compile(rb'"id"\s*:\s*"([^"]+)"')
_FORKED: Final = re.compile(rb'"forked_from_id"\s*:\s*"([^"]+)"')


@dataclass(slots=True)
class Copies:
    """What was read of sessions that others may have copied."""

    files: frozenset[str] = frozenset()
    """Names of the files that hold a copy, or may be copied from."""
    _sessions: dict[str, str] = field(default_factory=dict)
    """Session of each line of Claude Code, by the line's id."""
    _items: dict[str, list[int]] = field(default_factory=dict)
    """Items of each session of Codex, as hashes."""

    def session_of(self, uuid: str, session: str, file: str) -> str | None:
        """Return the other session in which a line counts already; None: it counts here."""
        if file not in self.files:
            return None
        known = self._sessions.setdefault(uuid, session)
        return None if known == session else known

    def copied(self, session: str, original: str | None, items: Sequence[str], file: str) -> int:
        """Return how many items at the beginning of a session are copies; keep the session's."""
        if file not in self.files:
            return 0
        own = [hash(item) for item in items]
        self._items.setdefault(session, own)
        others = self._items.get(original, []) if original is not None else []
        count = 0
        for one, other in zip(own, others, strict=False):
            if one != other:
                break
            count += 1
        return count


def originals_first(files: list[TraceFile]) -> tuple[list[TraceFile], Copies]:
    """Put files in an order in which originals come before copies."""
    alike: dict[bytes, list[int]] = defaultdict(list)
    sessions: dict[bytes, int] = {}
    forks: dict[int, bytes] = {}
    for place, file in enumerate(files):
        head = _head(file) if file.name != STDIN and _LINES.search(file.name) else b""
        uuid, name = _UUID.search(head), _ID.search(head)
        if b'"session_meta"' in head[:512] and name is not None:
            sessions.setdefault(name[1], place)
            forked = _FORKED.search(head)
            if forked is not None:
                forks[place] = forked[1]
        elif uuid is not None:
            alike[uuid[1]].append(place)
    order = list(range(len(files)))
    together: set[int] = set()
    for places in alike.values():
        if len(places) > 1:
            together.update(places)
            by_size = sorted(places, key=lambda place: _size(files[place]))
            for place, number in zip(places, by_size, strict=True):
                order[place] = number
    before = {place: sessions[name] for place, name in forks.items() if name in sessions}
    together.update(before, before.values())
    if not together:
        return files, Copies()
    names = frozenset(files[place].name for place in together)
    return [files[place] for place in _behind(order, before)], Copies(names)


def _behind(order: list[int], before: dict[int, int]) -> list[int]:
    """Return an order with each fork behind what it was forked from."""
    found: dict[int, None] = {}
    for place in order:
        chain = [place]
        while (above := before.get(chain[-1])) is not None and above not in chain:
            chain.append(above)
        found |= dict.fromkeys(reversed(chain))
    return list(found)


def _head(file: TraceFile) -> bytes:
    try:
        stream = ByteStream(file)
    except OSError:
        return b""  # its own reading will say so
    try:
        return stream.look(_HEAD)
    except OSError:
        return b""
    finally:
        stream.close()


def _size(file: TraceFile) -> int:
    if file.content is not None:
        return len(file.content)
    if file.filesystem is not None:
        return int(file.filesystem.get_file_info(file.path).size or 0)
    return Path(file.path).stat().st_size
