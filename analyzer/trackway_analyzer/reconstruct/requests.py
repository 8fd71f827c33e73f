"""Which tool step carried out which request?

1. By call id first. An id that a run uses twice: each execution belongs to the latest request
   before it that is still open. A further execution of a request is another try of it.
2. What is left, by name and arguments among the requests of the same agent, the latest turn first;
   then by name alone among the requests of that agent's latest turn; then the same over the whole
   run. Such a join is `id_inferred`. The name is the one that the model saw (`tool_alias`).
3. A tool that runs inside another tool was asked for by that tool: it joins by call id only.
4. A request that nobody carried out but that was answered has no span of its own: a step is
   synthesised. One that was not answered is kept, not executed. Where the run holds no tool span at
   all, that is a gap too: nobody could have seen the execution. So it is where the run does hold
   them and only the messages tell of an answer: nobody saw the execution.
   What `unanswered` finds out stands first.
5. A call without a request is `requested=False` if its agent's requests are recorded, else unknown;
   unknown too where an output of its agent was cut or attributes of its span were dropped.
6. A model outside the agents asks for itself: tools outside that it asked for are no steps of the
   agent (operation `other`), and nothing is synthesised for it.
7. The inputs of models repeat the dialogue and are long. They are read only where they can add
   something: unless they tell of exactly the calls that the outputs asked for, and of no more
   answers, and mark no error, every call has a span with arguments and result, and no clock is
   skewed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from trackway_analyzer.reconstruct.causal import causal_order
from trackway_analyzer.reconstruct.columns import LLM, NEVER, NONE, TOOL, Ints
from trackway_analyzer.reconstruct.dialogue import Call, Dialogue, Model
from trackway_analyzer.reconstruct.drafts import Drafts
from trackway_analyzer.reconstruct.effect import took_effect
from trackway_analyzer.reconstruct.marks import Heard
from trackway_analyzer.reconstruct.matching import Match, Tool
from trackway_analyzer.reconstruct.messages import CALL_MARK, Messages, Request
from trackway_analyzer.reconstruct.unanswered import settled


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
    handed_over: set[int] = field(default_factory=set)
    """Places in `missing` of requests that another agent took up."""
    unwitnessed: set[int] = field(default_factory=set)
    """Places in `missing` of answered requests whose execution would have a span, and has none."""
    refused: set[int] = field(default_factory=set)
    """Places in `missing` of requests that somebody did not let be carried out."""


class _Spoken(NamedTuple):
    """A model step with its messages as texts."""

    model: Model
    told: str | None
    calls_told: int
    """How often its input mentions a call."""
    tells_more: bool
    """Whether its input marks an answer as an error, or holds more answers than calls."""
    said: str | None


def join_requests(drafts: Drafts, skewed: Ints, messages: Messages) -> Joined:
    """Join the tool steps of all runs to the requests of their models.

    `skewed` are the runs whose clocks disagree.
    """
    joined = Joined()
    runs = _models(drafts)
    partly = _partly_recorded(drafts)
    tools = _tools(drafts, np.fromiter(runs, np.int64, len(runs)))
    doubtful = set(skewed.tolist())
    for run, spoken in runs.items():
        own = tools.get(run, [])
        calls = _asked(spoken, messages)
        match = Match.of(calls, own)
        if run in doubtful or not _suffices(spoken, calls, own):
            calls = _heard(spoken, messages)
            match = Match.of(calls, own)
        _add(joined, run, calls, own, match, drafts, partly)
    found = settled(joined.missing, drafts)
    joined.missing, joined.handed_over, joined.unwitnessed, joined.refused = found
    return joined


def _models(drafts: Drafts) -> dict[int, list[_Spoken]]:
    """Return the model steps of the runs whose messages hold calls or answers."""
    models = np.flatnonzero(drafts.operation == LLM)
    by_run: dict[int, list[_Spoken]] = defaultdict(list)
    talking, heard = set[int](), Heard()
    for run, entry, scope, time, outside, told, said in zip(
        drafts.run[models].tolist(),
        models.tolist(),
        drafts.scope[models].tolist(),
        drafts.time[models].tolist(),
        drafts.outside[models].tolist(),
        *(drafts.texts(name, models).to_pylist() for name in ("input", "output")),
        strict=True,
    ):
        marks = heard.marks(told, (run, scope))
        if marks.mentions or (said is not None and CALL_MARK in said):
            talking.add(run)
        more = bool(marks.errors) or marks.answers > marks.calls
        model = Model(entry, scope, time, outside)
        by_run[run].append(_Spoken(model, told, marks.calls, more, said))
    return {run: spoken for run, spoken in by_run.items() if run in talking}


def _tools(drafts: Drafts, runs: Ints) -> dict[int, list[Tool]]:
    """Return the tool steps of these runs, in order of time."""
    entries = np.flatnonzero((drafts.operation == TOOL) & np.isin(drafts.run, runs))
    names = ("tool", "tool_alias", "tool_call_id", "arguments", "ok", "result", "tool_kind")
    inside = drafts.inside[entries]
    nested = (inside != NONE) & (drafts.operation[inside] == TOOL)
    nested &= drafts.scope[inside] == drafts.scope[entries]
    tools: dict[int, list[Tool]] = defaultdict(list)
    for (
        run,
        entry,
        scope,
        time,
        below,
        raised,
        name,
        alias,
        call_id,
        arguments,
        ok,
        result,
        kind,
    ) in zip(
        drafts.run[entries].tolist(),
        entries.tolist(),
        drafts.scope[entries].tolist(),
        drafts.time[entries].tolist(),
        nested.tolist(),
        drafts.columns.failed[drafts.row[entries]].tolist(),
        *(drafts.values(name, entries) for name in names),
        strict=True,
    ):
        tools[run].append(
            Tool(
                entry=entry,
                name=alias or name,
                call_id=call_id,
                arguments=arguments,
                scope=scope,
                time=time,
                nested=below,
                took_effect=partial(
                    took_effect,
                    result,
                    kind,
                    raised=raised,
                    declared=ok,
                    tool=name,
                    arguments=arguments,
                ),
                complete=arguments is not None and result is not None and not raised,
            )
        )
    return tools


def _asked(spoken: list[_Spoken], messages: Messages) -> list[Call]:
    """Return the calls that the models' outputs ask for."""
    dialogue = Dialogue()
    for step in spoken:
        if step.said is not None:
            dialogue.ask(step.model, messages.said(step.said))
    return dialogue.calls


