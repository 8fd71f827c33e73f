"""MLflow traces: `Trace.to_json`, rows of `search_traces`, and the artifact `traces.json`.

1. A document is `{"info": ..., "data": {"spans": [...]}}`, a list of such, `{"traces": [...]}`,
   `{"spans": [...]}` alone, or a row of `search_traces` with the trace as text in `trace` or its
   spans in `spans`. Spans of schema 3 have base64 ids, those of schema 2 a `context`.
2. A trace of which there is only what it says of itself (`include_spans=False`) is put aside. One
   that says that it was still going on, or that it has more spans than are there, is read, and what
   is missing is put aside.
3. What the trace says of itself (session, user, tags, assessments) stands on its root span.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from trackway_analyzer.dialects.mlflow import TYPE
from trackway_analyzer.dialects.values import json_of
from trackway_analyzer.read.foreign_values import Origins, first, kept
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.span_objects import object_attributes, object_span, pruned
from trackway_analyzer.spans import Attributes, RawSpan
from trackway_analyzer.times import decoded

_REQUEST: Final = "mlflow.traceRequestId"
_SIZE: Final = "mlflow.trace.sizeStats"
_SCOPE: Final = "mlflow.tracing.provider"
_BESIDE: Final = frozenset(
    [
        "mlflow.traceInputs",
        "mlflow.traceOutputs",
        _SIZE,
        "mlflow.trace.sizeBytes",
        "mlflow.trace.infoFinalized",
        "mlflow.trace.tokenUsage",
        "mlflow.trace.cost",
    ]
)
"""Metadata that only sums up what the spans say."""

_ABOUT: Final = ("trace_metadata", "request_metadata")

Trace = tuple[dict[str, Any], list[Any]]
"""What a trace says of itself, and its spans, if there are any."""


def mlflow_traces(document: Any) -> list[Trace] | None:
    """Return the traces of a document; None where it is none of MLflow's."""
    if isinstance(document, dict) and isinstance(document.get("traces"), list):
        document = document["traces"]
    items = document if isinstance(document, list) else [document]
    traces = [_trace(item) for item in items]
    if all(trace is None for trace in traces):
        return None
    return [({}, []) if trace is None else trace for trace in traces]


def _trace(item: Any) -> Trace | None:
    if not isinstance(item, dict):
        return None
    whole = json_of(item.get("trace"))
    if isinstance(whole, dict) and whole is not item.get("trace"):
        return _trace(whole)
    info, data = item.get("info"), json_of(item.get("data"))
    spans = data.get("spans") if isinstance(data, dict) else json_of(item.get("spans"))
    spans = spans if isinstance(spans, list) else []
    if isinstance(info, dict):
        return (info, spans) if _names_a_trace(info) else None
    if "traceID" not in item and any(map(_is_mlflow, spans)):
        return item, spans
    bare = not spans and _names_a_trace(item) and any(name in item for name in _ABOUT)
    return (item, spans) if bare else None


def _names_a_trace(info: dict[str, Any]) -> bool:
    return "trace_id" in info or "request_id" in info


def _is_mlflow(span: Any) -> bool:
    attributes = span.get("attributes") if isinstance(span, dict) else None
    attributes = json_of(attributes)
    return isinstance(attributes, dict) and (_REQUEST in attributes or TYPE in attributes)


def mlflow_spans(
    items: list[Trace], quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan]:
    """Return the spans of traces."""
    origins = Origins()
    for info, spans in items:
        if not spans:
            quarantine.add_empty(first(info, "trace_id", "request_id"), offset)
        else:
            _note_missing(info, len(spans), quarantine, offset)
        about = _about(info)
        for item in spans:
            if not isinstance(item, dict):
                quarantine.add(Reason.BROKEN_SPAN, "a span must be an object", offset)
                continue
            attributes = object_attributes(item.get("attributes"), quarantine, offset)
            root = first(item, "parent_id", "parent_span_id") in (None, "")
            attributes = {**about, **attributes} if root else attributes
            ids = item if "trace_id" in item or "context" in item else {**_trace_id(info), **item}
            span = object_span(ids, attributes, origins.of(None, _SCOPE), quarantine, offset)
            if span is not None:
                yield span


def _note_missing(
    info: dict[str, Any], given: int, quarantine: Quarantine, offset: int | None
) -> None:
    """Put aside what a trace says of itself that is not there."""
    if first(info, "state", "status") in _GOING_ON:
        detail = "a trace that was still going on when it was exported"
        quarantine.add(Reason.PARTIAL_ANSWER, detail, offset)
    for name in _ABOUT:
        about = json_of(info.get(name))
        size = json_of(about.get(_SIZE)) if isinstance(about, dict) else None
        count = size.get("num_spans") if isinstance(size, dict) else None
        if isinstance(count, int) and count > given:
            detail = f"a trace of {count} spans with {given} of them"
            quarantine.add(Reason.PARTIAL_ANSWER, detail, offset)


_GOING_ON: Final = ("IN_PROGRESS", "TRACE_STATE_IN_PROGRESS")


def _trace_id(info: dict[str, Any]) -> dict[str, Any]:
    name = first(info, "trace_id", "request_id")
    return {"trace_id": name.removeprefix("tr-") if isinstance(name, str) else name}


def _about(info: dict[str, Any]) -> Attributes:
    found: Attributes = {}
    for name in ("trace_metadata", "request_metadata", "tags"):
        members = json_of(info.get(name))
        # A store's own answers have tags as a list of keys and values.
        if isinstance(members, list):
            members = {
                pair["key"]: pair.get("value")
                for pair in members
                if isinstance(pair, dict) and isinstance(pair.get("key"), str)
            }
        for key, value in (members if isinstance(members, dict) else {}).items():
            if key not in _BESIDE:
                kept(found, key, value)
    kept(found, "mlflow.assessments", json_of(info.get("assessments")) or None)
    kept(found, "mlflow.trace.state", first(info, "state", "status"))
    return found


def is_mlflow_table(names: Sequence[str]) -> bool:
    """Tell whether columns are those of `search_traces`."""
    known = set(names)
    return {"trace", "trace_metadata"} <= known or {"spans", "trace_metadata", "tags"} <= known


def mlflow_rows(table: pa.Table, quarantine: Quarantine) -> Iterator[RawSpan]:
    """Return the spans of rows of `search_traces`."""
    for row in decoded(table):
        traces = mlflow_traces(pruned(row) or {})
        if traces is None:
            quarantine.add(Reason.BROKEN_SPAN, "a row without a trace")
        else:
            yield from mlflow_spans(traces, quarantine, None)
