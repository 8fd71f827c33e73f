"""Which tool step carried out which request?

1. By call id first. An id that a run uses twice: each execution belongs to the latest request
   before it that is still open. A further execution of a request is another try of it.
2. What is left, by name and arguments among the requests of the same agent, the latest turn first;
   then by name alone among the requests of that agent's latest turn; then the same over the whole
   run. Such a join is `id_inferred`. The name is the one that the model saw (`tool_alias`).
3. A tool that runs inside another tool was asked for by that tool: it joins by call id only.
4. A request that nobody carried out but that was answered has no span of its own: a step is
   synthesised. One that was not answered is kept, not executed. Where the run holds no tool span at
   all, that is a gap too: nobody could have seen the execution.
5. A call without a request is `requested=False` if its agent's requests are recorded, else unknown.
6. A model outside the agents asks for itself: tools outside that it asked for are no steps of the
   agent (operation `other`), and nothing is synthesised for it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow.compute as pc

from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import NOT_RECORDED
from trackway_analyzer.reconstruct.causal import causal_order
from trackway_analyzer.reconstruct.columns import LLM, NONE, TOOL, Ints
from trackway_analyzer.reconstruct.dialogue import Call, Dialogue, Model
from trackway_analyzer.reconstruct.drafts import Drafts
from trackway_analyzer.reconstruct.effect import took_effect
from trackway_analyzer.reconstruct.matching import STAGES, Tool
from trackway_analyzer.reconstruct.messages import CALL_MARK, Item, Messages, comparable

Said: TypeAlias = dict[int, tuple[list[Item], list[Item] | None]]
"""What each model step was told and what it said; None: its output was not recorded."""


@dataclass(slots=True)
class Joined:
    """What the messages say about the steps."""

    call_of: dict[int, Call] = field(default_factory=dict)
    """The request of a tool step."""
    inferred: set[int] = field(default_factory=set)
    """Tool steps that were joined without a call id."""
    unasked: set[int] = field(default_factory=set)
    """Tool steps without a request although requests are recorded."""
    outside: set[int] = field(default_factory=set)
    """Tool steps that somebody outside the agents asked for."""
    missing: list[tuple[int, Call]] = field(default_factory=list)
    """Run and call of each request without a span."""


def join_requests(drafts: Drafts, messages: Messages) -> Joined:
    """Join the tool steps of all runs to the requests of their models."""
    joined = Joined()
    models = np.flatnonzero(drafts.operation == LLM)
    texts = [drafts.texts(name, models) for name in ("input", "output")]
    marks = [
        pc.match_substring(text, CALL_MARK).fill_null(False).to_numpy(zero_copy_only=False)
        for text in texts
    ]
    talking = np.unique(drafts.run[models[marks[0] | marks[1]]])
    if not len(talking):
        return joined
    heard = np.isin(drafts.run[models], talking)
    said: dict[int, Said] = defaultdict(dict)
    rows = zip(
        models[heard].tolist(), *(text.filter(heard).to_pylist() for text in texts), strict=True
    )
    for entry, told, answered in rows:
        said[int(drafts.run[entry])][entry] = (
            messages.read(told) if told is not None and CALL_MARK in told else [],
            messages.read(answered) if answered is not None else None,
        )
    tools = _tools(drafts, talking)
    for run, models_of_run in said.items():
        calls = _calls(drafts, models_of_run)
        _join_run(drafts, run, calls, tools.get(run, []), joined)
    return joined


def _tools(drafts: Drafts, runs: Ints) -> dict[int, list[Tool]]:
    entries = np.flatnonzero((drafts.operation == TOOL) & np.isin(drafts.run, runs))
    names = ("tool", "tool_alias", "tool_call_id", "arguments", "ok", "result", "tool_kind")
    failed = drafts.columns.failed[drafts.row[entries]].tolist()
    inside = drafts.inside[entries]
    nested = (inside != NONE) & (drafts.operation[inside] == TOOL)
    nested &= drafts.scope[inside] == drafts.scope[entries]
    tools: dict[int, list[Tool]] = defaultdict(list)
    for entry, name, alias, call_id, arguments, ok, result, kind, raised, below in zip(
        entries.tolist(),
        *(drafts.values(name, entries) for name in names),
        failed,
        nested.tolist(),
        strict=True,
    ):
        value = NOT_RECORDED if arguments is None else parsed(arguments)
        tools[int(drafts.run[entry])].append(
            Tool(
                entry=entry,
                name=alias or name,
                call_id=call_id,
                key=comparable(value),
                scope=int(drafts.scope[entry]),
                nested=below,
                time=int(drafts.time[entry]),
                failed=ok is False or took_effect(result, kind, raised=raised) is False,
            )
        )
    return tools


def _calls(drafts: Drafts, said: Said) -> list[Call]:
    """Listen to the model steps of a run in order."""
    dialogue = Dialogue()
    silent: dict[int, int] = {}
    for entry in causal_order(said):
        told, answered = said[entry]
        scope = int(drafts.scope[entry])
        model = Model(entry, scope, int(drafts.time[entry]), bool(drafts.outside[entry]))
        dialogue.hear(model, told, silent.get(scope, NONE))
        silent[scope] = entry if answered is None else NONE
        if answered is not None:
            dialogue.ask(model, answered)
    return dialogue.calls


def _join_run(
    drafts: Drafts, run: int, calls: list[Call], tools: list[Tool], joined: Joined
) -> None:
    if not calls:
        return
    waiting = {tool.entry: tool for tool in tools}
    for stage in STAGES:
        if not waiting:
            break
        for call, tool in stage.pairs(calls, waiting.values()):
            if call.tool == NONE:
                call.tool, call.failed = tool.entry, tool.failed
            joined.call_of[tool.entry] = call
            del waiting[tool.entry]
            if stage.inferred:
                joined.inferred.add(tool.entry)
    asking = {call.asked.scope for call in calls}
    joined.unasked.update(tool.entry for tool in waiting.values() if tool.scope in asking)
    for tool in tools:
        call_made = joined.call_of.get(tool.entry)
        if call_made is not None and call_made.asked.outside and drafts.outside[tool.entry]:
            joined.outside.add(tool.entry)
    joined.missing.extend(
        (run, call) for call in calls if call.tool == NONE and not call.asked.outside
    )
