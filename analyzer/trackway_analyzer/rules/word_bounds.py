"""What do all words of a compiled expression over names have in common?

How often a name comes at least and at most, and whether one name always comes before another. A
move by any name may be one by this name, or by another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import inf
from typing import Final

from trackway_analyzer.rules.automaton import Automaton

_LARGEST: Final = 400
"""States above which nothing is worked out: such an expression repeats its parts very often."""


class WordBounds:
    """Bounds of the words of one automaton."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        states = {*automaton.moves, *automaton.free, automaton.accepting}
        self.known = len(states) <= _LARGEST

    def _moves(self, state: int) -> Iterator[tuple[str | None, bool, int]]:
        """(name, whether it is a move at all, target) of each way out of a state."""
        yield from ((name, True, to) for name, to in self.automaton.moves.get(state, ()))
        yield from ((None, False, to) for to in self.automaton.free.get(state, ()))

    def least(self, name: str) -> int:
        """How often a name comes in every word."""
        if not self.known:
            return 0
        best = dict.fromkeys(self.automaton.start, 0)
        queue = deque(best)
        while queue:
            state = queue.popleft()
            for wanted, _, target in self._moves(state):
                cost = best[state] + (wanted == name)
                if cost < best.get(target, inf):
                    best[target] = cost
                    (queue.append if wanted == name else queue.appendleft)(target)
        return best.get(self.automaton.accepting, 0)

    def most(self, name: str) -> float:
        """How often a name comes at most in any word; infinite where there is no limit."""
        if not self.known:
            return inf
        useful = self._leading_on()
        best = {state: 0 for state in self.automaton.start if state in useful}
        for _ in range(len(useful) + 1):
            changed = False
            for state in list(best):
                for wanted, moves, target in self._moves(state):
                    cost = best[state] + (moves and wanted in (name, None))
                    if target in useful and cost > best.get(target, -1):
                        best[target] = cost
                        changed = True
            if not changed:
                return best.get(self.automaton.accepting, 0)
        return inf

    def _leading_on(self) -> set[int]:
        """States from which the end can be reached."""
        back: dict[int, list[int]] = {}
        for state in {*self.automaton.moves, *self.automaton.free}:
            for _, _, target in self._moves(state):
                back.setdefault(target, []).append(state)
        found, stack = {self.automaton.accepting}, [self.automaton.accepting]
        while stack:
            for state in back.get(stack.pop(), ()):
                if state not in found:
                    found.add(state)
                    stack.append(state)
        return found

    def always_before(self, first: str, second: str) -> bool:
        """Whether in every word that has `second`, one of `first` comes before it."""
        if not self.known:
            return False
        seen = {(state, False) for state in self.automaton.start}
        stack = list(seen)
        while stack:
            state, came = stack.pop()
            for wanted, moves, target in self._moves(state):
                if wanted == first and not came:
                    continue
                after = {came, True} if moves and wanted is None else {came or wanted == second}
                for reached in ((target, done) for done in after):
                    if reached not in seen:
                        seen.add(reached)
                        stack.append(reached)
        return (self.automaton.accepting, True) not in seen
