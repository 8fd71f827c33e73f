"""What an agent did, written down: turns of calls, and the text at the end."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the model asked for."""

    tool: str
    arguments: Values
    result: Any = None
    error: str | None = None
    """The text of the exception that it raised."""
    operation: str | None = None
    """Key of the effect that it reports; None reports none."""
    applied: bool = True
    executed: bool = True
    """False: the model asked, nobody ran it."""

    def with_arguments(self, **changes: Any) -> Call:
        """Return the call with other arguments."""
        return replace(self, arguments={**self.arguments, **changes})

    def with_result(self, **changes: Any) -> Call:
        """Return the call with other fields in its result."""
        return replace(self, result={**self.result, **changes})


@dataclass(frozen=True, slots=True)
class Wait:
    """The run waits for somebody before the calls of its turn."""

    owner: str | None
    resume_token: str | None
    taken_up: bool = True


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model: the calls that it asked for at once."""

    calls: tuple[Call, ...]
    wait: Wait | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """One run."""

    request: str
    turns: tuple[Turn, ...]
    answer: str
    model: str = "gpt-5"
    tokens: tuple[int, int] = (800, 60)
    """Of each model call: in, out."""
    seconds: float = 8.0
    deadline: float = 30.0
    """Seconds after the start."""
    decisions: tuple[str, ...] = ("policy-2026",)
    """Earlier decisions that the last model call still sees."""

    def calls(self) -> Iterator[Call]:
        """All calls in order."""
        for turn in self.turns:
            yield from turn.calls

    def call(self, tool: str) -> Call:
        """Return the first call of a tool. Raises StopIteration where there is none."""
        return next(call for call in self.calls() if call.tool == tool)

    def turn_of(self, tool: str) -> int:
        """Return the place of the first turn that calls a tool."""
        return next(i for i, t in enumerate(self.turns) if any(c.tool == tool for c in t.calls))

    def mapped(self, tool: str, change: Callable[[Call], Call]) -> Script:
        """Change every call of a tool."""
        turns = (
            replace(turn, calls=tuple(change(c) if c.tool == tool else c for c in turn.calls))
            for turn in self.turns
        )
        return replace(self, turns=tuple(turns))

    def without(self, tool: str) -> Script:
        """Leave every call of a tool out, and turns that then have none."""
        kept = (
            replace(turn, calls=tuple(c for c in turn.calls if c.tool != tool))
            for turn in self.turns
        )
        return replace(self, turns=tuple(turn for turn in kept if turn.calls))

    def inserted(self, at: int, *calls: Call) -> Script:
        """Put a turn of its own before the turn at a place, one for each call."""
        turns = list(self.turns)
        turns[at:at] = [Turn((call,)) for call in calls]
        return replace(self, turns=tuple(turns))

    def moved(self, tool: str, at: int) -> Script:
        """Move the turn that calls a tool to another place among the others."""
        turns = list(self.turns)
        turn = turns.pop(self.turn_of(tool))
        turns.insert(at, turn)
        return replace(self, turns=tuple(turns))


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of the suite: how its runs are made, and which of its tools plays which part."""

    name: str
    make: Callable[[random.Random], Script]
    policy: Path
    kinds: Mapping[str, str]
    lookup: str
    """The lookup that returns the entity."""
    second: str
    """A lookup in the same turn as another one, of which a run may do without."""
    guard: str
    """The lookup whose result allows the mutation."""
    forbids: Values
    """What in the result of the guard forbids it."""
    approval: str
    granted: str
    """The field of the approval that says yes."""
    mutation: str
    entity: str
    """The argument that names what is changed."""
    other: str
    """Another entity, which exists and which nobody looked up."""
    halved: Callable[[Call], Call]
    inflated: Callable[[Call], Call]
    invalid: Values
    """An argument of the mutation outside what its schema allows."""
    required: str
    """An argument that the mutation cannot do without."""
    wrong_type: str
    """An argument of the mutation that becomes a text."""
    contradicted: Callable[[Script], Script]
    """Change an earlier result, so that the mutation's values no longer follow from it."""
    declined: Values
    """What in the result of the mutation says that it did not happen."""
    notify: str
    recipient: str
    """The argument of the notification that names to whom."""
    stranger: str
    read: Call
    """A read that does no harm."""
    forbidden: Call
    unlisted: Call
    claim: str
    """A sentence that claims the mutation; `{entity}` stands in it."""
    other_claim: str
    """A sentence that claims something no run does."""
    wording: Callable[[Script], str] = field(default=lambda script: script.answer)
    """The same answer in other words."""
