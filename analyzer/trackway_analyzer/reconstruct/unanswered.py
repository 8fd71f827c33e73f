"""What became of a request that no tool step and no answer tells of?

1. If its arguments are what its agent gave back, it is the agent's structured answer and no call.
2. If another agent of the run started after it and its name stands in the request's name
   (`transfer_to_billing`), the request was a handover, and that agent took it up.
3. Else it was never executed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from trackway_analyzer.reconstruct.columns import NONE
from trackway_analyzer.reconstruct.dialogue import Call
from trackway_analyzer.reconstruct.drafts import Drafts
from trackway_analyzer.reconstruct.messages import quickly_parsed

Missing = list[tuple[int, Call]]

_BETWEEN_WORDS = re.compile(r"[^0-9a-z]+")


def settled(missing: Missing, drafts: Drafts) -> tuple[Missing, set[int]]:
    """Return the requests that are steps, by run, and the places of those handed over."""
    unanswered = [(run, call) for run, call in missing if call.answer is None]
    if not unanswered:
        return missing, set()
    scopes = sorted({call.asked.scope for _, call in unanswered} - {NONE})
    outputs = dict(zip(scopes, drafts.columns.values("output", scopes), strict=True))
    kept = [(run, call) for run, call in missing if not _is_structured_answer(call, outputs)]
    agents = _agents(drafts, sorted({run for run, _ in unanswered}))
    taken_up = {
        place
        for place, (run, call) in enumerate(kept)
        if call.answer is None and _is_handover(call, agents.get(run, ()))
    }
    return kept, taken_up


def _is_structured_answer(call: Call, outputs: Mapping[int, str | None]) -> bool:
    output = outputs.get(call.asked.scope)
    arguments = call.request.arguments
    if call.answer is not None or output is None or not isinstance(arguments, dict):
        return False
    given = quickly_parsed(output)
    return given == arguments or (len(arguments) == 1 and [given] == list(arguments.values()))


def _agents(drafts: Drafts, runs: Sequence[int]) -> dict[int, list[tuple[int, int, str]]]:
    """Return start, row and name of the named agent spans of these runs."""
    columns = drafts.columns
    rows = np.flatnonzero(columns.is_agent & np.isin(drafts.run_of_row, runs))
    found: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for row, name in zip(rows.tolist(), columns.values("agent", rows), strict=True):
        if name:
            start = int(columns.start[row])
            found[int(drafts.run_of_row[row])].append((start, row, _words(name)))
    return found


def _is_handover(call: Call, agents: Sequence[tuple[int, int, str]]) -> bool:
    name = _words(call.request.name or "")
    return any(
        start >= call.asked.time and row != call.asked.scope and f"_{agent}_" in f"_{name}_"
        for start, row, agent in agents
    )


def _words(name: str) -> str:
    return _BETWEEN_WORDS.sub("_", name.lower()).strip("_")
