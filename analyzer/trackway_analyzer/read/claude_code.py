"""Session lines of Claude Code (`~/.claude/projects/*/*.jsonl`) as spans.

1. A session id is a trace; its lines may lie in several files. The main conversation is an agent,
   and so is each sub-agent, below the call that started it.
2. Lines of one message id are one turn of the model, however they are interleaved; lines that come
   again count once. Tokens are those of the message's last line, cached ones included.
3. A call is carried out when its result is there: from the line that asks to the line that answers.
   An id that is used again answers its calls in their order. What the provider carried out is
   answered in the message that asks. A call that a person or the settings refused was not carried
   out: the model is told so, and no more.
4. A sub-agent's file says its agent's id, the call's result names it: that joins them. Older files
   hold both; there the prompt tells. Where the call is not given, the parent is missing.
5. Lines stand in the order of the file, but for those that stand before the line they follow
   (`claude_code_order`).
6. An API error is a turn that failed. Branches that a person edited away happened, and stay.
7. Other kinds of lines are counted on the agent (`claude_code.lines`).
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trackway.schema import GenAI
from trackway_analyzer.dialects.provider_calls import Asked, Told
from trackway_analyzer.dialects.values import text
from trackway_analyzer.read.claude_code_lines import (
    Line,
    answer_in,
    api_error,
    call_in,
    first,
    heard,
    is_turn,
    parts_in,
    readable,
    turn_of,
    words,
)
from trackway_analyzer.read.claude_code_order import in_order
from trackway_analyzer.read.foreign_values import made_id, time_of, trace_id_of
from trackway_analyzer.read.json_documents import Located
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.session_spans import Answer, SessionSpans
from trackway_analyzer.spans import RawSpan

_AGENT: Final = "claude-code"
_SPOKEN: Final = ("user", "assistant")
_OTHERS: Final = frozenset(
    [
        "system",
        "summary",
        "attachment",
        "progress",
        "queue-operation",
        "file-history-snapshot",
        "last-prompt",
        "custom-title",
        "ai-title",
        "agent-name",
        "permission-mode",
    ]
)
_INPUTS: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def begins_claude_code(document: Any) -> bool:
    """Tell whether a document is a line of a session."""
    if not isinstance(document, dict):
        return False
    kind = document.get("type")
    if not isinstance(kind, str):
        return False
    if kind in _SPOKEN:
        told = isinstance(document.get("message"), dict)
        return told and "uuid" in document and "sessionId" in document
    if kind == "summary":
        return "leafUuid" in document
    return kind in _OTHERS and ("sessionId" in document or "messageId" in document)


def claude_code_spans(lines: Sequence[Located], quarantine: Quarantine) -> Iterator[RawSpan]:
    """Return the lines of a file as the spans of its sessions."""
    sessions: dict[str, list[Line]] = defaultdict(list)
    known: dict[str, Line] = {}
    for offset, line in lines:
        if line.get("type") not in _SPOKEN and not isinstance(line.get("sessionId"), str):
            continue
        session = line.get("sessionId")
        if not isinstance(session, str) or not session:
            quarantine.add(Reason.BROKEN_LINE, "a line without a session id", offset)
            continue
        uuid = line.get("uuid")
        if isinstance(uuid, str):
            if uuid in known and not _equal(known[uuid], line):
                detail = "a line with the id of another line; the first one counts"
                quarantine.add(Reason.BROKEN_LINE, detail, offset)
            if uuid in known:
                continue
            known[uuid] = line
        sessions[session].append(line)
    silent = True
    for session, own in sessions.items():
        for span in _Session(session, in_order(own)).spans():
            silent = False
            yield span
    if silent:
        quarantine.add(Reason.NOT_A_TRACE, "session lines of Claude Code, and nobody says anything")


def _equal(one: Line, other: Line) -> bool:
    try:
        return one == other
    except RecursionError:  # nested deeper than Python compares
        return False


@dataclass(slots=True)
class _Call:
    """A call that the model asked for."""

    asked: Asked
    time: int | None


@dataclass(frozen=True, slots=True)
class _Result:
    """What a call came to, and the line that says so."""

    told: Told
    line: Line


@dataclass(slots=True)
class _Turn:
    """A message of the model on its way."""

    model: str | None
    parts: list[Any] = field(default_factory=list)
    usage: Line = field(default_factory=dict)
    stop: str | None = None
    start: int | None = None
    end: int | None = None
    error: str | None = None
    request: str | None = None


class _Session:
    """The lines of one session in one file."""

    def __init__(self, session: str, lines: list[Line]) -> None:
        self._session = session
        self._lines = lines
        trace_id = trace_id_of(session) or made_id(session, digits=32)
        self._spans = SessionSpans(_AGENT, trace_id, clock=False)
        self._results = self._all_results()
        self._prompts: dict[str, str] = {}
        self._others = Counter(str(text(line.get("type"))) for line in lines)

    def spans(self) -> list[RawSpan]:
        """Return the session's spans."""
        agents = self._by_agent()
        for name, lines in agents.items():
            if not any(line.get("type") in _SPOKEN for line in lines):
                continue
            head = self._head(name, lines)
            self._agent(head, lines)
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
        spoken = [line for line in lines if line.get("type") in _SPOKEN]
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
            parent = self._prompts.get(asked) or made_id(self._session, "call of", name)
        else:
            attributes["claude_code.lines"] = dict(self._others)
        return self._spans.agent(
            name or _AGENT,
            attributes,
            parent,
            span_id=made_id(self._session, "agent", name, spoken[0].get("uuid") if name else ""),
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
        turns: dict[str, _Turn] = {}
        last = {turn_of(line): place for place, line in enumerate(lines) if is_turn(line)}
        asked: list[_Call] = []
        for place, line in enumerate(lines):
            if is_turn(line):
                turn = turns.setdefault(turn_of(line), _new_turn(line))
                calls = _extended(turn, line)
                asked += calls
                if last[turn_of(line)] == place:
                    failure = words(turn.parts) if turn.error else None
                    times = {"start": turn.start, "end": turn.end}
                    self._spans.model(head, _attributes(turn), **times, failure=failure)
                    self._carry_out(head, asked)
                    asked = []
            elif line.get("type") == "user":
                for message in heard(line):
                    self._spans.hear(head, message)
            elif line.get("subtype") == "api_error":
                time, error = time_of(line.get("timestamp")), line.get("error")
                said = error.get("message") if isinstance(error, dict) else None
                failure = text(said) or text(line.get("content")) or ""
                self._spans.model(head, api_error(line), start=time, end=time, failure=failure)

    def _carry_out(self, head: str, calls: list[_Call]) -> None:
        used: Counter[str | None] = Counter()
        for call in calls:
            asked = call.asked
            call_id = text(asked.call_id)
            results = self._results.get(call_id)
            if not results:
                continue
            found = results.popleft()
            used[call_id] += 1
            part, line = found.told, found.line
            if part.refused:
                continue
            told = line.get("toolUseResult")
            agent = told.get("agentId") if isinstance(told, dict) else None
            answer = Answer(
                call_id=call_id,
                tool=text(asked.name) or "",
                arguments=asked.arguments,
                value=part.response,
                failed=part.failed,
                attributes={"claude_code.tool_use_result": told},
            )
            key = ("call of", agent) if isinstance(agent, str) else ("call", line.get("uuid"))
            span = self._spans.tool(
                head,
                answer,
                span_id=made_id(self._session, *key, *(() if agent else (call_id,))),
                start=call.time,
                end=time_of(line.get("timestamp")),
            )
            given = asked.arguments
            if isinstance(given, dict) and isinstance(given.get("prompt"), str):
                self._prompts.setdefault(given["prompt"], span)


def _new_turn(line: Line) -> _Turn:
    model = line["message"].get("model")
    return _Turn(
        model if isinstance(model, str) and model != "<synthetic>" else None,
        start=time_of(line.get("timestamp")),
        error="api_error" if line.get("isApiErrorMessage") is True else None,
        request=line.get("requestId"),
    )


def _extended(turn: _Turn, line: Line) -> list[_Call]:
    """Add a line to its turn; return the calls that it asks for."""
    message = line["message"]
    parts = parts_in(line)
    turn.parts += [readable(part) for part in parts]
    usage, stop = message.get("usage"), message.get("stop_reason")
    turn.usage = usage if isinstance(usage, dict) else turn.usage
    turn.stop = stop if isinstance(stop, str) else turn.stop
    turn.end = time_of(line.get("timestamp")) or turn.end
    asked = map(call_in, parts)
    return [_Call(call, turn.end) for call in asked if call is not None]


def _attributes(turn: _Turn) -> dict[str, Any]:
    usage = turn.usage
    inputs = [usage[name] for name in _INPUTS if isinstance(usage.get(name), int)]
    return {
        GenAI.OUTPUT_MESSAGES: [{"role": "assistant", "parts": turn.parts}],
        GenAI.REQUEST_MODEL: turn.model,
        GenAI.RESPONSE_MODEL: turn.model,
        GenAI.PROVIDER_NAME: "anthropic" if turn.model else None,
        GenAI.RESPONSE_FINISH_REASONS: [turn.stop] if turn.stop else None,
        GenAI.INPUT_TOKENS: sum(inputs) if inputs else None,
        GenAI.OUTPUT_TOKENS: usage.get("output_tokens"),
        GenAI.CACHE_READ_TOKENS: usage.get("cache_read_input_tokens"),
        GenAI.CACHE_WRITE_TOKENS: usage.get("cache_creation_input_tokens"),
        GenAI.ERROR_TYPE: turn.error,
        "claude_code.request_id": turn.request,
    }
