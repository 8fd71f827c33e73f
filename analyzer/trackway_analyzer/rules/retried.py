"""Which calls are retries, and which may be one?

What a retry is stands in `reconstruct.attempts`. Here is what hidden evidence makes of it:

1. A retry that is known by its arguments alone may be none where these were not recorded, or cut,
   and where a gap may hide a call between both tries.
2. A call may be a retry of the one before it, of the same tool and agent, where the success of that
   one or the arguments of either are hidden, and nothing that was seen speaks against it.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from trackway_analyzer.rules.columns import listed
from trackway_analyzer.rules.evidence import Evidence

Mask = npt.NDArray[np.bool_]


def retries(evidence: Evidence) -> tuple[Mask, Mask]:
    """Of each step whether it is a retry, and whether nobody knows; never both."""
    steps = evidence.batch.steps
    again = pc.is_valid(steps.column("retry_of"))
    later = pc.fill_null(pc.greater(steps.column("attempt"), 1), False)
    sure: Mask = pc.or_(again, later).to_numpy().copy()
    maybe: Mask = np.zeros(len(steps), dtype=bool)
    first = listed(steps, "retry_of") if sure.any() else []
    for row in np.flatnonzero(sure).tolist():
        if evidence.operation_id[row] is None and first[row] is not None:
            unseen = evidence.hides_step(evidence.run[row], first[row], evidence.position(row))
            if unseen is not None or evidence.asked(row)[1] is None:
                sure[row], maybe[row] = False, True
    for run in _doubtful(evidence):
        for row in _may_be(evidence, run):
            maybe[row] |= not sure[row]
    return sure, maybe


def _doubtful(evidence: Evidence) -> list[int]:
    """Runs with a call whose success or arguments are hidden."""
    rows = evidence.call_rows.tolist()
    hidden = (r for r in rows if evidence.ok[r] is None or evidence.asked(r)[1] is None)
    return sorted({evidence.run[row] for row in hidden})


def _may_be(evidence: Evidence, run: int) -> list[int]:
    """Calls of a run that what is hidden may make a retry."""
    agents = evidence.memo("agent_paths", lambda: listed(evidence.batch.steps, "agent_path"))
    calls = sorted(evidence.calls(run), key=lambda row: (agents[row] or "", row))
    found = []
    for _, own in groupby(calls, key=lambda row: agents[row] or ""):
        turns = [list(turn) for _, turn in groupby(own, key=lambda row: evidence.group[row])]
        for number, turn in enumerate(turns):
            near = [*(turns[number - 1] if number else ()), *turn]
            found += [
                row
                for row in turn
                if any(before < row and _may_repeat(evidence, before, row) for before in near)
            ]
    return found


def _may_repeat(evidence: Evidence, before: int, row: int) -> bool:
    if evidence.tool[before] != evidence.tool[row] or evidence.ok[before]:
        return False
    if evidence.operation_id[row] is not None:
        return False
    (_, first), (_, second) = evidence.asked(before), evidence.asked(row)
    if first is not None and second is not None:
        return first == second and evidence.ok[before] is None
    return True
