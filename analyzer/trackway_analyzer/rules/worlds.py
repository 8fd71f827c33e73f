"""Rules of the sequence alone: judged once per distinct sequence, over all ways to close its gaps.

1. A shape rule is two-valued: a function of known calls that names the first one which breaks it.
   It sees of a call its tool, its kind, whether it succeeded, and its group; calls that do not
   matter to it (`letter`) it does not see, and what is left of all runs is judged once.
   Rules that ask the same are judged once: other requirements are made of them.
2. A run with gaps is many possible runs: a call of which nobody knows whether it took effect did
   or did not; a hidden step is any call at any place where a gap opens; steps that only skewed
   clocks order may stand in any order.
3. The answer is what all possible runs say. Where they differ, it is insufficient, and the gap
   that makes the difference is named. That is what "closing it could change the answer" means.
4. Where there are too many possible runs to try, the answer is insufficient, unless the rule says
   that what was seen stands (`stands`) and it was seen broken.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa

from trackway_analyzer.batch import Ints, RunBatch
from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.rules.calls import OTHER, Calls, Possible, Symbol
from trackway_analyzer.rules.evidence import UNKNOWN_KIND, Evidence
from trackway_analyzer.rules.finding import (
    Result,
    State,
    Violations,
    findings_table,
    results_of,
)
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP
from trackway_analyzer.rules.looked_at import SHAPE
from trackway_analyzer.rules.place import Place
from trackway_analyzer.rules.refusal import open_end
from trackway_analyzer.rules.rule import Rule, Said
from trackway_analyzer.rules.shapes import Shapes, shapes_of
from trackway_analyzer.rules.terms import Source
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.rules.verdicts import Broken, Verdicts
from trackway_analyzer.rules.words import Words

MOST_WORLDS: Final = 4096


@dataclass(frozen=True)
class ShapeRule(Rule):
    """A rule that looks at tools, their order and whether they took effect."""

    every_call: ClassVar[bool] = False
    """Whether calls of tools that the rule does not name matter as well."""
    stands: ClassVar[bool] = False
    """Whether no hidden step can mend what was seen broken."""

    @property
    def alike(self) -> Hashable:
        """Rules for which this is equal are broken by the same calls of the same runs."""
        return self

    @property
    @abstractmethod
    def alphabet(self) -> tuple[str, ...]:
        """Tools that the rule names."""

    def speaks_of(self) -> frozenset[str]:
        """All tools that it names."""
        return frozenset(self.alphabet)

    def looks(self, tools: Tools) -> Looks | None:
        """The shape alone."""
        return SHAPE

    @property
    def permits(self) -> tuple[str, ...]:
        """Tools that have to answer yes, where the rule asks that they succeeded."""
        return ()

    def evidence(self, batch: RunBatch | Evidence) -> Evidence:
        """Settle a batch as the rule sees it: where what permits a call answered no, it is open."""
        return super().evidence(batch).doubting(self.permits)

    @property
    def insertions(self) -> int:
        """How many hidden calls can matter together."""
        return 1

    def symbols(self, calls: Calls) -> tuple[str, ...]:
        """Tools of which a hidden call could change the answer."""
        return self.alphabet

    @abstractmethod
    def broken(self, calls: Calls) -> Broken | None:
        """The first call that breaks the rule; None: it holds."""

    @abstractmethod
    def sentence(self, at: Place) -> Said:
        """Say how the rule is broken at a place."""

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run that does not hold."""
        results = results_of(self.found(0, self.evidence(batch)))
        return sorted(results, key=lambda result: result.run)

    def letter(self, symbol: Symbol) -> Symbol | None:
        """A call as the rule sees it; None: it does not matter."""
        if symbol.tool in self.alphabet:
            return symbol
        return Symbol(OTHER, None, True) if self.every_call else None

    def at_once(self, words: Words) -> Verdicts | None:
        """Judge whole sequences by columns; None: only `broken` can.

        What it says of tangled sequences is not looked at.
        """
        return None

    def verdicts(self, shapes: Shapes) -> Verdicts:
        """Judge the distinct sequences of a batch."""
        found, tangled = self.at_once(shapes.words), shapes.words.tangled
        if found is None:
            return self._one_by_one(shapes, np.arange(len(shapes.words)))
        return found.but(tangled, self._one_by_one(shapes, tangled)) if len(tangled) else found

    def _one_by_one(self, shapes: Shapes, chosen: Ints) -> Verdicts:
        """Judge what the rule sees of these sequences, each once."""
        seen = shapes.seen(self.letter)
        used, which = np.unique(seen.of_word[chosen], return_inverse=True)
        verdicts = Verdicts.of([self.broken(seen.words.calls(word)) for word in used.tolist()])
        return verdicts.spread(which, seen, chosen)

    def found(self, number: int, evidence: Evidence) -> pa.Table:
        """Judge each distinct sequence once, and each run with gaps by itself."""
        evidence = self.evidence(evidence)
        shapes = shapes_of(evidence)
        known = evidence.memo(("found", self.alike), partial(self._found, shapes)).table(number)
        unsure = ((run, self._unsure(evidence, run, shapes)) for run in sorted(shapes.unsure))
        others = [self._result(evidence, run, *said) for run, said in unsure if said is not None]
        return pa.concat_tables([known, findings_table(number, others)]) if others else known

    def _found(self, shapes: Shapes) -> Violations:
        return self.verdicts(shapes).found(shapes.layouts, shapes.sure)

    def _unsure(
        self, evidence: Evidence, run: int, shapes: Shapes
    ) -> tuple[Broken, str | None] | None:
        tools = None if self.every_call else self.symbols(shapes.calls(run))
        possible = shapes.possible(evidence, run, tools)
        key = ("worlds", self, possible)
        return evidence.memo(key, partial(self._over_all, possible))

    def _over_all(self, possible: Possible) -> tuple[Broken, str | None] | None:
        """Judge every possible run: (how it is broken, the gap that leaves it open)."""
        tools = None if self.every_call else frozenset(self.alphabet)
        seen = self.broken(possible.recorded(tools))
        if seen is not None and self.stands and not possible.unknown(tools):
            return seen, None
        holds = seen is None
        worlds = possible.worlds(tools, self.symbols(possible.calls), self.insertions)
        for tried, (calls, gap) in enumerate(worlds):
            found = self.broken(calls)
            if tried >= MOST_WORLDS or (found is None) is not holds:
                return found or seen or Broken(None), gap
        return None if seen is None else (seen, None)

    def _result(self, evidence: Evidence, run: int, broken: Broken, gap: str | None) -> Result:
        if gap is not None:
            return Result(run, State.INSUFFICIENT, None, {"gap": gap})
        rows = evidence.calls(run)
        known = broken.index is not None and broken.index < len(rows)
        position = evidence.position(rows[broken.index or 0]) if known else None
        return Result(run, State.VIOLATED, position, broken.detail)

    def _open(self, evidence: Evidence, run: int) -> str:
        """Why nobody knows whether a call took effect: what the first such call said."""
        for row in evidence.calls(run):
            named = self.every_call or evidence.tool[row] in self.alphabet
            if named and evidence.succeeded(row) is None:
                if isinstance(evidence.result(row), Source):
                    return open_end(evidence, row)
                break
        return "whether a call took effect was not recorded"

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if "gap" in result.detail:
            gap = result.detail["gap"]
            why = {
                NOT_RECORDED_GAP: self._open(evidence, result.run),
                UNKNOWN_KIND: "the status of a call may be that of what it found, declare its kind",
                "clock_skew": "clock_skew hides the order",
            }.get(gap, f"{gap} may hide a step")
            return Said(sentence=f"{self.title} cannot be judged: {why}")
        row = None
        if result.position is not None:
            row = int(evidence.batch.offsets[result.run]) + result.position
        return self.sentence(Place(evidence, result.run, row, result.detail.get("what", "")))
