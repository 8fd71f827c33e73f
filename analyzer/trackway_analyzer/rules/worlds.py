"""Rules of the sequence alone: judged once per distinct sequence, over all ways to close its gaps.

1. A shape rule is two-valued: a function of known calls that names the first one which breaks it.
   It sees of a call its tool, its kind, whether it succeeded, and its group.
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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, permutations, product
from math import inf
from typing import ClassVar, Final

import numpy as np

from trackway_analyzer.batch import Ints, RunBatch
from trackway_analyzer.model import Gap, JsonValue
from trackway_analyzer.rules.evidence import UNKNOWN, UNKNOWN_KIND, Evidence
from trackway_analyzer.rules.finding import Result, State
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP, region
from trackway_analyzer.rules.rule import Rule, Said
from trackway_analyzer.rules.sentences import at_step, number, step

MOST_WORLDS: Final = 4096
MOST_REORDERED: Final = 6
OTHER: Final = "\0other"
"""A tool that no rule names."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a shape rule sees of an executed call."""

    tool: str | None
    kind: str | None
    ok: bool
    """It succeeded: it took effect; a call that only reads: it answered."""
    group: int
    """Index of the first call of its model turn: calls of one group are unordered."""


Calls = Sequence[Call]


@dataclass(frozen=True, slots=True)
class Broken:
    """Which call breaks a rule; None: none of those that were made."""

    index: int | None
    what: str = ""


def earlier(calls: Calls, first: int, second: int) -> bool:
    """Whether one call comes before another."""
    return first < second and calls[first].group != calls[second].group


@dataclass(frozen=True)
class ShapeRule(Rule):
    """A rule that looks at tools, their order and whether they took effect."""

    every_call: ClassVar[bool] = False
    """Whether calls of tools that the rule does not name matter as well."""
    stands: ClassVar[bool] = False
    """Whether no hidden step can mend what was seen broken."""

    @property
    @abstractmethod
    def alphabet(self) -> tuple[str, ...]:
        """Tools that the rule names."""

    def speaks_of(self) -> frozenset[str]:
        """All tools that it names."""
        return frozenset(self.alphabet)

    @property
    def insertions(self) -> int:
        """How many hidden calls can matter together."""
        return 1

    def symbols(self, calls: Calls) -> tuple[str, ...]:  # noqa: ARG002
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
        evidence = self.evidence(batch)
        shapes = shapes_of(evidence)
        verdicts = [self._plain(shape) for shape in shapes.known]
        results = []
        for run, shape in enumerate(shapes.of_run.tolist()):
            verdict = (
                verdicts[shape] if run not in shapes.unsure else self._unsure(evidence, run, shapes)
            )
            if verdict is not None:
                results.append(self._result(evidence, run, *verdict))
        return results

    def _plain(self, calls: Calls) -> tuple[Broken, str | None] | None:
        found = self.broken(calls)
        return None if found is None else (found, None)

    def _unsure(
        self, evidence: Evidence, run: int, shapes: Shapes
    ) -> tuple[Broken, str | None] | None:
        possible = shapes.possible(evidence, run)
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
        rows = evidence.calls(run)
        known = broken.index is not None and broken.index < len(rows)
        position = evidence.position(rows[broken.index or 0]) if known else None
        detail: dict[str, JsonValue] = {"what": broken.what} if broken.what else {}
        if gap is not None:
            return Result(run, State.INSUFFICIENT, None, {"gap": gap})
        return Result(run, State.VIOLATED, position, detail)

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if "gap" in result.detail:
            gap = result.detail["gap"]
            why = {
                NOT_RECORDED_GAP: "whether a call took effect was not recorded",
                UNKNOWN_KIND: "the status of a call may be that of what it found, declare its kind",
                "clock_skew": "clock_skew hides the order",
            }.get(gap, f"{gap} may hide a step")
            return Said(sentence=f"{self.title} cannot be judged: {why}")
        row = None
        if result.position is not None:
            row = int(evidence.batch.offsets[result.run]) + result.position
        return self.sentence(Place(evidence, result.run, row, result.detail.get("what", "")))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule is broken: words for a sentence."""

    evidence: Evidence
    run: int
    row: int | None
    """The call that breaks it; None: none of those that were made."""
    what: str

    @property
    def tool(self) -> str | None:
        """Tool of the call."""
        return None if self.row is None else self.evidence.tool[self.row]

    @property
    def number(self) -> int:
        """Number of the step, from 1."""
        assert self.row is not None, "the rule is broken by no call"
        return number(self.evidence, self.row)

    def step(self) -> str:
        """Name the call at the beginning of a sentence."""
        assert self.row is not None, "the rule is broken by no call"
        return step(self.evidence, self.row)

    def at(self, row: int) -> str:
        """Name another call inside a sentence."""
        return at_step(self.evidence, row)

    def calls(self) -> list[int]:
        """Rows of all calls of the run."""
        return self.evidence.calls(self.run)

    def rows(self, tool: str) -> list[int]:
        """Rows of a tool's calls."""
        return self.evidence.rows(tool).get(self.run, [])

    def succeeded(self, tool: str) -> list[int]:
        """Rows of a tool's calls that succeeded."""
        return [row for row in self.rows(tool) if self.evidence.succeeded(row) is True]

    def later(self, rows: list[int]) -> list[int]:
        """Those that come after the call, in another turn."""
        own = self.row or 0
        group = self.evidence.group
        return [row for row in rows if row > own and group[row] != group[own]]

    def sooner(self, rows: list[int], *, strict: bool = True) -> list[int]:
        """Those that come before the call; strictly: in another turn."""
        own = self.row or 0
        group = self.evidence.group
        return [row for row in rows if row < own and not (strict and group[row] == group[own])]

    def instead(self, tool: str) -> str:
        """Say what became of a tool that should have succeeded, before the call if there is one."""
        own, evidence = self.row, self.evidence
        for other in self.rows(tool):
            if evidence.succeeded(other) is False:
                return f": {self.at(other)} did not succeed"
            if own is not None and evidence.group[other] == evidence.group[own]:
                return f": {self.at(other)} is of the same model turn"
            if own is not None and other > own:
                return f": {self.at(other)} came only afterwards"
        return ""


