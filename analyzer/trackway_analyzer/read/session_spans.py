"""A recorded session that is put down as spans: agents, model turns and calls, in their order.

1. Agents may stand below calls of other agents; each has heard its own messages. A model turn's
   input is what its agent heard since its turn before.
2. The step index is the order in which steps were put down, over all agents. Without a `clock`,
   for sessions that lie in several files, times tell the order; where one of them is missing, the
   places that the steps have in the file.
3. A time that is None was not recorded (`spans.NO_TIME`); nothing is made up.
4. What a session names and does not hold is a hole of its agent (`reconstruct.named_holes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from trackway.schema import GenAI, Trackway
from trackway_analyzer.dialects.transcript import SCOPE, UNREAD
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.foreign_values import kept, made_id
from trackway_analyzer.spans import NO_TIME, Attributes, Origin, RawSpan

_FAILED: Final = "tool_error"
_COLUMNS: Final = {
    GenAI.TOOL_CALL_ARGUMENTS: "arguments",
    GenAI.TOOL_CALL_RESULT: "result",
    GenAI.INPUT_MESSAGES: "input",
    GenAI.OUTPUT_MESSAGES: "output",
}


def all_kept(attributes: Mapping[str, JsonValue]) -> Attributes:
    """Return the attributes that are no null, each within its bounds (`kept`)."""
    own: Attributes = {}
    for key, value in attributes.items():
        kept(own, key, value, _COLUMNS.get(key))
    return own


Hole: TypeAlias = Mapping[str, JsonValue]
"""What is not there (`what`), and by what it is told that it is (`named_holes`)."""
_MOST_HOLES: Final = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """A call that was carried out, and what it came to."""

    call_id: str | None
    """None: the record does not say which request it answers."""
    tool: str
    arguments: JsonValue
    value: JsonValue
    failed: bool = False
    error_type: str | None = None
    error_message: str | None = None
    launched: bool = False
    """It was only started: what it came to is not in this answer."""
    attributes: Mapping[str, JsonValue] = field(default_factory=dict)


class SessionSpans:
    """Spans of one session on their way."""

    def __init__(self, kind: str, trace_id: str, *, clock: bool = True) -> None:
        self._trace_id = trace_id
        self._clock = clock
        self._origin = Origin(scope=f"{SCOPE}.{kind}")
        self._spans: list[RawSpan] = []
        self._heard: dict[str, list[JsonValue]] = {}
        self._steps = 0
        self._holes: dict[str, list[Hole]] = {}
        self._places: list[tuple[int, int]] = []
        """Place in the file and number of the span, of each step with a place."""

    def agent(
        self,
        name: str,
        attributes: Mapping[str, JsonValue],
        parent: str | None = None,
        *,
        span_id: str | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> str:
        """Put down an agent below a span; return its span id."""
        own = {GenAI.OPERATION_NAME: "invoke_agent", **attributes}
        return self._add(name or "agent", own, parent, start, end, span_id)

    def between(self, call: str, span_id: str) -> None:
        """Put a span down between a call and an agent that names it as what it stands below."""
        self._add("spawned", {GenAI.OPERATION_NAME: "create_agent"}, call, None, None, span_id)

    def hole(self, agent: str, hole: Hole) -> None:
        """Note what an agent's session names and does not hold."""
        holes = self._holes.setdefault(agent, [])
        if hole not in holes and len(holes) < _MOST_HOLES:
            holes.append(hole)

    def hear(self, agent: str, message: JsonValue) -> None:
        """Take in a message that the agent's next turn reads."""
        self._heard.setdefault(agent, []).append(message)

    def model(
        self,
        agent: str,
        attributes: Mapping[str, JsonValue],
        *,
        start: int | None = None,
        end: int | None = None,
        failure: str | None = None,
        span_id: str | None = None,
        place: int | None = None,
    ) -> str:
        """Put down a turn of the agent's model, which has read what was heard.

        `failure` is what a turn that failed said, `place` where it stands in the file.
        """
        heard = self._heard.pop(agent, None)
        own = {GenAI.OPERATION_NAME: "chat", GenAI.INPUT_MESSAGES: heard, **attributes}
        status = "UNSET" if failure is None else "ERROR"
        own |= self._step(place)
        return self._add("chat", own, agent, start, end, span_id, status=status, said=failure)

    def tool(
        self,
        agent: str,
        answer: Answer,
        *,
        span_id: str | None = None,
        start: int | None = None,
        end: int | None = None,
        place: int | None = None,
    ) -> str:
        """Put down a call of the agent, asked for at a place of the file; return its span id."""
        own: Attributes = {
            GenAI.OPERATION_NAME: "execute_tool",
            GenAI.TOOL_NAME: answer.tool,
            GenAI.TOOL_CALL_ID: answer.call_id,
            GenAI.TOOL_CALL_ARGUMENTS: answer.arguments,
            GenAI.TOOL_CALL_RESULT: answer.value,
            **answer.attributes,
            **self._step(place),
        }
        if answer.launched:
            own[Trackway.STREAM_ABANDONED] = True
        said = answer.error_message
        if answer.failed:
            own[GenAI.ERROR_TYPE] = answer.error_type or _FAILED
            said = said or (answer.value if isinstance(answer.value, str) else None)
            return self._add(
                answer.tool, own, agent, start, end, span_id, status="ERROR", said=said
            )
        return self._add(answer.tool, own, agent, start, end, span_id)

    def ended(self) -> list[RawSpan]:
        """Return the spans; messages that no turn read any more stand on their agent."""
        named = self._heard.keys() | self._holes.keys()
        heads = {span.span_id: span for span in self._spans if span.span_id in named}
        for agent, messages in self._heard.items():
            if agent in heads:
                kept(heads[agent].attributes, UNREAD, messages)
        for agent, holes in self._holes.items():
            if agent in heads:
                kept(heads[agent].attributes, Trackway.HOLES, [*map(dict, holes)])
        self._put_in_order()
        if self._spans and self._clock:
            self._spans[0].attributes.setdefault(Trackway.RUN_LAST_STEP, self._steps)
        return self._spans

    def _put_in_order(self) -> None:
        """Number the steps as they stand in the file, where times do not tell their order."""
        steps = [self._spans[number] for _, number in sorted(self._places)]
        if any(step.start == NO_TIME for step in steps):
            for index, step in enumerate(steps, 1):
                step.attributes[Trackway.STEP_INDEX] = index

    def _step(self, place: int | None) -> Attributes:
        if not self._clock:
            if place is not None:
                self._places.append((place, len(self._spans)))
            return {}
        self._steps += 1
        return {Trackway.STEP_INDEX: self._steps}

    def _add(
        self,
        name: str,
        attributes: Mapping[str, JsonValue],
        parent: str | None,
        start: int | None,
        end: int | None,
        span_id: str | None = None,
        *,
        status: str = "UNSET",
        said: str | None = None,
    ) -> str:
        own = all_kept(attributes)
        number = len(self._spans) + 1
        # Several files may hold one trace, each with agents of its own.
        made = f"{number:016x}" if self._clock else made_id(self._trace_id, parent, number)
        span_id = span_id or made
        self._spans.append(
            RawSpan(
                self._trace_id,
                span_id,
                name,
                NO_TIME if start is None else start,
                self._origin,
                own,
                parent,
                "INTERNAL",
                NO_TIME if end is None else end,
                status,
                said,
            )
        )
        return span_id
