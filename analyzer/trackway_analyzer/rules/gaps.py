"""Which gaps does a run have, and what may each of them hide?

1. A gap with a position hides steps beside it, an unfinished span steps after it, a gap without a
   position steps anywhere.
2. A call that was asked for by name and answered, of which no span shows that it ran
   (`tools_not_observable` at its step), may have run itself: it hides no call of another tool. A
   name that could be another spelling of the tool's, and arguments that name the tool, count as the
   tool. Spans of no kind may be calls of the tools of their names (`possible_calls`), and of no
   other: they hide nothing from rules that name no tool, neither as such nor by a pattern or what
   they allow. Any other gap hides calls of all tools.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Final

import numpy as np
import pyarrow.compute as pc

from trackway.schema import GapName, Operation
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import MORE_NAMES, NAMES_PARTED, Gap
from trackway_analyzer.rules.terms import Hidden
from trackway_analyzer.tool_names import has_star

NO_TRACE: Final = "no_trace"
"""Name for the gap of a run of which nothing at all was recorded."""
ABSENCE: Final = frozenset(
    {
        GapName.MISSING_STEPS,
        GapName.UNFINISHED_SPAN,
        GapName.TOOLS_NOT_OBSERVABLE,
        GapName.INSTRUMENTATION_LOST,
        GapName.POSSIBLE_CALLS,
        NO_TRACE,
    }
)
HARMLESS: Final = frozenset(
    {
        *(GapName.CONTENT_OFF, GapName.MISSING_TOKENS, GapName.MISSING_COST),
        GapName.CAPTURE_ERROR,  # what it leaves open, the step leaves open
    }
)
"""Gaps that hide no step, cut no value and leave no order open."""
NOT_RECORDED_GAP: Final = "not_recorded"
"""Name for a value that is not there although no gap says why."""

AGENT_GAP: Final = "agent_not_recorded"
"""Name for what hides whose a step is, where a rule is about one agent."""
REDACTED_GAP: Final = "redacted"
"""Name for a value that was taken out as a secret: a marker stands for it."""

_POSSIBLE: Final = GapName.POSSIBLE_CALLS
_PREFIX: Final = re.compile(r".*[.:/ ]")
_NO_LETTERS: Final = re.compile(r"[^0-9a-z]+")
_OF_AN_ANSWERED_CALL: Final = (
    "operation",
    "executed",
    "result",
    "tool",
    "tool_alias",
    "arguments",
)


@dataclass(frozen=True)
class WithGaps:
    """A batch whose gaps can be asked for."""

    batch: RunBatch

    @cached_property
    def gaps(self) -> dict[int, tuple[Gap, ...]]:
        """Gaps of the runs that have some."""
        column = self.batch.runs.column("gaps").combine_chunks()
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
        some = np.flatnonzero(lengths)
        recorded = {
            run: tuple(Gap(**gap) for gap in gaps)
            for run, gaps in zip(some.tolist(), column.take(some).to_pylist(), strict=True)
        }
        return {run: (Gap(NO_TRACE),) for run in self._without_trace()} | recorded

    @cached_property
    def blurred(self) -> frozenset[int]:
        """Runs with a gap that may hide a step, cut a value or leave an order open.

        Content that is off does none of that to what was recorded, nor do sums that are too small.
        """
        return frozenset(
            run for run, gaps in self.gaps.items() if any(gap.name not in HARMLESS for gap in gaps)
        )

    def _without_trace(self) -> list[int]:
        """Runs of which nothing at all was recorded: no step, no span, no final text."""
        runs = self.batch.runs
        no_spans = pc.equal(pc.fill_null(runs.column("spans"), 0), 0).to_numpy()
        no_text = pc.is_null(runs.column("final_text")).to_numpy()
        empty = np.diff(self.batch.offsets) == 0
        found: list[int] = np.flatnonzero(empty & no_spans & no_text).tolist()
        return found

    def absence(self, run: int, tools: Collection[str] | None = None) -> tuple[Gap, ...]:
        """Gaps that may hide steps of a run; with `tools`, those that may hide a call of them."""
        found = tuple(gap for gap in self.gaps.get(run, ()) if gap.name in ABSENCE)
        if tools is None or not found:
            return tuple(gap for gap in found if gap.name != GapName.POSSIBLE_CALLS)
        return tuple(gap for gap in found if self._may_hide(run, gap, tools))

    def traced(self, run: int) -> tuple[tuple[str, ...], ...]:
        """Names of the spans of a run that may be calls: each whole, and without what precedes it.

        `MORE_NAMES` stands for any.
        """
        details = [gap.detail for gap in self.gaps.get(run, ()) if gap.name == _POSSIBLE]
        names = [name for told in details for name in (told or MORE_NAMES).split(NAMES_PARTED)]
        return tuple(tuple(dict.fromkeys((name, _PREFIX.sub("", name)))) for name in names)

    def told_of(self, run: int, gap: Gap) -> tuple[str, ...] | None:
        """Names of the one tool of which a gap hides a call; None: it may hide any."""
        names = self._answered(run, gap)
        return None if names is None else names[0]

    def _may_hide(self, run: int, gap: Gap, tools: Collection[str]) -> bool:
        """Whether a gap may hide a call of one of these tools."""
        if any(map(has_star, tools)):
            return True
        if gap.name == GapName.POSSIBLE_CALLS:
            told = (gap.detail or MORE_NAMES).split(NAMES_PARTED)
            return MORE_NAMES in told or any(_is_named(name, of) for name in told for of in tools)
        answered = self._answered(run, gap)
        if answered is None:
            return True
        names, arguments = answered
        return any(
            any(_may_be(name, tool) for name in names) or tool in arguments for tool in tools
        )

    def _answered(self, run: int, gap: Gap) -> tuple[tuple[str, ...], str] | None:
        """(names of the tool, arguments) of the answered call that is all a gap hides."""
        if gap.name != GapName.TOOLS_NOT_OBSERVABLE or gap.position is None:
            return None
        first, last = self.batch.bounds(run)
        row = first + gap.position
        if not first <= row < last:
            return None
        call = {name: self.batch.steps.column(name)[row].as_py() for name in _OF_AN_ANSWERED_CALL}
        names = tuple(name for name in (call["tool"], call["tool_alias"]) if name)
        # A request that nobody answered ends the record: what came of it is not in the messages.
        answered = call["executed"] is False and call["result"] is not None
        if call["operation"] != Operation.TOOL or not answered or not names:
            return None
        return names, call["arguments"] or ""

    def hides_step(
        self,
        run: int,
        after: float = -1,
        before: float = inf,
        tools: Collection[str] | None = None,
    ) -> Hidden | None:
        """The first gap that may hide a step, or a call of `tools`, between two positions."""
        for gap in self.absence(run, tools):
            low, high = region(gap)
            if low < before and after < high:
                return Hidden(gap.name, gap.position)
        return None

    def why_not_recorded(self, run: int) -> Hidden:
        """What hides a value of the run as a whole."""
        off = any(gap.name == GapName.CONTENT_OFF for gap in self.gaps.get(run, ()))
        return Hidden(GapName.CONTENT_OFF if off else NOT_RECORDED_GAP)


def _is_named(name: str, tool: str) -> bool:
    """Whether a span bears the name of a tool, with or without what stands before it."""
    one, other = (
        {_NO_LETTERS.sub("", text.lower()) for text in (each, _PREFIX.sub("", each))}
        for each in (name, tool)
    )
    return not one.isdisjoint(other)


def _may_be(name: str, tool: str) -> bool:
    """Whether two names could be spellings of one tool: `refunds.create`, `create`."""
    one, other = (_NO_LETTERS.sub("", text.lower()) for text in (name, tool))
    return one.endswith(other) or other.endswith(one)


def region(gap: Gap) -> tuple[float, float]:
    """Positions between which the steps may stand that a gap hides."""
    if gap.position is None:
        return -1, inf
    if gap.name == GapName.UNFINISHED_SPAN:
        return gap.position, inf
    return gap.position - 1, gap.position + 1
