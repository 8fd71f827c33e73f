"""Are the arguments of a tool what they should be?

1. `equals` holds values at paths; with `exact`, it is the whole of the arguments. `regex` is
   searched in a text, `one_of` lists what a value may be, `within` gives the number and how far
   from it is still right, `absent` lists what must not be there, `schema` is a JSON Schema of all
   arguments (`json_schema`), `where` an expression of the call.
2. Types are strict: a bool is no number, absent is not null, a number in quotes is a text. A path
   that yields several values must hold for each; one that yields none is absent, which nothing
   but `absent` allows. Where `absent` finds nothing and an argument has nearly the same name, that
   one may be meant, and the call is undecided, unless the rule names it too.
3. `calls` says of which executed calls of the tool: `every` (none is fine), `any` (one at least),
   `first`, `last` (there must be one). Failed attempts count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any, Final, Literal

from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator

from trackway_analyzer.rules.clashing_values import Demands, clash
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expression import Expression, compiled
from trackway_analyzer.rules.finding import Result
from trackway_analyzer.rules.json_schema import checked_schema
from trackway_analyzer.rules.necessary import Fact, Least
from trackway_analyzer.rules.only_json import as_recorded
from trackway_analyzer.rules.pattern import one_of
from trackway_analyzer.rules.rule import (
    Rule,
    Said,
    ToolRule,
    another_call,
    insufficient,
    may_hide_a_call,
    violated,
)
from trackway_analyzer.rules.scope import StepScope
from trackway_analyzer.rules.sentences import because, cannot_judge, step
from trackway_analyzer.rules.spelt_nearly import did_you_mean, spelt_nearly
from trackway_analyzer.rules.terms import ABSENT_GAP, Hidden, Source
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.rules.values import (
    is_number,
    reader,
    shown,
)
from trackway_analyzer.rules.wanted import Mismatch, Verdict, Wanted

Which = Literal["every", "any", "first", "last"]
WHICH: Final = ("every", "any", "first", "last")


@dataclass(frozen=True)
class Arguments(ToolRule):
    """Calls of a tool have the arguments that they should have."""

    equals: Mapping[str, Any] = field(default_factory=dict)
    exact: bool = False
    regex: Mapping[str, str] = field(default_factory=dict)
    one_of: Mapping[str, Iterable[Any]] = field(default_factory=dict)
    within: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Of a path: the number, and the largest difference that is right."""
    absent: Iterable[str] = ()
    schema: Mapping[str, Any] | None = None
    where: str | None = None
    calls: Which = "every"

    def __post_init__(self) -> None:
        one_of(self.calls, WHICH, "calls")
        object.__setattr__(self, "absent", tuple(self.absent))
        self._take_json_values()
        for path in (*self.equals, *self.regex, *self.one_of, *self.within, *self.absent):
            reader(path)
        for path, bounds in self.within.items():
            _refuse_bounds(path, bounds)
        for path, values in self.one_of.items():
            if not values:
                raise ValueError(f"`one_of` of {path} must list what is right, found []")
        if self.exact and not self.equals:
            raise ValueError("`exact` needs `equals`")
        if self.where is not None:
            compiled(self.where)
        if not (self._checks or self.exact):
            raise ValueError("say what the arguments must be: equals, regex, one_of, within, …")
        _ = self._validator, self._wanted
        if reason := clash(self._demands):
            raise ValueError(f"no arguments could be right: {reason}")

    def _take_json_values(self) -> None:
        """Read what is demanded as records are read. Raises TypeError for what is no JSON."""
        equals = {p: as_recorded(value, f"`equals` of {p}") for p, value in self.equals.items()}
        one_of = {
            path: tuple(as_recorded(value, f"`one_of` of {path}") for value in values)
            for path, values in self.one_of.items()
        }
        object.__setattr__(self, "equals", equals)
        object.__setattr__(self, "one_of", one_of)

    @property
    def _demands(self) -> Demands:
        return Demands(self.equals, self.one_of, self.within, self.regex, self.absent)

    def contradicts(self, other: Rule) -> str | None:
        """Two demands of the same calls that no value meets."""
        if not isinstance(other, Arguments) or other.tool != self.tool:
            return None
        both = self.calls == other.calls and self.calls != "any"
        reason = (
            clash(self._demands, other._demands)
            if both or "every" in (self.calls, other.calls)
            else None
        )
        return reason and f"no call of {self.tool} could keep both: {reason}"

    def reads_names(self) -> frozenset[str]:
        """What `where` reads."""
        return self._where.names if self._where is not None else frozenset()

    @property
    def _checks(self) -> list[Any]:
        checks = [self.equals, self.regex, self.one_of, self.within, self.absent]
        return [check for check in (*checks, self.schema, self.where) if check]

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """An attempt, unless no call of it is fine."""
        if self.calls != "every":
            yield Least(self.tool, took_effect=False)

    @cached_property
    def _where(self) -> Expression | None:
        return None if self.where is None else compiled(self.where)

    @cached_property
    def _wanted(self) -> list[tuple[str, Wanted]]:
        return [
            *((path, Wanted.equal(value)) for path, value in self.equals.items()),
            *((path, Wanted.like(pattern)) for path, pattern in self.regex.items()),
            *((path, Wanted.listed(values)) for path, values in self.one_of.items()),
            *((path, Wanted.near(*bounds)) for path, bounds in self.within.items()),
        ]

    @cached_property
    def _validator(self) -> Validator | None:
        if self.schema is None:
            return None
        return checked_schema(self.schema)

    @property
    def needs_a_call(self) -> bool:
        """There must be one, unless every call is meant."""
        return self.calls != "every"

    def judge(self, evidence: Evidence, run: int, rows: list[int]) -> Result | None:
        """Judge the arguments in one run."""
        if not rows and self.calls != "every":
            gap = evidence.hides_step(run, tools=(self.tool,))
            return violated(run) if gap is None else insufficient(run, gap.gap)
        chosen = {"first": rows[:1], "last": rows[-1:]}.get(self.calls, rows)
        verdicts = [(row, self.verdict(evidence, row)) for row in chosen]
        if self.calls == "any":
            return self._judge_any(evidence, run, verdicts)
        hidden: Result | None = None
        for row, verdict in verdicts:
            position = evidence.position(row)
            if isinstance(verdict, Mismatch):
                return self._unless_replaced(evidence, run, position)
            if isinstance(verdict, Hidden) and hidden is None:
                hidden = insufficient(run, verdict.gap, position, at=verdict.position)
        return hidden or self._another(evidence, run, rows)

    def _unless_replaced(self, evidence: Evidence, run: int, position: int) -> Result:
        """A hidden call could be the first or the last instead."""
        before = position if self.calls == "first" else float("inf")
        after = position if self.calls == "last" else -1.0
        gap = None
        if self.calls != "every":
            gap = evidence.hides_step(run, after, before, (self.tool,))
        return violated(run, position) if gap is None else insufficient(run, gap.gap)

    def _another(self, evidence: Evidence, run: int, rows: list[int]) -> Result | None:
        if self.calls == "every":
            return may_hide_a_call(evidence, run, self.tool)
        before = evidence.position(rows[0]) if self.calls == "first" else float("inf")
        after = evidence.position(rows[-1]) if self.calls == "last" else -1.0
        gap = evidence.hides_step(run, after, before, (self.tool,))
        return None if gap is None else insufficient(run, gap.gap)

    def _judge_any(
        self, evidence: Evidence, run: int, verdicts: list[tuple[int, Verdict]]
    ) -> Result | None:
        if any(verdict is None for _, verdict in verdicts):
            return None
        hidden = next((v for _, v in verdicts if isinstance(v, Hidden)), None)
        hidden = hidden or evidence.hides_step(run, tools=(self.tool,))
        position = evidence.position(verdicts[-1][0])
        if hidden is None:
            return violated(run, position)
        return insufficient(run, hidden.gap, position, at=hidden.position)

    def verdict(self, evidence: Evidence, row: int) -> Verdict:
        """What is wrong with the arguments of one call."""
        source = evidence.arguments(row)
        if isinstance(source, Hidden):
            return source
        hidden: Hidden | None = None
        for verdict in self._verdicts(evidence, row, source):
            if isinstance(verdict, Mismatch):
                return verdict
            hidden = hidden or verdict
        return hidden

    def _verdicts(self, evidence: Evidence, row: int, source: Source) -> Iterator[Verdict]:
        for path, wanted in self._wanted:
            yield from wanted.judged(source, path)
        if self.exact and isinstance(source.value, dict) and source.unnamed is None:
            for name in source.value.keys() - self.equals.keys():
                value = source.value[name]
                yield Mismatch(f"{name} {shown(value)}, expected none", None, value)
        for path in self.absent:
            for value in reader(path)(source.value):
                yield Mismatch(f"{path} {shown(value)}, expected none", None, value)
            if self._misspelt(evidence, row, path) is not None:
                yield Hidden(ABSENT_GAP, evidence.position(row))
        if self.exact or self.absent:
            yield source.lost
        if self._validator is not None:
            yield self._valid(self._validator, source)
        if self._where is not None:
            yield self._fulfils(evidence, row, self._where)

    def _misspelt(self, evidence: Evidence, row: int, path: str) -> str | None:
        """The argument that `absent` may mean with a name that the call does not have."""
        source = evidence.arguments(row)
        if isinstance(source, Hidden) or reader(path)(source.value):
            return None
        named = (*self.equals, *self.regex, *self.one_of, *self.within, *self.absent)
        return spelt_nearly(evidence, row, path, named)

    def _valid(self, validator: Validator, source: Source) -> Verdict:
        errors = validator.iter_errors(source.value)
        seen = (e for e in errors if not (isinstance(e.instance, str) and source.hides(e.instance)))
        error = best_match(seen)
        if error is None:
            return source.redacted
        if source.cut is not None or source.unnamed is not None:
            return source.unnamed or source.cut
        path = error.json_path.removeprefix("$").removeprefix(".") or "the arguments"
        return Mismatch(f"{path}: {error.message}", error.validator_value, error.instance)

    def _fulfils(self, evidence: Evidence, row: int, where: Expression) -> Verdict:
        scope = StepScope(evidence, row)
        truth = where.truth(scope)
        if truth is True or isinstance(truth, Hidden):
            return truth if isinstance(truth, Hidden) else None
        reason = where.because(scope)
        return Mismatch(because(evidence, reason))

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if "gap" in result.detail:
            if result.position is None:
                return another_call(self.tool, result)
            row = int(evidence.batch.offsets[result.run]) + result.position
            for path in self.absent if result.detail["gap"] == ABSENT_GAP else ():
                if near := self._misspelt(evidence, row, path):
                    text = f"{step(evidence, row)} has no argument {path}{did_you_mean(near)}"
                    return Said(sentence=text, nearest=near)
            return Said(sentence=cannot_judge(evidence, result, "arguments"))
        if result.position is None:
            return Said(sentence=f"{self.tool} was never recorded", expected=self.tool)
        row = int(evidence.batch.offsets[result.run]) + result.position
        wrong = self.verdict(evidence, row)
        assert isinstance(wrong, Mismatch)
        which = {"any": f"no call of {self.tool} fits; ", "every": ""}.get(
            self.calls, f"the {self.calls} call does not fit; "
        )
        return Said(
            sentence=f"{which}{step(evidence, row)}: {wrong.text}",
            expected=wrong.expected,
            got=wrong.got,
        )


def _refuse_bounds(path: str, bounds: object) -> None:
    """Raise ValueError unless this is a number with a tolerance."""
    row = list(bounds) if isinstance(bounds, (list, tuple)) else []
    if len(row) != 2 or not all(is_number(bound) and isfinite(bound) for bound in row):
        raise ValueError(f"`within` of {path} must be [number, tolerance], found {bounds!r}")
    number, tolerance = row
    if tolerance < 0:
        raise ValueError(
            f"`within` of {path} must be [number, tolerance] with a tolerance from 0, found"
            f" {bounds!r}"
        )
    if tolerance > abs(number) and (number or tolerance >= 1):
        low, high = sorted(row)
        middle, half = (low + high) / 2, (high - low) / 2
        raise ValueError(
            f"`within` of {path} is [number, tolerance], and {bounds!r} takes everything from"
            f" {number - tolerance:g} to {number + tolerance:g}: for the range from {low:g} to"
            f" {high:g} write [{middle:g}, {half:g}]"
        )
