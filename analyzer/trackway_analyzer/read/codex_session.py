"""Session lines of Codex (`~/.codex/sessions/**/rollout-*.jsonl`) as spans.

1. A session is a trace and an agent; one that another thread spawned lies in the trace of the
   root, below the call that spawned it (`codex_threads`).
2. What the model wrote between two things that it read is one turn: its reasoning, words and calls.
   Tokens are those of the counts that follow it: a count ends the model's answer, and one whose
   total of the session is that of the count before says nothing new.
3. A call is carried out when its output is there: from the line that asks to the line that answers.
   What the provider carried out (a web search) is call and output in one line. A command failed if
   its exit code is not 0; where somebody refused it, it was not carried out (`codex_commands`).
4. `event_msg` repeats what `response_item` says; of it, token counts, errors and aborts are read,
   and calls that no item asks for (`codex_events`).
5. Lines of before the envelope (`{"type": "message", ...}` bare) are read too.
6. An item of an unknown type that asks for a call which nobody answers, and a line of an unknown
   kind that tells of a call, are holes of the run.
7. Items that a fork copied count in the session that it was forked from (`session_copies`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from trackway.schema import GenAI, Trackway
from trackway_analyzer.dialects.parts import parts_of_exchange
from trackway_analyzer.dialects.provider_calls import Asked, Exchange, Told
from trackway_analyzer.dialects.values import text
from trackway_analyzer.read.call_shapes import tells_of_a_call
from trackway_analyzer.read.codex_commands import (
    exit_code,
    has_failed,
    session_asked,
    still_running,
    was_refused,
)
from trackway_analyzer.read.codex_events import EventCalls
from trackway_analyzer.read.codex_items import exchange_in, is_of_unknown_type, output_of, said_in
from trackway_analyzer.read.codex_lines import (
    HEADS,
    Line,
    Unpacked,
    begins_codex,
    signature_of,
    unpacked_line,
    without_copies,
)
from trackway_analyzer.read.codex_threads import (
    named_thread,
    spawned_by,
    starts_thread,
    thread_hole,
    thread_of,
)
from trackway_analyzer.read.codex_turns import Answered, Call, Turn, summed
from trackway_analyzer.read.foreign_values import made_id, trace_id_of
from trackway_analyzer.read.json_documents import Located
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.session_copies import Copies
from trackway_analyzer.read.session_holes import forked_hole, unanswered_hole
from trackway_analyzer.read.session_spans import Answer, Hole, SessionSpans
from trackway_analyzer.read.unread_lines import names_called, tell_of_unread_lines
from trackway_analyzer.spans import RawSpan

__all__ = ["begins_codex", "codex_spans"]

_AGENT: Final = "codex"
_KINDS: Final = frozenset(["compacted", "event_msg", "response_item", *HEADS])
"""Kinds of lines that are known."""
_FAILURES: Final = frozenset(["error", "stream_error", "turn_aborted"])


def codex_spans(
    lines: Sequence[Located], quarantine: Quarantine, copies: Copies
) -> Iterator[RawSpan]:
    """Return the lines of a file as the spans of its session."""
    unpacked = [unpacked_line(line) for _, line in lines if isinstance(line, dict)]
    if len(unpacked) < len(lines):
        detail = "a line must be an object"
        quarantine.add(Reason.BROKEN_LINE, detail, count=len(lines) - len(unpacked))
    unknown = [payload for kind, payload, _ in unpacked if kind not in _KINDS]
    if unknown:
        called = names_called([payload for kind, payload, _ in unpacked if kind in _KINDS])
        tell_of_unread_lines(unknown, called, quarantine)
    own = without_copies(unpacked, copies, quarantine)
    if own is not None:
        yield from _Session(own, copies, copied=len(own) < len(unpacked)).spans()


class _Session:
    """The lines of one session."""

    def __init__(self, lines: list[Unpacked], copies: Copies, *, copied: bool) -> None:
        self._lines = lines
        self._copies = copies
        metas = [payload for kind, payload, _ in lines if kind == "session_meta"]
        self._meta: Line = metas[0] if metas else {}
        self._id = text(self._meta.get("id")) or made_id(*map(signature_of, lines))
        self._answers: dict[str | None, Answered] = {}
        self._refused: set[str | None] = set()
        self._asked: dict[str | None, Asked] = {}
        """What items ask for, by call id."""
        self._codes: dict[str, int] = {}
        """Exit codes of commands by the session in which they ran."""
        self._events = EventCalls()
        self._holes: list[Hole] = []
        if copied:
            self._holes.append(forked_hole(text(self._meta.get("forked_from_id"))))
        self._turns: list[Turn] = []
        self._open: Turn | None = None
        self._heard: list[Any] = []
        self._model: str | None = None
        self._made = 0
        """Calls that were put down."""
        self._total: Line = {}
        """The tokens of the session that were counted last."""
        self._others: Counter[str] = Counter()

    def spans(self) -> list[RawSpan]:
        """Return the session's spans."""
        for place, (kind, payload, time) in enumerate(self._lines):
            self._line(kind, payload, time, place)
        thread = thread_of(self._meta, self._id, self._copies.roots)
        trace_id = trace_id_of(thread.trace) or made_id(thread.trace, digits=32)
        spans = SessionSpans(_AGENT, trace_id, clock=False)
        times = [time for _, _, time in self._lines if time is not None]
        own_name = thread.nickname or f"{_AGENT} {self._id}"
        head = spans.agent(
            own_name if thread.parent_span else _AGENT,
            self._about(),
            thread.parent_span,
            span_id=made_id(self._id, "agent"),
            start=min(times, default=None),
            end=max(times, default=None),
        )
        for turn in self._turns:
            self._put_down(spans, head, turn)
        self._put_down_events(spans, head)
        for message in self._heard:
            spans.hear(head, message)
        for hole in self._holes:
            spans.hole(head, hole)
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
            "codex.forked_from": self._meta.get("forked_from_id"),
            "codex.instructions": self._meta.get("instructions"),
            "codex.events": dict(self._others) or None,
        }

    def _line(self, kind: str, payload: Line, time: int | None, place: int) -> None:
        if kind == "turn_context":
            model = payload.get("model")
            self._model = model if isinstance(model, str) else self._model
        elif kind == "compacted":
            self._hear({"role": "user", "content": payload.get("message")})
        elif kind == "event_msg":
            self._event(payload, time, place)
        elif kind == "response_item":
            self._item(payload, time, place)
        elif kind != "session_meta":
            self._others[kind] += 1
            if kind not in HEADS and tells_of_a_call(payload):
                self._holes.append({"what": f"what a line of the unknown kind {kind} tells"})

    def _event(self, payload: Line, time: int | None, place: int) -> None:
        kind = str(text(payload.get("type")))
        self._others[kind] += 1
        self._events.take(kind, payload, time, place)
        thread = named_thread(payload)
        if thread:
            self._holes.append(thread_hole(thread))
        if kind == "token_count" and self._turns:
            info = payload.get("info")
            self._count(info if isinstance(info, dict) else {})
        elif kind in _FAILURES:
            turn = self._turn(time, place)
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
            turn.usage = summed(turn.usage, usage)
            self._total, self._open = total, None

    def _item(self, payload: Line, time: int | None, place: int) -> None:
        kind = str(text(payload.get("type")))
        role = payload.get("role")
        if kind == "message" and role != "assistant":
            self._hear({"role": role, "content": payload.get("content")})
            return
        exchange = exchange_in(payload)
        if exchange is None:
            self._turn(time, place).said.append(said_in(kind, payload))
        elif exchange.asked is not None:
            turn, asked = self._turn(time, place), exchange.asked
            unknown = kind if is_of_unknown_type(payload) else None
            turn.calls.append(Call(asked, exchange.told, time, place, unknown))
            self._asked.setdefault(text(asked.call_id), asked)
            turn.said.append({"role": "assistant", "parts": list(parts_of_exchange(exchange))})
        elif exchange.told is not None:
            self._answered(exchange.told, time)

    def _answered(self, told: Told, time: int | None) -> None:
        asked = self._asked.get(text(told.call_id))
        tool = "" if asked is None else text(asked.name) or ""
        output = output_of(told.response)
        refused = was_refused(tool, output)
        failed = told.failed or refused or has_failed(tool, output)
        told = told._replace(response=output, failed=failed, refused=refused)
        code = exit_code(tool, output)
        session = None if asked is None else session_asked(asked.arguments)
        if code is not None and session is not None:
            self._codes[session] = code
        if refused:
            self._refused.add(text(told.call_id))
        else:
            answered = Answered(told, time, still_running(tool, output))
            self._answers.setdefault(text(told.call_id), answered)
        parts = list(parts_of_exchange(Exchange(told=told)))
        self._hear({"role": "tool", "parts": parts})

    def _hear(self, message: Line) -> None:
        self._open = None
        self._heard.append(message)

    def _turn(self, time: int | None, place: int) -> Turn:
        if self._open is None:
            self._open = Turn(self._heard, self._model, place, start=time)
            self._heard = []
            self._turns.append(self._open)
        self._open.end = time if time is not None else self._open.end
        return self._open

    def _put_down(self, spans: SessionSpans, head: str, turn: Turn) -> None:
        for message in turn.heard:
            spans.hear(head, message)
        spans.model(
            head,
            turn.attributes(),
            start=turn.start,
            end=turn.end,
            failure=turn.failure,
            place=turn.place,
        )
        for call in turn.calls:
            self._carry_out(spans, head, turn, call)

    def _carry_out(self, spans: SessionSpans, head: str, turn: Turn, call: Call) -> None:
        asked = call.asked
        call_id, tool = text(asked.call_id), text(asked.name) or ""
        at_once = None if call.told is None else Answered(call.told, turn.end)
        found = at_once or self._answers.get(call_id)
        if found is None:
            if call_id not in self._refused:
                form = (
                    None if call.unknown is None else f"an item of the unknown type {call.unknown}"
                )
                starts = starts_thread(tool)
                spans.hole(head, unanswered_hole(tool, call_id, form, starts_agent=starts))
            return
        self._made += 1
        code = None if found.runs_in is None else self._codes.get(found.runs_in)
        answer = Answer(
            call_id,
            tool,
            asked.arguments,
            found.told.response,
            found.told.failed or code not in (None, 0) or self._events.failed(call_id),
            launched=found.runs_in is not None and code is None,
        )
        key = call_id or f"without an id {self._made}"
        span = spans.tool(
            head,
            answer,
            span_id=made_id(self._id, "call", key),
            start=call.time,
            end=found.time,
            place=call.place,
        )
        if not answer.failed:
            for between, hole in spawned_by(self._id, tool, answer.value):
                if between is not None:
                    spans.between(span, between)
                spans.hole(head, {"below": span, **hole} if between is None else hole)

    def _put_down_events(self, spans: SessionSpans, head: str) -> None:
        """Put down the calls that events tell of alone."""
        asked = {call_id for call_id in self._asked if call_id}
        tools = {text(call.name) or "" for call in self._asked.values()}
        for call in self._events.alone(asked, tools):
            answer = Answer(
                call.call_id,
                call.tool,
                call.arguments,
                call.result,
                call.failed,
                launched=not call.ended,
                attributes={Trackway.TOOL_ALIAS: call.alias},
            )
            span_id = made_id(self._id, "call", call.call_id)
            times = {"start": call.start, "end": call.end}
            spans.tool(head, answer, span_id=span_id, place=call.place, **times)
