"""Is what the agent told its user what the run did?

1. `says` is a regular expression, looked for in each sentence of the final text and of each message
   before it (`said_earlier`) in any case, with
   single blanks for line breaks and without Markdown signs. What
   counts as a claim stands in `claim_language`: negated, conditional and future forms do not.
2. Each claim needs an executed call of the tool `needs` that took effect and whose arguments are
   what the claim's named groups say. A group is compared with the argument of its name, or of the
   name that `arguments` gives it; numbers as numbers.
3. Without a claim there is nothing to keep. A final text that was not recorded is insufficient.
4. A final text that leaves something out (`unread`) may claim more than it shows. It is
   insufficient, unless the call took effect: then any claim without groups is true, and where only
   a secret was taken out, one with groups too if what is shown of the text makes that claim.
   A group that caught a mark says nothing.
5. A group that is no argument of any call of the run is insufficient: its name may be wrong.
6. What a message claims, a later one may take back (`taken_back`): then nobody claims it.
7. A final text that speaks of it as of what was done ("your refund will arrive in 5 days") is
   insufficient without a call that took effect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.amounts import agrees, currency_of, may_be_same, readings
from trackway_analyzer.rules.claim_language import (
    Claimed,
    claims,
    compiled_pattern,
    implied,
)
from trackway_analyzer.rules.claiming_texts import claim_classes, claiming
from trackway_analyzer.rules.entities import things
from trackway_analyzer.rules.evidence import PENDING_GAP, Evidence
from trackway_analyzer.rules.finding import Layer, Result
from trackway_analyzer.rules.gaps import REDACTED_GAP
from trackway_analyzer.rules.refusal import no_effect, open_end
from trackway_analyzer.rules.rule import Rule, Said, insufficient, violated
from trackway_analyzer.rules.said_earlier import said_earlier, texts_said
from trackway_analyzer.rules.sentences import (
    at_step,
    hidden_value,
    may_hide_it,
    nearest_name,
    step,
)
from trackway_analyzer.rules.spelt_nearly import did_you_mean, spelt_nearly
from trackway_analyzer.rules.taken_back import taken_back
from trackway_analyzer.rules.terms import ABSENT_GAP, Hidden, Source
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.rules.unread import left_out
from trackway_analyzer.rules.values import ABSENT, Absent, reader, shown

IMPLIED_GAP: Final = "unclear_claim"
"""Name for what hides whether a text claims something."""
_MINOR: Final = re.compile(r"cents?\b|minor", re.IGNORECASE)
"""In the name of an argument: it counts in the hundredth part of the currency."""
_CURRENCY: Final = re.compile(r"currency(?:_?code)?\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Claim(Rule):
    """What the final text says was done is done by a call that took effect, with those values."""

    says: str
    needs: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Argument of each named group that is called otherwise."""

    layer = Layer.OUTCOME

    def __post_init__(self) -> None:
        if not isinstance(self.says, str) or not self.says.strip():
            raise ValueError(
                f"`says` must be a regular expression that finds the claim, found {self.says!r}:"
                " write its words, `refund.*processed`"
            )
        groups = compiled_pattern(self.says).groupindex
        for group, argument in self.arguments.items():
            reader(argument)
            if group not in groups:
                raise ValueError(
                    f"`arguments` names the group {group!r}, {self.says!r} has {sorted(groups)}"
                )

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return f"{self.key}: {self.needs}"

    def speaks_of(self) -> frozenset[str]:
        """The tool that a claim needs."""
        return frozenset({self.needs})

    def looks(self, tools: Tools) -> Looks | None:
        """The shape, and whether the final text claims anything; with groups also what."""
        if self._groups:
            return None
        return Looks(texts=(partial(claim_classes, self.says),))

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run that told its user what it did not do."""
        evidence = self.evidence(batch)
        texts = evidence.batch.runs.column("final_text")
        rows = evidence.rows(self.needs)
        silent = set(_nulls(texts))
        told = {run for run, _ in claiming(texts, self.says)}
        results = []
        for run in sorted(told | silent | said_earlier(evidence).keys()):
            claimed = self._claimed(evidence, run)
            result = self._judge(evidence, run, claimed, rows.get(run, []))
            if result is None and run in silent:
                result = _no_text(evidence, run)
            gap = self._left_out(evidence, run) if result is None else None
            if gap is not None and not self._kept(evidence, rows.get(run, []), claimed, gap):
                result = insufficient(run, gap, what="text")
            if result is None and run in told and self._implied(evidence, run, rows.get(run, [])):
                result = insufficient(run, IMPLIED_GAP, what="implied")
            if result is not None:
                results.append(result)
        return results

    def _claimed(self, evidence: Evidence, run: int) -> list[Claimed]:
        """Claims of all that the agent told its user, in order, without those it took back."""
        said = texts_said(evidence, run)
        found = [(text, self._claims(evidence, text)) for text in said]
        return [
            claim
            for place, (_, claimed) in enumerate(found)
            for claim in claimed
            if not any(taken_back(claim, self.says, later) for later in said[place + 1 :])
        ]

    def _implied(self, evidence: Evidence, run: int, rows: list[int]) -> bool:
        text = evidence.text(run, "final_text")
        done = any(evidence.ok[row] for row in rows)
        return not done and text is not None and implied(text, self.says) is not None

    def _claims(self, evidence: Evidence, text: str) -> list[Claimed]:
        return evidence.memo(("claims", self.says, text), partial(claims, text, self.says))

    @staticmethod
    def _left_out(evidence: Evidence, run: int) -> str | None:
        gaps = map(left_out, texts_said(evidence, run))
        return next((gap for gap in gaps if gap is not None), None)

    def _kept(self, evidence: Evidence, rows: list[int], claimed: list[Claimed], gap: str) -> bool:
        """Whether the rule holds, whatever else a text claims that leaves something out."""
        if not any(evidence.ok[row] for row in rows):
            return False
        return not self._groups or (bool(claimed) and gap == REDACTED_GAP)

    @property
    def _groups(self) -> Mapping[str, int]:
        return compiled_pattern(self.says).groupindex

    def _judge(
        self, evidence: Evidence, run: int, claimed: list[Claimed], rows: list[int]
    ) -> Result | None:
        unknown: Result | None = None
        for index, claim in enumerate(claimed):
            truths = [self._backs(evidence, row, claim) for row in rows]
            if truths.count(True) >= claim.times:
                continue
            hidden = next((t for t in truths if isinstance(t, Hidden)), None)
            hidden = hidden or evidence.hides_step(run, tools=(self.needs,))
            if hidden is None:
                position = self._position(evidence, rows)
                return violated(run, position, claim=index)
            unknown = unknown or insufficient(run, hidden.gap, hidden.position, claim=index)
        return unknown

    def _backs(self, evidence: Evidence, row: int, claim: Claimed) -> bool | Hidden:
        """Whether a call is what the claim speaks of."""
        ok = evidence.ok[row]
        if ok is False:
            return False
        mismatch = self._mismatch(evidence, row, claim)
        if isinstance(mismatch, Hidden):
            return mismatch
        if mismatch is not None:
            return False
        return True if ok else evidence.why_unknown(row)

    def _mismatch(
        self, evidence: Evidence, row: int, claim: Claimed
    ) -> tuple[str, str, JsonValue | Absent] | Hidden | None:
        """The first group that an argument contradicts: (argument, said, value)."""
        hidden: Hidden | None = None
        for group, said in claim.groups.items():
            path = self.arguments.get(group, group)
            if not said.strip(" .,;:!?"):
                continue
            if group in claim.hidden:
                hidden = hidden or Hidden(claim.hidden[group])
                continue
            source = evidence.arguments(row)
            if isinstance(source, Hidden):
                hidden = hidden or source
                continue
            values = reader(path)(source.value)
            unseen = source.hides(*values) if values else source.cut
            if unseen is None and not values and self._nowhere(evidence, row, path):
                unseen = Hidden(ABSENT_GAP, evidence.position(row))
            if unseen is not None:
                hidden = hidden or unseen
            elif not any(_means(claim, group, path, value) for value in things(values)):
                whole = claim.ways(group)[0]
                named = said if readings(said) == readings(whole) else whole
                return path, named, values[0] if values else ABSENT
            elif isinstance(found := _other_currency(claim, group, source), Hidden):
                hidden = hidden or found
            elif found is not None:
                return found
        return hidden

    def _nowhere(self, evidence: Evidence, row: int, path: str) -> bool:
        """Whether no call of the run has an argument: its name may be wrong."""
        calls = evidence.rows(self.needs)[evidence.run[row]]
        sources = (evidence.arguments(call) for call in calls)
        return not any(isinstance(s, Source) and reader(path)(s.value) for s in sources)

    @staticmethod
    def _position(evidence: Evidence, rows: list[int]) -> int | None:
        return evidence.position(rows[-1]) if rows else None

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if result.detail.get("what") == "text":
            what = self._hidden(evidence, result)
            why = hidden_value(Hidden(result.detail["gap"]), what)
            return Said(sentence=f"{why}: nobody knows what it claims")
        if result.detail.get("what") == "implied":
            sentence = implied(evidence.text(result.run, "final_text") or "", self.says)
            quote = "" if sentence is None else f': "{sentence.quote}"'
            return Said(
                sentence=f"the final text speaks of what {self.needs} would have done, and does not"
                f" say that it was done{quote}"
            )
        claim = self._claimed(evidence, result.run)[result.detail["claim"]]
        final = claim.text == evidence.text(result.run, "final_text")
        where = "the final text" if final else "an earlier message"
        quote = f'{where} claims "{claim.sentence.quote}"'
        if "gap" in result.detail:
            why = self._why_open(evidence, result, claim)
            return Said(
                sentence=f"{quote}, and whether {self.needs} did it cannot be judged: {why}"
            )
        rows = evidence.rows(self.needs).get(result.run, [])
        if not rows:
            return self._never(evidence, result.run, quote)
        done = [row for row in rows if evidence.ok[row] is not False]
        if not done:
            return Said(
                sentence=f"{quote}, but {no_effect(evidence, rows[-1])}", expected=self.needs
            )
        row = done[-1]
        backing = [row for row in done if self._backs(evidence, row, claim) is True]
        if backing:
            only = " and ".join(step(evidence, row) for row in backing)
            return Said(
                sentence=f"{quote}, but only {only} did it, not {claim.times} calls",
                expected=claim.times,
                got=len(backing),
            )
        mismatch = self._mismatch(evidence, row, claim)
        assert isinstance(mismatch, tuple)
        name, said, value = mismatch
        had = f"no {name}" if isinstance(value, Absent) else f"{name} {shown(value)}"
        return Said(
            sentence=f"{quote}, but {step(evidence, row)} had {had}, not {said}",
            expected=said,
            got=None if isinstance(value, Absent) else value,
            nearest=at_step(evidence, row),
        )

    @staticmethod
    def _hidden(evidence: Evidence, result: Result) -> str:
        text = evidence.text(result.run, "final_text")
        return "the final text" if text is None or left_out(text) else "an earlier message"

    def _why_open(self, evidence: Evidence, result: Result, claim: Claimed) -> str:
        gap, position = result.detail["gap"], result.position
        if position is not None and gap in (PENDING_GAP, ABSENT_GAP):
            row = evidence.first_row(result.run) + position
            if gap == PENDING_GAP:
                return open_end(evidence, row)
            paths = [self.arguments.get(group, group) for group in claim.groups]
            path = next(path for path in paths if self._nowhere(evidence, row, path))
            hint = did_you_mean(spelt_nearly(evidence, row, path))
            return f"{step(evidence, row)} has no argument {path}{hint}"
        return may_hide_it(Hidden(gap, position), self.needs)

    def _never(self, evidence: Evidence, run: int, quote: str) -> Said:
        calls = evidence.calls(run)
        near = nearest_name(self.needs, [name for c in calls if (name := evidence.tool[c])])
        where = next((at_step(evidence, c) for c in calls if evidence.tool[c] == near), None)
        sentence = f"{quote}, but {self.needs} was never recorded"
        if near is not None:
            sentence += f"; nearest: {where}"
        return Said(sentence=sentence, expected=self.needs, nearest=where)


def _means(claim: Claimed, group: str, path: str, value: JsonValue) -> bool:
    """Whether a group names the value of an argument."""
    minor = _MINOR.search(path) is not None
    return any(agrees(said, value, minor=minor) for said in claim.ways(group))


def _other_currency(
    claim: Claimed, group: str, source: Source
) -> tuple[str, str, JsonValue] | Hidden | None:
    """The currency of a call that is not the one of an amount: (argument, said, value)."""
    said = claim.ways(group)[-1]
    spoken = currency_of(said)
    if spoken is None or not readings(said) or not isinstance(source.value, dict):
        return None
    for name, value in source.value.items():
        if _CURRENCY.search(name) and isinstance(value, str):
            if (hidden := source.hides(value)) is not None:
                return hidden
            if not may_be_same(spoken, currency_of(value)):
                return name, said, value
    return None


def _no_text(evidence: Evidence, run: int) -> Result:
    return insufficient(run, evidence.why_not_recorded(run).gap, what="text")


def _nulls(texts: pa.ChunkedArray) -> list[int]:
    rows: list[int] = pc.indices_nonzero(pc.is_null(texts)).to_pylist()
    return rows
