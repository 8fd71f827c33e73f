"""What did a run wait for, where among its steps, and how was it taken up again?

1. Waits and resumes are events of the run or of a step. One that hangs on a step stands behind it;
   one that hangs on none stands behind the last step that had begun, and behind the calls after it
   that have no time of their own: nobody carried those out.
2. A resume ends the earliest open wait with its token; without a token, or where no open wait has
   it, the earliest open wait.
3. What was not recorded (who, why, when) is not said; that nobody resumed a wait is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from trackway.schema import Trackway
from trackway_analyzer.model import JsonValue, NotRecorded, Trajectory
from trackway_analyzer.report.shorten import cut, one_line
from trackway_analyzer.times import decoded

_NAMES = {Trackway.EVENT_WAIT: "wait", Trackway.EVENT_RESUME: "resume"}


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait, or its end."""

    event: str
    """`wait` or `resume`."""
    after: int
    """Number of the step that it stands behind; 0: it stands before all."""
    at: datetime | None
    said: Mapping[str, JsonValue]
    """What was recorded of it: owner, reason, deadline, resume_token."""
    resumed: bool = False
    """Of a wait: a resume ended it."""
    seconds: float | None = None
    """Of a resume: how long the wait was; None: nobody knows."""


def pauses_of(trajectory: Trajectory) -> tuple[Pause, ...]:
    """Return the waits and resumes of a run, in their order."""
    found = [*_of_run(trajectory), *_of_steps(trajectory)]
    # Python's sort is stable: events of one place without a time keep the order of the record.
    found.sort(key=lambda pause: (pause.after, pause.at is not None and pause.at.timestamp()))
    return tuple(_paired(found))


def pause_text(pause: Pause, width: int) -> str:
    """Say it in one line; what a person wrote takes `width` characters at the most."""

    def said(name: str) -> str:
        value = pause.said.get(name)
        return "" if value in (None, "") else cut(one_line(str(value)), width)

    why = f": {said('reason')}" if said("reason") else ""
    if pause.event == "resume":
        took = "" if pause.seconds is None else f" after {duration_text(pause.seconds)}"
        return f"resumed{took}{why}"
    until = f" until {said('deadline')}" if said("deadline") else ""
    end = "" if pause.resumed else " (nobody resumed it in this record)"
    return f"waits for {said('owner') or 'somebody who is not named'}{until}{why}{end}"


def duration_text(seconds: float) -> str:
    """Say about how long something took: `87.5 s`, `3 min`, `5 h`, `4 days`."""
    for size, most, unit in ((60, 120, "min"), (3600, 48, "h")):
        if seconds < 120:
            return f"{seconds:.1f} s"
        if round(seconds / size) < most:
            return f"{round(seconds / size)} {unit}"
    return f"{round(seconds / 86400)} days"


def _of_run(trajectory: Trajectory) -> Iterator[Pause]:
    steps = trajectory.steps
    for event in _events(trajectory.run["events"]):
        moment, after = event["time"], 0
        for step in steps:
            if step.start is None:
                after += after == step.position
            elif moment is None or step.start <= moment:
                after = step.number
        yield _pause(trajectory, event, after)


def _of_steps(trajectory: Trajectory) -> Iterator[Pause]:
    first, last = trajectory.batch.bounds(trajectory.ordinal)
    column = trajectory.batch.steps.column("events").slice(first, last - first)
    if column.null_count < len(column):
        for position, events in enumerate(decoded(column)):
            for event in _events(events):
                yield _pause(trajectory, event, position + 1)


def _events(events: Iterable[dict[str, Any]] | None) -> Iterator[dict[str, Any]]:
    return (event for event in events or () if event["name"] in _NAMES)


def _pause(trajectory: Trajectory, event: Mapping[str, Any], after: int) -> Pause:
    said = trajectory.batch.decode(event["attributes"])
    known = said if isinstance(said, Mapping) and not isinstance(said, NotRecorded) else {}
    return Pause(_NAMES[event["name"]], after, event["time"], known)


def _paired(found: list[Pause]) -> list[Pause]:
    paired, waiting = list(found), list[int]()
    for place, pause in enumerate(found):
        if pause.event == "wait":
            waiting.append(place)
        elif waiting:
            token = pause.said.get("resume_token")
            same = [w for w in waiting if token and found[w].said.get("resume_token") == token]
            ended = (same or waiting)[0]
            waiting.remove(ended)
            wait = found[ended]
            seconds = None
            if wait.at is not None and pause.at is not None:
                seconds = (pause.at - wait.at).total_seconds()
            paired[ended] = Pause("wait", wait.after, wait.at, wait.said, resumed=True)
            paired[place] = Pause("resume", pause.after, pause.at, pause.said, seconds=seconds)
    return paired
