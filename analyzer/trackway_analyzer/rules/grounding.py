"""Does an argument come from what the agent had seen?

1. A value is grounded if it stands at one of the stated sources before the call: at a path of an
   earlier successful result of a tool (`lookup_order.id`), anywhere in such a result
   (`lookup_order`), among the ids that lookups of an entity type returned (`order`), or in the
   user's input (`input`). Without a source, anywhere in any earlier successful result or the
   user's input. Where anywhere will do, a result that is a plain text holds the words in it.
2. A list is grounded if it stands there itself or each of its elements does.
3. With a `relation`, the value need not stand anywhere: the relation must hold (`amount <=
   lookup_order.total`).
4. Every executed call of the tool is looked at, also one that failed. A call without the argument
   has nothing to ground; but where an argument of it has nearly the same name, or only says that it
   is an id (`id`, `ref`, `order_no` for `order_id`), or the names of its arguments were lost, it
   may be the one that the rule means, and the call is insufficient. So is one of which an element
   has nothing to ground where others have (`flights[*].number`).
5. A call of the same model turn grounds nothing: its result was not seen.
6. Where a gap may hide a call of the tool, seen calls that are grounded are not enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.model import JsonValue, Trajectory
from trackway_analyzer.records import Records
from trackway_analyzer.rules.entities import subjects
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expression import Expression, compiled
from trackway_analyzer.rules.finding import Result
from trackway_analyzer.rules.looked_at import compared, entities_returned, value_at
from trackway_analyzer.rules.offered import (
    INPUT,
    Seen,
    calls_of,
    candidates,
    in_source,
    is_type,
    resolved,
)
from trackway_analyzer.rules.rule import (
    Said,
    ToolRule,
    another_call,
    evidence_of,
    insufficient,
    may_hide_a_call,
    violated,
    worst,
)
from trackway_analyzer.rules.scope import StepScope
from trackway_analyzer.rules.sentences import at_step, because, cannot_judge, step
from trackway_analyzer.rules.source_path import source_path
from trackway_analyzer.rules.spelt_nearly import did_you_mean, named_otherwise, spelt_nearly
from trackway_analyzer.rules.surely import plain_keys, surely_from, surely_grounded
from trackway_analyzer.rules.terms import ABSENT_GAP, Hidden, Source
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.rules.values import is_number, lacking, likeness, reader, shown


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an argument's value was seen before the call."""

    step: int
    """Number of the call, from 1."""
    value: JsonValue
    source: str
    """`lookup_order at step 1`, or `the user's input`."""


