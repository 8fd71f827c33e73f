"""OTLP attribute lists to plain JSON values.

1. `stringValue`, `boolValue`, `intValue`, `doubleValue`, `arrayValue`, `kvlistValue` become text,
   bool, int, float, list, object; the empty value `{}` becomes null. snake_case names are taken
   too.
2. What JSON cannot hold keeps its OTLP form as an object: `{"bytesValue": "aGk="}`,
   `{"doubleValue": "NaN"}` (the tags of `trackway.schema`).
3. A value deeper than `MAX_DEPTH` or of no known form raises `BrokenValueError`; it costs that
   value.
4. A key that comes twice keeps the last value, as the SDKs do.
"""

from __future__ import annotations

import math
from typing import Any, Final

from trackway.schema import BYTES_TAG, FLOAT_TAG, MAP_TAG
from trackway_analyzer.model import JsonValue

MAX_DEPTH: Final = 64


class BrokenValueError(ValueError):
    """An attribute value that has no known form."""


def any_value(value: Any, depth: int = 0) -> JsonValue:
    """Decode one AnyValue. Raises BrokenValueError."""
    if depth > MAX_DEPTH:
        raise BrokenValueError(f"nested deeper than {MAX_DEPTH}")
    if not isinstance(value, dict):
        raise BrokenValueError(f"an attribute value must be an object, found {_kind(value)}")
    for name, content in value.items():
        decode = _FORMS.get(name)
        if decode is not None:
            return decode(content, depth)
    if value:
        raise BrokenValueError(f"no known value form among {sorted(value)[:5]}")
    return None


def attributes_of(items: Any, broken: list[str]) -> dict[str, JsonValue]:
    """Decode a list of key-value pairs; what is broken is left out and described in `broken`."""
    decoded: dict[str, JsonValue] = {}
    if not items:
        return decoded
    if isinstance(items, dict):
        return _of_plain_object(items, broken)
    if not isinstance(items, list):
        broken.append(f"attributes must be a list, found {_kind(items)}")
        return decoded
    for item in items:
        try:
            key, value = item["key"], item["value"]
            text = value.get("stringValue")
            if text.__class__ is str and key.__class__ is str:
                decoded[key] = text
                continue
        except (KeyError, TypeError, AttributeError, IndexError):
            pass
        _add_slowly(item, decoded, broken)
    return decoded


def _add_slowly(item: Any, decoded: dict[str, JsonValue], broken: list[str]) -> None:
    key = item.get("key") if isinstance(item, dict) else None
    if not isinstance(key, str):
        broken.append("an attribute without a key")
        return
    if "value" not in item and len(item) > 1:
        broken.append(f"attribute {key}: no value, but {sorted(map(str, item))[:5]}")
        return
    try:
        decoded[key] = any_value(item.get("value") or {})
    except BrokenValueError as error:
        broken.append(f"attribute {key}: {error}")


def _of_plain_object(items: dict[str, Any], broken: list[str]) -> dict[str, JsonValue]:
    """Attributes written as a plain object, by sloppy writers: `{"k": "v"}`."""
    decoded: dict[str, JsonValue] = {}
    for key, value in items.items():
        try:
            decoded[key] = bounded(value)
        except BrokenValueError as error:
            broken.append(f"attribute {key}: {error}")
    return decoded


def bounded(value: JsonValue, depth: int = 0) -> JsonValue:
    """Return a plain JSON value unchanged. Raises BrokenValueError beyond `MAX_DEPTH`."""
    if depth > MAX_DEPTH:
        raise BrokenValueError(f"nested deeper than {MAX_DEPTH}")
    if isinstance(value, dict):
        for item in value.values():
            bounded(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            bounded(item, depth + 1)
    return value


def _text(content: Any, _depth: int) -> JsonValue:
    if not isinstance(content, str):
        raise BrokenValueError(f"stringValue must be a text, found {_kind(content)}")
    return content


def _bool(content: Any, _depth: int) -> JsonValue:
    if isinstance(content, bool):
        return content
    if content in ("true", "false"):
        return bool(content == "true")
    raise BrokenValueError(f"boolValue must be true or false, found {_kind(content)}")


def _int(content: Any, _depth: int) -> JsonValue:
    if isinstance(content, int):
        return int(content)
    try:
        return int(content)
    except (TypeError, ValueError, OverflowError):
        raise BrokenValueError(f"intValue is no integer: {_kind(content)}") from None


def _double(content: Any, _depth: int) -> JsonValue:
    try:
        number = float(content)
    except (TypeError, ValueError, OverflowError):
        raise BrokenValueError(f"doubleValue is no number: {_kind(content)}") from None
    return finite(number)


def finite(number: float) -> JsonValue:
    """Return a number that JSON has, or its tagged form."""
    return number if math.isfinite(number) else {FLOAT_TAG: _NOT_FINITE.get(number, "NaN")}


_NOT_FINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}


def _array(content: Any, depth: int) -> JsonValue:
    return [any_value(item or {}, depth + 1) for item in _values(content, "arrayValue")]


def _kvlist(content: Any, depth: int) -> JsonValue:
    decoded = {}
    for pair in _values(content, "kvlistValue"):
        if not isinstance(pair, dict) or not isinstance(pair.get("key"), str):
            raise BrokenValueError("a kvlistValue pair without a key")
        decoded[pair["key"]] = any_value(pair.get("value") or {}, depth + 1)
    return untagged(decoded)


def untagged(mapping: dict[str, JsonValue]) -> JsonValue:
    """Return a mapping so that it cannot be taken for a tagged value."""
    return {MAP_TAG: mapping} if len(mapping) == 1 and not _TAGS.isdisjoint(mapping) else mapping


_TAGS = frozenset([BYTES_TAG, FLOAT_TAG, MAP_TAG])


def _values(content: Any, name: str) -> list[Any]:
    if content is None:
        return []
    values = content.get("values") if isinstance(content, dict) else content
    if values is None:
        return []
    if not isinstance(values, list):
        raise BrokenValueError(f"{name} must hold a list, found {_kind(values)}")
    return values


def _bytes(content: Any, _depth: int) -> JsonValue:
    if not isinstance(content, str):
        raise BrokenValueError(f"bytesValue must be base64 text, found {_kind(content)}")
    return {BYTES_TAG: content}


_FORMS = {
    "stringValue": _text,
    "string_value": _text,
    "boolValue": _bool,
    "bool_value": _bool,
    "intValue": _int,
    "int_value": _int,
    "doubleValue": _double,
    "double_value": _double,
    "arrayValue": _array,
    "array_value": _array,
    "kvlistValue": _kvlist,
    "kvlist_value": _kvlist,
    "bytesValue": _bytes,
    "bytes_value": _bytes,
}


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__
