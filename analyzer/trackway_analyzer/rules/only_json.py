"""What would a value that a rule states be, had a call recorded it?

JSON values stay, tuples are lists, a `Decimal` is a number as the recorder writes it. What only
Python has, such as a set, no record could hold, and no rule may demand.
"""

from __future__ import annotations

from decimal import Decimal

from trackway_analyzer.json_text import UnencodableError, canonical, parsed
from trackway_analyzer.model import JsonValue


def as_recorded(value: object, what: str) -> JsonValue:
    """Return the JSON value. Raises TypeError, which names `what`, where there is none."""
    try:
        return parsed(canonical(_only_json(value)))
    except (TypeError, UnencodableError) as error:
        raise TypeError(f"{what} must be a JSON value, found {value!r}") from error


def _only_json(value: object) -> JsonValue:
    if isinstance(value, dict):
        return {key: _only_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_only_json(item) for item in value]
    if value is None or isinstance(value, (str, bool, int, float, Decimal)):
        return value
    raise TypeError(f"{type(value).__name__} is no JSON")
