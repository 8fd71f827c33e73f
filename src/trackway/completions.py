"""What a model answered, read from OpenAI's and Anthropic's objects by shape.

1. `choices` is a chat completion, `output` a response of the Responses API, a list of `content`
   with a role an Anthropic message; a text is a text; anything else is kept whole as one part.
2. Finish reasons take the words of the conventions: `tool_calls` and `tool_use` are `tool_call`,
   `end_turn` is `stop`, `max_tokens` is `length`.
3. Input tokens include cached ones: Anthropic reports those beside the rest, so they are added.
4. What the answer does not tell is absent, never 0; the finish reason of one whose stream failed
   is `error`, as the conventions have it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from trackway.capture.integers import whole
from trackway.capture.storage import library_of
from trackway.fields import either, get, is_a, is_list, items_of, word
from trackway.messages import Message, message, part, parts, text_part
from trackway.schema import GenAI

_FINISH: Final = {
    "tool_calls": "tool_call",
    "function_call": "tool_call",
    "tool_use": "tool_call",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "refusal": "content_filter",
}
_MOST_ANSWERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer: its messages, and the attributes that describe it."""

    messages: list[Message]
    attributes: dict[str, Any] = field(default_factory=dict)


def completion(result: Any) -> Completion:
    """Read a model's answer."""
    if is_a(result, str):
        return Completion([{"role": "assistant", "parts": [text_part(result)]}])
    read = completion_by_shape(result)
    return read or Completion([{"role": "assistant", "parts": [_whole(result)]}])


def completion_by_shape(result: Any) -> Completion | None:
    """Read an answer in the shape of a provider's; None where it has none of them."""
    if is_list(get(result, "choices")):
        return _chat(result)
    if is_list(get(result, "output")):
        return _response(result)
    role = word(get(result, "role"))
    if role and is_list(get(result, "content")):
        return _anthropic(result)
    if role and get(result, "content", get(result, "tool_calls")) is not None:
        return Completion([message(result)])
    return None


def broken_off(answer: Completion) -> Completion:
    """Return an answer whose stream failed: a finish reason that did not come is `error`."""
    reasons = [message.get("finish_reason") or "error" for message in answer.messages]
    messages = [
        {**message, "finish_reason": reason}
        for message, reason in zip(answer.messages, reasons, strict=True)
    ]
    return Completion(messages, {**answer.attributes, GenAI.RESPONSE_FINISH_REASONS: reasons})


def provider_of(result: Any) -> str | None:
    """Return the provider whose client made this object; None where its class does not tell."""
    library = library_of(result)
    return library if library in ("openai", "anthropic") else None


def _whole(result: Any) -> dict[str, Any]:
    return {"type": "json", "content": result}


def _chat(result: Any) -> Completion:
    answers: list[Message] = []
    reasons: list[str] = []
    for choice in items_of(get(result, "choices"), _MOST_ANSWERS):
        reason = _finish(get(choice, "finish_reason"))
        said = get(choice, "message")
        if said is None:
            answer = {"role": "assistant", "parts": parts(get(choice, "text"))}
        else:
            answer = message(said)
            answer["role"] = either(answer, "role") or "assistant"
        answers.append({**answer, "finish_reason": reason})
        if reason is not None:
            reasons.append(reason)
    return Completion(answers, _described(result, reasons))


def _response(result: Any) -> Completion:
    found: list[dict[str, Any]] = []
    for item in items_of(get(result, "output"), _MOST_ANSWERS):
        if word(get(item, "type")) == "message":
            found.extend(parts(get(item, "content")))
        else:
            found.append(part(item))
    status = either(get(result, "incomplete_details"), "reason") or get(result, "status")
    asks = any(word(get(piece, "type")) == "tool_call" for piece in found)
    reason = "tool_call" if asks else _finish(status)
    answer = {"role": "assistant", "parts": found, "finish_reason": reason}
    return Completion([answer], _described(result, [reason] if reason else []))


def _anthropic(result: Any) -> Completion:
    reason = _finish(get(result, "stop_reason"))
    answer = {
        "role": get(result, "role"),
        "parts": parts(get(result, "content")),
        "finish_reason": reason,
    }
    return Completion([answer], _described(result, [reason] if reason else []))


def _finish(reason: Any) -> str | None:
    told = word(reason)
    return None if told is None else _FINISH.get(told, told)


def _described(result: Any, reasons: list[str]) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        GenAI.RESPONSE_MODEL: word(get(result, "model")),
        GenAI.RESPONSE_ID: word(get(result, "id")),
        GenAI.RESPONSE_FINISH_REASONS: reasons or None,
        GenAI.SYSTEM_FINGERPRINT: word(get(result, "system_fingerprint")),
        **usage(get(result, "usage")),
    }
    return {
        key: whole(value) if isinstance(value, int) else value
        for key, value in attributes.items()
        if value is not None
    }


def usage(reported: Any) -> dict[str, Any]:
    """Return the token counts that a usage object holds; None stands for not told."""
    if reported is None:
        return {}
    cached = _count(get(reported, "cache_read_input_tokens"))
    written = _count(get(reported, "cache_creation_input_tokens"))
    read = _count(get(reported, "input_tokens"))
    if read is not None:
        read += (cached or 0) + (written or 0)
    incoming = either(reported, "prompt_tokens_details", "input_tokens_details")
    outgoing = either(reported, "completion_tokens_details", "output_tokens_details")
    return {
        GenAI.INPUT_TOKENS: _first(_count(get(reported, "prompt_tokens")), read),
        GenAI.OUTPUT_TOKENS: _first(
            _count(get(reported, "completion_tokens")), _count(get(reported, "output_tokens"))
        ),
        GenAI.CACHE_READ_TOKENS: _first(cached, _count(get(incoming, "cached_tokens"))),
        GenAI.CACHE_WRITE_TOKENS: written,
        GenAI.REASONING_TOKENS: _count(get(outgoing, "reasoning_tokens")),
    }


def _first(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)


def _count(value: Any) -> int | None:
    return value if type(value) is int else None
