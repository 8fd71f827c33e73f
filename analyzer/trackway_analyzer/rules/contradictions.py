"""Is there a run that keeps all rules of a policy? What they demand of it, set together.

1. Each rule states what must be so of every run that keeps it (`necessary`). Facts that hold only
   where a call occurs are used once something demands that call.
2. No run keeps all rules where a tool must come more often than it may, or one of several of which
   none may come, where more calls are needed
   than all tools may make, or where an order goes in a circle with an "earlier" in it.
3. A rule that asks for something only where a tool is called is dead where no run could call that
   tool because of it and other such rules.
4. Reported is a set of rules of which none can be left out. What is reported is contradictory; what
   lies deeper than counts and orders may be contradictory and is not found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from trackway_analyzer.rules.necessary import (
    Accompanies,
    Altogether,
    Fact,
    Follows,
    Least,
    Moment,
    Most,
    Occurs,
    OneOf,
    Order,
    Outermost,
    first_attempt,
    first_success,
    last_attempt,
    last_success,
)
from trackway_analyzer.rules.rule import Rule
from trackway_analyzer.rules.tools import Tools
from trackway_analyzer.tool_names import has_star

Edges = dict[Moment, dict[Moment, bool]]
"""Moments that are not earlier than a moment; true: that are later."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Rules that no run keeps together, each needed for it, and why."""

    rules: tuple[Rule, ...]
    why: str


def contradiction(rules: Sequence[Rule], tools: Tools) -> Contradiction | None:
    """Find rules that no run could keep together, or that no run could need."""
    facts = [
        [] if any(map(has_star, rule.means())) else list(rule.necessary(tools)) for rule in rules
    ]
    if _Demands(facts).conflict() is not None:
        return _smallest(rules, facts, [])
    conditional = [[fact for fact in own if _is_conditional(fact)] for own in facts]
    for trigger in dict.fromkeys(t for own in conditional for fact in own for t in _triggers(fact)):
        assumed: list[Fact] = [Least(trigger.tool, 1, trigger.took_effect)]
        if _Demands([*conditional, assumed]).conflict() is not None:
            found = _smallest(rules, conditional, assumed)
            why = f"{trigger.tool} could never {_verb(trigger)}: {found.why}"
            return Contradiction(found.rules, why)
    return None


def _smallest(
    rules: Sequence[Rule], facts: Sequence[list[Fact]], assumed: list[Fact]
) -> Contradiction:
    """Leave out rules one by one as long as the others contradict each other."""
    kept = list(range(len(rules)))
    for number in reversed(range(len(rules))):
        fewer = [other for other in kept if other != number]
        if _Demands([*(facts[n] for n in fewer), assumed]).conflict() is not None:
            kept = fewer
    why = _Demands([*(facts[n] for n in kept), assumed]).conflict()
    assert why is not None
    return Contradiction(tuple(rules[n] for n in kept), why)


def _is_conditional(fact: Fact) -> bool:
    return any(True for _ in _triggers(fact))


def _triggers(fact: Fact) -> Iterator[Occurs]:
    """Calls without which a fact says nothing."""
    if isinstance(fact, Follows) and not fact.tools.others:
        yield from (Occurs(tool) for tool in sorted(fact.tools.listed))
    elif isinstance(fact, (Accompanies, Most)):
        yield from () if fact.given is None else (fact.given,)
    elif isinstance(fact, Order):
        yield from fact.given