@dataclass(frozen=True)
class Grounded(ToolRule):
    """Every value of an argument was seen in an earlier successful result or in the input."""

    argument: str
    source: str | Sequence[str] | None = None
    """Tool, tool with path, entity type or `input`; several: any of them."""
    relation: str | None = None
    """An expression that the call must fulfil instead."""

    def __post_init__(self) -> None:
        reader(self.argument)
        for name in self.sources:
            source_path(name)
        if self.relation is not None:
            compiled(self.relation)

    @property
    def sources(self) -> tuple[str, ...]:
        """The stated sources."""
        if self.source is None:
            return ()
        return (self.source,) if isinstance(self.source, str) else tuple(self.source)

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return f"{self.key}: {self.tool} {self.argument}"

    @cached_property
    def _relation(self) -> Expression | None:
        return None if self.relation is None else compiled(self.relation)

    def reads_names(self) -> frozenset[str]:
        """The sources, and what the relation reads."""
        sources = (name for name in self.sources if name != INPUT)
        return frozenset(sources) | (self._relation.names if self._relation else frozenset())

    def looks(self, tools: Tools) -> Looks | None:
        """The shape, and the argument with what its sources hold; anywhere: anything."""
        if self.relation is not None or not self.sources or INPUT in self.sources:
            return None
        types = {spec.entity.type for spec in tools.values()}
        values = [value_at(self.tool, "arguments", self.argument)]
        for source in self.sources:
            known = source in tools or source in types
            name, path = (source, "$") if known else source_path(source)
            if path != "$":
                values.append(value_at(name, "result", path))
            elif name in types and name not in tools:
                values += entities_returned(tools, name)
            else:
                return None
        return compared(values)

    def judge(self, evidence: Evidence, run: int, rows: list[int]) -> Result | None:
        """Judge where the values of one run come from."""
        judged = [r for row in rows if (r := self._judge(evidence, run, row))]
        return worst(judged) or may_hide_a_call(evidence, run, self.tool)

    def provenance(self, trajectory: Trajectory | Records) -> list[Origin]:
        """Where each value of the argument was seen, call by call."""
        evidence = evidence_of(trajectory, self.declares())
        origins = []
        for row in evidence.rows(self.tool).get(0, ()):
            values = self._values(evidence, row)
            for value in [] if isinstance(values, Hidden) else values:
                seen = self._seen(evidence, row, value)
                if seen.holds is True:
                    place = (
                        "the user's input"
                        if seen.source is None
                        else at_step(evidence, seen.source)
                    )
                    origins.append(Origin(evidence.position(row) + 1, value, place))
        return origins

    def cleared(self, evidence: Evidence) -> frozenset[int]:
        """Rows whose value a quick look finds at the one source."""
        if self._relation is not None or len(self.sources) != 1 or INPUT in self.sources:
            return frozenset()
        name, path = resolved(evidence, self.sources[0])
        if path == "$" and is_type(evidence, name):
            return surely_grounded(evidence, self.tool, self.argument, name)
        keys = plain_keys(path)
        return surely_from(evidence, self.tool, self.argument, ((name, keys),) if keys else ())

    def _judge(self, evidence: Evidence, run: int, row: int) -> Result | None:
        position = evidence.position(row)
        if self._relation is not None:
            truth = self._relation.truth(StepScope(evidence, row))
            if isinstance(truth, Hidden):
                return insufficient(run, truth.gap, position, at=truth.position)
            return None if truth is True else violated(run, position)
        values = self._values(evidence, row)
        if isinstance(values, Hidden):
            return insufficient(run, values.gap, position, at=values.position)
        if not values and self._meant(evidence, row) is not None:
            return insufficient(run, ABSENT_GAP, position)
        for index, value in enumerate(values):
            seen = self._seen(evidence, row, value)
            if isinstance(seen.holds, Hidden):
                return insufficient(run, seen.holds.gap, position, at=seen.holds.position)
            if not seen.holds:
                return violated(run, position, index=index)
        source = evidence.arguments(row)
        if isinstance(source, Source) and lacking(source.value, self.argument):
            return insufficient(run, ABSENT_GAP, position, at=position)
        return None

    def _meant(self, evidence: Evidence, row: int) -> str | None:
        """The argument of a call that may be the one to ground, under another name."""
        near = spelt_nearly(evidence, row, self.argument)
        return near or named_otherwise(evidence, row, self.argument)

    def _values(self, evidence: Evidence, row: int) -> list[JsonValue] | Hidden:
        return subjects(evidence, row, self.argument)

    def _seen(self, evidence: Evidence, row: int, value: JsonValue) -> Seen:
        whole = self._seen_whole(evidence, row, value)
        if whole.holds is True or not isinstance(value, list) or not value:
            return whole
        parts = [self._seen_whole(evidence, row, part) for part in value]
        return min(parts, key=lambda part: (part.holds is True, part.holds is not False))

    def _seen_whole(self, evidence: Evidence, row: int, value: JsonValue) -> Seen:
        seen = [in_source(evidence, row, value, name) for name in self.sources or (None, INPUT)]
        return max(seen, key=lambda s: (s.holds is True, isinstance(s.holds, Hidden)))

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if result.position is None:
            return another_call(self.tool, result)
        row = int(evidence.batch.offsets[result.run]) + result.position
        if result.detail.get("gap") == ABSENT_GAP and (near := self._meant(evidence, row)):
            return Said(
                sentence=f"{step(evidence, row)} has no argument {self.argument} to ground"
                f"{did_you_mean(near)}",
                expected=self.argument,
                nearest=near,
            )
        if "gap" in result.detail:
            return Said(sentence=cannot_judge(evidence, result, f"{self.argument}'s origin"))
        if self._relation is not None:
            reason = self._relation.because(StepScope(evidence, row))
            return Said(sentence=f"{step(evidence, row)}: {because(evidence, reason)}")
        values = self._values(evidence, row)
        assert not isinstance(values, Hidden)
        value = values[result.detail["index"]]
        near = self._nearest(evidence, row, value)
        sentence = (
            f"{step(evidence, row)}: {self.argument} {shown(value)} {self._came_from_nowhere()}"
        )
        return Said(
            sentence=f"{sentence}; nearest: {near}" if near else sentence, got=value, nearest=near
        )

    def _came_from_nowhere(self) -> str:
        if not self.sources:
            return "stands in no earlier successful result and not in the user's input"
        words = ["the user's input" if name == INPUT else name for name in self.sources]
        return f"does not come from {' or '.join(words)}"

    def _nearest(self, evidence: Evidence, row: int, value: JsonValue) -> str | None:
        seen = [
            (item, call)
            for name in self.sources or (None,)
            if name != INPUT
            for call in calls_of(evidence, row, name)
            if evidence.earlier(call, row) is True and evidence.answered(call) is True
            for item in candidates(evidence, call, name)
        ]
        alike = [pair for pair in seen if is_number(pair[0]) == is_number(value)]
        if not alike:
            return None
        item, call = max(alike, key=lambda pair: likeness(pair[0], value))
        return f"{shown(item)} from {at_step(evidence, call)}"
