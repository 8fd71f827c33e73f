"""Message transcripts: what an application keeps of its calls of a model.

1. A transcript is a list of messages; or an object with such (`records`: `messages`, a request with
   its answer, an answer alone, a line of a batch); or a list of these; or one of these a line. Bare
   messages, one a line, are one transcript.
2. OpenAI chat messages and Responses items, Anthropic messages (`system` beside them), LangChain,
   Gemini, pydantic-ai and AI SDK messages are known (`dialogue`, `message_shapes`).
3. An object that names a run, task or session and has no message is a run without steps.
4. Commands of mini-swe-agent are calls (`mini_swe_agent`).
5. Of an object, `model`, `task_id`, `trial`, `reward` or `success`, `run_id` and `session_id` (or
   `conversation_id`, `thread_id`) are taken for what they say; everything else is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from trackway.schema import GenAI, Trackway
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.json_documents import Located
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.transcripts.beside_messages import (
    MESSAGE_KEYS,
    put_words_aside,
    tell_of_the_rest,
)
from trackway_analyzer.read.transcripts.dialogue import write_dialogue
from trackway_analyzer.read.transcripts.mini_swe_agent import is_mini_swe_agent, with_calls
from trackway_analyzer.read.transcripts.records import READ, is_message, messages_of, model_of
from trackway_analyzer.read.transcripts.written import (
    WrittenRun,
    judged,
    kept,
    names_of,
    task_and_trial,
    text_at,
    within_bounds,
)
from trackway_analyzer.spans import Attributes, RawSpan

_SESSION: Final = ("session_id", "conversation_id", "thread_id")
_NAMES: Final = ("run_id", "task_id", *_SESSION)
_LOOKED_AT: Final = frozenset(
    [
        *(*READ, "message", "body", "request", "response", "result", "model", "role"),
        *("info", "config", "task", "prompt", "error"),
        *_NAMES,
    ]
)
"""Members of a record that its readers look into, or that hold no call."""
_KNOWN: Final = (*READ, "model", "task_id", "trial", "reward", "success", "run_id", *_SESSION)


def transcripts(document: Any) -> list[Any] | None:
    """Return the transcripts of a document; None where it holds none."""
    if _is_transcript(document):
        return [document]
    if isinstance(document, list) and any(map(_is_transcript, document)):
        return document
    return None


def _is_transcript(item: Any) -> bool:
    if isinstance(item, list):
        told = any(is_message(each) and each.get("role") not in _PROMPTS for each in item)
        return told and all(isinstance(each, dict) for each in item)
    return isinstance(item, dict) and (_is_named(item) or any(map(is_message, messages_of(item))))


_PROMPTS: Final = ("system", "developer")
"""A list of nothing but these holds what is said to models, and no run."""


def _is_named(item: dict[str, Any]) -> bool:
    return "messages" in item and any(item.get(key) for key in _NAMES)


def _is_unreadable(item: Any) -> bool:
    """Tell whether the messages of a named transcript are none that is known."""
    told = item.get("messages") if isinstance(item, dict) else None
    return told not in (None, []) and not any(map(is_message, messages_of(item)))


def transcript_spans(
    items: list[Any], quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan]:
    """Write transcripts as spans."""
    for place, item in enumerate(items):
        if not _is_transcript(item) or _is_unreadable(item):
            quarantine.add(Reason.BROKEN_SPAN, "a transcript without messages", offset)
        elif within_bounds(item, quarantine, offset):
            at = place if len(items) > 1 else offset or 0
            yield from _written(item, at, quarantine, offset)


def message_lines(lines: Sequence[Located], quarantine: Quarantine) -> Iterator[RawSpan]:
    """Write a file of bare messages, one a line, as the spans of one run."""
    messages = [document for _, document in lines]
    if within_bounds(messages, quarantine, None):
        yield from _written(messages, 0, quarantine, None)


def _written(item: Any, place: int, quarantine: Quarantine, offset: int | None) -> list[RawSpan]:
    record: dict[str, JsonValue] = item if isinstance(item, dict) else {"messages": item}
    run = WrittenRun(
        "messages", item, place, model=model_of(record), named=names_of(quarantine.file)
    )
    messages = messages_of(record)
    write_dialogue(run, with_calls(messages) if is_mini_swe_agent(record) else messages)
    if isinstance(item, dict):
        read = MESSAGE_KEYS | _LOOKED_AT if "role" in item else _LOOKED_AT
        rest = {key: value for key, value in item.items() if key not in read}
        tell_of_the_rest(run, rest, run.called)
    put_words_aside(run, quarantine, offset)
    return run.ended(_facts(record))


def _facts(record: Mapping[str, JsonValue]) -> Attributes:
    success = record.get("success")
    verdict = judged(record.get("reward"))
    if isinstance(success, bool):
        verdict[Trackway.OUTCOME_SUCCESS] = success
    session = next((text for key in _SESSION if (text := text_at(record, key))), None)
    return {
        Trackway.RUN_ID: text_at(record, "run_id"),
        GenAI.CONVERSATION_ID: session,
        **task_and_trial(record),
        **verdict,
        **kept(record, _KNOWN),
    }
