"""Attributes as a JSON object, without loss.

1. What JSON lacks is tagged as `schema.BYTES_TAG` and its neighbours describe.
2. Text that is not valid Unicode is escaped.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import orjson

from trackway import schema

_AS_IS: Final = frozenset({str, int, bool, type(None)})
_TAGS: Final = frozenset({schema.BYTES_TAG, schema.FLOAT_TAG, schema.MAP_TAG})
_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def to_json(attributes: Mapping[str, Any] | None) -> str:
    """Encode attributes as the JSON object that the span table keeps."""
    return _encode(_tagged_members(attributes or {}))


def all_to_json(members: Sequence[Mapping[str, Any]]) -> tuple[list[str], frozenset[int]]:
    """Encode the attributes of many spans, each as `to_json` does.

    Returns with them the rows that have a value in which keys stand: a mapping, or a list of them.
    """
    nested: frozenset[int] = frozenset()
    if not _are_plain(chain.from_iterable(found.values() for found in members)):
        nested = frozenset(
            row for row, found in enumerate(members) if any(map(_holds_keys, found.values()))
        )
        members = [
            found if _are_plain(found.values()) else _tagged_members(found) for found in members
        ]
    try:
        return [orjson.dumps(found).decode() for found in members], nested
    except TypeError:
        return list(map(_encode, members)), nested


def _are_plain(values: Iterable[Any]) -> bool:
    """Tell whether JSON has all of the values, and none of them is a container or a fraction."""
    return _AS_IS.issuperset(map(type, values))


def _holds_keys(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return isinstance(value, (tuple, list)) and any(map(_holds_keys, value))


def _tagged_members(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value if value.__class__ in _AS_IS else _tagged(value)
        for key, value in attributes.items()
    }


def _tagged(value: Any) -> Any:
    """Replace what JSON lacks by its tagged form."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {schema.FLOAT_TAG: _NOT_FINITE[str(value)]}
    if isinstance(value, (bytes, bytearray)):
        return {schema.BYTES_TAG: base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        tagged = {str(key): _tagged(item) for key, item in value.items()}
        if len(tagged) == 1 and not _TAGS.isdisjoint(tagged):
            return {schema.MAP_TAG: tagged}
        return tagged
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_tagged(item) for item in value]
    return value


def _encode(tagged: Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(tagged).decode()
    except TypeError:  # an integer of more than 64 bits, or no valid Unicode
        return json.dumps(tagged, separators=(",", ":"))
