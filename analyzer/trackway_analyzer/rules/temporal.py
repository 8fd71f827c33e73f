"""Does one call come when another must have come?

1. Rules speak of executed calls. "Earlier" is strict: two calls of one model turn are unordered,
   and neither is earlier than the other.
2. What must have come before must have succeeded; what it must come before counts when attempted.
3. A rule without its trigger holds; where the trigger itself is wanted, say `required`.
4. Each is a question of the sequence alone: it is answered once per distinct sequence.
"""

from __future__ import annotations

from dataclasses import dataclass

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expression import Hidden
from trackway_analyzer.rules.finding import Result
from trackway_analyzer.rules.rule import Rule, Said, insufficient, violated
from trackway_analyzer.rules.sentences import at_step, step


@dataclass(frozen=True)
class Before(Rule):
    """Each attempted `second` has an earlier successful `first`. `Precedence` in Declare."""

    first: str
    second: str
    required: bool = False
    """Also demand that `first` succeeds at all."""

    declare = "Precedence"
    short = ("first", "second")

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return f"{self.key}: {self.first}, {self.second}"

    def requires(self) -> frozenset[str]:
        """`first`, where it is demanded."""
        return frozenset({self.first} if self.required else ())

    def contradicts(self, other: Rule) -> str | None:
        """Two tools cannot each come before the other."""
        if isinstance(other, Before) and (other.first, other.second) == (self.second, self.first):
            return f"neither {self.first} nor {self.second} could ever come"
        return None

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run with a call that came too early."""
        evidence = self.evidence(batch)
        firsts, seconds = evidence.rows(self.first), evidence.rows(self.second)
        runs = range(len(evidence)) if self.required else sorted(seconds)
        found = (self._judge(evidence, r, firsts.get(r, []), seconds.get(r, [])) for r in runs)
        return [result for result in found if result is not None]

    def _judge(
        self, evidence: Evidence, run: int, firsts: list[int], seconds: list[int]
    ) -> Result | None:
        unknown: Result | None = None
        for row in seconds:
            truth = self._preceded(evidence, firsts, row)
            position = evidence.position(row)
            hidden = evidence.hides_step(run, before=position) if truth is False else truth
            if hidden is None:
                return violated(run, position)
            if isinstance(hidden, Hidden) and unknown is None:
                unknown = insufficient(run, hidden.gap, position)
        if unknown is not None or not self.required or any(evidence.ok[row] for row in firsts):
            return unknown
        gap = evidence.hides_step(run)
        return violated(run, what="never") if gap is None else insufficient(run, gap.gap)

    @staticmethod
    def _preceded(evidence: Evidence, firsts: list[int], row: int) -> bool | Hidden:
        hidden: Hidden | None = None
        for first in firsts:
            in_order, answered = evidence.earlier(first, row), evidence.answered(first)
            if in_order is True and answered is True:
                return True
            if isinstance(in_order, Hidden) and answered is not False:
                hidden = hidden or in_order
            elif in_order is True and answered is None:
                hidden = hidden or Hidden("not_recorded", evidence.position(first))
        return hidden or False

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        gap = result.detail.get("gap")
        if result.position is None:
            sentence = f"{self.first} never succeeded"
            if gap:
                sentence = f"{self.first} was not seen, but {gap} may hide it"
            return Said(sentence=sentence, expected=self.first)
        row = int(evidence.batch.offsets[result.run]) + result.position
        name = step(evidence, row)
        if gap:
            return Said(sentence=f"{name}: whether {self.first} came before is hidden by {gap}")
        return Said(
            sentence=f"{name} came without an earlier successful {self.first}"
            f"{self._instead(evidence, row)}",
            expected=f"{self.first} before step {result.position + 1}",
        )

    def _instead(self, evidence: Evidence, row: int) -> str:
        for first in evidence.rows(self.first).get(evidence.run[row], []):
            place = at_step(evidence, first)
            if evidence.group[first] == evidence.group[row]:
                return f": {place} is of the same model turn"
            if first > row:
                return f": {place} came only afterwards"
            return f": {place} did not succeed"
        return ""
