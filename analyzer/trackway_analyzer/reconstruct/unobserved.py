"""Where could tools have been called without anybody seeing it? Rule 13 of `gaps`.

1. Of a call: it was asked for in the last turn of a run without any tool span; it was answered and
   lacks the span that it would have; it has neither, and its agent's models went on and were told
   of no call in a form that is read, or its agent failed, perhaps in the call, or it is the
   last and the SDK leaves calls to its client; its tool is not named.
2. Of a run without one tool step: tools were offered to a model whose output is not recorded, or it
   stopped for a call that is not; a model's output is not recorded, no later input repeats it
   (`repeated_turns`), and the run holds no span of the recorder's and none of an instrumentor that
   writes one for each call (`witnesses`): with content off, such a record looks the same with calls
   and without.
3. Of a run in which calls may stand in what was cut, dropped or left out (`unread_turns`).
4. Of a run without a step: an agent ended well; a transcript tells nothing; libraries were on.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import SCOPE_NAME, GapName, Operation, Trackway
from trackway_analyzer.reconstruct.columns import LLM, NEVER, NONE, Ints, Mask, SpanColumns
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap, places
from trackway_analyzer.reconstruct.messages import CALL_MARK
from trackway_analyzer.reconstruct.repeated_turns import Dialogues
from trackway_analyzer.reconstruct.unread_turns import gaps_of_unread_turns
from trackway_analyzer.reconstruct.witnesses import showing

_OFFERED: Final = (
    '"gen_ai.tool.definitions"',
    '"gen_ai.agent.tools"',
    '"llm.tools.',
    '"llm.request.functions.',
    '"ai.prompt.tools"',
    '"mlflow.chat.tools"',
)
"""Attributes of several dialects that list the tools a model may call."""
_NOTHING_SEEN: Final = "instrument() was on, and no step of the run is recorded"
_ANSWERED: Final = "answered in the messages, and no span shows that it ran"
_UNTOLD: Final = "the model went on, and what it was told of the call is not in its messages"
_DIED: Final = "asked for before the agent failed, perhaps in this call"
_LEFT: Final = "asked for in the last turn, and the client may carry it out, which has no span"
_LEFT_TO_CLIENTS: Final = "ai"
"""Scope of the Vercel AI SDK, which leaves calls of tools without `execute` to the client."""
_UNNAMED: Final = "a call of a tool that the record does not name"
_SILENT: Final = "what a model asked for is not recorded, and no span would show a tool"


def gaps_of_the_unobserved(evidence: Evidence) -> Found:
    """Calls that nobody could have seen."""
    yield from _unobservable(evidence)
    yield from _unseen_runs(evidence)


def _unobservable(evidence: Evidence) -> Found:
    """Agents with tools whose calls nobody could have seen."""
    columns, run, steps = evidence.columns, evidence.run, evidence.steps
    step_run = steps.column("run").to_numpy()
    operation = steps.column("operation").combine_chunks()
    tool = pc.equal(operation, Operation.TOOL.value).to_numpy(zero_copy_only=False)
    spanless = steps.column("synthesised").to_numpy()
    unrun = ~steps.column("executed").combine_chunks().to_numpy(zero_copy_only=False)
    with_tool_spans = np.unique(step_run[tool & ~spanless])
    hidden = np.flatnonzero(tool & unrun & ~np.isin(step_run, with_tool_spans))
    told = steps.column("result").combine_chunks().is_valid().to_numpy(zero_copy_only=False)
    unknown = steps.column("ok").combine_chunks().is_null().to_numpy(zero_copy_only=False)
    unseen = np.flatnonzero(tool & unrun & told & unknown)
    hidden = np.setdiff1d(hidden[unknown[hidden]], unseen)
    unanswered = np.setdiff1d(np.flatnonzero(tool & unrun & ~told), hidden)
    untold, last = _untold(steps, unanswered)
    top = (columns.is_agent | (evidence.tree.parent == NONE)) & ~columns.is_step
    died = last[np.isin(step_run[last], run[top & columns.failed & (run != NONE)])]
    scopes = columns.array("scope").dictionary.to_pylist()
    clients = scopes.index(_LEFT_TO_CLIENTS) if _LEFT_TO_CLIENTS in scopes else len(scopes)
    of_clients = run[columns.codes("scope") == clients]
    left = np.setdiff1d(last[np.isin(step_run[last], of_clients)], died)
    others = np.concatenate((hidden, unseen, untold, died, left))
    unnamed = np.setdiff1d(np.flatnonzero(tool & _nameless(steps)), others)
    found = (
        (hidden, "asked for, and no span of the run would show that it ran"),
        (unseen, _ANSWERED),
        (untold, _UNTOLD),
        (died, _DIED),
        (left, _LEFT),
        (unnamed, _UNNAMED),
    )
    for rows, detail in found:
        for number, position in places(steps, rows):
            yield number, gap(GapName.TOOLS_NOT_OBSERVABLE, 1, position, detail)
    models = np.flatnonzero((columns.operation == LLM) & (run != NONE))
    models = models[~np.isin(run[models], np.unique(step_run[tool]))]
    offers = _offers(columns, models)
    said = columns.recorded("output")[models]
    offering = np.unique(run[models[offers & ~said]])
    for number in offering.tolist():
        yield number, gap(GapName.TOOLS_NOT_OBSERVABLE, detail="tools were offered")
    known = np.unique(np.concatenate((step_run[tool], offering)))
    silent = list(_silent(evidence, known))
    yield from silent
    told = np.array([number for number, _ in silent], dtype=np.int64)
    yield from gaps_of_unread_turns(evidence, np.concatenate((offering, told)))
    # An agent that ended well without one recorded call was not watched, unless we watched it.
    # A transcript bears the run id that its writer gave: nobody watched, and it is all there is.
    transcribed = columns.transcribed
    watched = np.isin(run, np.unique(step_run)) | (columns.recorded("run_id") & ~transcribed)
    ended = ~columns.failed & (columns.end != NEVER) | transcribed
    finished = columns.is_agent & ended & (run != NONE)
    unwatched = np.setdiff1d(run[finished & ~watched], run[watched])
    for number in unwatched.tolist():
        yield number, gap(GapName.TOOLS_NOT_OBSERVABLE, detail="no call of the agent is recorded")


def _untold(steps: pa.Table, calls: Ints) -> tuple[Ints, Ints]:
    """Those of the calls whose agent's later turns were told of none, and those without such."""
    step_run, position = (steps.column(name).to_numpy() for name in ("run", "position"))
    model = pc.equal(steps.column("operation").combine_chunks(), Operation.LLM.value)
    rows = np.flatnonzero(model.to_numpy(zero_copy_only=False) & np.isin(step_run, step_run[calls]))
    inputs = steps.column("input").combine_chunks().take(pa.array(rows))
    tells = pc.match_substring(inputs, CALL_MARK).fill_null(False).to_pylist()
    names = (
        steps.column(n).take(pa.array(np.concatenate((rows, calls))))
        for n in ("agent_path", "agent")
    )
    agents = [path or agent for path, agent in zip(*(n.to_pylist() for n in names), strict=True)]
    turns: dict[tuple[int, str | None], list[tuple[int, bool]]] = defaultdict(list)
    for row, agent, told in zip(rows.tolist(), agents, tells, strict=False):
        turns[int(step_run[row]), agent].append((int(position[row]), told))
    untold: list[int] = []
    last: list[int] = []
    for call, agent in zip(calls.tolist(), agents[len(rows) :], strict=True):
        later = turns.get((int(step_run[call]), agent), ())
        heard = [told for place, told in later if place > position[call]]
        if not any(heard):
            (untold if heard else last).append(call)
    return np.array(untold, dtype=np.int64), np.array(last, dtype=np.int64)