def _suffices(spoken: list[_Spoken], calls: list[Call], tools: list[Tool]) -> bool:
    """Tell whether the models' inputs add nothing to their outputs and to the spans."""
    latest: dict[int, int] = {}
    """By turn: when the last of its calls started."""
    asked: dict[int, int] = {}
    for call in calls:
        if call.tool is None or not call.tool.complete:
            return False
        asked[call.turn] = asked.get(call.turn, 0) + 1
        latest[call.turn] = max(call.tool.time, latest.get(call.turn, NEVER))
    so_far: dict[int, tuple[int, int]] = {}
    for model, _, calls_told, tells_more, said in spoken:
        count, last = so_far.get(model.scope, (0, NEVER))
        if said is None or tells_more or calls_told != count:
            return False
        # A call that seems to start after the model that was told of it: the clocks are wrong.
        if model.time <= last:
            return False
        if model.entry in asked:
            last = max(last, latest[model.entry])
            so_far[model.scope] = count + asked[model.entry], last
    return all(tool.complete for tool in tools)


def _heard(spoken: list[_Spoken], messages: Messages) -> list[Call]:
    """Return the calls that the models' outputs and inputs tell of, with their answers."""
    steps = {step.model.entry: step for step in spoken}
    said = {
        entry: (
            [] if step.told is None else messages.history(step.told),
            None if step.said is None else messages.said(step.said),
        )
        for entry, step in steps.items()
    }
    outputs = (item for _, items in said.values() for item in items or ())
    dialogue = Dialogue({item.id for item in outputs if isinstance(item, Request)})
    silent: dict[int, int] = {}
    for entry in causal_order(said):
        model, (told, answered) = steps[entry].model, said[entry]
        dialogue.hear(model, told, silent.get(model.scope, NONE))
        silent[model.scope] = entry if answered is None else NONE
        if answered is not None:
            dialogue.ask(model, answered)
    return dialogue.calls


def _partly_recorded(drafts: Drafts) -> frozenset[tuple[int, int]]:
    """Return run and agent of models of whose outputs something is lost."""
    columns = drafts.columns
    cut = pc.list_value_length(columns.array("truncated")).fill_null(0)
    lossy = cut.to_numpy(zero_copy_only=False) > 0
    dropped = columns.ints("dropped_attributes", 0) > 0
    entries = np.flatnonzero((drafts.operation == LLM) & (lossy | dropped)[drafts.row])
    rows = drafts.row[entries]
    fields = columns.values("truncated", rows)
    lost = [
        bool(dropped[row]) or "output" in (f or ()) for row, f in zip(rows, fields, strict=True)
    ]
    entries = entries[np.array(lost, dtype=bool)]
    places = (drafts.run[entries].tolist(), drafts.scope[entries].tolist())
    return frozenset(zip(*places, strict=True))


def _add(
    joined: Joined,
    run: int,
    calls: list[Call],
    tools: list[Tool],
    match: Match,
    drafts: Drafts,
    partly: frozenset[tuple[int, int]],
) -> None:
    joined.call_of.update(match.call_of)
    joined.inferred.update(match.inferred)
    if match.unmatched:
        asking = {call.asked.scope for call in calls if (run, call.asked.scope) not in partly}
        joined.unasked.update(
            entry for entry, tool in match.unmatched.items() if tool.scope in asking
        )
    for call in calls:
        if call.tool is None and not call.asked.outside:
            joined.missing.append((run, call))
    for tool in tools:
        if drafts.outside[tool.entry]:
            call_made = match.call_of.get(tool.entry)
            if call_made is not None and call_made.asked.outside:
                joined.outside.add(tool.entry)
