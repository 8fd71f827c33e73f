"""The way back from a row of the span table to the attributes of its span, as a reader goes it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from trackway import schema


def attributes_of(row: Mapping[str, Any]) -> dict[str, Any]:
    attributes = untagged_members(json.loads(row["attributes"]))
    keys = dict(
        zip(schema.content_attributes(row.get("operation")), ("input", "output"), strict=True)
    )
    for column in schema.SPAN_COLUMNS:
        if column.attribute is not None:
            keys[column.attribute] = column.name
    for key, name in keys.items():
        value = row.get(name)
        if value is not None:
            attributes[key] = tuple(value) if isinstance(value, list | tuple) else value
    return attributes


def untagged_members(members: Mapping[str, Any]) -> dict[str, Any]:
    return {key: untagged(value) for key, value in members.items()}


def untagged(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(untagged, value))
    if isinstance(value, dict):
        if len(value) == 1:
            (tag, inner), *_ = value.items()
            if tag == schema.BYTES_TAG:
                return base64.b64decode(inner)
            if tag == schema.FLOAT_TAG:
                return float(inner)
            if tag == schema.MAP_TAG:
                return untagged_members(inner)
        return untagged_members(value)
    return value
