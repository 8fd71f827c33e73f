"""OTLP JSON as tests write it: a document of a few spans, everything overridable."""

import base64
import math
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

TRACE = "5b8efff798038103d269b633813fc60c"
SPAN = "eee19b7ec3c1b174"


def any_value(value: Any) -> dict[str, Any]:
    """Encode a value as the OTLP JSON encoders do."""
    if value is None:
        return {}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        names = {math.inf: "Infinity", -math.inf: "-Infinity"}
        return {"doubleValue": value if math.isfinite(value) else names.get(value, "NaN")}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bytes):
        return {"bytesValue": base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": attributes(value)}}
    return {"arrayValue": {"values": [any_value(item) for item in value]} if value else {}}


def attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": any_value(value)} for key, value in values.items()]


def span(**fields: Any) -> dict[str, Any]:
    """One span; `attributes` is a plain mapping, other fields replace or add."""
    made = {
        "traceId": TRACE,
        "spanId": SPAN,
        "name": "execute_tool f",
        "kind": 1,
        "startTimeUnixNano": "1700000000000000001",
        "endTimeUnixNano": "1700000000000000002",
        "status": {},
    }
    given = dict(fields)
    if isinstance(given.get("attributes"), Mapping):
        given["attributes"] = attributes(given["attributes"])
    made |= given
    return {key: value for key, value in made.items() if value is not ...}


def document(*spans: dict[str, Any], resource: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes(resource or {"service.name": "shop"})},
                "scopeSpans": [{"scope": {"name": "test", "version": "1"}, "spans": list(spans)}],
            }
        ]
    }


def lines(documents: Iterable[Any]) -> bytes:
    return b"".join(orjson.dumps(document) + b"\n" for document in documents)
