"""Do the calls of the run match a regular expression over tools?

1. The word is the sequence of successful calls; failed attempts are left out. How an expression
   is written stands in `automaton`.
2. Calls of tools that the expression does not name: with `extra="reads"` they are passed over
   unless they are mutations or notifications that took effect, with `"allow"` always, with
   `"forbid"` they are part of the word. An expression with `.` names every tool.
3. Calls of one model turn have no order: the word matches if any order of them does.
4. The expression is compiled once, and run once per distinct sequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from trackway_analyzer.rules.automaton import Automaton, compile_pattern
from trackway_analyzer.rules.calls import Call, Calls
from trackway_analyzer.rules.pattern import EXTRAS, Extra, one_of
from trackway_analyzer.rules.place import Place
from trackway_analyzer.rules.rule import Said
from trackway_analyzer.rules.tools import MUTATE, NOTIFY
from trackway_analyzer.rules.worlds import Broken, ShapeRule


@dataclass(frozen=True)
class StepRegex(ShapeRule):
    """The successful calls of the run match the whole expression."""

    pattern: str
    extra: Extra = "reads"

    short = ("pattern",)
    every_call = True

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
    def insertions(self) -> int:
        """A hidden part of the word may be as long as the expression has names."""
        return max(1, len(self.automaton.moves))

    def broken(self, calls: Calls) -> Broken | None:
        """The call after which nothing can match, or the end."""
        states = self.automaton.start
        index = 0
        while index < len(calls):
            group, size = calls[index].group, len(calls)
            end = next((i for i in range(index, size) if calls[i].group != group), size)
            turn = range(index, end)
            word = [calls[i].tool for i in turn if self._counts(calls[i])]
            reached = self.automaton.advance_unordered(states, word)
            if not reached:
                first = next(i for i in turn if self._counts(calls[i]))
                return Broken(first, self._wanted(states))
            states = reached
            index = end
        return None if self.automaton.accepts(states) else Broken(None, self._wanted(states))

    def _counts(self, call: Call) -> bool:
        if not call.ok:
            return False
        if call.tool in self.automaton.names or self._names_every_tool or self.extra == "forbid":
            return True
        return self.extra == "reads" and call.kind in (MUTATE, NOTIFY)

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
