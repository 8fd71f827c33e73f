"""Single attribute values, whatever their encoding: text, numbers, lists.

Every function returns None where the value does not say it; none raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import JsonValue
from trackway_analyzer.recorder_marks import is_taken_out

_FINISH_REASONS: Final = {
    "tool_calls": "tool_call",
    "tool_use": "tool_call",
    "tool-calls": "tool_call",
    "function_call": "tool_call",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "STOP": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "MAX_TOKENS": "length",
}


def is_placeholder(value: JsonValue) -> bool:
    """Tell whether a value only says that nothing was recorded."""
    return isinstance(value, str) and is_taken_out(value)


def text(value: JsonValue) -> str | None:
    """Return a non-empty text; a number becomes one."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(value)


def integer(value: JsonValue, bits: int = 64) -> int | None:
    """Return an integer that fits `bits`; a number written as text is taken too."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = parsed(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else None


def number(value: JsonValue) -> float | None:
    """Return a finite number; a number written as text is taken too."""
    if isinstance(value, str):
        value = parsed(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if math.isfinite(result) else None


def truth(value: JsonValue) -> bool | None:
    """Return a bool; `"true"` and `"false"` are taken too."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None


def says_it_failed(item: Mapping[str, JsonValue]) -> bool:
    """Tell whether a message or block bears the flag of a failed call, however it is spelt."""
    return any(truth(item.get(name)) is True for name in ("is_error", "isError"))


def names(value: JsonValue) -> list[str] | None:
    """Return a list of texts: from a list, a JSON list in a text, or one text."""
    if isinstance(value, str):
        decoded = parsed(value)
        value = decoded if isinstance(decoded, list) else [value]
    if not isinstance(value, list):
        return None
    return [item for item in value if isinstance(item, str) and item] or None


def finish_reasons(value: JsonValue) -> list[str] | None:
    """Return finish reasons by their names in the conventions."""
    found = names(value)
    return [_FINISH_REASONS.get(reason, reason) for reason in found] if found else None


def json_of(value: JsonValue) -> JsonValue:
    """Decode a value that may be JSON in a text, or JSON in JSON in a text."""
    if isinstance(value, str):
        value = parsed(value)
        if isinstance(value, str):
            value = parsed(value)
    return value


def member(*paths: str) -> Callable[[JsonValue], JsonValue]:
    """Return a function that takes the first of these members out of a JSON object.

    A path with dots goes down; a list on the way gives its first item.
    """
    routes = [path.split(".") for path in paths]

    def take(value: JsonValue) -> JsonValue:
        value = json_of(value)
        return next((found for route in routes if (found := _down(value, route)) is not None), None)

    return take


def _down(value: JsonValue, route: list[str]) -> JsonValue:
    for name in route:
        if isinstance(value, list):
            value = value[0] if value else None
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def only(name: str) -> Callable[[JsonValue], JsonValue]:
    """Return a function that unwraps an object whose one member has this name."""

    def take(value: JsonValue) -> JsonValue:
        decoded = json_of(value)
        single = isinstance(decoded, dict) and decoded.keys() == {name}
        return decoded[name] if single else value

    return take


def filled(value: JsonValue) -> JsonValue:
    """Return a value that is more than an empty text or object, which some write for nothing."""
    return None if json_of(value) in ("", {}, None) else value


def says(*words: str) -> Callable[[JsonValue], bool | None]:
    """Return a function that is True for one of these words and else None."""
    return lambda value: True if isinstance(value, str) and value in words else None


def short_type(value: JsonValue) -> str | None:
    """Return an exception's class without its module."""
    name = text(value)
    if name is None:
        return None
    last = name.rpartition(".")[2]
    return last if last.isidentifier() else name
