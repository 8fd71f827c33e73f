"""Which model turns and calls do the messages of a chat tell of?

1. Messages of any provider are brought to one form first (`dialects.messages`): OpenAI, Anthropic,
   Responses items, LangChain, Gemini.
2. A message of the assistant is a model turn; of Responses items, neighbours are one. What was
   said since the turn before is its input. What the provider carried out for the model stands in
   the turn: its calls come behind it.
3. An answer is the execution of a call: by call id, the oldest open call with it; without an id,
   the oldest open call of its name or at all, and the span then bears no call id, so that the join
   is marked as inferred. An answer to no call is an execution that nobody asked for. A call that
   was refused was not carried out: the model is told so, and no more. The tool of an answer is the
   one of its call; the name beside it, which may be the speaker's, counts where no call is known.
4. What looks like a call and is none that is known is a hole of the run (`message_shapes`).
5. A call in a message of the user is the simulated user's own, and so is its answer: no step of the
   agent, and the agent does not read it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trackway_analyzer.dialects.message_forms import Message, own_call, read_message
from trackway_analyzer.dialects.parts import Part
from trackway_analyzer.dialects.provider_calls import ITEMS
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.names_held import names_held
from trackway_analyzer.read.transcripts.beside_messages import MESSAGE_KEYS, tell_of_the_rest
from trackway_analyzer.read.transcripts.message_shapes import PARTS, call_like, plain_messages
from trackway_analyzer.read.transcripts.unusual_roles import is_unknown_role
from trackway_analyzer.read.transcripts.written import Result, WrittenRun, kept, nanoseconds
from trackway_analyzer.spans import NO_TIME, Attributes

_CALL: Final = "tool_call"
_ANSWER: Final = "tool_call_response"
_OF_ANSWER: Final = ("role", "content", "tool_call_id", "name", "type", "call_id", "output")
_ITEMS: Final = frozenset(["message", "function_call", "reasoning"]) | ITEMS
"""Types of Responses items of which a turn may have several."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a file knows of a turn or an execution beside the message."""

    attributes: Attributes = field(default_factory=dict)
    start: int = NO_TIME
    end: int = NO_TIME


Look = Callable[[Mapping[str, JsonValue]], Facts]
"""Message to what the file knows of its turn, or of the execution that it answers."""


def stamped(message: Mapping[str, JsonValue]) -> Facts:
    """Take the time that a message bears: it is when the message was complete."""
    return Facts(end=nanoseconds(message.get("timestamp")))


def write_dialogue(
    run: WrittenRun, messages: Iterable[Any], *, turn: Look = stamped, execution: Look = stamped
) -> None:
    """Put down the turns and calls of a list of messages; what is no message is left out."""
    dialogue = _Dialogue(run, turn, execution)
    called: set[str] = set()
    beside: list[Mapping[str, Any]] = []
    for raw in messages:
        if not isinstance(raw, dict):
            if raw:
                run.hole("an entry among the messages that is none")
            continue
        for each in plain_messages(raw):
            message = read_message(each, "user")
            dialogue.take(each, message)
            for what in call_like(each, None if message is None else message.parts):
                run.hole(what)
            if message is not None and is_unknown_role(message.role):
                run.hole(f"a message of the role {message.role[:64]}, which nobody knows")
            for part in message.parts if message is not None else ():
                if part.get("type") not in PARTS:
                    run.names.update(names_held(part))
            rest = {key: value for key, value in each.items() if key not in MESSAGE_KEYS}
            usual = {k: v for k, v in each.items() if k not in rest} if rest else each
            called.update(_called(message if usual is each else read_message(usual, "user")))
            if message is not None and own_call(each) in message.parts:
                run.hole("a message that is a call itself, in no form that is known")
            if message is not None and message.role == "tool":
                run.names.update(names_held(rest))  # an answer may repeat its call
            elif rest:
                beside.append(rest)
    dialogue.speak()
    for told in beside:
        tell_of_the_rest(run, told, called)
    run.called |= called
    run.names -= called


def _called(message: Message | None) -> Iterator[str]:
    """Yield the names of the tools that a message calls."""
    for part in message.parts if message is not None else ():
        if part.get("type") == _CALL and isinstance(part.get("name"), str):
            yield part["name"]


