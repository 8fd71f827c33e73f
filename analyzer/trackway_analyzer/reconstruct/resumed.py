"""What does the end of a wait say of the calls that waited? A person's words are no effect.

A tool that waits for a person gets that person's answer, and may hand it back as its result. Each
`trackway.resume` of a run speaks of its tool calls, lookups apart: those ask to get an answer.

1. Words: a call that ended after the resume, whose result is or holds the very text of the resume's
   reason, and which was not given that text among its arguments: whether it took effect is unknown.
   Where the reason is `granted` true, the result counts as any other.
2. `granted` false refuses the calls that waited: those that carry the resume themselves, whose call
   id is its token, or that a wait with its token (without a token: any wait before it) names as
   `tool(arguments)` or in `action_requests`; and the next call like one that was interrupted. With
   a person's words, a text, a failure or no result they took no effect; another result says that
   they ran although they were refused, and leaves it open.
3. One word is held only by a result that has no other text: `{"status": "ok"}` says more.
4. A declared success decides before all this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import StepKind, Trackway
from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import JsonValue
from trackway_analyzer.reconstruct.columns import NEVER, NONE, TOOL, Ints, SpanColumns
from trackway_analyzer.reconstruct.entries import Entries
from trackway_analyzer.reconstruct.messages import quickly_parsed
from trackway_analyzer.reconstruct.waiting import waiting_calls
from trackway_analyzer.spans import NO_TIME

_NAMED: Final = ("call_id", "tool", "tool_alias", "kind", "arguments", "result")


@dataclass(frozen=True, slots=True)
class _Event:
    """A wait or the end of one."""

    row: int
    time: int
    said: dict[str, Any]

    @property
    def token(self) -> str | None:
        """What it is taken up with."""
        return self.said.get("resume_token")

    @property
    def reason(self) -> str:
        """Why it waits, or what was answered."""
        reason = self.said.get("reason")
        return reason.strip() if isinstance(reason, str) else ""


@dataclass(frozen=True, slots=True)
class _Call:
    """A tool step, as far as it is looked at here."""

    place: int
    entry: int
    start: int
    end: int
    names: tuple[str | None, ...]
    call_id: str | None
    arguments: str | None
    result: str | None

    def ended_after(self, time: int) -> bool:
        """Whether it may have ended after this moment."""
        return self.end in (NEVER, NO_TIME) or self.end >= time


def spoken_against(
    entries: Entries, at: Ints, arrays: dict[str, pa.Array]
) -> tuple[list[int], list[int]]:
    """Return places in `at` of the calls that a resume leaves open, and of those that it denies.

    `arrays` are columns of the steps table, in the order of `at`.
    """
    columns = entries.drafts.columns
    resumes = _events(columns, entries.drafts.run_of_row, Trackway.EVENT_RESUME)
    if not resumes:
        return [], []
    waits = _events(columns, entries.drafts.run_of_row, Trackway.EVENT_WAIT)
    interrupted = waiting_calls(columns, columns.is_step)
    unknown: set[int] = set()
    refused: set[int] = set()
    for run, ended in resumes.items():
        calls = _calls(entries, at, arrays, run)
        stopped = np.flatnonzero(interrupted & (entries.drafts.run_of_row == run))
        for resume in ended:
            words = () if resume.said.get("granted") is True else _words(resume.reason)
            echoing = {c.place for c in calls if c.ended_after(resume.time) and _echoes(c, words)}
            unknown |= echoing
            if resume.said.get("granted") is not False:
                continue
            of = [w for w in waits.get(run, ()) if w.time <= resume.time]
            if resume.token is not None:
                of = [wait for wait in of if wait.token == resume.token]
            for call in calls:
                if _is_meant(call, resume, of, entries) or _was_stopped(
                    call, calls, stopped, resume, columns
                ):
                    says_more = call.place not in echoing and _is_more(call.result)
                    (unknown if says_more else refused).add(call.place)
    return sorted(unknown - refused), sorted(refused)


def _events(columns: SpanColumns, run: Ints, name: str) -> dict[int, list[_Event]]:
    """Return the events of a name, by run and in time."""
    lists = columns.array("events")
    flat = lists.flatten()
    chosen = np.flatnonzero(pc.equal(flat.field("name"), name).to_numpy(zero_copy_only=False))
    found: dict[int, list[_Event]] = {}
    if not len(chosen):
        return found
    wanted = pa.array(chosen)
    rows = pc.list_parent_indices(lists).take(wanted).to_pylist()
    times = flat.field("time").cast(pa.int64()).take(wanted).to_pylist()
    texts = flat.field("attributes").take(wanted).to_pylist()
    for row, time, text in zip(rows, times, texts, strict=True):
        said = parsed(text) if text else None
        if run[row] != NONE:
            event = _Event(row, time or 0, said if isinstance(said, dict) else {})
            found.setdefault(int(run[row]), []).append(event)
    for events in found.values():
        events.sort(key=lambda event: event.time)
    return found


def _calls(entries: Entries, at: Ints, arrays: dict[str, pa.Array], run: int) -> list[_Call]:
    places = np.flatnonzero((entries.run[at] == run) & (entries.operation[at] == TOOL))
    values = [arrays[name].take(pa.array(places)).to_pylist() for name in _NAMED]
    return [
        _Call(
            place,
            int(at[place]),
            int(entries.start[at[place]]),
            int(entries.end[at[place]]),
            (tool, alias),
            call_id,
            arguments,
            result,
        )
        for place, call_id, tool, alias, kind, arguments, result in zip(
            places.tolist(), *values, strict=True
        )
        if kind != StepKind.LOOKUP
    ]


def _words(reason: str) -> tuple[str, ...]:
    """The texts of an answer: itself, and those in it where it is JSON."""
    value = quickly_parsed(reason) if reason[:1] in ("{", "[") else None
    texts = [] if value is None or isinstance(value, str) else list(_texts(value))
    folded = (text.strip().casefold() for text in (reason, *texts))
    return tuple(dict.fromkeys(text for text in folded if text))


def _texts(value: JsonValue) -> Iterator[str]:
    pending: list[JsonValue] = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            pending += one.values()
        elif isinstance(one, list):
            pending += one


def _echoes(call: _Call, words: Sequence[str]) -> bool:
    """Whether a result is, or holds, words that the call was not given."""
    if not words or call.result is None:
        return False
    given = "\n".join(_texts(quickly_parsed(call.arguments or ""))).casefold()
    found = [text.strip().casefold() for text in _texts(quickly_parsed(call.result))]
    return any(_holds(found, text) and text not in given for text in words)


def _holds(found: Sequence[str], words: str) -> bool:
    if len(words.split()) > 1:
        return any(words in text for text in found)
    return len(found) == 1 and found[0] == words


def _is_more(result: str | None) -> bool:
    """Whether a result is neither missing nor a text."""
    return result is not None and not isinstance(quickly_parsed(result), str)


def _is_meant(call: _Call, resume: _Event, waits: Sequence[_Event], entries: Entries) -> bool:
    if entries.drafts.of_row[resume.row] == call.entry:
        return True
    if call.call_id is not None and call.call_id in {resume.token, *(w.token for w in waits)}:
        return True
    return call.ended_after(resume.time) and any(_names(wait.reason, call) for wait in waits)


def _names(reason: str, call: _Call) -> bool:
    """Whether a wait's reason names the call: `tool(arguments)`, or LangChain's requests."""
    value = quickly_parsed(reason)
    requests = value.get("action_requests") if isinstance(value, dict) else None
    if isinstance(requests, list):
        asked = [(r.get("name"), r.get("args")) for r in requests if isinstance(r, dict)]
    else:
        name, _, rest = reason.partition("(")
        asked = [(name, quickly_parsed(rest.removesuffix(")")))]
    own = quickly_parsed(call.arguments or "{}")
    return any(name in call.names and given == own for name, given in asked if name)


def _was_stopped(
    call: _Call, calls: Sequence[_Call], stopped: Ints, resume: _Event, columns: SpanColumns
) -> bool:
    """Whether this is the first call after the resume that is like one which was interrupted."""
    if call.start < resume.time or not len(stopped):
        return False
    before = stopped[columns.start[stopped] <= resume.time]
    tools = columns.values("tool", before)
    arguments = columns.values("arguments", before)
    if (call.names[0], call.arguments) not in set(zip(tools, arguments, strict=True)):
        return False
    alike = [c for c in calls if (c.names, c.arguments) == (call.names, call.arguments)]
    return call is min(
        (c for c in alike if c.start >= resume.time), key=lambda c: c.start, default=None
    )
