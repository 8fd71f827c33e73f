"""What became of a request that no tool step and no answer tells of?

1. If its arguments are what its agent or the root of its trace gave back, it is a structured answer
   and no call.
2. If another agent of the run started after it and its name stands in the request's name
   (`transfer_to_billing`), the request was a handover, and that agent took it up.
3. Else it was never executed. So was a request that was answered with the text by which a framework
   says that a person refused it (`REFUSALS`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from trackway_analyzer.reconstruct.columns import NONE
from trackway_analyzer.reconstruct.dialogue import Call
from trackway_analyzer.reconstruct.drafts import Drafts
from trackway_analyzer.reconstruct.messages import quickly_parsed

Missing = list[tuple[int, Call]]

REFUSALS: Final = frozenset({"The tool call was denied.", "Tool execution was not approved."})
"""What pydantic-ai (2) and openai-agents (0.24) answer the model unless somebody says it better."""

_BETWEEN_WORDS = re.compile(r"[^0-9a-z]+")


def settled(missing: Missing, drafts: Drafts) -> tuple[Missing, set[int]]:
    """Return the requests that are steps, by run, and the places of those handed over."""
    for _, call in missing:
        if call.answer is not None and _is_refusal(call.answer.response):
            call.answer = None
    unanswered = [(run, call) for run, call in missing if call.answer is None]
    if not unanswered:
        return missing, set()
    scopes = sorted({call.asked.scope for _, call in unanswered} - {NONE})
    outputs = dict(zip(scopes, drafts.columns.values("output", scopes), strict=True))
    roots = _outputs_of_roots(drafts, [call for _, call in unanswered])
    kept = [
        (run, call)
        for run, call in missing
        if not _is_structured_answer(call, [outputs.get(call.asked.scope), *roots(call)])
    ]
    agents = _agents(drafts, sorted({run for run, _ in unanswered}))
    taken_up = {
        place
        for place, (run, call) in enumerate(kept)
        if call.answer is None and _is_handover(call, agents.get(run, ()))
    }
    return kept, taken_up


def _is_refusal(response: object) -> bool:
    return isinstance(response, str) and response in REFUSALS


def _outputs_of_roots(
    drafts: Drafts, calls: Sequence[Call]
) -> Callable[[Call], Sequence[str | None]]:
    """Return what gives the outputs of the roots of a call's trace: chains are no agents."""
    columns = drafts.columns
    traces = np.unique(columns.trace[drafts.row[[call.asked.entry for call in calls]]])
    root = ~columns.recorded("parent_span_id") & columns.recorded("output")
    rows = np.flatnonzero(root & np.isin(columns.trace, traces))
    found: dict[int, list[str | None]] = defaultdict(list)
    outputs = columns.values("output", rows)
    for trace, output in zip(columns.trace[rows].tolist(), outputs, strict=True):
        found[trace].append(output)
    return lambda call: found.get(int(columns.trace[drafts.row[call.asked.entry]]), ())


def _is_structured_answer(call: Call, outputs: Iterable[str | None]) -> bool:
    arguments = call.request.arguments
    if call.answer is not None or not isinstance(arguments, dict):
        return False
    given = [quickly_parsed(output) for output in outputs if output is not None]
    return any(
        each == arguments or (len(arguments) == 1 and [each] == list(arguments.values()))
        for each in given
    )


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