@dataclass(slots=True)
class _Open:
    """A call that waits for its answer."""

    call: Part
    by_user: bool
    answered: bool = False


class _Dialogue:
    def __init__(self, run: WrittenRun, turn: Look, execution: Look) -> None:
        self._run = run
        self._turn = turn
        self._execution = execution
        self._saying: list[dict[str, Any]] = []
        """Items of a turn that is not over."""
        self._ran: list[tuple[dict[str, Any], Part]] = []
        """What the provider carried out for that turn."""
        self._open: dict[tuple[str, JsonValue], deque[_Open]] = defaultdict(deque)
        """Calls by id and by name, and all of them, the oldest first."""

    def take(self, raw: dict[str, Any], message: Message | None) -> None:
        """Take in the next message; `message` is None where it is none that is known."""
        kind = raw.get("type")
        is_item = isinstance(kind, str) and kind in _ITEMS
        if message is None and not is_item:
            return
        by_agent = message is None or message.role == "assistant"
        if not (by_agent and is_item):
            self.speak()
        calls = [part for part in message.parts if part.get("type") == _CALL] if message else []
        answers = [part for part in message.parts if part.get("type") == _ANSWER] if message else []
        for call in calls:
            self._asked(call, by_user=not by_agent)
        by_user: list[bool] = []
        if by_agent:
            self._saying.append(raw)
            self._ran += [(raw, part) for part in answers]
            if not is_item:
                self.speak()
        else:
            alone = len(answers) == 1
            by_user = [self._answered(raw, part, alone=alone) for part in answers]
        if not by_agent and not calls and not any(by_user):
            self._run.hear(raw)

    def _asked(self, call: Part, *, by_user: bool) -> None:
        call_id, name = call.get("id"), call.get("name")
        if call.get("by_provider") and any(not o.answered for o in self._open["id", call_id]):
            return  # Leave was asked for it before.
        waiting = _Open(call, by_user)
        self._open["any", None].append(waiting)
        if call_id is not None:
            self._open["id", call_id].append(waiting)
        if isinstance(name, str):
            self._open["name", name].append(waiting)

    def speak(self) -> None:
        """Put down the turn whose items were taken in, and what was carried out in it."""
        if self._saying:
            facts = self._turn(self._saying[-1])
            self._run.turn(self._saying, facts.attributes, start=facts.start, end=facts.end)
            self._saying = []
        ran, self._ran = self._ran, []
        for raw, answer in ran:
            self._answered(raw, answer, alone=False)

    def _answered(self, raw: dict[str, Any], answer: Part, *, alone: bool) -> bool:
        """Put down an execution; True where it was the simulated user's."""
        call_id, name = answer.get("id"), answer.get("name")
        name = name if isinstance(name, str) else None
        name = name or (text if isinstance(text := raw.get("function"), str) else None)
        asked = self._waiting("id", call_id) if call_id is not None else None
        if call_id is None:
            asked = self._waiting("name", name) if name is not None else self._waiting("any", None)
            if asked is None and any(not each.answered for each in self._open["any", None]):
                self._run.hole("an answer under a name by which no open call was asked for")
        call = asked.call if asked is not None else {}
        if answer.get("refused") is True:
            return False
        by_user = raw.get("requestor") == "user" or (asked is not None and asked.by_user)
        error, content = raw.get("error"), raw.get("content")
        facts = self._execution(raw)
        self._run.result(
            Result(
                call_id=call_id,
                tool=call.get("name") or name,
                arguments=call.get("arguments"),
                value=content if alone and isinstance(content, str) else answer.get("response"),
                failed=answer.get("is_error") is True or bool(error),
                error_type=_error_type(error),
                by_user=by_user,
                start=facts.start,
                end=facts.end,
                attributes=(kept(raw, _OF_ANSWER) if alone else {}) | facts.attributes,
            )
        )
        return by_user

    def _waiting(self, index: str, key: JsonValue) -> _Open | None:
        calls = self._open.get((index, key), ())
        while calls:
            waiting = calls.popleft()
            if not waiting.answered:
                waiting.answered = True
                return waiting
        return None


def _error_type(error: JsonValue) -> str | None:
    kind = error.get("type") if isinstance(error, dict) else None
    return kind if isinstance(kind, str) else None
