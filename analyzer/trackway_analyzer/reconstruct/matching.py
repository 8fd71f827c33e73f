"""Giving executions to requests: pure functions over one run's calls and tools.

Both are walked once in order of time, so the work is linear in their number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from trackway_analyzer.reconstruct.messages import comparable, quickly_parsed

if TYPE_CHECKING:
    from trackway_analyzer.reconstruct.dialogue import Call


@dataclass(slots=True)
class Tool:
    """A tool step that looks for its request."""

    entry: int
    name: str | None
    """The name that the model saw."""
    call_id: str | None
    arguments: str | None
    scope: int
    time: int
    nested: bool
    """It runs inside another tool of its agent."""
    took_effect: Callable[[], bool | None]
    complete: bool
    """Its span holds everything that the messages could add."""
    _key: bytes | None = None

    @property
    def key(self) -> bytes | None:
        """Arguments in a form that compares; None where they are not recorded."""
        if self._key is None and self.arguments is not None:
            self._key = comparable(quickly_parsed(self.arguments))
        return self._key

    @property
    def failed(self) -> bool:
        """Whether the call is known to have had no effect."""
        return self.took_effect() is False


Pair: TypeAlias = "tuple[Call, Tool]"


def latest_open(calls: Sequence[Call], tools: Sequence[Tool]) -> Iterator[Pair]:
    """Give each tool the latest open call before it; of one turn, the first.

    A call's time is its model's. Tools that come before every call get what is left, in order.
    """
    if len(calls) == len(tools) == 1:
        yield calls[0], tools[0]
        return
    turns: list[deque[Call]] = []
    early: list[Tool] = []
    for call, tool in _by_time(calls, tools):
        if call is not None:
            if not turns or turns[-1][0].group != call.group:
                turns.append(deque())
            turns[-1].append(call)
        elif tool is not None and turns:
            yield turns[-1].popleft(), tool
            if not turns[-1]:
                turns.pop()
        elif tool is not None:
            early.append(tool)
    yield from zip((call for turn in turns for call in turn), early, strict=False)


def latest_turn(calls: Sequence[Call], tools: Sequence[Tool]) -> Iterator[Pair]:
    """Give each tool the first open call of its name in the latest turn before it.

    `calls` are all calls, carried out or not: a turn whose calls are done is still the latest.
    """
    open_calls: dict[str | None, deque[Call]] = {}
    group = None
    for call, tool in _by_time(calls, tools):
        if call is not None:
            if call.group != group:
                open_calls, group = {}, call.group
            if call.tool is None:
                open_calls.setdefault(call.request.name, deque()).append(call)
        elif tool is not None and open_calls.get(tool.name):
            yield open_calls[tool.name].popleft(), tool


def tried_again(calls: Sequence[Call], tools: Sequence[Tool]) -> Iterator[Pair]:
    """Give each tool the last of these calls, which was carried out already: another try."""
    yield from ((calls[-1], tool) for tool in tools)


def after_failure(calls: Sequence[Call], tools: Sequence[Tool]) -> Iterator[Pair]:
    """Give each tool the last of these calls if the execution before it failed: another try."""
    before = calls[-1].tool
    for tool in tools:
        if before is None or not before.failed:
            return
        yield calls[-1], tool
        before = tool


def _by_time(
    calls: Sequence[Call], tools: Sequence[Tool]
) -> Iterator[tuple[Call | None, Tool | None]]:
    """Merge both by time; at the same time the call comes first."""
    place = 0
    for tool in tools:
        while place < len(calls) and calls[place].asked.time <= tool.time:
            yield calls[place], None
            place += 1
        yield None, tool
    for call in calls[place:]:
        yield call, None


def _is_open(call: Call) -> bool:
    return call.tool is None


def _is_done(call: Call) -> bool:
    return call.tool is not None


def _any(_: Call | Tool) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Stage:
    """One way of giving executions to requests."""

    rule: Callable[[Sequence[Call], Sequence[Tool]], Iterator[Pair]]
    key_of_call: Callable[[Call], Hashable]
    key_of_tool: Callable[[Tool], Hashable]
    """Calls and tools of one key are matched with each other; None matches nothing."""
    inferred: bool = True
    among: Callable[[Call], bool] = _is_open
    """Which requests it looks at."""

    def pairs(self, calls: Iterable[Call], tools: Iterable[Tool]) -> list[Pair]:
        """Match what is open."""
        found: dict[Hashable, list[Tool]] = {}
        for tool in tools:
            if not (self.inferred and (tool.nested or tool.name is None)):
                key = self.key_of_tool(tool)
                if key is not None:
                    found.setdefault(key, []).append(tool)
        if not found:
            return []
        called: dict[Hashable, list[Call]] = {}
        for call in calls:
            if self.among(call):
                called.setdefault(self.key_of_call(call), []).append(call)
        return [
            pair
            for key, some in found.items()
            if key in called
            for pair in self.rule(called[key], some)
        ]


def _id_and_name(tool: Tool) -> Hashable:
    return tool.call_id and (tool.call_id, tool.name)


def _content(tool: Tool) -> Hashable:
    return tool.key and (tool.scope, tool.name, tool.key)


def _content_anywhere(tool: Tool) -> Hashable:
    return tool.key and (tool.name, tool.key)


STAGES: Final = (
    Stage(latest_open, lambda c: (c.request.id, c.request.name), _id_and_name, inferred=False),
    Stage(latest_open, lambda c: c.request.id, lambda tool: tool.call_id, inferred=False),
    Stage(tried_again, lambda c: c.request.id, lambda tool: tool.call_id, False, _is_done),
    Stage(latest_open, lambda c: (c.asked.scope, c.request.name, c.key), _content),
    Stage(latest_turn, lambda c: c.asked.scope, lambda tool: tool.scope, among=_any),
    Stage(latest_open, lambda c: (c.request.name, c.key), _content_anywhere),
    Stage(latest_turn, _any, _any, among=_any),
    Stage(
        after_failure, lambda c: (c.asked.scope, c.request.name, c.key), _content, among=_is_done
    ),
)
"""How executions find their requests; earlier stages go first."""


@dataclass(slots=True)
class Match:
    """Which tool step belongs to which request, of one run."""

    call_of: dict[int, Call]
    """By entry of the tool step."""
    inferred: set[int]
    """Entries that were joined without a call id."""
    unmatched: dict[int, Tool]

    @classmethod
    def of(cls, calls: Sequence[Call], tools: Sequence[Tool]) -> Match:
        """Go through the stages."""
        match = cls({}, set(), {tool.entry: tool for tool in tools})
        for stage in STAGES if calls else ():
            if not match.unmatched:
                break
            for call, tool in stage.pairs(calls, match.unmatched.values()):
                call.tool = call.tool or tool
                match.call_of[tool.entry] = call
                del match.unmatched[tool.entry]
                if stage.inferred:
                    match.inferred.add(tool.entry)
        return match
