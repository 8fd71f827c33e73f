"""In which order did the steps happen?

1. Causes come first: a step before the steps inside it, a model turn before the calls it asked for,
   a call before the model step that read its result, a linked step before the one that links to it.
2. Then the logical clock of the recorder, within one process; then time.
3. Calls that one model turn asked for are a group without order, however they ran. Their places go
   by the order of the request.
4. A call without a time or a place in the clock stands behind the turn that asked for it.
5. Tools that follow a turn whose output is not recorded, or cut, were asked for by it, though it
   does not show that: they are of its group. Not where it ended for another reason than a call, or
   is of our SDK and does not tell why, unless its instrumentor writes a span for each call that a
   model asked for (`witnesses`).
6. Where no output of the agent's models is recorded, tools of one parent that all overlap in time
   are a group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from trackway_analyzer.reconstruct.causal import sorted_by_cause
from trackway_analyzer.reconstruct.columns import LLM, NEVER, NONE, TOOL, Ints, paired
from trackway_analyzer.reconstruct.entries import Entries
from trackway_analyzer.spans import NO_TIME


@dataclass(frozen=True, slots=True)
class Order:
    """Where each entry stands."""

    entries: Ints
    """Entries sorted by run and place."""
    position: Ints
    """By entry: place in its run, from 0."""
    group: Ints
    """By entry: position of the first step of its group."""


def order_of(entries: Entries) -> Order:
    """Order the steps of all runs."""
    members = _Members.of(entries)
    time, index = _slots(entries.time, members), _slots(entries.index, members)
    place = np.zeros(len(entries), dtype=np.int64)
    place[members.entry] = members.place
    time = _lifted(entries, time, index)
    behind = _behind_their_turns(entries, members)
    order = np.lexsort((entries.rank, place, behind, index, time, entries.run))
    order = _causes_first(entries, order)
    position = np.empty(len(entries), dtype=np.int64)
    runs = entries.run[order]
    first = np.searchsorted(runs, runs)
    position[order] = np.arange(len(order)) - first
    return Order(order, position, _groups(entries, members, position))


@dataclass(frozen=True, slots=True)
class _Members:
    """Entries that a model turn asked for."""

    entry: Ints
    turn: Ints
    """Number of the turn, over all runs."""
    place: Ints
    rank: Ints

    @classmethod
    def of(cls, entries: Entries) -> _Members:
        calls = entries.call_of
        entry = np.fromiter(calls, np.int64, len(calls))
        group = np.fromiter((call.group for call in calls.values()), np.int64, len(calls))
        place = np.fromiter((call.place for call in calls.values()), np.int64, len(calls))
        turn = np.unique(paired(entries.run[entry], group), return_inverse=True)[1]
        return cls(entry, turn, place, entries.rank[entry])


def _behind_their_turns(entries: Entries, members: _Members) -> Ints:
    """Return zeros, or where calls have no time, each entry's place behind the turn it is of."""
    untimed = (entries.start == NO_TIME) & (entries.index == NONE)
    if not untimed[members.entry].any():
        return np.zeros(len(entries), dtype=np.int64)
    behind = 2 * entries.rank
    for entry in members.entry[untimed[members.entry]].tolist():
        behind[entry] = 2 * entries.rank[entries.call_of[entry].turn] + 1
    return behind


def _slots(values: Ints, members: _Members) -> Ints:
    """Hand the sorted values of each turn's members out in the order of the request."""
    values = values.copy()
    own = values[members.entry]
    given = np.lexsort((own, members.turn))
    wanted = np.lexsort((members.rank, own, members.place, members.turn))
    values[members.entry[wanted]] = own[given]
    return values


def _lifted(entries: Entries, time: Ints, index: Ints) -> Ints:
    """Replace times by places in time that never fall while a process's clock rises."""
    place = np.unique(time, return_inverse=True)[1].astype(np.int64)
    rows = np.flatnonzero(index != NONE)
    if not len(rows):
        return place
    both = paired(entries.run[rows], entries.process[rows])
    process = np.unique(both, return_inverse=True)[1]
    by_clock = np.lexsort((index[rows], process))
    rows, process = rows[by_clock], process[by_clock]
    again = (process[1:] == process[:-1]) & (index[rows][1:] == index[rows][:-1])
    unique = ~np.isin(process, process[1:][again])
    rows, process = rows[unique], process[unique]
    base = process.astype(np.int64) * (len(time) + 1)
    place[rows] = np.maximum.accumulate(place[rows] + base) - base
    return place


