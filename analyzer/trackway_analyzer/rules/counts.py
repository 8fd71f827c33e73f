"""How often does a tool come?

`Count` counts the executed calls of a tool, failed ones too; with `effects` only those that took
effect. With `per`, it counts for each value of that argument by itself, of a list for each element;
a call without the argument may be about any of its values, since the name may be misspelt, and `17`
and "17", or "A1" and "A1 ", may be one: where that decides, nobody knows. Too many is seen; too few
holds only if no gap may hide a call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.entities import things
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Result, detail_text, findings_table, results_of
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP
from trackway_analyzer.rules.looked_at import SHAPE, value_at
from trackway_analyzer.rules.necessary import Fact, Least, Most, only
from trackway_analyzer.rules.rule import (
    Said,
    ToolRule,
    insufficient,
    violated,
)
from trackway_analyzer.rules.sentences import cannot_judge, step
from trackway_analyzer.rules.shapes import shapes_of
from trackway_analyzer.rules.spelt_nearly import did_you_mean, spelt_nearly
from trackway_analyzer.rules.terms import ABSENT_GAP, ALIKE_GAP, Hidden
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.rules.values import frozen, reader, shown
from trackway_analyzer.rules.verdicts import HOLDS, NOWHERE, Verdicts
from trackway_analyzer.rules.words import Words


@dataclass(frozen=True)
class Count(ToolRule):
    """A tool is called at least `min` and at most `max` times."""

    min: int | None = None
    max: int | None = None
    exactly: int | None = None
    per: str | None = None
    """Argument: each of its values is counted by itself."""
    effects: bool = False
    """Count only calls that took effect."""

    def __post_init__(self) -> None:
        bounds = {"min": self.min, "max": self.max, "exactly": self.exactly}
        given = {name: bound for name, bound in bounds.items() if bound is not None}
        if not given or (self.exactly is not None and len(given) > 1):
            raise ValueError("a count needs `min`, `max` or both, or `exactly`")
        for name, bound in given.items():
            if bound < 0:
                raise ValueError(f"`{name}` must be a whole number from 0, found {bound!r}")
        if self._low > self._high:
            raise ValueError(f"`min` {self._low} is more than `max` {self._high:.0f}")
        if self.per is not None:
            reader(self.per)

    @property
    def _low(self) -> int:
        return self.exactly if self.exactly is not None else self.min or 0

    @property
    def _high(self) -> float:
        high = self.exactly if self.exactly is not None else self.max
        return float("inf") if high is None else high

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return f"{self.key}: {self.tool}" + (f" per {self.per}" if self.per else "")

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """So many calls, where they are not counted for each value of an argument."""
        if self.per is not None:
            return
        if self._low:
            yield Least(self.tool, self._low, took_effect=self.effects)
        if self._high != float("inf"):
            yield Most(only(self.tool), int(self._high), took_effect=self.effects)

    def looks(self, tools: Tools) -> Looks | None:
        """The shape, and the values of `per`: some that are not the same are alike."""
        if self.per is None:
            return SHAPE
        value = value_at(self.tool, "arguments", self.per)
        return None if value is None else Looks(exact=frozenset({value}))

    @property
    def needs_a_call(self) -> bool:
        """Too few may be none."""
        return self._low > 0 and self.per is None

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run that does not hold."""
        if self.effects or self.per is not None:
            return super().check(batch)
        results = results_of(self.found(0, self.evidence(batch)))
        return sorted(results, key=lambda result: result.run)

    def found(self, number: int, evidence: Evidence) -> pa.Table:
        """Count the calls of all runs at once; runs with gaps are judged by themselves."""
        if self.effects or self.per is not None:
            return super().found(number, evidence)
        evidence = self.evidence(evidence)
        shapes = shapes_of(evidence)
        gaps = sorted({*evidence.gaps, *evidence.blurred})
        plain = np.ones(len(evidence), dtype=bool)
        plain[gaps] = False
        table = self._counted(shapes.words).found(shapes.layouts, plain).table(number)
        rows = evidence.rows(self.tool) if gaps else {}
        judged = (self.judge(evidence, run, rows.get(run, [])) for run in gaps)
        others = [result for result in judged if result is not None]
        return pa.concat_tables([table, findings_table(number, others)]) if others else table

    def _counted(self, words: Words) -> Verdicts:
        """The call that is one too many in each sequence, or the last of too few."""
        calls = words.attempts(self.tool)
        many, high = calls.count, min(self._high, len(words.symbol))
        wrong = np.flatnonzero((many < self._low) | (many > high))
        at = np.where(many[wrong] > high, high, many[wrong] - 1).astype(np.int64)
        index = np.full(len(words), HOLDS, dtype=np.int32)
        index[wrong] = NOWHERE
        index[wrong[at >= 0]] = calls.place[calls.cuts[wrong[at >= 0]] + at[at >= 0]]
        details = [detail_text({"count": count}) or "" for count in range(many.max(initial=0) + 1)]
        return Verdicts(index, many.astype(np.int32), details)

    def judge(self, evidence: Evidence, run: int, rows: list[int]) -> Result | None:
        """Judge the number of calls in one run."""
        sure: dict[Hashable, list[int]] = {} if self.per else {None: []}
        maybe: dict[Hashable, list[int]] = {}
        nameless: list[int] = []
        hidden: Hidden | None = None
        for row in rows:
            counts = evidence.ok[row] if self.effects else True
            keys = self._keys(evidence, row)
            if isinstance(keys, Hidden):
                hidden = hidden or keys
            elif counts is not False:
                nameless += [] if keys else [row]
                for key in keys:
                    (sure if counts else maybe).setdefault(key, []).append(row)
        for counted in sure.values():
            if len(counted) > self._high:
                row = counted[int(self._high)]
                return violated(run, evidence.position(row), count=len(counted))
        if maybe and any(
            len(sure.get(k, ())) + len(extra) > self._high for k, extra in maybe.items()
        ):
            return insufficient(run, NOT_RECORDED_GAP)
        if nameless:
            together = [len(sure.get(k, ())) + len(maybe.get(k, ())) for k in {*sure, *maybe}]
            if self._low or max(together, default=0) + len(nameless) > self._high:
                return insufficient(run, ABSENT_GAP, evidence.position(nameless[0]))
        alike = self._alike(sure, maybe)
        if alike is not None:
            position = evidence.position(alike)
            return insufficient(run, ALIKE_GAP, position, at=position)
        return self._too_few(evidence, run, sure, maybe, hidden)

    def _alike(
        self, sure: dict[Hashable, list[int]], maybe: dict[Hashable, list[int]]
    ) -> int | None:
        """A call whose value, were it the same as one that is written alike, would decide."""
        if self.per is None:
            return None
        groups: dict[Hashable, dict[Hashable, list[int]]] = {}
        for key in dict.fromkeys((*sure, *maybe)):
            rows = [*sure.get(key, ()), *maybe.get(key, ())]
            groups.setdefault(_spelt(key), {})[key] = rows
        for keys in groups.values():
            together = sum(map(len, keys.values()))
            short = any(len(rows) < self._low for rows in keys.values())
            if len(keys) > 1 and (together > self._high or (short and together >= self._low)):
                return max(row for rows in keys.values() for row in rows)
        return None

    def _too_few(
        self,
        evidence: Evidence,
        run: int,
        sure: dict[Hashable, list[int]],
        maybe: dict[Hashable, list[int]],
        hidden: Hidden | None,
    ) -> Result | None:
        gap = hidden or evidence.hides_step(run, tools=(self.tool,))
        short = [key for key, counted in sure.items() if len(counted) < self._low]
        for key in short:
            if gap is None and len(sure[key]) + len(maybe.get(key, ())) < self._low:
                position = evidence.position(sure[key][-1]) if sure[key] else None
                return violated(run, position, count=len(sure[key]))
        if gap is not None and (short or self._high != float("inf") or self.per):
            return insufficient(run, gap.gap)
        return insufficient(run, NOT_RECORDED_GAP) if short else None

    def _keys(self, evidence: Evidence, row: int) -> list[Hashable] | Hidden:
        if self.per is None:
            return [None]
        source = evidence.arguments(row)
        if isinstance(source, Hidden):
            return source
        values = list(things(reader(self.per)(source.value)))
        return source.hides(*values) or list(dict.fromkeys(map(frozen, values)))

    def _counted_so(self, evidence: Evidence, row: int, count: JsonValue) -> list[JsonValue]:
        """Values of a call that came so often in its run; where none did, all of them."""
        source = evidence.arguments(row)
        if self.per is None or isinstance(source, Hidden):
            return []
        values = list(things(reader(self.per)(source.value)))
        calls = evidence.rows(self.tool)[evidence.run[row]]
        counted = Counter(
            key
            for call in calls
            if evidence.ok[call] or not self.effects
            if isinstance(keys := self._keys(evidence, call), list)
            for key in keys
        )
        return [value for value in values if counted[frozen(value)] == count] or values

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if result.detail.get("gap") == ABSENT_GAP and result.position is not None:
            row = int(evidence.batch.offsets[result.run]) + result.position
            near = spelt_nearly(evidence, row, self.per or "")
            return Said(
                sentence=f"{step(evidence, row)} has no argument {self.per} to count it by"
                f"{did_you_mean(near)}",
                expected=self.per,
                nearest=near,
            )
        if "gap" in result.detail:
            return Said(sentence=cannot_judge(evidence, result, f"how often {self.tool} came"))
        count, did = result.detail["count"], "took effect" if self.effects else "was called"
        about = ""
        if self.per and result.position is not None:
            row = int(evidence.batch.offsets[result.run]) + result.position
            values = self._counted_so(evidence, row, count)
            about = f" for {self.per} {shown(values[0])}" if values else ""
        times = f"{count} time{'s' * (count != 1)}"
        return Said(
            sentence=f"{self.tool} {did} {times}{about}, expected {self._expected()}",
            expected=self._expected(),
            got=count,
        )

    def _expected(self) -> str:
        if self._low == self._high:
            return str(self._low)
        parts = [f"at least {self._low}"] if self._low else []
        parts += [f"at most {self._high:.0f}"] if self._high != float("inf") else []
        return " and ".join(parts)


def _spelt(key: Hashable) -> Hashable:
    """A number or text as one writes it, without blanks around it."""
    if isinstance(key, float) and key.is_integer():
        return str(int(key))
    return str(key).strip() if isinstance(key, (int, float, str)) else key
