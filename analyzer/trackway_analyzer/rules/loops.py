"""Does the run go round in circles?

1. `NoLoops` finds, among executed calls: one call made `identical` times in a row with the same
   arguments; a cycle of two or more calls that runs `cycles` times in a row, arguments and all; the
   same result from one tool `stagnation` times in a row, whatever was asked. A failed attempt that
   is repeated counts: retrying is looping, once too often.
2. A loop is seen, unless a gap may hide a call inside it; "no loop" holds only if no gap may hide a
   call, and no hidden value would make one if it were the same as the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Result
from trackway_analyzer.rules.rule import (
    RunRule,
    Said,
    insufficient,
    may_hide_a_call,
    violated,
)
from trackway_analyzer.rules.sentences import cannot_judge, step
from trackway_analyzer.rules.terms import Hidden, Source


@dataclass(frozen=True)
class NoLoops(RunRule):
    """The run does not repeat itself. A limit of 0 switches a kind of loop off."""

    identical: int = 3
    cycles: int = 3
    stagnation: int = 0

    def __post_init__(self) -> None:
        for name in ("identical", "cycles", "stagnation"):
            limit = getattr(self, name)
            if limit < 0 or limit == 1:
                raise ValueError(f"`{name}` must be 0 or a whole number from 2, found {limit!r}")
        if not any(self._limits):
            raise ValueError("a rule against loops needs a limit: identical, cycles, stagnation")

    def judge(self, evidence: Evidence, run: int) -> Result | None:
        """Judge the calls of one run."""
        rows = evidence.calls(run)
        asked = [evidence.asked(row) for row in rows]
        broken: Result | None = None
        for index, what, length, times in self._loops(asked, [evidence.got(row) for row in rows]):
            position = evidence.position(rows[index])
            begins = evidence.position(rows[index + 1 - length * times])
            between = evidence.hides_step(run, after=begins, before=position)
            if between is None:
                return violated(run, position, what=what, length=length, times=times)
            broken = broken or insufficient(run, between.gap)
        if broken is not None:
            return broken
        hidden = next(self._hidden(evidence, rows), None)
        enough = len(rows) >= min((n for n in self._limits if n), default=0)
        if hidden is not None and enough and self._may_repeat(rows, evidence):
            return insufficient(run, hidden.gap, at=hidden.position)
        return may_hide_a_call(evidence, run)

    def _hidden(self, evidence: Evidence, rows: list[int]) -> Iterator[Hidden]:
        """What hides the values that are compared."""
        for row in rows:
            if (self.identical or self.cycles) and evidence.asked(row)[1] is None:
                yield from _why(evidence.arguments(row), evidence.position(row))
            if self.stagnation and evidence.got(row)[1] is None:
                yield from _why(evidence.result(row), evidence.position(row))

    @property
    def _limits(self) -> list[int]:
        return [self.identical, self.cycles, self.stagnation]

    def _may_repeat(self, rows: list[int], evidence: Evidence) -> bool:
        """Whether there would be a loop if hidden values were all the same."""
        asked, got = map(evidence.asked, rows), map(evidence.got, rows)
        return bool(self._loops(_if_alike(list(asked)), _if_alike(list(got))))

    def _loops(
        self, asked: list[tuple[str | None, str | None]], got: list[tuple[str | None, str | None]]
    ) -> list[tuple[int, str, int, int]]:
        """(index of the call that completes it, kind, length, times) of each loop, in order."""
        found = []
        if self.identical:
            found += [(i, "identical", 1, n) for i, n in _runs(asked, 1, self.identical)]
        if self.cycles:
            for length in range(2, len(asked) // self.cycles + 1):
                found += [(i, "cycle", length, n) for i, n in _runs(asked, length, self.cycles)]
        if self.stagnation:
            found += [(i, "stagnation", 1, n) for i, n in _runs(got, 1, self.stagnation)]
        return sorted(found)

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if "gap" in result.detail:
            return Said(sentence=cannot_judge(evidence, result, "whether the run repeats itself"))
        assert result.position is not None
        row = int(evidence.batch.offsets[result.run]) + result.position
        name, detail = step(evidence, row), result.detail
        times = detail["times"]
        if detail["what"] == "identical":
            text = f"{name} was called {times} times in a row with the same arguments"
        elif detail["what"] == "stagnation":
            text = f"{name} returned the same result {times} times in a row"
        else:
            rows = [r for r in evidence.calls(result.run) if r <= row][-detail["length"] :]
            names = ", ".join(str(evidence.tool[r]) for r in rows)  # unnamed calls are no cycle
            text = f"{name} completes the cycle {names} for the {_ordinal(times)} time"
        return Said(sentence=text, got=times)


def _if_alike(
    items: list[tuple[str | None, str | None]],
) -> list[tuple[str | None, str | None]]:
    """The same with values that are all alike, where one of them is hidden."""
    if all(text is not None for _, text in items):
        return items
    return [(tool, "") for tool, _ in items]


def _why(source: Source | Hidden, position: int) -> Iterator[Hidden]:
    """What hides a value of the step at this position, whole or in part."""
    hidden = source if isinstance(source, Hidden) else source.cut or source.redacted
    if hidden is not None:
        yield replace(hidden, position=position)


def _runs(
    items: list[tuple[str | None, str | None]], length: int, times: int
) -> Iterator[tuple[int, int]]:
    """(index of the last, times) where a block of `length` items stands `times` times in a row."""
    same = 0
    for index in range(length, len(items)):
        equal = None not in items[index] and items[index] == items[index - length]
        same = same + 1 if equal else 0
        if same == length * (times - 1):
            block = items[index - length + 1 : index + 1]
            if length == 1 or any(item != block[0] for item in block):
                yield index, times


def _ordinal(number: int) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else suffix}"
