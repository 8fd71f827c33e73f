"""Session lines of Codex (`~/.codex/sessions/**/rollout-*.jsonl`) as spans.

1. A session is a trace and an agent; one that another thread spawned lies in the trace of that
   thread, below the call that spawned it.
2. What the model wrote between two things that it read is one turn: its reasoning, words and calls.
   Tokens are those of the counts that follow it: a count ends the model's answer, and one whose
   total of the session is that of the count before says nothing new.
3. A call is carried out when its output is there: from the line that asks to the line that answers.
   What the provider carried out (a web search) is call and output in one line. A command failed if
   its exit code is not 0; where somebody refused it, it was not carried out (`codex_commands`).
4. `event_msg` repeats what `response_item` says; of it, token counts, errors and aborts are read.
5. Lines of before the envelope (`{"type": "message", ...}` bare) are read too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trackway.schema import GenAI
from trackway_analyzer.dialects.parts import parts_of_exchange
from trackway_analyzer.dialects.provider_calls import Asked, Exchange, Told, exchange_of
from trackway_analyzer.dialects.values import integer, json_of, text
from trackway_analyzer.json_text import UnencodableError, compact
from trackway_analyzer.read.codex_commands import exit_code, was_refused
from trackway_analyzer.read.foreign_values import made_id, time_of, trace_id_of
from trackway_analyzer.read.json_documents import Located
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.session_spans import Answer, SessionSpans
from trackway_analyzer.spans import RawSpan

_AGENT: Final = "codex"
_ENVELOPES: Final = frozenset(
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted"]
)
_CALL: Final = "function_call"
_ANSWER: Final = "function_call_output"
_FAILURES: Final = frozenset(["error", "stream_error", "turn_aborted"])

Line = dict[str, Any]


def begins_codex(document: Any) -> bool:
    """Tell whether a document is a line of a session."""
    if not isinstance(document, dict):
        return False
    if isinstance(document.get("payload"), dict):
        kind = document.get("type")
        return isinstance(kind, str) and kind in _ENVELOPES
    return "record_type" in document or document.keys() >= {"id", "timestamp", "instructions"}


def codex_spans(lines: Sequence[Located], quarantine: Quarantine) -> Iterator[RawSpan]:
    """Return the lines of a file as the spans of its session."""
    unpacked = [_unpacked(line) for _, line in lines if isinstance(line, dict)]
    if len(unpacked) < len(lines):
        detail = "a line must be an object"
        quarantine.add(Reason.BROKEN_LINE, detail, count=len(lines) - len(unpacked))
    yield from _Session(unpacked).spans()


def _unpacked(line: Line) -> tuple[str, Line, int | None]:
    """Return the kind of a line, what it holds, and its time."""
    time, payload = time_of(line.get("timestamp")), line.get("payload")
    if isinstance(payload, dict):
        return str(text(line.get("type"))), payload, time
    if "record_type" in line:
        return "state", line, time
    return ("session_meta" if "instructions" in line else "response_item"), line, time


@dataclass(slots=True)
class _Turn:
    """What the model wrote between two things that it read."""

    heard: list[Any]
    model: str | None
    said: list[Any] = field(default_factory=list)
    calls: list[tuple[Asked, Told | None, int | None]] = field(default_factory=list)
    """Calls, with what the provider told at once, and when they were asked for."""
    start: int | None = None
    end: int | None = None
    usage: Line = field(default_factory=dict)
    error: str | None = None
    failure: str | None = None


class _Session:
    """The lines of one session."""

    def __init__(self, lines: list[tuple[str, Line, int | None]]) -> None:
        self._lines = lines
        metas = [payload for kind, payload, _ in lines if kind == "session_meta"]
        self._meta: Line = metas[0] if metas else {}
        self._id = text(self._meta.get("id")) or made_id(*map(_signature, lines))
        self._answers: dict[str | None, tuple[Told, int | None]] = {}
        self._tools: dict[str | None, str] = {}
        """Names of the tools by call id."""
        self._made = 0
        """Calls that were put down."""
        self._turns: list[_Turn] = []
        self._open: _Turn | None = None
        self._heard: list[Any] = []
        self._model: str | None = None
        self._made = 0
        """Calls that were put down."""
        self._total: Line = {}
        """The tokens of the session that were counted last."""
        self._others: Counter[str] = Counter()

    def spans(self) -> list[RawSpan]:
        """Return the session's spans."""
        for kind, payload, time in self._lines:
            self._line(kind, payload, time)
        spawn = _spawn(self._meta)
        trace = spawn.get("parent_thread_id") or self._id
        spans = SessionSpans(_AGENT, trace_id_of(trace) or made_id(trace, digits=32), clock=False)
        parent, call = spawn.get("parent_thread_id"), spawn.get("spawn_call_id")
        times = [time for _, _, time in self._lines if time is not None]
        head = spans.agent(
            _AGENT if not spawn else text(spawn.get("agent_nickname")) or f"{_AGENT} {self._id}",
            self._about(),
            made_id(parent, "call", call) if parent else None,
            span_id=made_id(self._id, "agent"),
            start=min(times, default=None),
            end=max(times, default=None),
        )
        for turn in self._turns:
            self._put_down(spans, head, turn)
        for message in self._heard:
            spans.hear(head, message)
        return spans.ended()

    def _about(self) -> Line:
        git = self._meta.get("git")
        return {
            GenAI.CONVERSATION_ID: self._id,
            GenAI.AGENT_NAME: _AGENT,
            "codex.version": self._meta.get("cli_version"),
            "codex.cwd": self._meta.get("cwd"),
            "codex.git": git if isinstance(git, dict) else None,
            "codex.source": self._meta.get("source"),
            "codex.instructions": self._meta.get("instructions"),
            "codex.events": dict(self._others) or None,
        }

    def _line(self, kind: str, payload: Line, time: int | None) -> None:
        if kind == "turn_context":
            model = payload.get("model")
            self._model = model if isinstance(model, str) else self._model
        elif kind == "compacted":
            self._hear({"role": "user", "content": payload.get("message")})
        elif kind == "event_msg":
            self._event(payload, time)
        elif kind == "response_item":
            self._item(payload, time)
        elif kind != "session_meta":
            self._others[kind] += 1

    def _event(self, payload: Line, time: int | None) -> None:
        kind = str(text(payload.get("type")))
        self._others[kind] += 1
        if kind == "token_count" and self._turns:
            info = payload.get("info")
            self._count(info if isinstance(info, dict) else {})
        elif kind in _FAILURES:
            turn = self._turn(time)
            turn.error = kind
            turn.failure = text(payload.get("message")) or text(payload.get("reason")) or kind
            self._open = None

    def _count(self, info: Line) -> None:
        """Take in a count of tokens: it ends an answer of the model, unless it comes again."""
        usage, total = info.get("last_token_usage"), info.get("total_token_usage")
        turn = self._turns[-1]
        if not isinstance(usage, dict):
            return
        if not isinstance(total, dict):
            turn.usage = turn.usage or usage
        elif total != self._total:
            turn.usage = _sum(turn.usage, usage)
            self._total, self._open = total, None

    def _item(self, payload: Line, time: int | None) -> None:
        kind = str(text(payload.get("type")))
        role = payload.get("role")
        if kind == "message" and role != "assistant":
            self._hear({"role": role, "content": payload.get("content")})
        else:
            exchange = _exchange(payload)
            if exchange is None:
                self._turn(time).said.append(_said(kind, payload))
            elif exchange.asked is not None:
                turn, asked = self._turn(time), exchange.asked
                turn.calls.append((asked, exchange.told, time))
                self._tools.setdefault(text(asked.call_id), text(asked.name) or "")
                turn.said.append({"role": "assistant", "parts": list(parts_of_exchange(exchange))})
            elif exchange.told is not None:
                self._answered(exchange.told, time)

    def _answered(self, told: Told, time: int | None) -> None:
        tool = self._tools.get(text(told.call_id), "")
        output = _output(told.response)
        refused = was_refused(tool, output)
        failed = told.failed or refused or (exit_code(tool, output) or 0) != 0
        told = told._replace(response=output, failed=failed, refused=refused)
        if not refused:
            self._answers.setdefault(text(told.call_id), (told, time))
        parts = list(parts_of_exchange(Exchange(told=told)))
        self._hear({"role": "tool", "parts": parts})

    def _hear(self, message: Line) -> None:
        self._open = None
        self._heard.append(message)

    def _turn(self, time: int | None) -> _Turn:
        if self._open is None:
            self._open = _Turn(self._heard, self._model, start=time)
            self._heard = []
            self._turns.append(self._open)
        self._open.end = time if time is not None else self._open.end
        return self._open

    def _put_down(self, spans: SessionSpans, head: str, turn: _Turn) -> None:
        for message in turn.heard:
            spans.hear(head, message)
        usage = turn.usage
        attributes = {
            GenAI.OUTPUT_MESSAGES: [message for message in turn.said if message],
            GenAI.REQUEST_MODEL: turn.model,
            GenAI.INPUT_TOKENS: usage.get("input_tokens"),
            GenAI.OUTPUT_TOKENS: usage.get("output_tokens"),
            GenAI.CACHE_READ_TOKENS: usage.get("cached_input_tokens"),
            GenAI.REASONING_TOKENS: usage.get("reasoning_output_tokens"),
            GenAI.ERROR_TYPE: turn.error,
        }
        times = {"start": turn.start, "end": turn.end}
        spans.model(head, attributes, **times, failure=turn.failure)
        for asked, told, time in turn.calls:
            found = self._answers.get(text(asked.call_id)) if told is None else (told, turn.end)
            if found is None:
                continue
            answered, ended = found
            call_id = text(asked.call_id)
            self._made += 1
            answer = Answer(
                call_id,
                text(asked.name) or "",
                asked.arguments,
                answered.response,
                answered.failed,
            )
            key = call_id or f"without an id {self._made}"
            span_id = made_id(self._id, "call", key)
            spans.tool(head, answer, span_id=span_id, start=time, end=ended)


