"""Inspect logs: one JSON document, or an `.eval` archive of one document a sample.

1. A sample is a run: the eval's task is the suite, the sample's id the task id, its epoch the
   trial, the eval's model the variant.
2. Messages make the run; calls that only the events tell of stand among them, and times, models and
   tokens are the events' (`inspect_events`). A log without events has no times.
3. Scores decide the outcome by Inspect's own scale (C, 1, true, yes: success; I, N, 0, …: failure).
   Several scorers that disagree, or a score on no such scale, judge nothing; the scores are the
   label. A sample that ended in an error says so, and is judged by its scores alone.
4. A log without its samples (`--no-log-samples`) is put aside, and so are samples that it counts
   and does not hold: by its results, its summaries, or its list of samples where the eval was
   cancelled or failed.
5. Samples are told apart by task, id, epoch and uuid, whatever their messages.
6. Texts that stand in the attachments are put back where they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trackway.schema import GenAI, Trackway
from trackway_analyzer.dialects.values import integer, number, text
from trackway_analyzer.json_text import compact
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.transcripts.beside_messages import put_words_aside, tell_of_the_rest
from trackway_analyzer.read.transcripts.dialogue import write_dialogue
from trackway_analyzer.read.transcripts.inspect_events import Events
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
PLACE: Final = "trackway_place"
"""Member of a sample out of an archive: its place among the others."""
_OF_EVAL: Final = ("eval_id", "run_id", "task_id", "task", "created", "model")
_IDENTITY: Final = ("id", "epoch", "uuid", "messages")
_OF_SAMPLE: Final = (
    PLACE,
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
    if not isinstance(samples, list):
        return [(document["eval"], None)]
    missing = missing_samples(document, len(samples))
    found = [(document["eval"], sample) for sample in samples]
    return [*found, (document["eval"], _Missing(missing))] if missing else found


def missing_samples(document: Mapping[str, Any], found: int, listed: int = 0) -> int:
    """Return how many samples a log counts and does not hold; `listed`: in its summaries."""
    results, about = document.get("results"), document.get("eval")
    total = integer(results.get("total_samples")) if isinstance(results, dict) else None
    expected = max(total or 0, listed)
    if document.get("status") in _ENDED_EARLY and isinstance(about, dict):
        dataset, config = about.get("dataset"), about.get("config")
        ids = dataset.get("sample_ids") if isinstance(dataset, dict) else None
        epochs = integer(config.get("epochs")) if isinstance(config, dict) else None
        expected = max(expected, len(ids) * (epochs or 1) if isinstance(ids, list) else 0)
    return max(expected - found, 0)


_ENDED_EARLY: Final = ("cancelled", "error", "started")


@dataclass(frozen=True, slots=True)
class _Missing:
    """Samples that a log counts and does not hold."""

    count: int


def note_missing(quarantine: Quarantine, count: int, offset: int | None = None) -> None:
    """Put samples aside that a log counts and does not hold."""
    detail = "samples that an Inspect log counts and does not hold"
    quarantine.add(Reason.EMPTY_TRACE, detail, offset, count=count)


def inspect_spans(
    samples: list[Sample], quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan]:
    """Write samples as the spans of runs."""
    for index, (about, sample) in enumerate(samples):
        if isinstance(sample, _Missing):
            note_missing(quarantine, sample.count, offset)
            continue
        if sample is None:
            quarantine.add(Reason.EMPTY_TRACE, "an Inspect log without samples", offset)
            continue
        messages = sample.get("messages") if isinstance(sample, dict) else None
        if not isinstance(messages, list):
            quarantine.add(Reason.BROKEN_SPAN, "a sample without messages", offset)
        elif within_bounds([messages, *map(sample.get, _read_beside(sample))], quarantine, offset):
            place = sample.get(PLACE)
            at = place if isinstance(place, int) else index
            yield from _written(about, sample, at, quarantine, offset)


def _read_beside(sample: Mapping[str, JsonValue]) -> list[str]:
    return [key for key in sample if key not in ("messages", "events", "transcript")]


def _scalars(holder: Mapping[str, Any], names: Sequence[str]) -> list[JsonValue]:
    found = (holder.get(name) for name in names)
    return [value if isinstance(value, str | int | float) else None for value in found]


def _written(
    about: Any, sample: dict[str, Any], place: int, quarantine: Quarantine, offset: int | None
) -> list[RawSpan]:
    attachments = sample.get("attachments")
    attachments = attachments if isinstance(attachments, dict) else {}
    named = _scalars(about, _OF_EVAL), _scalars(sample, _IDENTITY)
    run = WrittenRun("inspect", [*named], place, model=text_at(about, "model"))
    events = Events(sample, run, lambda value: _restored(value, attachments))
    messages = _restored(sample["messages"], attachments)
    write_dialogue(run, messages, turn=events.turn, execution=events.execution)
    events.rest()
    for event in events.unknown():
        tell_of_the_rest(run, {"event": event}, run.called)
    put_words_aside(run, quarantine, offset)
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
