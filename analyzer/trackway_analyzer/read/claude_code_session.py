"""One session of Claude Code as spans.

1. A session id is a trace. The main conversation is an agent, and so is each sub-agent, below the
   call that started it.
2. Lines of one message id are one turn of the model, however they are interleaved; lines that come
   again count once. Tokens are those of the message's last line, cached ones included.
3. A call is carried out when its result is there: from the line that asks to the line that answers.
   An id that is used again answers its calls in their order. What the provider carried out is
   answered in the message that asks. A call that a person or the settings refused was not carried
   out: the model is told so, and no more.
4. A sub-agent's file says its agent's id, the call's result names it: that joins them. Older files
   hold both; there the prompt tells. Where the call is not given, the parent is missing; where the
   sub-agent is not, its steps are (`claude_code_agents`).
5. Lines stand in the order of the file, but for those that stand before the line they follow
   (`claude_code_order`).
6. An API error is a turn that failed. Branches that a person edited away happened, and stay.
7. Other kinds of lines are counted on the agent (`claude_code.lines`).
8. A line that follows one which nobody gives, a summary at the beginning, a block of an unknown
   type that asks for a call which nobody answers, a call of a sub-agent that nobody answers, and a
   line of an unknown kind that tells of a call are holes of the run. So is what a fork copied.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from typing import Any, Final

from trackway.schema import GenAI
from trackway_analyzer.dialects.provider_calls import Told
from trackway_analyzer.dialects.values import text
from trackway_analyzer.read.call_shapes import tells_of_a_call
from trackway_analyzer.read.claude_code_agents import (
    STARTERS,
    agent_of,
    named_agent,
    started_by,
    unfolded,
    workflow_of,
)
from trackway_analyzer.read.claude_code_lineage import Conversation, Histories
from trackway_analyzer.read.claude_code_lines import (
    OTHERS,
    SPOKEN,
    Line,
    answer_in,
    api_error,
    call_in,
    first,
    heard,
    is_turn,
    parts_in,
    turn_of,
    was_broken_off,
    was_launched,
    words,
)
from trackway_analyzer.read.claude_code_order import in_order
from trackway_analyzer.read.claude_code_turns import Call, Turn, new_turn
from trackway_analyzer.read.foreign_values import made_id, time_of, trace_id_of
from trackway_analyzer.read.session_holes import forked_hole, unanswered_hole
from trackway_analyzer.read.session_spans import Answer, SessionSpans
from trackway_analyzer.spans import RawSpan

_AGENT: Final = "claude-code"


@dataclass(frozen=True, slots=True)
class _Result:
    """What a call came to, and the line that says so."""

    told: Told
    line: Line


class Session:
    """The lines of one conversation on their way."""

    def __init__(self, conversation: Conversation, histories: Histories) -> None:
        lines = in_order(conversation.lines)
        self._session = conversation.session
        self._conversation = conversation
        self._others = Counter(str(text(line.get("type"))) for line in lines)
        self._lines = unfolded(lines)
        self._histories = histories
        trace_id = trace_id_of(self._session) or made_id(self._session, digits=32)
        self._spans = SessionSpans(_AGENT, trace_id, clock=False)
        self._results = self._all_results()
        self._prompts: dict[str, str] = {}
        """Spans of calls by what they ask a sub-agent for."""
        self._callers: dict[str, str] = {}
        """Spans of calls by the name of an agent whose lines name their call alone."""
        self._places = {id(line): place for place, line in enumerate(self._lines)}

    def spans(self) -> list[RawSpan]:
        """Return the session's spans."""
        for name, lines in self._by_agent().items():
            if any(line.get("type") in SPOKEN for line in lines):
                head = self._head(name, lines)
                self._agent(head, lines)
                self._holes(head, lines)
                if not name:
                    self._beginning(head, lines)
        return self._spans.ended()

    def _by_agent(self) -> dict[str, list[Line]]:
        """Cut the lines into agents; "" is the main conversation."""
        owner: dict[str | None, str] = {}
        agents: dict[str, list[Line]] = {"": []}
        for line in self._lines:
            name = ""
            if line.get("isSidechain") is True:
                agent, parent = line.get("agentId"), line.get("parentUuid")
                name = agent if isinstance(agent, str) else owner.get(text(parent), "")
                name = name or f"sidechain {text(line.get('uuid'))}"
            owner[text(line.get("uuid"))] = name
            agents.setdefault(name, []).append(line)
        return agents

    def _head(self, name: str, lines: list[Line]) -> str:
        times = [time for line in lines if (time := time_of(line.get("timestamp"))) is not None]
        spoken = [line for line in lines if line.get("type") in SPOKEN]
        attributes: dict[str, Any] = {
            GenAI.CONVERSATION_ID: self._session,
            GenAI.AGENT_NAME: name or _AGENT,
            "claude_code.version": first(spoken, "version"),
            "claude_code.cwd": first(spoken, "cwd"),
            "claude_code.git_branch": first(spoken, "gitBranch"),
        }
        parent = None
        if name:
            asked = words(parts_in(spoken[0])) if spoken else ""
            file = self._histories.file_of(spoken[0]) if spoken else ""
            called = workflow_of(file) or name
            known = self._prompts.get(asked) or self._callers.get(name)
            parent = known or made_id(self._session, "call of", called)
        else:
            attributes["claude_code.lines"] = dict(self._others)
            attributes["claude_code.forked_from"] = self._conversation.origin
            several = self._conversation.sessions
            attributes["claude_code.sessions"] = list(several) if several[1:] else None
        return self._spans.agent(
            name or _AGENT,
            attributes,
            parent,
            span_id=made_id(self._session, "agent", name),
            start=min(times, default=None),
            end=max(times, default=None),
        )

    def _all_results(self) -> dict[str | None, deque[_Result]]:
        """Return the results of calls by call id, with the line that holds them."""
        found: dict[str | None, deque[_Result]] = defaultdict(deque)
        for line in self._lines:
            for part in parts_in(line):
                told = answer_in(line, part)
                if told is not None:
                    found[text(told.call_id)].append(_Result(told, line))
        return found

    def _agent(self, head: str, lines: list[Line]) -> None:
        turns: dict[str, Turn] = {}
        last = {turn_of(line): place for place, line in enumerate(lines) if is_turn(line)}
        asked: list[Call] = []
        for number, line in enumerate(lines):
            place = self._places[id(line)]
            if is_turn(line):
                name = turn_of(line)
                turn = turns.setdefault(name, new_turn(line, place))
                asked += turn.extend(line, place)
                if last[name] == number:
                    failure = words(turn.parts) if turn.error else None
                    self._spans.model(
                        head,
                        turn.attributes(),
                        start=turn.start,
                        end=turn.end,
                        failure=failure,
                        span_id=made_id(head, "turn", name),
                        place=turn.place,
                    )
                    self._carry_out(head, asked)
                    asked = []
            elif line.get("type") == "user":
                for message in heard(line):
                    self._spans.hear(head, message)
            elif line.get("subtype") == "api_error":
                time, error = time_of(line.get("timestamp")), line.get("error")
                said = error.get("message") if isinstance(error, dict) else None
                failure = text(said) or text(line.get("content")) or ""
                about = api_error(line)
                self._spans.model(head, about, start=time, end=time, failure=failure, place=place)

    def _carry_out(self, head: str, calls: list[Call]) -> None:
        for call in calls:
            asked = call.asked
            call_id, tool = text(asked.call_id), text(asked.name)
            results = self._results.get(call_id)
            found = results.popleft() if results else None
            if found is None or was_broken_off(found.told):
                form = (
                    None if call.unknown is None else f"a block of the unknown type {call.unknown}"
                )
                starts = tool in STARTERS
                hole = unanswered_hole(tool or "", call_id, form, starts_agent=starts)
                self._spans.hole(head, hole)
                continue
            part, line = found.told, found.line
            if part.refused:
                continue
            agent = named_agent(line)
            answer = Answer(
                call_id=call_id,
                tool=tool or "",
                arguments=asked.arguments,
                value=part.response,
                failed=part.failed,
                launched=not part.failed and was_launched(asked, line),
                attributes={"claude_code.tool_use_result": line.get("toolUseResult")},
            )
            key = ("call of", agent) if agent else ("call", line.get("uuid"), call_id)
            span = self._spans.tool(
                head,
                answer,
                span_id=made_id(self._session, *key),
                start=call.time,
                end=time_of(line.get("timestamp")),
                place=call.place,
            )
            started = started_by(tool, part, line)
            if started is not None:
                self._spans.hole(head, started.hole(span))
            self._callers[agent_of(call_id)] = span
            given = asked.arguments
            if isinstance(given, dict) and isinstance(given.get("prompt"), str):
                self._prompts.setdefault(given["prompt"], span)

    def _holes(self, head: str, lines: list[Line]) -> None:
        """Note lines that are named and not given, and those that nobody understands."""
        for line in lines:
            parent = line.get("parentUuid")
            if isinstance(parent, str) and parent and parent not in self._histories.known:
                what = f"the line {parent}, which another follows"
                self._spans.hole(head, {"what": what})
            if line.get("type") in SPOKEN:
                continue
            kind = text(line.get("type"))
            known = kind in OTHERS
            calls = [p for p in parts_in(line) if call_in(p) or p.get("type") == "tool_result"]
            if calls or (not known and tells_of_a_call(line)):
                self._spans.hole(head, {"what": f"what a line of the unknown kind {kind} tells"})

    def _beginning(self, head: str, lines: list[Line]) -> None:
        """Note that something came before the first line."""
        origin = self._conversation.origin
        first_chained = next((line for line in lines if isinstance(line.get("uuid"), str)), {})
        first_spoken = next((line for line in lines if line.get("type") in SPOKEN), {})
        if origin is not None:
            self._spans.hole(head, forked_hole(origin))
        elif first_chained.get("logicalParentUuid") or first_spoken.get("isCompactSummary") is True:
            self._spans.hole(head, {"what": "what came before the summary that it begins with"})