def _causes_first(entries: Entries, order: Ints) -> Ints:
    """Repair the runs where an effect stands before its cause."""
    causes = entries.causes()
    if not len(causes):
        return order
    at = np.empty(len(order), dtype=np.int64)
    at[order] = np.arange(len(order))
    wrong = at[causes[:, 0]] > at[causes[:, 1]]
    if not wrong.any():
        return order
    order = order.copy()
    runs = np.unique(entries.run[causes[wrong, 0]])
    of_run: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for cause, effect in causes[np.isin(entries.run[causes[:, 0]], runs)].tolist():
        of_run[int(entries.run[cause])].append((cause, effect))
    sorted_runs = entries.run[order]
    for run, pairs in of_run.items():
        first, last = np.searchsorted(sorted_runs, [run, run + 1])
        order[first:last] = sorted_by_cause(order[first:last].tolist(), pairs)
    return order


def _groups(entries: Entries, members: _Members, position: Ints) -> Ints:
    group = position.copy()
    if len(members.entry):
        first = np.full(int(members.turn.max()) + 1, np.iinfo(np.int64).max)
        np.minimum.at(first, members.turn, position[members.entry])
        group[members.entry] = first[members.turn]
    for together in (*_of_silent_turns(entries, members, position), *_overlapping(entries)):
        group[together] = group[together].min()
    return group


def _of_silent_turns(entries: Entries, members: _Members, position: Ints) -> Iterable[list[int]]:
    """Tools that no request is known of behind a turn that may have asked for them, by turn."""
    silent = entries.silent_turns()
    if not len(silent):
        return
    rows = np.flatnonzero((entries.operation == LLM) | (entries.operation == TOOL))
    keys = (position[rows], entries.inside[rows], entries.scope[rows], entries.run[rows])
    rows = rows[np.lexsort(keys)]
    within = paired(entries.scope_key, entries.inside)[rows]
    place = np.arange(len(rows))
    turn = np.maximum.accumulate(np.where(entries.operation[rows] == LLM, place, NONE))
    first = np.maximum.accumulate(np.where(np.diff(within, prepend=NONE) != 0, place, 0))
    unasked = (entries.operation[rows] == TOOL) & ~np.isin(rows, members.entry) & (turn >= first)
    inside = entries.inside[rows]
    around = (inside != NONE) & (entries.operation[inside] == LLM)
    turns = np.where(unasked, rows[turn], NONE)
    turns[around] = np.where(np.isin(rows[around], members.entry), NONE, inside[around])
    found: dict[int, list[int]] = defaultdict(list)
    for asked, entry in zip(turns.tolist(), rows.tolist(), strict=True):
        if asked != NONE:
            found[asked].append(entry)
    wanted = found.keys() & set(silent.tolist())
    for entry, call in entries.call_of.items():
        if call.turn in wanted:
            found[call.turn].append(entry)
    yield from (found[asked] for asked in sorted(wanted))


def _overlapping(entries: Entries) -> Iterable[list[int]]:
    """Tools of one parent that ran at once, where no model output tells."""
    told = entries.scopes_with_output()
    tools = np.flatnonzero((entries.operation == TOOL) & (entries.end != NEVER))
    tools = tools[~np.isin(tools, np.fromiter(entries.call_of, np.int64, len(entries.call_of)))]
    tools = tools[~np.isin(entries.scope_key[tools], told)]
    keys = (entries.rank, entries.start, entries.inside, entries.scope, entries.run)
    tools = tools[np.lexsort([key[tools] for key in keys])]
    one, other = tools[:-1], tools[1:]
    meet = entries.start[other] < entries.end[one]
    for key in (entries.inside, entries.scope, entries.run):
        meet &= key[one] == key[other]
    together: list[int] = []
    end = NEVER
    for place in np.flatnonzero(meet).tolist():
        first, second = int(one[place]), int(other[place])
        if not together or together[-1] != first:
            yield from _several(together)
            together, end = [first], int(entries.end[first])
        if entries.start[second] < end:
            together.append(second)
            end = min(end, int(entries.end[second]))
        else:
            yield from _several(together)
            together, end = [second], int(entries.end[second])
    yield from _several(together)


def _several(together: list[int]) -> Iterable[list[int]]:
    return [together] if len(together) > 1 else []
