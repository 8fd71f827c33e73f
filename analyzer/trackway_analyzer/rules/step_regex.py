"""Do the calls of the run match a regular expression over tools?

1. The word is the sequence of successful calls; failed attempts are left out. How an expression
   is written stands in `automaton`.
2. Calls of tools that the expression does not name: with `extra="reads"` they are passed over
   unless they are mutations or notifications that took effect, with `"allow"` always, with
   `"forbid"` they are part of the word. An expression with `.` names every tool.
3. Calls of one model turn have no order: the word matches if any order of them does.
4. The expression is compiled once, and run over all distinct sequences at once (`turns`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, permutations
from typing import Final

from trackway_analyzer.rules.automaton import Automaton, compile_pattern
from trackway_analyzer.rules.calls import OTHER, Call, Calls, Symbol
from trackway_analyzer.rules.necessary import (
    Fact,
    Least,
    Most,
    Occurs,
    Order,
    first_success,
    no_others,
    only,
)
from trackway_analyzer.rules.pattern import EXTRAS, Extra, one_of
from trackway_analyzer.rules.place import Place
from trackway_analyzer.rules.rule import Said
from trackway_analyzer.rules.tools import MUTATE, NOTIFY, Tools
from trackway_analyzer.rules.verdicts import HOLDS, NOWHERE, Broken, Verdicts
from trackway_analyzer.rules.word_bounds import WordBounds
from trackway_analyzer.rules.words import Words
from trackway_analyzer.rules.worlds import ShapeRule

_ORDERED: Final = 12
"""Names of an expression whose orders are told beforehand; of more there are too many pairs."""


@dataclass(frozen=True)
class StepRegex(ShapeRule):
    """The successful calls of the run match the whole expression."""

    pattern: str
    extra: Extra = "reads"

    short = ("pattern",)

    def __post_init__(self) -> None:
        one_of(self.extra, EXTRAS, "extra")
        _ = self.automaton

    @cached_property
    def automaton(self) -> Automaton:
        """The compiled expression."""
        return compile_pattern(self.pattern)

    @property
    def alphabet(self) -> tuple[str, ...]:
        """Tools that the expression names."""
        return tuple(sorted(self.automaton.names))

    @property
    def every_call(self) -> bool:  # type: ignore[override]  # a field of the base
        """Unless calls that the expression does not name are passed over."""
        return self._names_every_tool or self.extra != "allow"

    @property
    def insertions(self) -> int:
        """A hidden part of the word may be as long as the expression has names."""
        return max(1, len(self.automaton.moves))

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """How often each name comes in any word, and which comes before which in every word."""
        bounds, names = WordBounds(self.automaton), sorted(self.automaton.names)
        for name in names:
            if least := bounds.least(name):
                yield Least(name, least)
            most = bounds.most(name)
            if most != float("inf"):
                yield Most(only(name), int(most), took_effect=True)
        for first, second in permutations(names[:_ORDERED], 2):
            if bounds.always_before(first, second):
                given = (Occurs(first, True), Occurs(second, True))
                yield Order(first_success(first), first_success(second), given=given)
        if self.extra != "allow" and not self._names_every_tool:
            named = [Occurs(name, True) for name in names]
            for fact in no_others(named, tools, only_changes=self.extra == "reads"):
                if isinstance(fact, Most) and fact.number == 0:
                    yield fact

    def broken(self, calls: Calls) -> Broken | None:
        """The call after which nothing can match, or the end."""
        states = self.automaton.start
        word = [index for index, call in enumerate(calls) if self._counts(call)]
        for _, same in groupby(word, key=lambda index: calls[index].group):
            turn = list(same)
            reached = self.automaton.advance_unordered(states, [calls[i].tool for i in turn])
            if not reached:
                return Broken(turn[0], self._wanted(states))
            states = reached
        return None if self.automaton.accepts(states) else Broken(None, self._wanted(states))

    def letter(self, symbol: Symbol) -> Symbol | None:
        """A call that is part of the word; those that no name fits are all the same."""
        if not self._counts(symbol):
            return None
        return symbol if symbol.tool in self.automaton.names else Symbol(OTHER, MUTATE, True)

    def at_once(self, words: Words) -> Verdicts | None:
        """Run the automaton over all sequences at once."""
        turns, automaton = words.turns, self.automaton
        counted = [
            [i for i, call in enumerate(turn) if self._counts(call)] for turn in turns.contents
        ]
        letters = [
            tuple(self._name(turn[index].tool) for index in indices)
            for turn, indices in zip(turns.contents, counted, strict=True)
        ]
        run = turns.blocks.run(
            automaton.start,
            letters,
            automaton.advance_unordered,
            lambda reached: HOLDS if automaton.accepts(reached) else NOWHERE,
        )
        if run is None:
            return None
        states, last, index = run
        if not turns.single:
            index = turns.calls(index, [indices[0] if indices else 0 for indices in counted])
        wanted = [Broken(None, self._wanted(reached)).text or "" for reached in states]
        return Verdicts(index, last, wanted)

    def _name(self, tool: str | None) -> str | None:
        return tool if tool in self.automaton.names else OTHER

    def _counts(self, call: Call | Symbol) -> bool:
        if not call.ok:
            return False
        if call.tool in self.automaton.names or self._names_every_tool or self.extra == "forbid":
            return True
        hidden = call.tool == OTHER and call.kind is None  # it may be of any kind
        return self.extra == "reads" and (hidden or call.kind in (MUTATE, NOTIFY))

    @cached_property
    def _names_every_tool(self) -> bool:
        return any(name is None for moves in self.automaton.moves.values() for name, _ in moves)

    def _wanted(self, states: frozenset[int]) -> str:
        names = ["any call" if name == "." else name for name in self.automaton.expected(states)]
        return " or ".join(names) or "nothing more"

    def sentence(self, at: Place) -> Said:
        """Name the call that does not match, and what would have."""
        if at.row is None:
            return Said(sentence=f"the run ended where {at.what} was expected", expected=at.what)
        ended = at.what == "nothing more"
        wanted = "after the last expected step" if ended else f"expected {at.what}"
        return Said(sentence=f"{at.step()}: {wanted}", expected=at.what, got=at.tool)