def _sum(first: Line, second: Line) -> Line:
    """Add counts; one that either lacks is that of the other."""
    both = {**first, **second}
    for name in first.keys() & second.keys():
        one, other = integer(first[name]), integer(second[name])
        both[name] = other if one is None else one if other is None else one + other
    return both


def _signature(line: tuple[str, Line, int | None]) -> str:
    try:
        return compact(line[1])
    except UnencodableError:
        return line[0]


def _spawn(meta: Line) -> Line:
    source = meta.get("source")
    subagent = source.get("subagent") if isinstance(source, dict) else None
    spawn = subagent.get("thread_spawn") if isinstance(subagent, dict) else None
    return spawn if isinstance(spawn, dict) else {}


def _exchange(payload: Line) -> Exchange | None:
    """Return what an item tells of a call; None where it tells of none."""
    kind, call_id = payload.get("type"), payload.get("call_id") or payload.get("id")
    if kind == _CALL:
        arguments = json_of(payload.get("arguments"))
        return Exchange(Asked(call_id, payload.get("name"), {} if arguments == "" else arguments))
    if kind == _ANSWER:
        return Exchange(told=_told(Told(call_id, None, payload.get("output"))))
    exchange = exchange_of(payload)
    if exchange is None or exchange.told is None:
        return exchange
    return exchange._replace(told=_told(exchange.told))


def _told(told: Told) -> Told:
    output = told.response
    failed = isinstance(output, dict) and output.get("success") is False
    return told._replace(failed=told.failed or failed)


def _output(output: Any) -> Any:
    """Return what a call came to: text out of its parts, or out of `content`."""
    if isinstance(output, dict) and "content" in output:
        output = output["content"]
    if isinstance(output, list):
        texts = [part.get("text") for part in output if isinstance(part, dict)]
        words = [text for text in texts if isinstance(text, str)]
        if words and len(words) == len(output):
            return "\n".join(words)
    return output


def _said(kind: str, payload: Line) -> Line:
    if kind == "message":
        return {"role": "assistant", "content": payload.get("content")}
    if kind == "reasoning":
        parts = [*_list(payload.get("summary")), *_list(payload.get("content"))]
        words = [part["text"] for part in parts if isinstance(part.get("text"), str)]
        part = {"type": "reasoning", "content": "\n".join(words)}
        return {"role": "assistant", "parts": [part]} if words else {}
    return {"role": "assistant", "parts": [payload]}


def _list(value: Any) -> list[Line]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
