"""Orders in which causes come first, whatever the clocks say.

Entries keep the order they come in unless a cause would stand after its effect. Contradictory data
(a cycle of causes) ends in the given order, never in a loop.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from trackway_analyzer.reconstruct.messages import Item, Request


def sorted_by_cause(entries: Sequence[int], causes: Iterable[tuple[int, int]]) -> list[int]:
    """Return the entries so that each (cause, effect) stands in this order, else as given."""
    place = {entry: number for number, entry in enumerate(entries)}
    effects: dict[int, list[int]] = defaultdict(list)
    waiting = [0] * len(entries)
    for cause, effect in causes:
        effects[place[cause]].append(place[effect])
        waiting[place[effect]] += 1
    ready = [number for number, count in enumerate(waiting) if not count]
    heapify(ready)
    done = [False] * len(entries)
    order: list[int] = []
    stuck = 0
    while len(order) < len(entries):
        if not ready:
            while done[stuck]:
                stuck += 1
            ready.append(stuck)
        number = heappop(ready)
        if done[number]:
            continue
        done[number] = True
        order.append(entries[number])
        for effect in effects[number]:
            waiting[effect] -= 1
            if not waiting[effect] and not done[effect]:
                heappush(ready, effect)
    return order


def causal_order(said: Mapping[int, tuple[list[Item], list[Item] | None]]) -> list[int]:
    """Order model steps so that one whose input tells of a call follows the one that asked.

    An id tells that only if one step alone asked with it and was not told of it before: some models
    and earlier runs of the conversation use ids again.
    """
    entries = list(said)
    asked = Counter(request.id for _, output in said.values() for request in _requests(output))
    told = {
        entry: {request.id for request in _requests(items)} for entry, (items, _) in said.items()
    }
    asker = {
        request.id: entry
        for entry, (_, output) in said.items()
        for request in _requests(output)
        if request.id is not None and asked[request.id] == 1 and request.id not in told[entry]
    }
    place = {entry: number for number, entry in enumerate(entries)}
    causes = [(asker[id], entry) for entry, ids in told.items() for id in ids if id in asker]
    if all(place[cause] < place[effect] for cause, effect in causes):
        return entries
    return sorted_by_cause(entries, causes)


def _requests(items: Sequence[Item] | None) -> list[Request]:
    return [item for item in items or () if isinstance(item, Request)]
