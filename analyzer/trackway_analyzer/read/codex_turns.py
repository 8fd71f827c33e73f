"""Turns of Codex's model, the calls that they ask for, and what these came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trackway.schema import GenAI
from trackway_analyzer.dialects.provider_calls import Asked, Told
from trackway_analyzer.dialects.values import integer

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A call that an item asks for."""

    asked: Asked
    told: Told | None
    """What the provider told at once."""
    time: int | None
    place: int
    unknown: str | None
    """Type of the item, where it is one that nobody knows."""


@dataclass(slots=True)
class Turn:
    """What the model wrote between two things that it read."""

    heard: list[Any]
    model: str | None
    place: int
    said: list[Any] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    start: int | None = None
    end: int | None = None
    usage: Line = field(default_factory=dict)
    error: str | None = None
    failure: str | None = None

    def attributes(self) -> Line:
        """Return the attributes of its span."""
        usage = self.usage
        return {
            GenAI.OUTPUT_MESSAGES: [message for message in self.said if message],
            GenAI.REQUEST_MODEL: self.model,
            GenAI.INPUT_TOKENS: usage.get("input_tokens"),
            GenAI.OUTPUT_TOKENS: usage.get("output_tokens"),
            GenAI.CACHE_READ_TOKENS: usage.get("cached_input_tokens"),
            GenAI.REASONING_TOKENS: usage.get("reasoning_output_tokens"),
            GenAI.ERROR_TYPE: self.error,
        }


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a call, and when it came."""

    told: Told
    time: int | None
    runs_in: str | None = None
    """Session in which the command still runs."""


def summed(first: Line, second: Line) -> Line:
    """Add counts; one that either lacks is that of the other."""
    both = {**first, **second}
    for name in first.keys() & second.keys():
        one, other = integer(first[name]), integer(second[name])
        both[name] = other if one is None else one if other is None else one + other
    return both
