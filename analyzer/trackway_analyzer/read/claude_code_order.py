"""Lines of a Claude Code session in the order in which they were written.

A line names the one that it follows (`parentUuid`). Where each line stands behind that one, the
order of the file is left alone; else a line waits for the one that it follows, and of the lines
that wait for nothing the first in the file goes first. Lines that follow each other in a circle, or
a line that is not there, keep their places as far as the others let them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any

Line = dict[str, Any]


def in_order(lines: Sequence[Line]) -> list[Line]:
    """Return the lines, each behind the one that it follows."""
    place = {uuid: n for n, line in enumerate(lines) if isinstance(uuid := line.get("uuid"), str)}
    parents = [_place(place, line.get("parentUuid")) for line in lines]
    if all(parent is None or parent < n for n, parent in enumerate(parents)):
        return list(lines)
    behind: dict[int, list[int]] = defaultdict(list)
    free: list[int] = []
    for number, parent in enumerate(parents):
        if parent is None:
            free.append(number)
        else:
            behind[parent].append(number)
    heapify(free)
    ordered: list[int] = []
    while free:
        number = heappop(free)
        ordered.append(number)
        for follower in behind[number]:
            heappush(free, follower)
    circling = sorted(set(range(len(lines))) - set(ordered))
    return [lines[number] for number in (*ordered, *circling)]


def _place(place: dict[str, int], uuid: Any) -> int | None:
    return place.get(uuid) if isinstance(uuid, str) else None
