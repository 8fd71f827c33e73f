"""All steps of all runs: those with spans, and those that only the messages tell of.

A step without a span stands after the turn that asked for it and before the one that read its
answer. Its times are not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from trackway.schema import SCOPE_NAME
from trackway_analyzer.dialects.stop_reasons import STOPPED_FOR_A_CALL
from trackway_analyzer.reconstruct.columns import LLM, NEVER, NONE, OTHER, TOOL, Ints, paired
from trackway_analyzer.reconstruct.dialogue import Call
from trackway_analyzer.reconstruct.drafts import Drafts
from trackway_analyzer.reconstruct.requests import Joined
from trackway_analyzer.reconstruct.witnesses import WITNESSES


@dataclass(frozen=True, slots=True)
class Entries:
    """Steps as arrays; an entry's number is its place in them, not its position in the run."""

    drafts: Drafts
    call_of: Mapping[int, Call]
    """The request of each tool step that has one."""
    row: Ints
    """Innermost span; `NONE` without one."""
    run: Ints
    operation: Ints
    time: Ints
    start: Ints
    end: Ints
    rank: Ints
    index: Ints
    """Logical clock; `NONE` where there is none."""
    process: Ints
    inside: Ints
    scope: Ints

    def __len__(self) -> int:
        return len(self.row)

    @property
    def scope_key(self) -> Ints:
        """One number for run and agent."""
        return paired(self.run, self.scope)

    def scopes_with_output(self) -> Ints:
        """Keys of the agents whose models' output is recorded."""
        models = np.flatnonzero(self.operation == LLM)
        output = self.drafts.texts("output", models)
        return np.unique(self.scope_key[models[output.is_valid().to_numpy(zero_copy_only=False)]])

    def silent_turns(self) -> Ints:
        """Model steps that may have asked for calls which their outputs do not show."""
        models = np.flatnonzero(self.operation == LLM)
        cut = pc.list_value_length(self.drafts.columns.array("truncated")).fill_null(0)
        lossy = self.drafts.texts("output", models).is_null().to_numpy(zero_copy_only=False)
        lossy = lossy | (cut.to_numpy(zero_copy_only=False) > 0)[self.row[models]]
        models = models[lossy]
        told = (self.drafts.values(name, models) for name in ("finish_reasons", "source", "scope"))
        asked = [
            STOPPED_FOR_A_CALL in (said or ())
            or scope in WITNESSES  # Gemini says `stop` whatever it asked for
            or not (said or source == SCOPE_NAME)
            for said, source, scope in zip(*told, strict=True)
        ]
        silent: Ints = models[np.array(asked, dtype=bool)]
        return silent

    def causes(self) -> Ints:
        """Pairs of entries: cause, effect."""
        inner = np.flatnonzero(self.inside != NONE)
        pairs = [np.column_stack([self.inside[inner], inner])]
        told: list[tuple[int, int]] = []
        for entry, call in self.call_of.items():
            if call.turn != NONE:
                told.append((call.turn, entry))
            if call.turn == NONE and call.reader == NONE:
                told.append((entry, call.asked.entry))
            executed = call.tool is None or call.tool.entry == entry
            if call.reader not in (NONE, call.turn) and executed:
                told.append((entry, call.reader))
        pairs.append(np.array(told, dtype=np.int64).reshape(-1, 2))
        pairs.append(_links(self.drafts))
        causes: Ints = np.concatenate(pairs)
        same = (self.run[causes[:, 0]] == self.run[causes[:, 1]]) & (causes[:, 0] != causes[:, 1])
        within: Ints = causes[same]
        return within


def entries_of(drafts: Drafts, joined: Joined) -> Entries:
    """Put steps with and without spans together."""
    columns = drafts.columns
    more = len(joined.missing)
    operation = drafts.operation.copy()
    operation[list(joined.outside)] = OTHER
    asked = np.array([call.asked.entry for _, call in joined.missing], dtype=np.int64)
    time, rank = _between(drafts, [call for _, call in joined.missing])
    call_of = dict(joined.call_of)
    call_of.update((len(drafts) + place, call) for place, (_, call) in enumerate(joined.missing))
    none, never = np.full(more, NONE), np.full(more, NEVER)
    rows = drafts.row
    return Entries(
        drafts=drafts,
        call_of=call_of,
        row=np.concatenate([rows, none]),
        run=np.concatenate([drafts.run, drafts.run[asked]]),
        operation=np.concatenate([operation, np.full(more, TOOL)]),
        time=np.concatenate([drafts.time, time]),
        start=np.concatenate([columns.start[rows], never]),
        end=np.concatenate([columns.end[rows], never]),
        rank=np.concatenate([2 * drafts.rank, rank]),
        index=np.concatenate([columns.ints("step_index")[rows], none]),
        process=np.concatenate([columns.codes("resource")[rows], none]),
        inside=np.concatenate([drafts.inside, drafts.inside[asked]]),
        scope=np.concatenate([drafts.scope, drafts.scope[asked]]),
    )


def _between(drafts: Drafts, calls: list[Call]) -> tuple[Ints, Ints]:
    """Place calls without a span after who asked and before who read the answer."""
    time = np.empty(len(calls), dtype=np.int64)
    rank = np.empty(len(calls), dtype=np.int64)
    end = drafts.columns.end
    for place, call in enumerate(calls):
        asked = call.asked.entry
        told = max(int(end[drafts.row[asked]]), int(drafts.time[asked]))
        time[place], rank[place] = told, 2 * drafts.rank[asked] + 1
        if call.turn == NONE:
            time[place], rank[place] = drafts.time[asked], 2 * drafts.rank[asked] - 1
        if call.reader != NONE:
            time[place] = min(time[place], drafts.time[call.reader])
    return time, rank


def _links(drafts: Drafts) -> Ints:
    """A linked call comes before the call that links to it."""
    columns = drafts.columns
    links = columns.array("links")
    lengths = pc.list_value_length(links).fill_null(0).to_numpy(zero_copy_only=False)
    if not lengths.any():
        return np.empty((0, 2), dtype=np.int64)
    flat = links.flatten()
    source = np.repeat(np.arange(len(columns)), lengths)
    own = pc.binary_join_element_wise(columns.array("trace_id"), columns.array("span_id"), "/")
    named = pc.binary_join_element_wise(flat.field("trace_id"), flat.field("span_id"), "/")
    target = pc.index_in(named, value_set=own).cast("int64").fill_null(NONE).to_numpy()
    before, after = drafts.of_row[target], drafts.of_row[source]
    both = (before != NONE) & (after != NONE)
    return np.column_stack([before[both], after[both]])
