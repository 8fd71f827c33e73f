"""A model call: what was asked, what was answered, by which model, at what price in tokens.

1. The request is read from the call's own arguments: `messages`, `input` or `prompt`; `system` or
   `instructions`; `tools`; `model`; sampling parameters. Arguments of other names are not messages.
   A function whose arguments hold no conversation records them whole, as one part.
2. The answer is read by shape (`completions`), a stream is put together first (`deltas`). A
   generator that returns an answer in the shape of a provider's has that: it holds the requests and
   the tokens that the texts it yields do not.
3. The system prompt and the tool definitions are also hashed: tool descriptions are code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.trace import SpanKind

from trackway.binding import Binder
from trackway.capture import Captured
from trackway.capture.integers import whole
from trackway.completions import (
    Completion,
    broken_off,
    completion,
    completion_by_shape,
    provider_of,
)
from trackway.deltas import CompletionCollector
from trackway.fields import either, get, is_a, is_list, items_of, length_of, number, word
from trackway.messages import each, messages, parts, tool_definition
from trackway.plans import Request, StepPlan, changed
from trackway.recording import Recorder, put
from trackway.schema import GenAI, Trackway
from trackway.spans import Live

_CONVERSATION: Final = ("messages", "input", "prompt", "contents")
_INSTRUCTIONS: Final = ("system", "instructions", "system_prompt")
_SYSTEM_ROLES: Final = ("system", "developer")
_PARAMETERS: Final[Mapping[str, tuple[str, type | tuple[type, ...]]]] = {
    "max_tokens": (GenAI.REQUEST_MAX_TOKENS, int),
    "max_completion_tokens": (GenAI.REQUEST_MAX_TOKENS, int),
    "max_output_tokens": (GenAI.REQUEST_MAX_TOKENS, int),
    "temperature": (GenAI.REQUEST_TEMPERATURE, (int, float)),
    "top_p": (GenAI.REQUEST_TOP_P, (int, float)),
    "seed": (GenAI.REQUEST_SEED, int),
}


class LlmPlan(StepPlan):
    """A model call by a function of the user's."""

    operation_name = "chat"
    span_kind = SpanKind.CLIENT
    takes_iterators = True
    first_chunk_key = GenAI.RESPONSE_TIME_TO_FIRST_CHUNK
    input_key, input_field = GenAI.INPUT_MESSAGES, "input"
    output_key, output_field = GenAI.OUTPUT_MESSAGES, "output"

    def __init__(
        self, name: str, bind: Binder, *, model: str | None = None, provider: str | None = None
    ) -> None:
        static = {GenAI.REQUEST_MODEL: model, GenAI.PROVIDER_NAME: provider}
        super().__init__(name, bind, {k: v for k, v in static.items() if v is not None})
        self.model = model
        self.provider = provider

    def read(
        self, recorder: Recorder, arguments: dict[str, Any], attributes: dict[str, Any]
    ) -> Request:
        """Read the request."""
        model = word(arguments.get("model"))
        if model is not None:
            attributes[GenAI.REQUEST_MODEL] = recorder.names.name(model)
        for name, (key, kind) in _PARAMETERS.items():
            value = number(arguments.get(name), kind)
            if value is not None:
                attributes[key] = whole(value) if isinstance(value, int) else value
        if arguments.get("stream") is True:
            attributes[GenAI.REQUEST_STREAM] = True
        _put_instructions(attributes, recorder, arguments)
        _put_tools(attributes, recorder, arguments)
        asked = attributes.get(GenAI.REQUEST_MODEL)
        captured = recorder.capture.value(_conversation(arguments))
        return Request(captured, span_name=f"chat {asked}" if asked else "chat")

    def result_attributes(self, live: Live, result: Any) -> dict[str, Any]:
        """Return the answer's messages, model, finish reasons and usage."""
        returned = None if live.returned is None else completion_by_shape(live.returned)
        if returned is not None:
            result, live.returned = live.returned, None
        return self._attributes(live, result, returned or completion(result))

    def partial_attributes(self, live: Live, result: Any, is_failed: bool) -> dict[str, Any]:
        """The same; of a stream that failed, a reason that did not come is `error`."""
        answer = completion(result)
        return self._attributes(live, result, broken_off(answer) if is_failed else answer)

    def _attributes(self, live: Live, result: Any, answer: Completion) -> dict[str, Any]:
        attributes = {**changed(live), **_named(answer.attributes, live.recorder)}
        streamed = live.collector
        provider = self.provider or provider_of(result)
        if provider is None and isinstance(streamed, CompletionCollector):
            provider = streamed.provider
        if provider is not None:
            attributes[GenAI.PROVIDER_NAME] = provider
        captured = live.recorder.capture.value(answer.messages)
        put(attributes, self.output_key, self.output_field, captured)
        return attributes

    def collector(self) -> CompletionCollector:
        """Return what puts a streamed answer together."""
        return CompletionCollector()


def _conversation(arguments: Mapping[str, Any]) -> Any:
    for name in _CONVERSATION:
        if arguments.get(name) is not None:
            return messages(arguments[name])
    texts = [value for value in arguments.values() if is_a(value, str)]
    if len(texts) == len(arguments) == 1:
        return messages(texts[0])
    return [{"role": "user", "parts": [{"type": "json", "content": dict(arguments)}]}]


def _put_instructions(
    attributes: dict[str, Any], recorder: Recorder, arguments: Mapping[str, Any]
) -> None:
    for name in _INSTRUCTIONS:
        told = either(arguments, name)
        if told is not None:
            captured = recorder.capture.value(parts(told))
            put(attributes, GenAI.SYSTEM_INSTRUCTIONS, "system_instructions", captured)
            attributes[Trackway.PROMPT_DIGEST] = _digest(captured)
            return
    for first in items_of(arguments.get("messages"), 1):
        if word(get(first, "role")) in _SYSTEM_ROLES:
            captured = recorder.capture.value(parts(get(first, "content")))
            attributes[Trackway.PROMPT_DIGEST] = _digest(captured)


def _put_tools(
    attributes: dict[str, Any], recorder: Recorder, arguments: Mapping[str, Any]
) -> None:
    tools: Any = arguments.get("tools")
    if is_list(tools) and length_of(tools):
        captured = recorder.capture.value(each(tool_definition, tools))
        put(attributes, GenAI.TOOL_DEFINITIONS, "tool_definitions", captured)
        attributes[Trackway.TOOLS_DIGEST] = _digest(captured)


def _named(told: Mapping[str, Any], recorder: Recorder) -> dict[str, Any]:
    """Return what an answer tells of itself (ids, model, reasons) without secrets."""
    clean = recorder.names.id_text
    return {
        key: clean(value)
        if type(value) is str
        else [clean(one) if type(one) is str else one for one in value]
        if type(value) is list or type(value) is tuple
        else value
        for key, value in told.items()
    }


def _digest(captured: Captured) -> str:
    if captured.digest is not None or captured.text is None:
        return captured.digest or ""
    return hashlib.sha256(captured.text.encode("utf-8")).hexdigest()
