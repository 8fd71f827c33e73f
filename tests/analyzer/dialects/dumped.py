"""Raw spans from the lists of spans in `tests/data/dialects`, whose parents are given by name."""

from pathlib import Path
from typing import Any

import orjson

from trackway_analyzer.spans import Origin, RawEvent, RawSpan

TRACE = "ab" * 16


def raw_spans(path: Path) -> list[RawSpan]:
    dumped = orjson.loads(path.read_bytes())
    ids = {span["name"]: f"{number:016x}" for number, span in enumerate(dumped, start=1)}
    return [_raw_span(number, span, ids) for number, span in enumerate(dumped, start=1)]


def _raw_span(number: int, span: dict[str, Any], ids: dict[str, str]) -> RawSpan:
    scope, _, version = span["scope"].partition("@")
    status, _, message = span["status"].partition(":")
    return RawSpan(
        trace_id=TRACE,
        span_id=f"{number:016x}",
        name=span["name"],
        start=number * 1000,
        origin=Origin(scope=scope, scope_version=version or None),
        attributes=span["attributes"],
        parent_span_id=ids.get(span["parent"]),
        kind=span["kind"],
        end=number * 1000 + 500,
        status=status,
        status_message=message or None,
        events=tuple(
            RawEvent(event["name"], None, event["attributes"]) for event in span["events"]
        ),
    )


def span(scope: str = "test", *, name: str = "span", **fields: Any) -> RawSpan:
    """One span with the given fields; `attributes` and `events` as they stand in a file."""
    return RawSpan(
        trace_id=TRACE,
        span_id="01" * 8,
        name=name,
        start=1,
        origin=Origin(scope=scope),
        attributes=fields.pop("attributes", {}),
        **fields,
    )
