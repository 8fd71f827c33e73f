"""Phoenix exports: spans out of its REST API, its client's data frames, and what it wrote of old.

1. A document is one span object (`span_objects`), a list of them, or `{"data": [...]}` as the
   routes `/spans` and `/spans/otlpv1` answer. Rows of a data frame written as JSON have the same
   members under `context.trace_id` and `attributes.llm.model_name`; so have columns of Parquet.
2. Lists of messages and documents, which Phoenix folds, are laid out in numbered keys again, as
   OpenInference writes them. Its own column `span_kind` is the attribute once more.
3. A trace that the API lists, which has no spans or few words on each, is put aside.
4. The SDK's `to_json` has the same form: what its console exporter prints a line is read too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from trackway_analyzer.dialects.openinference import KIND
from trackway_analyzer.dialects.values import json_of
from trackway_analyzer.read.foreign_values import Origins, kept, plain_rows
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.span_objects import object_attributes, object_span, pruned
from trackway_analyzer.spans import Attributes, RawSpan

_ATTRIBUTES: Final = "attributes."
_CONTEXT: Final = "context."
_FOLDED: Final = ("llm.", "retrieval.", "embedding.", "reranker.", "message.", "message_content.")
"""Where lists of objects are numbered keys of OpenInference."""
_TRACE: Final = frozenset(["trace_id", "project_id", "start_time", "end_time"])
_MAX_DEPTH: Final = 16


def phoenix_items(document: Any) -> list[Any] | None:
    """Return the span objects of a document; None where it holds none."""
    if isinstance(document, dict) and isinstance(document.get("data"), list):
        document = document["data"]
    items = document if isinstance(document, list) else [document]
    return items if any(_is_span(item) or _is_bare_trace(item) for item in items) else None


def _is_bare_trace(item: Any) -> bool:
    return isinstance(item, dict) and item.keys() >= _TRACE and not _is_span(item)


def _is_span(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    context = item.get("context")
    if isinstance(context, dict) and "span_id" in context:
        return "start_time" in item and ("span_kind" in item or "parent_id" in item)
    if f"{_CONTEXT}span_id" in item:
        return f"{_CONTEXT}trace_id" in item
    return "span_id" in item and "start_time_unix_nano" in item and "scopeSpans" not in item


def phoenix_spans(
    items: list[Any], quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan]:
    """Return span objects as spans."""
    origins = Origins()
    for item in items:
        if _is_bare_trace(item):
            parts = "attributes of its spans" if item.get("spans") else "spans"
            quarantine.add_empty(item["trace_id"], offset, parts=parts)
        elif isinstance(item, dict):
            span = _span(_unfolded(item), origins, quarantine, offset)
            if span is not None:
                yield span
        else:
            quarantine.add(Reason.BROKEN_SPAN, "a span must be an object", offset)


def _unfolded(item: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a data frame as the object that it was."""
    if f"{_CONTEXT}span_id" not in item:
        return item
    attributes, found = {}, dict[str, Any](context={})
    for name, value in item.items():
        if value is None:
            continue
        if name.startswith(_ATTRIBUTES):
            attributes[name.removeprefix(_ATTRIBUTES)] = value
        elif name.startswith(_CONTEXT):
            found["context"][name.removeprefix(_CONTEXT)] = value
        elif name != "context":
            found[name] = value
    if attributes:
        found["attributes"] = attributes
    return found


def _span(
    item: dict[str, Any], origins: Origins, quarantine: Quarantine, offset: int | None
) -> RawSpan | None:
    attributes = _laid_out(object_attributes(item.get("attributes"), quarantine, offset))
    if isinstance(item.get("span_kind"), str) and "kind" not in item:
        attributes.setdefault(KIND, item["span_kind"].upper())
    resource = item.get("resource")
    resource = resource.get("attributes") if isinstance(resource, dict) else None
    return object_span(item, attributes, origins.of(resource), quarantine, offset)


def _laid_out(attributes: Attributes) -> Attributes:
    """Return attributes with nested objects and lists of OpenInference in keys of their own."""
    found: Attributes = {}
    for key, value in attributes.items():
        folded = isinstance(value, dict | list) and f"{key}.".startswith(_FOLDED)
        if folded or (isinstance(value, dict) and key in _PREFIXES):
            _lay_out(found, key, value, 0)
        else:
            kept(found, key, value)
    return found


_PREFIXES: Final = frozenset(
    ["openinference", "input", "output", "tool", "agent", "session", "user", "graph", "gen_ai"]
)
"""First parts of keys that Phoenix nests in its oldest exports."""


def _lay_out(found: Attributes, key: str, value: Any, depth: int) -> None:
    if depth > _MAX_DEPTH or key in _WHOLE:
        kept(found, key, value)
    elif isinstance(value, dict) and value:
        for name, inner in value.items():
            _lay_out(found, f"{key}.{name}", inner, depth + 1)
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for place, inner in enumerate(value):
            _lay_out(found, f"{key}.{place}", inner, depth + 1)
    elif value is not None:
        kept(found, key, value)


_WHOLE: Final = frozenset(["llm.invocation_parameters", "tool.parameters", "input.value"])


def is_phoenix_table(names: Sequence[str]) -> bool:
    """Tell whether columns are those of a frame of Phoenix spans."""
    return {f"{_CONTEXT}trace_id", f"{_CONTEXT}span_id", "name"} <= set(names)


def phoenix_rows(table: pa.Table, quarantine: Quarantine) -> Iterator[RawSpan]:
    """Return the rows of a frame of Phoenix spans as spans."""
    items = [pruned(_json_members(row)) or {} for row in plain_rows(table)]
    yield from phoenix_spans(items, quarantine, None)


def _json_members(row: dict[str, Any]) -> dict[str, Any]:
    """Decode what the client's own Parquet keeps as JSON text."""
    return {
        name: json_of(value) if name in ("events", "attributes.metadata") else value
        for name, value in row.items()
    }
