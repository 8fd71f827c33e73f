"""Turns of Claude Code's model: the lines of one message id, on their way to one model span.

Tokens are those of the message's last line, cached ones included.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from trackway.schema import GenAI
from trackway_analyzer.dialects.provider_calls import Asked
from trackway_analyzer.read.claude_code_lines import (
    Line,
    call_in,
    is_of_unknown_type,
    kind_of,
    parts_in,
    readable,
)
from trackway_analyzer.read.foreign_values import time_of

_INPUTS: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


@dataclass(slots=True)
class Call:
    """A call that the model asked for."""

    asked: Asked
    time: int | None
    place: int
    """Place of the line that asks."""
    unknown: str | None
    """Type of the block that asks, where it is one that nobody knows."""


@dataclass(slots=True)
class Turn:
    """A message of the model on its way."""

    model: str | None
    parts: list[Any] = field(default_factory=list)
    usage: Line = field(default_factory=dict)
    stop: str | None = None
    start: int | None = None
    end: int | None = None
    error: str | None = None
    request: str | None = None
    place: int = 0
    """Place of its first line."""

    def extend(self, line: Line, place: int) -> list[Call]:
        """Add a line; return the calls that it asks for."""
        message = line["message"]
        parts = parts_in(line)
        self.parts += [readable(part) for part in parts]
        usage, stop = message.get("usage"), message.get("stop_reason")
        self.usage = usage if isinstance(usage, dict) else self.usage
        self.stop = stop if isinstance(stop, str) else self.stop
        self.end = time_of(line.get("timestamp")) or self.end
        return [
            Call(call, self.end, place, kind_of(part) if is_of_unknown_type(part) else None)
            for part in parts
            if (call := call_in(part)) is not None
        ]

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of its span."""
        usage = self.usage
        inputs = [usage[name] for name in _INPUTS if isinstance(usage.get(name), int)]
        return {
            GenAI.OUTPUT_MESSAGES: [{"role": "assistant", "parts": self.parts}],
            GenAI.REQUEST_MODEL: self.model,
            GenAI.RESPONSE_MODEL: self.model,
            GenAI.PROVIDER_NAME: "anthropic" if self.model else None,
            GenAI.RESPONSE_FINISH_REASONS: [self.stop] if self.stop else None,
            GenAI.INPUT_TOKENS: sum(inputs) if inputs else None,
            GenAI.OUTPUT_TOKENS: usage.get("output_tokens"),
            GenAI.CACHE_READ_TOKENS: usage.get("cache_read_input_tokens"),
            GenAI.CACHE_WRITE_TOKENS: usage.get("cache_creation_input_tokens"),
            GenAI.ERROR_TYPE: self.error,
            "claude_code.request_id": self.request,
        }


def new_turn(line: Line, place: int) -> Turn:
    """Return the turn that begins with a line."""
    model = line["message"].get("model")
    return Turn(
        model if isinstance(model, str) and model != "<synthetic>" else None,
        start=time_of(line.get("timestamp")),
        error="api_error" if line.get("isApiErrorMessage") is True else None,
        request=line.get("requestId"),
        place=place,
    )
