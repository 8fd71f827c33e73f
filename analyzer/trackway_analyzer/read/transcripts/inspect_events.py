"""What the events of an Inspect sample say of its messages, and what only they tell of.

1. Events stand in their order, those of a sub-agent within its tool event or behind it.
2. A tool event whose call no message answers is a call that was carried out all the same: of a
   sub-agent, or of a message that was compacted away. A model event that asked for a call of which
   no message tells is a turn. Both are put down where they stand among the others; what a scorer
   did is not the agent's.
3. Times, model and tokens of a turn come from the model event with the same message, times of a
   call from its tool event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from trackway.schema import GenAI
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.transcripts.dialogue import Facts
from trackway_analyzer.read.transcripts.written import Result, WrittenRun, nanoseconds, text_at

Event = Mapping[str, Any]

_SCORERS: Final = ("scorer", "scorers")
_MAX_DEPTH: Final = 64
_KINDS: Final = frozenset(
    [
        *("model", "tool", "state", "store", "info", "score", "score_edit", "error", "input"),
        *("sample_init", "sample_limit", "sandbox", "step", "subtask", "span_begin", "span_end"),
        *("approval", "logger", "compaction", "anchor", "branch", "interrupt"),
    ]
)
"""Kinds of events that are read, or that tell of no call."""


class Events:
    """The events of a sample, beside its messages."""

    def __init__(
        self, sample: Mapping[str, Any], run: WrittenRun, restored: Callable[[Any], Any]
    ) -> None:
        self._run = run
        self._restored = restored
        self._found = list(_in_order(_listed(sample), 0))
        times = [time for e in self._found if (time := nanoseconds(e.get("timestamp")))]
        self.first, self.last = min(times, default=0), max(times, default=0)
        self._models = {key: e for e in self._found if (key := _answered(e)) is not None}
        self._tools = {
            e["id"]: e
            for e in self._found
            if e.get("event") == "tool" and isinstance(e.get("id"), str)
        }
        self._place = {id(event): place for place, event in enumerate(self._found)}
        self._untold = _untold(self._found, sample.get("messages"))
        self._written = 0

    def turn(self, message: Mapping[str, JsonValue]) -> Facts:
        """Find the model event that gave this message; put down what came before it."""
        event = self._models.get(text_at(message, "id") or text_at(message, "content") or "", {})
        self._write_before(event)
        return _facts(event, text_at(message, "model"))

    def execution(self, message: Mapping[str, JsonValue]) -> Facts:
        """Find the tool event of a call; put down what came before it."""
        call_id = message.get("tool_call_id")
        event = self._tools.get(call_id, {}) if isinstance(call_id, str) else {}
        self._write_before(event)
        return _times(event)

    def rest(self) -> None:
        """Put down what came behind all messages."""
        self._write(len(self._found))

    def unknown(self) -> Iterator[Event]:
        """Return the events of kinds that nobody knows."""
        kinds = ((event, event.get("event")) for event in self._found)
        return (event for event, kind in kinds if not isinstance(kind, str) or kind not in _KINDS)

    def _write_before(self, event: Event) -> None:
        place = self._place.get(id(event))
        if place is not None:
            self._write(place)

    def _write(self, end: int) -> None:
        while self._written < len(self._untold):
            place = self._untold[self._written]
            if place >= end:
                return
            self._written += 1
            event = self._found[place]
            if event.get("event") == "model":
                facts = _facts(event, None)
                self._run.turn(
                    [self._restored(_message(event))],
                    facts.attributes,
                    start=facts.start,
                    end=facts.end,
                    aside=True,
                )
            else:
                self._run.result(self._result(event))

    def _result(self, event: Event) -> Result:
        error, times = event.get("error"), _times(event)
        name, call_id = event.get("function"), event.get("id")
        return Result(
            call_id=call_id if isinstance(call_id, str) else None,
            tool=name if isinstance(name, str) else None,
            arguments=self._restored(event.get("arguments")),
            value=self._restored(event.get("result")),
            failed=bool(error),
            error_type=text_at(error, "type"),
            start=times.start,
            end=times.end,
        )


def _listed(sample: Mapping[str, Any]) -> list[Any]:
    events = sample.get("events")
    if not isinstance(events, list):
        transcript = sample.get("transcript")
        events = transcript.get("events") if isinstance(transcript, dict) else None
    return events if isinstance(events, list) else []


def _in_order(events: list[Any], depth: int) -> Iterator[Event]:
    for event in events:
        if isinstance(event, dict):
            yield event
            inner = event.get("events")
            if isinstance(inner, list) and depth < _MAX_DEPTH:
                yield from _in_order(inner, depth + 1)


def _untold(events: list[Event], messages: Any) -> list[int]:
    """Return the places of events that tell of calls which no message tells of."""
    told = [m for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
    answered = {m.get("tool_call_id") for m in told if isinstance(m.get("tool_call_id"), str)}
    asked = {call_id for m in told for call_id in _call_ids(m)}
    scored, scoring = set[Any](), 0
    found = []
    for place, event in enumerate(events):
        kind, of_scorer = event.get("event"), event.get("type") in _SCORERS
        if kind == "span_begin" and (of_scorer or _in(event.get("parent_id"), scored)):
            scored.add(event.get("id") if isinstance(event.get("id"), str) else None)
        if kind == "step" and of_scorer:
            scoring += 1 if event.get("action") == "begin" else -1
        if scoring > 0 or _in(event.get("span_id"), scored):
            continue
        if kind == "tool" and not _in(event.get("id"), answered):
            found.append(place)
        if kind == "model" and any(each not in asked for each in _call_ids(_message(event))):
            found.append(place)
    return found


def _in(value: Any, known: set[Any]) -> bool:
    return isinstance(value, str) and value in known


def _call_ids(message: Mapping[str, Any]) -> list[str]:
    calls = message.get("tool_calls")
    ids = (
        [call.get("id") for call in calls if isinstance(call, dict)]
        if isinstance(calls, list)
        else []
    )
    return [each for each in ids if isinstance(each, str)]


def _facts(event: Event, model: str | None) -> Facts:
    output = event.get("output")
    output = output if isinstance(output, dict) else {}
    usage = output.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    reason = text_at(_choice(event), "stop_reason")
    return Facts(
        {
            GenAI.RESPONSE_MODEL: text_at(output, "model") or model,
            GenAI.INPUT_TOKENS: usage.get("input_tokens"),
            GenAI.OUTPUT_TOKENS: usage.get("output_tokens"),
            GenAI.CACHE_READ_TOKENS: usage.get("input_tokens_cache_read"),
            GenAI.CACHE_WRITE_TOKENS: usage.get("input_tokens_cache_write"),
            GenAI.REASONING_TOKENS: usage.get("reasoning_tokens"),
            GenAI.RESPONSE_FINISH_REASONS: [reason] if reason else None,
        },
        start=nanoseconds(event.get("timestamp")),
        end=nanoseconds(event.get("completed")),
    )


def _times(event: Event) -> Facts:
    start, end = (nanoseconds(event.get(name)) for name in ("timestamp", "completed"))
    return Facts(start=start, end=end)


def _choice(event: Event) -> Any:
    output = event.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    return choices[0] if isinstance(choices, list) and choices else None


def _message(event: Event) -> Mapping[str, Any]:
    choice = _choice(event)
    message = choice.get("message") if isinstance(choice, dict) else None
    return message if isinstance(message, dict) else {}


def _answered(event: Event) -> str | None:
    """Return id or text of the message that a model event gave."""
    if event.get("event") != "model":
        return None
    return text_at(_message(event), "id") or text_at(_message(event), "content")