def _silent(evidence: Evidence, known: Ints) -> Found:
    """Runs of models whose words nobody recorded, and in which no span would show a tool."""
    columns, run, steps = evidence.columns, evidence.run, evidence.steps
    step_run, position = (steps.column(name).to_numpy() for name in ("run", "position"))
    model = pc.equal(steps.column("operation").combine_chunks(), Operation.LLM.value)
    model = model.to_numpy(zero_copy_only=False)
    blank = {
        name: steps.column(name).combine_chunks().is_null().to_numpy(zero_copy_only=False)
        for name in ("input", "output")
    }
    failed = pc.equal(steps.column("ok").combine_chunks(), False).fill_null(False)
    silent = model & blank["output"] & ~failed.to_numpy(zero_copy_only=False)
    ours = pc.equal(columns.array("source"), SCOPE_NAME).fill_null(False)
    shown = (showing(columns) | ours.to_numpy(zero_copy_only=False)) & (run != NONE)
    open_runs = np.setdiff1d(np.unique(step_run[silent]), np.unique(run[shown]))
    open_runs = np.setdiff1d(open_runs, known)
    dialogues = Dialogues(evidence)
    rows = np.flatnonzero(model & np.isin(step_run, open_runs))
    rows = rows[np.lexsort((position[rows], step_run[rows]))]
    for turns in np.split(rows, np.flatnonzero(np.diff(step_run[rows])) + 1) if len(rows) else ():
        heard = [row for row in turns.tolist() if not blank["input"][row]]
        for row in turns[silent[turns]].tolist():
            # A later input of the same dialogue repeats what was asked for.
            later = (each for each in heard if position[each] > position[row])
            if not any(dialogues.goes_on(row, each) for each in later):
                yield int(step_run[row]), gap(GapName.TOOLS_NOT_OBSERVABLE, detail=_SILENT)
                break


def _nameless(steps: pa.Table) -> Mask:
    names = (steps.column(name).combine_chunks() for name in ("tool", "tool_alias"))
    absent: list[Mask] = [name.is_null().to_numpy(zero_copy_only=False) for name in names]
    return absent[0] & absent[1]


def _unseen_runs(evidence: Evidence) -> Found:
    """Runs that libraries were on for, and of which no call was seen: a client may bypass them."""
    steps = evidence.steps
    calls = pc.not_equal(steps.column("operation").cast(pa.string()), Operation.WAIT.value)
    seen = set(steps.column("run").filter(calls).to_pylist())
    for number, span in enumerate(evidence.spans):
        if Trackway.INSTRUMENTATION_ON in span.attributes and number not in seen:
            yield number, gap(GapName.TOOLS_NOT_OBSERVABLE, detail=_NOTHING_SEEN)


def _offers(columns: SpanColumns, models: Ints) -> Mask:
    """Model spans that list tools, or that stopped for a call that is not recorded."""
    texts = columns.array("attributes").take(pa.array(models))
    offers = np.zeros(len(models), dtype=bool)
    for mark in _OFFERED:
        found = pc.match_substring(texts, mark).fill_null(False)
        offers |= found.to_numpy(zero_copy_only=False)
    reasons = columns.values("finish_reasons", models)
    offers |= np.array(["tool_call" in (some or ()) for some in reasons], dtype=bool)
    return offers
