"""Regular expressions over names, compiled to an automaton.

    lookup_order+ (check_policy | get_rules)* "refund_api.create" send_email?

1. Names stand beside each other with spaces between; a name may have dots, hyphens and colons. `.`
   is any name. A name with other characters stands in quotes.
2. `|` chooses; `*`, `+`, `?`, `{2}`, `{1,3}`, `{2,}` repeat what stands before; parentheses group.
3. `advance` moves a set of states by one name; `advance_unordered` by several names in any order.

Thompson's construction: states are numbers, `moves` goes by a name (None: any), `free` without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import lark

States = frozenset[int]
MOST_REPEATED: Final = 1000

_GRAMMAR: Final = r"""
?start: choice
?choice: row ("|" row)*
?row: repeated+
?repeated: atom REPEAT -> repeat
    | atom
?atom: NAME -> name
    | QUOTED -> quoted
    | "." -> anything
    | "(" choice ")"
REPEAT: "*" | "+" | "?" | /\{\d*,?\d*\}/
NAME: /[^\W\d][\w:\/-]*(?:\.[\w:\/-]+)*/
QUOTED: /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/
%ignore /\s+/
"""
_PARSER: Final = lark.Lark(_GRAMMAR, parser="lalr")


@dataclass(frozen=True, slots=True)
class Automaton:
    """A compiled expression."""

    start: States
    accepting: int
    moves: dict[int, list[tuple[str | None, int]]]
    free: dict[int, list[int]]
    names: frozenset[str]
    reached: dict[tuple[States, tuple[str | None, ...]], States] = field(
        default_factory=dict, compare=False, repr=False
    )
    """Steps that were worked out before."""

    def close(self, states: Iterable[int]) -> States:
        """Add all states that are reached without a name."""
        seen = set(states)
        stack = list(seen)
        while stack:
            for state in self.free.get(stack.pop(), ()):
                if state not in seen:
                    seen.add(state)
                    stack.append(state)
        return frozenset(seen)

    def advance(self, states: States, name: str | None) -> States:
        """States after one more name."""
        reached = {
            target
            for state in states
            for wanted, target in self.moves.get(state, ())
            if wanted is None or wanted == name
        }
        return self.close(reached)

    def advance_unordered(self, states: States, names: Sequence[str | None]) -> States:
        """States after these names in any order."""
        wanted = tuple(sorted(names, key=str))
        key = states, wanted
        if key not in self.reached:
            single = len(wanted) == 1
            self.reached[key] = (
                self.advance(states, wanted[0]) if single else self._advanced(states, wanted)
            )
        return self.reached[key]

    def _advanced(self, states: States, wanted: tuple[str | None, ...]) -> States:
        layer: dict[tuple[str | None, ...], States] = {(): states}
        for _ in wanted:
            following: dict[tuple[str | None, ...], set[int]] = {}
            for taken, reached in layer.items():
                for name in set(_rest(wanted, taken)):
                    key = tuple(sorted((*taken, name), key=str))
                    following.setdefault(key, set()).update(self.advance(reached, name))
            layer = {key: frozenset(reached) for key, reached in following.items()}
        return frozenset(state for reached in layer.values() for state in reached)

    def accepts(self, states: States) -> bool:
        """Whether the word may end here."""
        return self.accepting in states

    def expected(self, states: States) -> list[str]:
        """Names that may come next; `.`: any."""
        found = {"." if name is None else name for s in states for name, _ in self.moves.get(s, ())}
        return sorted(found)


def _rest(names: Sequence[str | None], taken: tuple[str | None, ...]) -> list[str | None]:
    rest = list(names)
    for name in taken:
        rest.remove(name)
    return rest


def compile_pattern(text: str) -> Automaton:
    """Compile an expression over names. Raises ValueError that says where it is wrong."""
    try:
        tree = _PARSER.parse(text)
    except lark.UnexpectedInput as error:
        at = "at its end" if error.pos_in_stream in (None, -1) else f"at {error.pos_in_stream + 1}"
        raise ValueError(f"{text!r} is no pattern of steps: cannot read it {at}") from error
    builder = _Builder()
    start, end = builder.fragment(tree)
    automaton = Automaton(
        frozenset({start}), end, builder.moves, builder.free, frozenset(builder.names)
    )
    return Automaton(automaton.close({start}), end, builder.moves, builder.free, automaton.names)


@dataclass(slots=True)
class _Builder:
    moves: dict[int, list[tuple[str | None, int]]] = field(default_factory=dict)
    free: dict[int, list[int]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    states: int = 0

    def _state(self) -> int:
        self.states += 1
        return self.states

    def _link(self, start: int, end: int) -> None:
        self.free.setdefault(start, []).append(end)

    def fragment(self, tree: Any) -> tuple[int, int]:
        """Build the part of the automaton for a part of the expression: (start, end)."""
        if tree.data == "name":
            return self._move(str(tree.children[0]))
        if tree.data == "quoted":
            return self._move(str(tree.children[0])[1:-1])
        if tree.data == "anything":
            return self._move(None)
        if tree.data == "repeat":
            return self._repeat(*tree.children)
        parts = [self.fragment(child) for child in tree.children]
        if tree.data == "choice":
            return self._either(parts)
        for (_, end), (start, _) in pairwise(parts):
            self._link(end, start)
        return parts[0][0], parts[-1][1]

    def _move(self, name: str | None) -> tuple[int, int]:
        start, end = self._state(), self._state()
        self.moves.setdefault(start, []).append((name, end))
        if name is not None:
            self.names.add(name)
        return start, end

    def _either(self, parts: list[tuple[int, int]]) -> tuple[int, int]:
        start, end = self._state(), self._state()
        for first, last in parts:
            self._link(start, first)
            self._link(last, end)
        return start, end

    def _repeat(self, tree: Any, sign: str) -> tuple[int, int]:
        low, high = _bounds(str(sign))
        start = end = self._state()
        for _ in range(low):
            first, last = self.fragment(tree)
            self._link(end, first)
            end = last
        if high is None:
            first, last = self.fragment(tree)
            self._link(end, first)
            self._link(last, end)
            return start, end
        done = self._state()
        for _ in range(high - low):
            first, last = self.fragment(tree)
            self._link(end, done)
            self._link(end, first)
            end = last
        self._link(end, done)
        return start, done


def _bounds(sign: str) -> tuple[int, int | None]:
    simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
    if sign in simple:
        return simple[sign]
    low, comma, high = sign[1:-1].partition(",")
    least = int(low or 0)
    most = int(high) if high else (None if comma else least)
    if (
        not (low or high)
        or (most is not None and most < least)
        or max(least, most or 0) > MOST_REPEATED
    ):
        raise ValueError(f"{sign!r} is no number of repetitions up to {MOST_REPEATED}")
    return least, most
