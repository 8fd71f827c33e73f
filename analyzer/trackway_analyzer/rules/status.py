"""What became of calls that failed or were asked for?

1. `Recovered`: each failed call is followed by a successful one of the same tool, or of a tool in
   `by`, about the same thing where that is known (`made_up_for`). Calls of the same model turn do
   not recover each other.
2. `Executed`: each call that a model asked for was executed. Where no request was recorded, nobody
   knows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from trackway.schema import GapName, Operation
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.rules.actions import action_claim
from trackway_analyzer.rules.calls import Calls, Symbol, earlier
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Result, findings_table
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP
from trackway_analyzer.rules.looked_at import compared, value_at
from trackway_analyzer.rules.made_up_for import Unmade, arguments_about, unmade
from trackway_analyzer.rules.place import Place
from trackway_analyzer.rules.refusal import no_effect
from trackway_analyzer.rules.rule import (
    Rule,
    Said,
    insufficient,
    may_hide_a_call,
    violated,
)
from trackway_analyzer.rules.sentences import cannot_judge, step
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.rules.values import shown
from trackway_analyzer.rules.verdicts import Broken
from trackway_analyzer.rules.worlds import ShapeRule
from trackway_analyzer.tool_names import bare, fits, has_star

_THING: Final = "thing"
"""Kept of a result where the thing decides, not the order of tools."""


@dataclass(frozen=True)
class Recovered(ShapeRule):
    """Each failed call is followed by a successful one of its tool, or of a tool in `by`."""

    tool: str | None = None
    by: str | Iterable[str] = ()

    short = ("tool",)

    def __post_init__(self) -> None:
        by = (self.by,) if isinstance(self.by, str) else tuple(self.by)
        object.__setattr__(self, "by", by)

    @property
    def every_call(self) -> bool:  # type: ignore[override]  # a field of the base
        """Without a tool that is named in full, all matter: each tool recovers itself."""
        return self.tool is None or has_star(self.tool)

    def means(self) -> frozenset[str]:
        """The tool, if it is named in full, and those that make up for it."""
        return frozenset(self.by if self.every_call else self.alphabet)

    def _wants(self, tool: str | None) -> bool:
        if self.tool is None or tool is None or not has_star(self.tool):
            return self.tool in (None, tool)
        return fits(self.tool, [tool, bare(tool)])

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return self.key if self.tool is None else f"{self.key}: {self.tool}"

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The tool and those that make up for it."""
        return tuple(tool for tool in (self.tool, *self.by) if tool is not None)

    def symbols(self, calls: Calls) -> tuple[str, ...]:
        """Without a tool, any tool of the run may be hidden."""
        made = {call.tool for call in calls if call.tool is not None} if self.every_call else ()
        return tuple(dict.fromkeys((*self.alphabet, *sorted(made))))

    def letter(self, symbol: Symbol) -> Symbol | None:
        """Without a tool, every call by its own name."""
        return symbol if self.every_call else super().letter(symbol)

    def broken(self, calls: Calls) -> Broken | None:
        """The first failed call that nothing made up for."""
        for index, call in enumerate(calls):
            if call.ok or not self._wants(call.tool):
                continue
            amends = {call.tool, *self.by}
            later = (i for i in range(len(calls)) if earlier(calls, index, i))
            if not any(calls[i].ok and calls[i].tool in amends for i in later):
                return Broken(index)
        return None

    def looks(self, tools: Tools) -> Looks | None:
        """The shape, and which calls are about the same thing."""
        named = tools.keys() if self.every_call or self.tool is None else {self.tool, *self.by}
        values = [
            value_at(name, "arguments", path)
            for name in sorted(named)
            for path in arguments_about(tools, name)
        ]
        return compared(values)

    def found(self, number: int, evidence: Evidence) -> pa.Table:
        """Judge the order of tools, then each thing that a call failed on."""
        evidence = self.evidence(evidence)
        table = super().found(number, evidence)
        judged = set(table.column("run").to_pylist())
        results = [
            self._of_thing(evidence, run, found)
            for run in self._failing(evidence)
            if run not in judged
            if (found := unmade(evidence, run, self._wants, self.by)) is not None
        ]
        return pa.concat_tables([table, findings_table(number, results)]) if results else table

    def _failing(self, evidence: Evidence) -> list[int]:
        """Runs in which a call in question failed, and another followed."""
        rows = evidence.call_rows[evidence.success_codes[evidence.call_rows] == 0].tolist()
        wanted = (row for row in rows if self._wants(evidence.tool[row]))
        return sorted({evidence.run[row] for row in wanted})

    @staticmethod
    def _of_thing(evidence: Evidence, run: int, found: Unmade) -> Result:
        position = evidence.position(found.row)
        if found.hidden is None:
            return violated(run, position, what=_THING)
        return insufficient(run, found.hidden.gap, position, at=found.hidden.position)

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if "gap" in result.detail and result.position is not None:
            what = "whether a later call made up for it"
            return Said(sentence=cannot_judge(evidence, result, what))
        return super().say(evidence, result)

    def sentence(self, at: Place) -> Said:
        """Say why it failed, and what was not tried."""
        assert at.row is not None
        wanted = " or ".join(dict.fromkeys([at.tool or "unnamed tool", *self.by]))
        of = self._thing(at) if at.what == _THING else ""
        return Said(
            sentence=f"{no_effect(at.evidence, at.row)}; no successful {wanted}{of} came after it",
            expected=wanted,
        )

    def _thing(self, at: Place) -> str:
        """What the call failed on, of this run: runs that are alike have things of their own."""
        found = unmade(at.evidence, at.run, self._wants, self.by)
        return "" if found is None else f" of {found.subject} {shown(found.value)}"