@dataclass(frozen=True, slots=True)
class Possible:
    """A run with gaps, as far as shape rules can see it."""

    calls: tuple[Call, ...]
    unsure: tuple[bool, ...]
    """Of each call: nobody knows whether it took effect."""
    slots: tuple[int, ...]
    """Places where hidden calls may stand: before the call of this index."""
    hidden: int
    """How many at the most."""
    gap: str
    """The gap that hides them."""
    why_unknown: str = NOT_RECORDED_GAP
    """The gap that hides whether a call succeeded."""
    loose: tuple[int, ...] = ()
    """Indices of calls that only skewed clocks order."""

    def recorded(self, tools: frozenset[str] | None) -> Calls:
        """The run as it was recorded; what may have taken effect did."""
        return [
            replace(call, ok=True) if open else call
            for call, open in zip(self.calls, self._open(tools), strict=True)
        ]

    def unknown(self, tools: frozenset[str] | None) -> bool:
        """Whether the effect of a call that matters is unknown."""
        return any(self._open(tools))

    def _open(self, tools: frozenset[str] | None) -> list[bool]:
        pairs = zip(self.calls, self.unsure, strict=True)
        return [unknown and _matters(call, tools) for call, unknown in pairs]

    def worlds(
        self, tools: frozenset[str] | None, symbols: tuple[str, ...], insertions: int
    ) -> Iterator[tuple[Calls, str]]:
        """All possible runs, each with the gap that makes it differ from the recorded one.

        `tools` are those whose calls matter (None: all), `symbols` those that may be hidden.
        """
        for calls in self._effects(tools):
            yield calls, self.why_unknown
            for reordered in self._orders(calls, tools):
                yield reordered, "clock_skew"
            for filled in self._filled(calls, symbols, insertions):
                yield filled, self.gap

    def _effects(self, tools: frozenset[str] | None) -> Iterator[list[Call]]:
        choices = [
            (True, False) if open else (call.ok,)
            for call, open in zip(self.calls, self._open(tools), strict=True)
        ]
        for oks in product(*choices):
            yield [replace(call, ok=ok) for call, ok in zip(self.calls, oks, strict=True)]

    def _orders(self, calls: list[Call], tools: frozenset[str] | None) -> Iterator[list[Call]]:
        moving = [i for i in self.loose if _matters(calls[i], tools)]
        if len(moving) > MOST_REORDERED:
            # Too many to try: the first and the last possible order stand for all.
            moving = moving[: MOST_REORDERED // 2] + moving[-MOST_REORDERED // 2 :]
        for order in permutations(moving):
            moved = list(calls)
            for place, source in zip(moving, order, strict=True):
                moved[place] = replace(calls[source], group=place)
            yield moved

    def _filled(
        self, calls: list[Call], tools: tuple[str, ...], insertions: int
    ) -> Iterator[list[Call]]:
        symbols = [(tool, ok) for tool in (*tools, OTHER) for ok in (True, False)]
        choices = [(slot, tool, ok) for slot in self.slots for tool, ok in symbols]
        for count in range(1, min(self.hidden, insertions) + 1):
            for added in product(choices, repeat=count):
                yield _with(calls, added)


def _matters(call: Call, tools: frozenset[str] | None) -> bool:
    return tools is None or call.tool in tools


def _with(calls: list[Call], added: Sequence[tuple[int, str, bool]]) -> list[Call]:
    """Insert hidden calls; each is a turn of its own."""
    filled: list[Call] = []
    for index in range(len(calls) + 1):
        filled += [
            Call(tool, None, ok, -1 - number)
            for number, (slot, tool, ok) in enumerate(added)
            if slot == index
        ]
        filled += calls[index : index + 1]
    return filled


@dataclass(frozen=True)
class Shapes:
    """The distinct call sequences of a batch."""

    of_run: Ints
    known: tuple[tuple[Call, ...], ...]
    unsure: frozenset[int]
    """Runs that have a gap which may matter to a shape rule."""

    def possible(self, evidence: Evidence, run: int) -> Possible:
        """A run that is unsure, with its gaps."""
        rows = evidence.calls(run)
        calls = self.known[int(self.of_run[run])]
        gaps = evidence.absence(run)
        return Possible(
            calls,
            tuple(evidence.succeeded(row) is None for row in rows),
            tuple(_slots(evidence, rows, gaps)),
            _hidden(gaps),
            gaps[0].name if gaps else "",
            next((_why(evidence, row) for row in rows if evidence.succeeded(row) is None), ""),
            tuple(_loose(evidence, rows)),
        )


def _why(evidence: Evidence, row: int) -> str:
    gap = evidence.why_unknown(row).gap
    return gap if gap == UNKNOWN_KIND else NOT_RECORDED_GAP


def _slots(evidence: Evidence, rows: list[int], gaps: tuple[Gap, ...]) -> Iterator[int]:
    places = [evidence.position(row) for row in rows]
    for index in range(len(rows) + 1):
        after = places[index - 1] if index else -1.0
        before = places[index] if index < len(rows) else inf
        if any(low < before and after < high for low, high in map(region, gaps)):
            yield index


def _hidden(gaps: tuple[Gap, ...]) -> int:
    if any(gap.name != "missing_steps" for gap in gaps):
        return MOST_WORLDS
    return sum(gap.count for gap in gaps)


def _loose(evidence: Evidence, rows: list[int]) -> Iterator[int]:
    """Calls that are unordered with at least one other."""
    for index, row in enumerate(rows):
        others = (other for other in rows if other != row)
        if any(not isinstance(evidence.earlier(row, other), bool) for other in others):
            yield index


def shapes_of(evidence: Evidence) -> Shapes:
    """Find the distinct call sequences of a batch, once."""
    return evidence.memo("shapes", partial(_shapes, evidence))


def _shapes(evidence: Evidence) -> Shapes:
    rows = np.flatnonzero(evidence.is_call)
    matrix = _matrix(evidence, rows)
    of_run = np.empty(len(evidence), dtype=np.int64)
    ids: dict[bytes, int] = {}
    known: list[tuple[Call, ...]] = []
    cuts = np.searchsorted(rows, evidence.batch.offsets).tolist()
    for run, (first, last) in enumerate(zip(cuts, islice(cuts, 1, None), strict=False)):
        key = matrix[first:last].tobytes()
        shape = ids.setdefault(key, len(known))
        if shape == len(known):
            known.append(tuple(_calls(evidence, rows[first:last].tolist(), matrix[first:last])))
        of_run[run] = shape
    return Shapes(of_run, tuple(known), frozenset(_unsure(evidence, rows)))


def _matrix(evidence: Evidence, rows: Ints) -> Ints:
    codes = [evidence.codes(name).codes[rows] for name in ("tool", "kind")]
    succeeded = evidence.success_codes[rows]
    matrix: Ints = np.column_stack([*codes, succeeded, _groups(evidence, rows)])
    return matrix


def _groups(evidence: Evidence, rows: Ints) -> Ints:
    """Of each call, the index in its run of the first call of its group."""
    if not len(rows):
        return rows
    runs = np.asarray(evidence.run, dtype=np.int64)[rows]
    groups = np.asarray(evidence.group, dtype=np.int64)[rows]
    new_run = np.concatenate([[True], runs[1:] != runs[:-1]])
    step = np.concatenate([[0], np.diff(groups)])
    starts = np.maximum.accumulate(np.where(new_run, np.arange(len(rows)), 0))
    if np.all(new_run | (step >= 0)):
        changed = new_run | (step != 0)
        firsts = np.maximum.accumulate(np.where(changed, np.arange(len(rows)), 0))
    else:  # calls of one turn with others between them
        pairs = np.stack([runs, groups], axis=1)
        _, index, inverse = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
        firsts = index[inverse.reshape(-1)]
    relative: Ints = firsts - starts
    return relative


def _calls(evidence: Evidence, rows: list[int], matrix: Ints) -> Iterator[Call]:
    for row, (_, _, succeeded, group) in zip(rows, matrix.tolist(), strict=True):
        yield Call(evidence.tool[row], evidence.kind[row], succeeded == 1, group)


def _unsure(evidence: Evidence, rows: Ints) -> Iterator[int]:
    yield from evidence.gaps
    for row in rows[evidence.success_codes[rows] == UNKNOWN].tolist():
        yield evidence.run[row]
