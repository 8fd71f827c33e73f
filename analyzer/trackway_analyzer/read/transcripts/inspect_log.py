"""Inspect logs: one JSON document, or an `.eval` archive of one document a sample.

1. A sample is a run: the eval's task is the suite, the sample's id the task id, its epoch the
   trial, the eval's model the variant.
2. Messages make the run; times, model and tokens of a turn come from the model event with the same
   message, times of a call from its tool event. A log without these events has no times.
3. Scores decide the outcome by Inspect's own scale (C, 1, true, yes: success; I, N, 0, …: failure).
   Several scorers that disagree, or a score on no such scale, judge nothing; the scores are the
   label. A sample that ended in an error says so, and is judged by its scores alone.
4. A log without its samples (`--no-log-samples`) is put aside. An empty list holds no run.
5. Texts that stand in the attachments are put back where they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trackway.schema import GenAI, Trackway
from trackway_analyzer.dialects.values import integer, number, text
from trackway_analyzer.json_text import compact
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.transcripts.dialogue import Facts, write_dialogue
from trackway_analyzer.read.transcripts.written import (
    KEPT,
    SUCCESSFUL,
    WrittenRun,
    kept,
    nanoseconds,
    text_at,
    within_bounds,
)
from trackway_analyzer.spans import Attributes, RawSpan

Sample = tuple[Any, Any]
"""The eval that a sample belongs to, and the sample; None: the log has no samples."""

_ATTACHED: Final = "attachment://"
_SCALE: Final = {"c": 1.0, "i": 0.0, "n": 0.0, "p": 0.5, "yes": 1.0, "no": 0.0} | {
    "true": 1.0,
    "false": 0.0,
}
_OF_SAMPLE: Final = (
    *("id", "epoch", "messages", "events", "transcript", "attachments", "uuid", "error"),
    *("started_at", "completed_at"),
)


def inspect_samples(document: Any) -> list[Sample] | None:
    """Return the samples of a log; None where the document is none."""
    if not isinstance(document, dict) or not isinstance(document.get("eval"), dict):
        return None
    if "version" not in document and "status" not in document:
        return None
    samples = document.get("samples")
    samples = samples if isinstance(samples, list) else [None]
    return [(document["eval"], sample) for sample in samples]


def inspect_spans(
    samples: list[Sample], quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan]:
    """Write samples as the spans of runs."""
    for place, (about, sample) in enumerate(samples):
        if sample is None:
            quarantine.add(Reason.EMPTY_TRACE, "an Inspect log without samples", offset)
            continue
        messages = sample.get("messages") if isinstance(sample, dict) else None
        if not isinstance(messages, list):
            quarantine.add(Reason.BROKEN_SPAN, "a sample without messages", offset)
        elif within_bounds([messages, *map(sample.get, _read_beside(sample))], quarantine, offset):
            yield from _written(about, sample, place)


def _read_beside(sample: Mapping[str, JsonValue]) -> list[str]:
    return [key for key in sample if key not in ("messages", "events", "transcript")]


def _written(about: Any, sample: dict[str, Any], place: int) -> list[RawSpan]:
    events = _Events(sample)
    attachments = sample.get("attachments")
    attachments = attachments if isinstance(attachments, dict) else {}
    run = WrittenRun("inspect", sample.get("messages"), place, model=text_at(about, "model"))
    messages = _restored(sample["messages"], attachments)
    write_dialogue(run, messages, turn=events.turn, execution=events.execution)
    run_id = text_at(sample, "uuid")
    return run.ended(
        {
            Trackway.RUN_ID: run_id,
            Trackway.SUITE_ID: text_at(about, "task"),
            Trackway.VARIANT: text_at(about, "model"),
            Trackway.TASK_ID: text(sample.get("id")),
            Trackway.TRIAL_INDEX: integer(sample.get("epoch"), bits=32),
            **_outcome(sample.get("scores")),
            **_error(sample.get("error")),
            **kept(_restored(sample, attachments), _OF_SAMPLE),
        },
        start=nanoseconds(sample.get("started_at")) or events.first,
        end=nanoseconds(sample.get("completed_at")) or events.last,
    )


class _Events:
    """What the events of a sample say of its messages and calls."""

    def __init__(self, sample: Mapping[str, Any]) -> None:
        events = sample.get("events")
        if not isinstance(events, list):
            transcript = sample.get("transcript")
            events = transcript.get("events") if isinstance(transcript, dict) else None
        found = [e for e in events if isinstance(e, dict)] if isinstance(events, list) else []
        times = [time for e in found if (time := nanoseconds(e.get("timestamp")))]
        self.first, self.last = min(times, default=0), max(times, default=0)
        self._models = {key: e for e in found if (key := _answered(e)) is not None}
        self._tools = {
            e["id"]: e for e in found if e.get("event") == "tool" and _is_text(e.get("id"))
        }

    def turn(self, message: Mapping[str, JsonValue]) -> Facts:
        """Find the model event that gave this message."""
        event = self._models.get(text_at(message, "id") or text_at(message, "content") or "", {})
        output = event.get("output")
        output = output if isinstance(output, dict) else {}
        usage = output.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        choices = output.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        reason = text_at(choice, "stop_reason")
        return Facts(
            {
                GenAI.RESPONSE_MODEL: text_at(output, "model") or text_at(message, "model"),
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

    def execution(self, message: Mapping[str, JsonValue]) -> Facts:
        """Find the tool event of a call."""
        call_id = message.get("tool_call_id")
        event = self._tools.get(call_id, {}) if isinstance(call_id, str) else {}
        start, end = (nanoseconds(event.get(name)) for name in ("timestamp", "completed"))
        return Facts(start=start, end=end)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _answered(event: Mapping[str, Any]) -> str | None:
    """Return id or text of the message that a model event gave."""
    output = event.get("output") if event.get("event") == "model" else None
    choices = output.get("choices") if isinstance(output, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return text_at(choice, "message", "id") or text_at(choice, "message", "content")


def _outcome(scores: JsonValue) -> Attributes:
    given = {
        name: score.get("value") if isinstance(score, dict) else score
        for name, score in (scores.items() if isinstance(scores, dict) else ())
    }
    if not given:
        return {}
    found: Attributes = {
        Trackway.OUTCOME_LABEL: ", ".join(f"{name}={_plain(v)}" for name, v in given.items()),
        Trackway.OUTCOME_STATE: compact({"scores": given}),
    }
    verdicts = {
        None if (v := _on_scale(each)) is None else v >= SUCCESSFUL for each in given.values()
    }
    if len(verdicts) == 1:
        found[Trackway.OUTCOME_SUCCESS] = verdicts.pop()
    return found


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else compact(value)


def _on_scale(value: JsonValue) -> float | None:
    if isinstance(value, str):
        return _SCALE.get(value.lower(), number(value))
    return float(value) if isinstance(value, bool) else number(value)


def _error(error: JsonValue) -> Attributes:
    message = text_at(error, "message")
    return {} if message is None else {GenAI.ERROR_TYPE: "sample_error", f"{KEPT}error": message}


def _restored(value: JsonValue, attachments: Mapping[str, JsonValue]) -> Any:
    """Put attachments back in the place of their references."""
    if isinstance(value, str):
        if value.startswith(_ATTACHED):
            return attachments.get(value.removeprefix(_ATTACHED), value)
        return value
    if isinstance(value, list):
        return [_restored(item, attachments) for item in value] if attachments else value
    if isinstance(value, dict) and attachments:
        skipped = ("events", "transcript", "attachments")
        return {k: v if k in skipped else _restored(v, attachments) for k, v in value.items()}
    return value
