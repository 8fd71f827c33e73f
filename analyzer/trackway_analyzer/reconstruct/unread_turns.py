"""In which runs may calls stand in what was cut, dropped or left out? Part of rule 13 of `gaps`.

1. A model's output was cut or lacks messages between others, or attributes of its span were
   dropped, or events of a span that keeps its messages there, or it stopped for a call that its
   output does not show: a call may be lost. Not where a later input of its agent is whole and
   repeats the turn (`repeated_turns`), for that tells what was asked for.
2. A model's input was cut, or lacks messages before or between others: calls of the history may be
   lost. Not where a later input of its agent is whole and repeats it, or an earlier one is with
   which it begins, and all outputs from there.
3. None of it matters in a run whose tool calls have spans, or would have them (`witnesses`), but
   for a turn that stopped for a call, which neither its output shows nor any span before the next
   turn of its agent.
4. Where attributes were dropped, a span that nobody can tell may be a call, and the name of a tool
   that is the name of its span need not be the tool's: then spans show no calls either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import SCOPE_NAME, GapName, Operation
from trackway_analyzer.reconstruct.columns import LLM, NONE, TOOL, Ints, Mask
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap, innermost
from trackway_analyzer.reconstruct.messages import CALL_MARK
from trackway_analyzer.reconstruct.repeated_turns import Dialogues
from trackway_analyzer.reconstruct.witnesses import showing

STOPPED_FOR_A_CALL: Final = "tool_call"
_AGENT: Final = ("agent_path", "agent")
_CUT: Final = "messages of a model were cut, and no span would show a call in them"
_DROPPED: Final = "attributes were dropped, and with them a call may be lost"
_EVENTS: Final = "events were dropped, and with them a call may be lost"
_UNSHOWN: Final = "a model stopped for a call that its output does not show"


def gaps_of_unread_turns(evidence: Evidence, known: Ints) -> Found:
    """Runs, beside those that are known, in which calls may stand where nobody can read."""
    columns, run = evidence.columns, evidence.run
    dropped = columns.ints("dropped_attributes", 0) > 0
    found = dict.fromkeys(_unnamed(evidence, dropped), _DROPPED)
    shown = set(np.unique(run[_shows_calls(evidence)]).tolist())
    dialogues = Dialogues(evidence)
    for turns in _turns(evidence, dropped):
        number = turns[0].run
        if number not in found and number not in shown:
            hidden = next((turn for turn in turns if _hides(turn, turns, dialogues)), None)
            if hidden is not None:
                found[number] = hidden.why
        elif number not in found and any(
            turn.unshown and turn.row + 1 == later.row and _hides(turn, turns, dialogues)
            for turn, later in pairwise(turns)
        ):
            found[number] = _UNSHOWN
    for number, why in sorted(found.items()):
        if number not in known:
            yield number, gap(GapName.TOOLS_NOT_OBSERVABLE, detail=why)


def _unnamed(evidence: Evidence, dropped: Mask) -> list[int]:
    """Runs with a span that lost attributes and may be a call of any tool."""
    columns, run = evidence.columns, evidence.run
    rows = np.flatnonzero(dropped & (run != NONE))
    found = []
    names = ("operation", "tool", "name")
    for row, operation, tool, name in zip(
        rows.tolist(), *(columns.values(column, rows) for column in names), strict=True
    ):
        if operation == Operation.OTHER or (operation == Operation.TOOL and tool == name):
            found.append(int(run[row]))
    return found


def _shows_calls(evidence: Evidence) -> Mask:
    """Spans of tools, of the recorder, and of instrumentors that write one for each call."""
    columns = evidence.columns
    ours = pc.equal(columns.array("source"), SCOPE_NAME).fill_null(False)
    shows: Mask = (columns.operation == TOOL) | showing(columns)
    shows |= ours.to_numpy(zero_copy_only=False)
    within: Mask = evidence.run != NONE
    shown: Mask = shows & within
    return shown


class _Turn(NamedTuple):
    """A model step, as far as it matters what is lost of it."""

    run: int
    row: int
    heard: bool
    """Its input is there, all of it."""
    heard_cut: bool
    said: bool
    """Its output is there, all of it."""
    hides: bool
    """Its output may have asked for a call that it does not show."""
    unshown: bool
    """It stopped for a call that its output does not show."""
    why: str


def _turns(evidence: Evidence, dropped: Mask) -> Iterator[list[_Turn]]:
    """Return the model steps, agent by agent, of runs with one of which something is lost."""
    steps = evidence.steps
    model = pc.equal(steps.column("operation").combine_chunks(), Operation.LLM.value)
    rows = np.flatnonzero(model.to_numpy(zero_copy_only=False))
    truncated, reasons = (
        steps.column(name).combine_chunks().take(pa.array(rows))
        for name in ("truncated", "finish_reasons")
    )
    without_events = innermost(evidence, _lost_events(evidence))[rows]
    lost = innermost(evidence, dropped)[rows] | without_events
    unshown = _stopped(reasons)
    stopped = pa.array(np.flatnonzero(unshown))
    said = steps.column("output").combine_chunks().take(pa.array(rows[unshown]))
    shown = pc.match_substring(said, CALL_MARK).fill_null(False)
    unshown[stopped.filter(shown)] = False
    run = steps.column("run").to_numpy()[rows]
    cut = pc.list_value_length(truncated).fill_null(0).to_numpy(zero_copy_only=False) > 0
    wanted = np.flatnonzero(np.isin(run, np.unique(run[cut | lost | unshown])))
    names = (steps.column(n).take(pa.array(rows[wanted])).to_pylist() for n in _AGENT)
    valid = (steps.column(name).combine_chunks().is_valid() for name in ("input", "output"))
    there = (flags.to_numpy(zero_copy_only=False)[rows] for flags in valid)
    heard, answered = (flags & ~lost for flags in there)
    by_agent: dict[tuple[int, str | None], list[_Turn]] = defaultdict(list)
    for place, path, agent, fields in zip(
        wanted.tolist(), *names, truncated.take(pa.array(wanted)).to_pylist(), strict=True
    ):
        told_cut, said_cut = ("input" in (fields or ()), "output" in (fields or ()))
        turn = _Turn(
            run=int(run[place]),
            row=int(rows[place]),
            heard=bool(heard[place]) and not told_cut,
            heard_cut=told_cut,
            said=bool(answered[place]) and not said_cut,
            hides=said_cut or bool(lost[place] or unshown[place]),
            unshown=bool(unshown[place]),
            why=_CUT
            if said_cut or told_cut
            else _EVENTS
            if without_events[place]
            else _DROPPED
            if lost[place]
            else _UNSHOWN,
        )
        by_agent[turn.run, path or agent].append(turn)
    yield from by_agent.values()


def _lost_events(evidence: Evidence) -> Mask:
    """Spans of models that keep their messages in events, of which some were dropped."""
    columns = evidence.columns
    dropped: Mask = (columns.ints("dropped_events", 0) > 0) & (columns.operation == LLM)
    rows = np.flatnonzero(dropped & (evidence.run != NONE))
    if not len(rows):
        return dropped
    events = columns.array("events").take(pa.array(rows))
    names = pc.struct_field(events.flatten(), "name")
    told = pc.match_substring_regex(names, _OF_MESSAGES).fill_null(False)
    holding = pc.list_parent_indices(events).filter(told).to_numpy(zero_copy_only=False)
    silent = columns.array("output").take(pa.array(rows)).is_null()
    kept_there = silent.to_numpy(zero_copy_only=False).copy()
    kept_there[holding] = True
    dropped[:] = False
    dropped[rows[kept_there]] = True
    return dropped


_OF_MESSAGES: Final = r"^gen_ai\.(choice$|.*\.message$|content\.|client\.inference\.)"
"""Names of events that hold messages."""


def _stopped(reasons: pa.Array) -> Mask:
    """Tell of each step whether its model stopped for a call."""
    parents = pc.list_parent_indices(reasons).to_numpy(zero_copy_only=False)
    words = pc.equal(reasons.flatten(), STOPPED_FOR_A_CALL).to_numpy(zero_copy_only=False)
    stopped = np.zeros(len(reasons), dtype=bool)
    stopped[parents[words]] = True
    return stopped


def _hides(turn: _Turn, turns: list[_Turn], dialogues: Dialogues) -> bool:
    """Tell whether a call of this turn, or of the history that it was told, may be lost."""
    if not (turn.hides or turn.heard_cut):
        return False
    place = next(number for number, other in enumerate(turns) if other is turn)
    if any(each.heard and dialogues.goes_on(turn.row, each.row) for each in turns[place + 1 :]):
        return False
    if turn.hides:
        return True
    return not any(
        earlier.heard
        and all(other.said for other in turns[number:place])
        and dialogues.begins_like(turn.row, earlier.row)
        for number, earlier in enumerate(turns[:place])
    )
