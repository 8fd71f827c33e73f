"""What became of a request that no tool step tells of?

1. If its arguments are what its agent or the root of its trace gave back, it is a structured answer
   and no call.
2. If another agent of the run started after it and its name stands in the request's name
   (`transfer_to_billing`), the request was a handover, and that agent took it up.
3. Else, without an answer, it was never executed. So was one that was answered with the text by
   which a framework says that a person refused it (`REFUSALS`).
4. With an answer it was executed, unless its execution would have a span (`witnesses`): then the
   answer shows that the model was told something, and not that the tool ran. Somebody may have
   answered in its stead, as who refuses a call does in words of their own. Whether it was executed
   is not known, and if the answer is an error, it was not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from trackway_analyzer.reconstruct.columns import NONE
from trackway_analyzer.reconstruct.dialogue import Call
from trackway_analyzer.reconstruct.drafts import Drafts
from trackway_analyzer.reconstruct.messages import quickly_parsed
from trackway_analyzer.reconstruct.waiting import is_unconfirmed
from trackway_analyzer.reconstruct.witnesses import unwitnessed

Missing = list[tuple[int, Call]]

REFUSALS: Final = frozenset(
    {
        "Error: Tool call invocation was rejected by user.",
        "The tool call was denied.",
        "Tool execution was not approved.",
    }
)
"""What agent-framework (1.23) answers the model; pydantic-ai (2) and openai-agents (0.24) do unless
somebody says it better."""

_REJECTED: Final = "User rejected the tool call for `{}` with "
"""How langchain's (1.5) answer begins, whatever reason somebody gives."""

_BETWEEN_WORDS = re.compile(r"[^0-9a-z]+")


class Settled(NamedTuple):
    """Requests without a span."""

    missing: Missing
    """Those that are steps, by run."""
    handed_over: set[int]
    """Places of those that another agent took up."""
    unwitnessed: set[int]
    """Places of those that were answered and of which nobody knows whether they were executed."""


def settled(missing: Missing, drafts: Drafts) -> Settled:
    """Find out what became of these requests."""
    for _, call in missing:
        if call.answer is not None and _is_refusal(call.answer.response, call.request.name):
            call.answer = None
    doubtful = unwitnessed(missing, drafts)
    told = {id(missing[place][1]) for place in doubtful}
    unanswered = [(run, call) for run, call in missing if call.answer is None or id(call) in told]
    if not unanswered:
        return Settled(missing, set(), set())
    scopes = sorted({call.asked.scope for _, call in unanswered} - {NONE})
    outputs = dict(zip(scopes, drafts.columns.values("output", scopes), strict=True))
    roots = _outputs_of_roots(drafts, [call for _, call in unanswered])
    kept = [
        (run, call)
        for run, call in missing
        if not _is_structured_answer(call, [outputs.get(call.asked.scope), *roots(call)])
    ]
    agents = _agents(drafts, sorted({run for run, _ in unanswered}))
    taken_up, unseen = set[int](), set[int]()
    for place, (run, call) in enumerate(kept):
        answered = id(call) in told
        if not (answered or call.answer is None):
            continue
        if not _is_handover(call, agents.get(run, ())):
            unseen.update([place] if answered else [])
        elif not answered:
            taken_up.add(place)
    return Settled(kept, taken_up, unseen)


def _is_refusal(response: object, tool: str | None) -> bool:
    if isinstance(response, str):
        return response in REFUSALS or response.startswith(_REJECTED.format(tool))
    return is_unconfirmed(response)


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
