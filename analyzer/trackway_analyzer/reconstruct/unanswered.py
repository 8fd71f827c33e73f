"""What became of a request that no tool step tells of?

1. If its arguments are what its agent or the root of its trace gave back, or its model was told of
   the tool as one for its output (`output_tools` of Pydantic AI), it is a structured answer and no
   call. If it bears the id of an item of OpenAI's Responses (`fc_…`), and the same was asked for
   under an id of a call that was answered, it is that call, as a later model was told of it.
2. If another agent of the run started after it and its name stands in the request's name
   (`transfer_to_billing`), the request was a handover, and that agent took it up.
3. Else, without an answer, it was never executed. So was one that was answered with the text by
   which a framework says that a person refused it (`REFUSALS`), or that is marked as a refusal.
4. With an answer it was executed, unless its execution would have a span (`witnesses`): then the
   answer shows that the model was told something, and not that the tool ran. Somebody may have
   answered in its stead, as who refuses a call does in words of their own. Whether it was executed
   is not known, and if the answer is an error, it was not.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.dialects.transcript import UNREAD
from trackway_analyzer.dialects.values import json_of
from trackway_analyzer.reconstruct.columns import NONE
from trackway_analyzer.reconstruct.dialogue import Call
from trackway_analyzer.reconstruct.drafts import Drafts
from trackway_analyzer.reconstruct.messages import Answer, as_json, quickly_parsed
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

_UNREAD_REFUSAL: Final = r'"transcript\.unread":.*"refused":true'
"""In the attributes of an agent: its session ends with a refusal, which no model was told."""

_BETWEEN_WORDS = re.compile(r"[^0-9a-z]+")


class Settled(NamedTuple):
    """Requests without a span."""

    missing: Missing
    """Those that are steps, by run."""
    handed_over: set[int]
    """Places of those that another agent took up."""
    unwitnessed: set[int]
    """Places of those that were answered and of which nobody knows whether they were executed."""
    refused: set[int]
    """Places of those that somebody did not let be carried out."""


def settled(missing: Missing, drafts: Drafts) -> Settled:
    """Find out what became of these requests."""
    missing = _without_items(missing)
    denied, unread = set[int](), _refused_at_the_end(drafts) if missing else {}
    for run, call in missing:
        answer = call.answer
        if answer is not None and _is_refusal(answer, call.request.name):
            call.answer = None
            denied.add(id(call))
        elif answer is None and call.request.id in unread.get(run, ()):
            denied.add(id(call))
    doubtful = unwitnessed(missing, drafts)
    told = {id(missing[place][1]) for place in doubtful}
    unanswered = [(run, call) for run, call in missing if call.answer is None or id(call) in told]
    if not unanswered:
        return Settled(missing, set(), set(), set())
    scopes = sorted({call.asked.scope for _, call in unanswered} - {NONE})
    outputs = dict(zip(scopes, drafts.columns.values("output", scopes), strict=True))
    roots = _outputs_of_roots(drafts, [call for _, call in unanswered])
    given_back = _for_output(drafts, [call for _, call in unanswered if call.answer is None])
    kept = [
        (run, call)
        for run, call in missing
        if id(call) not in given_back
        and not _is_structured_answer(call, [outputs.get(call.asked.scope), *roots(call)])
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
    refused = {place for place, (_, call) in enumerate(kept) if id(call) in denied}
    return Settled(kept, taken_up, unseen, refused - taken_up)


def _without_items(missing: Missing) -> Missing:
    """Leave out what was asked for under an id of a call as well, and answered there."""
    answered = Counter(
        _asked_for(run, call)
        for run, call in missing
        if call.answer is not None and not _is_item(call)
    )
    kept: Missing = []
    for run, call in missing:
        same = _asked_for(run, call)
        if call.answer is None and _is_item(call) and answered[same]:
            answered[same] -= 1
        else:
            kept.append((run, call))
    return kept


def _is_item(call: Call) -> bool:
    return (call.request.id or "").startswith("fc_")


def _asked_for(run: int, call: Call) -> tuple[int, str | None, str | None]:
    return run, call.request.name, as_json(call.request.arguments)


def _for_output(drafts: Drafts, calls: Sequence[Call]) -> set[int]:
    """Return the calls of tools by which their model was told to give its answer."""
    rows = drafts.row[[call.asked.entry for call in calls]]
    found = set[int]()
    for call, attributes in zip(calls, drafts.columns.values("attributes", rows), strict=True):
        if attributes is None or "output_tools" not in attributes:
            continue
        told = json_of(quickly_parsed(attributes))
        asked = json_of(told.get("model_request_parameters")) if isinstance(told, dict) else None
        tools = asked.get("output_tools") if isinstance(asked, dict) else None
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and tool.get("name") == call.request.name:
                found.add(id(call))
    return found


def _is_refusal(answer: Answer, tool: str | None) -> bool:
    response = answer.response
    if answer.refused:
        return True
    if isinstance(response, str):
        return response in REFUSALS or response.startswith(_REJECTED.format(tool))
    return is_unconfirmed(response)


def _refused_at_the_end(drafts: Drafts) -> dict[int, set[str | None]]:
    """Return ids of calls that were refused at the end of a session, where no model was told."""
    columns, found = drafts.columns, defaultdict[int, set[str | None]](set)
    ends = columns.transcribed & columns.is_agent & (drafts.run_of_row != NONE)
    rows = np.flatnonzero(ends)
    texts = columns.array("attributes").take(pa.array(rows))
    refusals = pc.match_substring_regex(texts, _UNREAD_REFUSAL).fill_null(False)
    rows = rows[refusals.to_numpy(zero_copy_only=False)]
    for row, attributes in zip(rows.tolist(), columns.values("attributes", rows), strict=True):
        told = quickly_parsed(attributes)
        messages = told.get(UNREAD) if isinstance(told, dict) else None
        for message in messages if isinstance(messages, list) else ():
            parts = message.get("parts") if isinstance(message, dict) else None
            for part in parts if isinstance(parts, list) else ():
                if isinstance(part, dict) and part.get("refused") is True:
                    found[int(drafts.run_of_row[row])].add(str(part.get("id")))
    return found


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
