"""Sessions in several files: what was copied counts once, and what goes on is one.

1. A session of Claude Code may lie in several files, and go on under a new id, in a file that
   begins with its lines or behind its last (`claude_code_files`, `claude_code_lineage`).
2. A fork of Codex (`forked_from_id`) begins with the items of another session, which is read before
   it. What is new is the fork's run; what it copied is missing there, and it says where that is.
3. A copy whose original is not in the source keeps its history.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from trackway_analyzer.read.byte_stream import ByteStream
from trackway_analyzer.read.claude_code_files import Head, belonging_together, head_of
from trackway_analyzer.read.claude_code_lineage import Histories
from trackway_analyzer.read.source import STDIN, TraceFile

_HEAD: Final = 64 * 1024
_LINES: Final = re.compile(r"\.(?:jsonl|ndjson)\b", re.IGNORECASE)
_ID: Final = re.compile(rb'"id"\s*:\s*"([^"]+)"')
_PARENT: Final = re.compile(rb'"parent_thread_id"\s*:\s*"([^"]+)"')
_FORKED: Final = re.compile(rb'"forked_from_id"\s*:\s*"([^"]+)"')


@dataclass(slots=True)
class _Group:
    """Files of Claude Code that are read as one."""

    unread: int
    histories: Histories = field(default_factory=Histories)


@dataclass(slots=True)
class Copies:
    """What was read of sessions that others may have copied, or that go on elsewhere."""

    codex: frozenset[str] = frozenset()
    """Names of the files of Codex that hold a copy, or may be copied from."""
    groups: dict[str, _Group] = field(default_factory=dict)
    """What the files of Claude Code are read with that belong together, by their names."""
    roots: dict[str, str] = field(default_factory=dict)
    """The thread of Codex that stands above all others, by the id of each of those."""
    _items: dict[str, list[int]] = field(default_factory=dict)
    """Items of each session of Codex, as hashes."""

    def histories(self, file: str) -> Histories | None:
        """Return what the lines of a file are read with; None: it is read by itself."""
        group = self.groups.get(file)
        return None if group is None else group.histories

    def completed(self, file: str) -> Histories | None:
        """Return the lines of a group, once the last file of it was read."""
        group = self.groups.get(file)
        if group is None:
            return None
        group.unread -= 1
        return None if group.unread else group.histories

    def copied(self, session: str, original: str | None, items: Sequence[str], file: str) -> int:
        """Return how many items at the beginning of a session are copies; keep the session's."""
        if file not in self.codex:
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
    heads: dict[int, Head] = {}
    sessions: dict[bytes, int] = {}
    forks: dict[int, bytes] = {}
    spawned: dict[str, str] = {}
    for place, file in enumerate(files):
        content = _head(file) if file.name != STDIN and _LINES.search(file.name) else b""
        name = _ID.search(content) if b'"session_meta"' in content[:512] else None
        if name is not None:
            sessions.setdefault(name[1], place)
            forked = _FORKED.search(content)
            if forked is not None:
                forks[place] = forked[1]
            parent = _PARENT.search(content)
            if parent is not None:
                spawned[name[1].decode(errors="replace")] = parent[1].decode(errors="replace")
        elif (head := head_of(content)) is not None:
            heads[place] = head
    order = list(range(len(files)))
    groups: dict[str, _Group] = {}
    for together in belonging_together(files, heads):
        group = _Group(len(together))
        groups |= {files[place].name: group for place in together}
        for place, number in zip(sorted(together), together, strict=True):
            order[place] = number
    before = {place: sessions[name] for place, name in forks.items() if name in sessions}
    codex = frozenset(files[place].name for place in {*before, *before.values()})
    return [files[place] for place in _behind(order, before)], Copies(
        codex, groups, _roots(spawned)
    )


def _roots(above: dict[str, str]) -> dict[str, str]:
    """Return the last that is above each, step by step; in a circle, the one before it closes."""
    found: dict[str, str] = {}
    for name in above:
        chain = {name: None}
        last = name
        while (higher := found.get(last) or above.get(last)) is not None and higher not in chain:
            chain[higher] = None
            last = higher
        found |= dict.fromkeys((each for each in chain if each != last), last)
    return found


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
