"""Attributes as a JSON object, without loss.

1. What JSON lacks is tagged as `schema.BYTES_TAG` and its neighbours describe.
2. Text that is not valid Unicode is escaped.
3. An integer beyond 64 bits is a text, as it is everywhere on a span.
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
from trackway.capture.integers import is_whole, whole

_EXACT: Final = orjson.OPT_STRICT_INTEGER
"""Refuses integers of more than 53 bits, those beyond 64 with them, at no cost for others."""
_AS_IS: Final = frozenset({str, int, bool, type(None)})
_TAGS: Final = frozenset({schema.BYTES_TAG, schema.FLOAT_TAG, schema.MAP_TAG})
_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def to_json(attributes: Mapping[str, Any] | None) -> str:
    """Encode attributes as the JSON object that the span table keeps."""
    return _encode(_tagged_members(attributes or {}))


def all_to_json(members: Sequence[Mapping[str, Any]]) -> tuple[list[str], frozenset[int]]:
    """Encode the attributes of many spans, each as `to_json` does.

    Returns with them the rows that have a value in which keys stand (a mapping, or a list of them),
    or bytes, whose text does not stand in the JSON.
    """
    nested: frozenset[int] = frozenset()
    if not _are_plain(chain.from_iterable(found.values() for found in members)):
        nested = frozenset(
            row for row, found in enumerate(members) if any(map(_hides_text, found.values()))
        )
        members = [
            found if _are_plain(found.values()) else _tagged_members(found) for found in members
        ]
    try:
        return [orjson.dumps(found, option=_EXACT).decode() for found in members], nested
    except TypeError:
        return list(map(_encode, members)), nested


def _are_plain(values: Iterable[Any]) -> bool:
    """Tell whether JSON has all of the values, and none of them is a container or a fraction."""
    return _AS_IS.issuperset(map(type, values))


def _hides_text(value: Any) -> bool:
    if isinstance(value, (Mapping, bytes, bytearray)):
        return True
    return isinstance(value, (tuple, list)) and any(map(_hides_text, value))


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
        return orjson.dumps(tagged, option=_EXACT).decode()
    except TypeError:  # a large integer, or no valid Unicode
        pass
    bounded = _bounded(tagged)
    try:
        return orjson.dumps(bounded).decode()
    except TypeError:
        return json.dumps(bounded, separators=(",", ":"))


def _bounded(tagged: Any) -> Any:
    """Replace integers beyond 64 bits by their texts."""
    if isinstance(tagged, Mapping):
        return {key: _bounded(item) for key, item in tagged.items()}
    if isinstance(tagged, (tuple, list)):
        return list(map(_bounded, tagged))
    return tagged if is_whole(tagged) else whole(tagged)
