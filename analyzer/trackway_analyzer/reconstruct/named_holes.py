"""What does a session name and not hold? Sub-agents, lines, continuations (`trackway.holes`).

Readers of sessions leave a list of holes on an agent's span, each an object:

1. `what` says what is not there, in a few words.
2. `agent`, `session`: an agent of that name, or of that session, in the run fills the hole.
3. `below`: an agent right below the span with that id fills it.
4. `call`: what came of the call with that id is not known. Where the run has such a call that was
   not executed, it is the gap `tools_not_observable` at its step.
5. What else nothing fills is one gap `missing_steps` of the run, without a place.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import numpy as np
import pyarrow.compute as pc

from trackway.schema import GapName, Trackway
from trackway_analyzer.reconstruct.columns import NONE
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap

_SHOWN: Final = 5


def gaps_of_named_holes(evidence: Evidence) -> Found:
    """Holes that nothing in the run fills, one gap a run and one a call."""
    run = evidence.run
    holes = [
        (int(run[row]), hole)
        for row, listed in evidence.columns.told(Trackway.HOLES, run != NONE)
        for hole in (listed if isinstance(listed, list) else ())
        if isinstance(hole, dict)
    ]
    if not holes:
        return
    filled = _filled(evidence, {number for number, _ in holes})
    calls = _unexecuted(evidence) if any("call" in hole for _, hole in holes) else {}
    found: dict[int, dict[str, None]] = defaultdict(dict)
    for number, hole in holes:
        said = str(hole.get("what"))
        place = calls.pop((number, hole.get("call")), None)
        if place is not None:
            yield number, gap(GapName.TOOLS_NOT_OBSERVABLE, 1, place, said)
        elif not any(
            (number, key, hole[key]) in filled
            for key in ("agent", "session", "below")
            if isinstance(hole.get(key), str)
        ):
            found[number][said] = None
    for number, said_of in found.items():
        shown = [*list(said_of)[:_SHOWN], *(["…"] if len(said_of) > _SHOWN else [])]
        yield number, gap(GapName.MISSING_STEPS, len(said_of), detail="; ".join(shown))


def _unexecuted(evidence: Evidence) -> dict[tuple[int, Any], int]:
    """Return the positions of calls that were not executed, by run and call id."""
    steps = evidence.steps
    unrun = steps.filter(pc.invert(steps.column("executed")))
    names = ("run", "call_id", "position")
    columns = (unrun.column(name).to_pylist() for name in names)
    return {(run, call): position for run, call, position in zip(*columns, strict=True)}


def _filled(evidence: Evidence, wanted: set[int]) -> set[tuple[int, str, Any]]:
    """Return what fills holes: run, key and value."""
    columns, run = evidence.columns, evidence.run
    agents = np.flatnonzero(columns.is_agent & np.isin(run, list(wanted)))
    names = {"agent": "agent", "session": "session_id", "below": "parent_span_id"}
    found: set[tuple[int, str, Any]] = set()
    for key, name in names.items():
        found.update(
            (number, key, value)
            for number, value in zip(
                run[agents].tolist(), columns.values(name, agents), strict=True
            )
        )
    return found
