"""Which calls did the models of one run ask for, and what were they answered?

1. Each call in a model's recorded output is a call of that turn, in the order of the message.
2. The next inputs repeat the dialogue. A call or answer in them that is known already is no second
   one. Where an id (or, without ids, a name with arguments) occurs several times, the last
   occurrence in the input is the last known call, so that a shortened history does no harm.
3. A call that only the history knows was made by a turn whose output nobody recorded. It counts if
   it stands after the last thing that a user said: what is before belongs to earlier runs.
4. An answer goes to the call before it with its id; without an id, to the first open call of its name.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trackway_analyzer.reconstruct.columns import NONE
from trackway_analyzer.reconstruct.messages import Answer, Item, Request, Text, comparable


class Model(NamedTuple):
    """A model step."""

    entry: int
    scope: int
    time: int
    outside: bool


@dataclass(slots=True)
class Call:
    """One call that a model asked for."""

    request: Request
    key: bytes | None
    """Arguments in a form that compares."""
    turn: int
    """Entry of the model step; `NONE`: only the history knows the call."""
    asked: Model
    """The model step that asked, else the one whose input told of it."""
    group: int
    """Number of the model turn in this run."""
    place: int
    """Place in the turn's message."""
    answer: Answer | None = None
    reader: int = NONE
    """Entry of the model step that read the answer first."""
    tool: int = NONE
    """Entry of the tool step that executed it."""
    failed: bool = False
    """Whether that execution failed."""


class Dialogue:
    """The calls of one run, learned model step by model step in order of time."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._known: dict[Hashable, list[Call]] = defaultdict(list)
        self._groups = 0

    def hear(self, model: Model, items: Sequence[Item], silent: int) -> None:
        """Take in a model step's input; `silent` is the step before it if its output is missing."""
        requests = Counter(_key(item) for item in items if isinstance(item, Request))
        said = _last_user_text(items)
        seen: Counter[Hashable] = Counter()
        told: dict[str, deque[Call | None]] = defaultdict(deque)
        unnamed: dict[str | None, deque[Call]] = defaultdict(deque)
        group, place = NONE, 0
        for number, item in enumerate(items):
            if isinstance(item, Request):
                key = _key(item)
                known = self._known.get(key, ())
                nth = seen[key] + max(0, len(known) - requests[key])
                seen[key] += 1
                call = known[nth] if nth < len(known) else None
                if call is None and number > said:
                    if group == NONE:
                        group, place = self._next_group(), 0
                    call = self._add(item, silent, model, group, place)
                    place += 1
                if item.id is not None:
                    told[item.id].append(call)
                if call is not None and call.answer is None:
                    unnamed[item.name].append(call)
                    unnamed[None].append(call)
            elif isinstance(item, Answer):
                group = NONE
                self._answer(item, model, told, unnamed)

    def ask(self, model: Model, items: Sequence[Item]) -> None:
        """Take in a model step's output."""
        requests = [item for item in items if isinstance(item, Request)]
        if requests:
            group = self._next_group()
            for place, request in enumerate(requests):
                self._add(request, model.entry, model, group, place)

    def _next_group(self) -> int:
        self._groups += 1
        return self._groups

    def _add(self, request: Request, turn: int, asked: Model, group: int, place: int) -> Call:
        call = Call(request, comparable(request.arguments), turn, asked, group, place)
        self.calls.append(call)
        self._known[_key(request)].append(call)
        return call

    def _answer(
        self,
        answer: Answer,
        model: Model,
        told: dict[str, deque[Call | None]],
        unnamed: dict[str | None, deque[Call]],
    ) -> None:
        call: Call | None = None
        if answer.id is not None:
            if told.get(answer.id):
                call = told[answer.id].popleft()
            elif known := self._known.get(answer.id):
                call = known[-1]
        else:
            waiting = unnamed[answer.name]
            while waiting and (call is None or call.answer is not None):
                call = waiting.popleft()
        if call is not None and call.answer is None:
            call.answer, call.reader = answer, model.entry


def _key(request: Request) -> Hashable:
    """What a repeated request is known by."""
    return request.id or (request.name, comparable(request.arguments))


def _last_user_text(items: Sequence[Item]) -> int:
    """Place of the last text of a user; `NONE` without one."""
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        if isinstance(item, Text) and item.role == "user":
            return place
    return NONE
