"""Which calls did the models of one run ask for, and what were they answered?

1. Each call in a model's recorded output is a call of that turn, in the order of the message.
2. The next inputs repeat the dialogue. A call in them that is known already, by its id, else by
   name and arguments (some histories bear other ids), is no second one. Where it occurs several
   times, the last occurrence in the input is the last known call, so that a shortened history does
   no harm; what the agent's first input tells from before the user's last word is earlier still.
3. A call that only the history knows was made by a turn whose output nobody recorded. It counts if
   it stands after the last thing that a user said: what is before belongs to earlier runs.
4. An answer goes to the call before it with its id; without an id, to the first open call of its
   name. Where a provider runs a tool itself, the answer stands in the output that asks; if it
   lacks, and the output goes on behind the call, the call was carried out all the same. What the
   provider was allowed to run is the call for which it asked leave before.
5. An answer since the user's last word whose call nobody knows is a call of its own, of which the
   record says neither what was asked nor, as a rule, which tool.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trackway_analyzer.model import NOT_RECORDED
from trackway_analyzer.reconstruct.columns import NONE
from trackway_analyzer.reconstruct.matching import Tool
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
    tool: Tool | None = None
    """The tool step that executed it first."""

    @property
    def key(self) -> bytes | None:
        """Arguments in a form that compares; None where they are not recorded."""
        return comparable(self.request.arguments)


class Dialogue:
    """The calls of one run, learned model step by model step in order of time."""

    def __init__(self, asked: Collection[str | None] = ()) -> None:
        """`asked` are the ids of all calls that outputs of the run ask for, whenever they do."""
        self._asked = asked
        self.calls: list[Call] = []
        self._by_id: dict[Hashable, list[Call]] = defaultdict(list)
        self._by_content: dict[Hashable, list[Call]] = defaultdict(list)
        self._learned = 0
        self._news: dict[str | None, int] = {}
        self._groups = 0
        self._earlier: dict[int, Counter[Hashable]] = {}
        """By agent: what its first input tells from before the last word of the user."""
        self._contents: dict[int, tuple[Request, tuple[str | None, bytes | None]]] = {}
        """What each request is recognised by, by its identity: histories repeat it."""

    def hear(self, model: Model, items: Sequence[Item], silent: int) -> None:
        """Take in a model step's input; `silent` is the step before it if its output is missing."""
        self._learn()
        requests = [item for item in items if isinstance(item, Request)]
        known = self._recognised(requests, model.scope)
        said = _last_user_text(items)
        if items and model.scope not in self._earlier:
            before = sum(isinstance(item, Request) for item in items[: max(said, 0)])
            fresh = [r for r, call in zip(requests[:before], known, strict=False) if call is None]
            keys = [key for wanted in self._keys(fresh, model.scope) for key in wanted]
            self._earlier[model.scope] = Counter(keys)
        told: dict[str, deque[Call | None]] = defaultdict(deque)
        unnamed: dict[str | None, deque[Call]] = defaultdict(deque)
        group, place = NONE, 0
        for number, item in enumerate(items):
            if isinstance(item, Request):
                call = known.popleft()
                if call is None and number > said:
                    if group == NONE:
                        group, place = self._next_group(), 0
                    call = self._add(item, silent, model, group, place)
                    place += 1
                    if silent == NONE:
                        self._news[item.id] = model.entry
                if item.id is not None:
                    told[item.id].append(call)
                if call is not None and call.answer is None:
                    unnamed[item.name].append(call)
                    unnamed[None].append(call)
            elif isinstance(item, Answer):
                group = NONE
                self._answer(item, model, told, unnamed)
                if number > said and self._is_of_no_call(item, told):
                    unknown = Request(item.id, item.name, NOT_RECORDED)
                    call = self._add(unknown, NONE, model, self._next_group(), 0)
                    call.answer, call.reader = item, model.entry

    def ask(self, model: Model, items: Sequence[Item]) -> None:
        """Take in a model step's output."""
        requests = [item for item in items if isinstance(item, Request)]
        if not requests:
            return
        group = self._next_group()
        own: list[Call] = []
        for place, request in enumerate(requests):
            if not self._told_before(model, request):
                allowed = self._allowed(request)
                own.append(allowed or self._add(request, model.entry, model, group, place))
        _answer_at_once(own, items)

    def _allowed(self, request: Request) -> Call | None:
        """Return the open call that a provider now carries out, for which leave was asked."""
        if not (request.by_provider and request.id is not None):
            return None
        self._learn()
        known = self._by_id.get(request.id)
        return known[-1] if known and known[-1].answer is None else None

    def _recognised(self, requests: Sequence[Request], scope: int) -> deque[Call | None]:
        """Return for each request of a history the call that it repeats, None if it is news."""
        found: list[Call | None] = [None] * len(requests)
        taken: set[int] = set()
        earlier = self._earlier.get(scope, Counter())
        indexes = (self._by_id, self._by_content)
        for known, wanted in zip(indexes, self._keys(requests, scope), strict=True):
            keys = [key if call is None else None for key, call in zip(wanted, found, strict=True)]
            counts, seen = Counter(keys), Counter[Hashable]()
            open_calls = {
                key: [call for call in known.get(key, ()) if id(call) not in taken]
                for key in counts
                if key is not None
            }
            for place, key in enumerate(keys):
                if key is None:
                    continue
                calls = open_calls[key]
                more = counts[key] - len(calls)
                nth = seen[key] - (min(more, earlier[key]) if more > 0 else more)
                seen[key] += 1
                if 0 <= nth < len(calls):
                    found[place] = calls[nth]
                    taken.add(id(calls[nth]))
        return deque(found)

    def _keys(
        self, requests: Sequence[Request], scope: int
    ) -> tuple[list[Hashable], list[Hashable]]:
        """Return what the requests of a history are recognised by: ids, and contents."""
        # Without ids a history may come from another agent; with other ids it is one's own.
        contents: list[Hashable] = [
            (None if request.id is None else scope, *self._content_of(request))
            for request in requests
        ]
        return [request.id for request in requests], contents

    def _content_of(self, request: Request) -> tuple[str | None, bytes | None]:
        known = self._contents.get(id(request))
        if known is None:
            known = request, (request.name, comparable(request.arguments))
            self._contents[id(request)] = known
        return known[1]

    def _is_of_no_call(self, answer: Answer, told: Mapping[str, object]) -> bool:
        known = (told, self._by_id, self._asked)
        return answer.id is not None and not any(answer.id in ids for ids in known)

    def _told_before(self, model: Model, request: Request) -> bool:
        """Some spans hold the messages of several turns: their input answers what they ask."""
        return request.id is not None and self._news.get(request.id) == model.entry

    def _learn(self) -> None:
        """Index the calls since the last input."""
        for call in self.calls[self._learned :]:
            if call.request.id is not None:
                self._by_id[call.request.id].append(call)
            content = self._content_of(call.request)
            for scope in (None, call.asked.scope):
                self._by_content[(scope, *content)].append(call)
        self._learned = len(self.calls)

    def _next_group(self) -> int:
        self._groups += 1
        return self._groups

    def _add(self, request: Request, turn: int, asked: Model, group: int, place: int) -> Call:
        call = Call(request, turn, asked, group, place)
        self.calls.append(call)
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
            elif known := self._by_id.get(answer.id):
                call = known[-1]
        else:
            waiting = unnamed[answer.name]
            while waiting and (call is None or call.answer is not None):
                call = waiting.popleft()
        if call is not None and call.answer is None:
            call.answer, call.reader = answer, model.entry


def _answer_at_once(calls: Sequence[Call], items: Sequence[Item]) -> None:
    """Give the calls of an output the answers that stand in it."""
    by_id = {call.request.id: call for call in calls}
    unnamed = deque(call for call in calls if call.request.id is None)
    for item in items:
        if not isinstance(item, Answer):
            continue
        if item.id is not None and item.id in by_id:
            by_id[item.id].answer = item
        elif item.id is None and unnamed:
            unnamed.popleft().answer = item
    if not items or isinstance(items[-1], Request):
        return
    for call in calls:
        if call.answer is None and call.request.by_provider:
            call.answer = Answer(call.request.id, None, NOT_RECORDED, failed=False)


def _last_user_text(items: Sequence[Item]) -> int:
    """Place of the last text of a user; `NONE` without one."""
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        if isinstance(item, Text) and item.role == "user":
            return place
    return NONE