class _Demands:
    """Facts, set together."""

    def __init__(self, facts: Iterable[Iterable[Fact]]) -> None:
        self.facts = list(dict.fromkeys(fact for own in facts for fact in own))
        self.least: dict[Occurs, int] = {}
        for fact in self.facts:
            if isinstance(fact, Least):
                self._demand(Occurs(fact.tool, fact.took_effect), fact.number)
        self._follow()

    def _demand(self, call: Occurs, number: int = 1) -> bool:
        """Demand calls; a call that took effect is an attempt. Returns whether that is new."""
        calls = [call, Occurs(call.tool)] if call.took_effect else [call]
        new = [one for one in calls if self.least.get(one, 0) < number]
        self.least.update(dict.fromkeys(new, number))
        return bool(new) and number > 0

    def _follow(self) -> None:
        """Demand what the demanded calls demand."""
        changed = True
        while changed:
            changed = False
            for fact in self.facts:
                if isinstance(fact, Accompanies) and self._comes(fact.given):
                    changed |= self._demand(fact.then)
                elif isinstance(fact, Follows) and any(map(fact.tools.covers, self.called)):
                    changed |= self._demand(Occurs(fact.first, took_effect=True))

    def _comes(self, call: Occurs) -> bool:
        return self.least.get(call, 0) > 0

    @property
    def called(self) -> list[str]:
        """Tools that must be attempted."""
        return [c.tool for c, number in self.least.items() if number > 0 and not c.took_effect]

    def conflict(self) -> str | None:
        """Why no run meets the demands; None: one may."""
        return self._too_often() or self._none_of() or self._too_many() or self._circle()

    def _most(self, call: Occurs) -> float:
        """How often a call may come."""
        allowed = [
            fact.number
            for fact in self.facts
            if isinstance(fact, Most)
            and fact.tools.covers(call.tool)
            and (call.took_effect or not fact.took_effect)
            and (fact.given is None or self._comes(fact.given))
        ]
        return min(allowed, default=float("inf"))

    def _too_often(self) -> str | None:
        for call, number in sorted(self.least.items(), key=lambda item: not item[0].took_effect):
            most = self._most(call)
            if number > most:
                often = "" if number == 1 else f" {_times(number)}"
                attempts = self._most(Occurs(call.tool))
                verb = "be called" if attempts == most else "succeed"
                may = f"may {verb} {_times(int(most))} at most" if most else f"must never {verb}"
                return f"{call.tool} must {_verb(call)}{often}, and {may}"
        return None

    def _none_of(self) -> str | None:
        for fact in self.facts:
            if isinstance(fact, OneOf) and not any(self._most(Occurs(t)) for t in fact.tools):
                return f"{' or '.join(fact.tools)} must be called, and none of them may be"
        return None

    def _too_many(self) -> str | None:
        least = {c.tool: n for c, n in self.least.items() if not c.took_effect and n}
        needed, most = sum(least.values()), self._altogether()
        if needed <= most:
            return None
        listed = ", ".join(name if n == 1 else f"{name} {_times(n)}" for name, n in least.items())
        return f"{needed} calls are needed ({listed}), and {most:g} may be made"

    def _altogether(self) -> float:
        limits = (fact.number for fact in self.facts if isinstance(fact, Altogether))
        return min(limits, default=float("inf"))

    def _circle(self) -> str | None:
        edges: Edges = defaultdict(dict)
        for earlier, later, strictly in self._orders():
            edges[earlier][later] = strictly or edges[earlier].get(later, False)
        for earlier, following in list(edges.items()):
            for later, strictly in following.items():
                way = _way(edges, later, earlier) if strictly else None
                if way is not None:
                    names = [moment.tool for moment in [earlier, *way]]
                    row = [n for i, n in enumerate(names) if not i or n != names[i - 1]]
                    row = row if len(row) > 1 else row * 2
                    return f"no order is possible: {' before '.join(row)}"
        return None

    def _orders(self) -> Iterator[tuple[Moment, Moment, bool]]:
        called = self.called
        for tool in called:
            yield from self._own_orders(tool)
        for fact in self.facts:
            if isinstance(fact, Order) and all(map(self._comes, fact.given)):
                yield fact.earlier, fact.later, fact.strictly
            elif isinstance(fact, Follows):
                for tool in filter(fact.tools.covers, called):
                    yield first_success(fact.first), first_attempt(tool), True
            elif isinstance(fact, Outermost):
                for tool in called:
                    if fact.first:
                        yield first_attempt(fact.tool), first_attempt(tool), False
                    else:
                        yield last_attempt(tool), last_attempt(fact.tool), False

    def _own_orders(self, tool: str) -> Iterator[tuple[Moment, Moment, bool]]:
        """The first call is not later than the last, and the same where there is one only."""
        first, last = first_attempt(tool), last_attempt(tool)
        yield first, last, False
        if self._most(Occurs(tool)) <= 1:
            yield last, first, False
        if self._comes(Occurs(tool, took_effect=True)):
            done, done_last = first_success(tool), last_success(tool)
            yield first, done, False
            yield done, done_last, False
            yield done_last, last, False
            if self._most(Occurs(tool, took_effect=True)) <= 1:
                yield done_last, done, False


def _way(edges: Edges, start: Moment, end: Moment) -> list[Moment] | None:
    """The moments on a shortest way from one to another; None: there is none."""
    came: dict[Moment, Moment | None] = {start: None}
    queue = [start]
    for moment in queue:
        if moment == end:
            way: list[Moment] = []
            at: Moment | None = moment
            while at is not None:
                way.append(at)
                at = came[at]
            return way[::-1]
        for following in edges.get(moment, ()):
            if following not in came:
                came[following] = moment
                queue.append(following)
    return None


def _verb(call: Occurs) -> str:
    return "succeed" if call.took_effect else "be called"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")