@dataclass(frozen=True)
class Executed(Rule):
    """Each call that a model asked for was executed."""

    tool: str | None = None

    short = ("tool",)

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return self.key if self.tool is None else f"{self.key}: {self.tool}"

    def names_tools(self) -> frozenset[str]:
        """The tool."""
        return frozenset() if self.tool is None else frozenset({self.tool})

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run with a call that nobody ran, or without any request."""
        evidence = self.evidence(batch)
        first: dict[int, int] = {}
        for row in np.flatnonzero(evidence.is_operation(Operation.TOOL)).tolist():
            wanted = self.tool in (None, evidence.tool[row])
            if wanted and not evidence.is_call[row] and not _is_answered(evidence, row):
                first.setdefault(evidence.run[row], row)
        results = [self._undone(evidence, run, row) for run, row in first.items()]
        for run in range(len(evidence)):
            if run not in first:
                result = self._unseen(evidence, run)
                results += [result] if result is not None else []
        return sorted(results, key=lambda result: result.run)

    @staticmethod
    def _undone(evidence: Evidence, run: int, row: int) -> Result:
        """Judge a call without a span, which nobody may have seen, or whose span may be lost."""
        position = evidence.position(row)
        for gap in evidence.absence(run):
            if gap.position == position or gap.name != GapName.TOOLS_NOT_OBSERVABLE:
                return insufficient(run, gap.name, asked=evidence.tool[row] or "unnamed tool")
        return violated(run, position)

    @staticmethod
    def _unseen(evidence: Evidence, run: int) -> Result | None:
        rows = range(*evidence.batch.bounds(run))
        models = [row for row in rows if evidence.operation_of[row] == Operation.LLM]
        asked = any(evidence.requested[row] for row in rows)
        blind = [row for row in models if evidence.outputs[row] is None]
        if (not models and not asked) or (blind and not asked):
            return insufficient(run, evidence.why_not_recorded(run).gap)
        return may_hide_a_call(evidence, run)

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if result.position is None:
            gap = result.detail["gap"]
            if gap in (NOT_RECORDED_GAP, "content_off"):
                return Said(sentence="what the model asked for was not recorded")
            if "asked" in result.detail:
                tool = result.detail["asked"]
                return Said(
                    sentence=f"{tool} was asked for, and {gap} may hide that it was executed"
                )
            return Said(sentence=f"no request was left undone, but {gap} may hide one")
        row = int(evidence.batch.offsets[result.run]) + result.position
        tool = evidence.tool[row] or "unnamed tool"
        claim = action_claim(evidence.text(result.run, "final_text"), tool)
        but = f', but the final text claims it: "{claim}"' if claim else ""
        return Said(
            sentence=f"{step(evidence, row)} was asked for and never executed{but}", expected=tool
        )


def _is_answered(evidence: Evidence, row: int) -> bool:
    """Whether the model was told a result of a call of which no span shows that it ran."""
    result = evidence.batch.steps.column("result")[row]
    return bool(evidence.ok[row] is None and result.is_valid)
