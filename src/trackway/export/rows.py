"""What does an ended span become in the span table?

1. One span, one row. Ids are lower-case hex, times are nanoseconds since 1970 (UTC).
2. An attribute goes to the column that names it (`schema.Column.attribute`) when its value has the
   column's type: no conversion, so that the way back is exact. Everything else stays in
   `attributes`, a JSON object; so does a value that the column cannot hold.
3. `input` and `output` hold the attributes that `schema.content_attributes` names for the row's
   `operation`.
4. `operation` and `source` are filled for spans of our own scope. Spans of other instrumentors keep
   both null: the row is raw, a dialect reads it later.
5. What JSON lacks is tagged as `schema.BYTES_TAG` and its neighbours describe. Text that is not
   valid Unicode is escaped in JSON; in span names and messages "?" stands for it.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Link, SpanContext

from trackway import schema
from trackway.schema import GenAI, Operation

Columns = dict[str, list[Any]]
"""Column name to its values, one a span. A column that is missing is null throughout."""

_INT32: Final = 2**31
_INT64: Final = 2**63
_HAS_IS_REMOTE: Final = 0x100
_IS_REMOTE: Final = 0x200


def _is_whole(value: Any, bound: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -bound <= value < bound


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and _is_unicode(value)


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_FITS: Final[dict[str, Callable[[Any], bool]]] = {
    "string": _is_text,
    "bool": lambda value: isinstance(value, bool),
    "int32": lambda value: _is_whole(value, _INT32),
    "int64": lambda value: _is_whole(value, _INT64),
    "double": lambda value: isinstance(value, float),
    "list<string>": lambda value: isinstance(value, (tuple, list)) and all(map(_is_text, value)),
}
_BY_ATTRIBUTE: Final = {
    column.attribute: (column.name, _FITS[column.type])
    for column in schema.SPAN_COLUMNS
    if column.attribute is not None
}


def _places(operation: str | None) -> dict[str, tuple[str, Callable[[Any], bool]]]:
    input_key, output_key = schema.content_attributes(operation)
    return {**_BY_ATTRIBUTE, input_key: ("input", _is_text), output_key: ("output", _is_text)}


_PLACES: Final = {operation: _places(operation) for operation in (None, *Operation)}
"""Operation to attribute key to (column, does a value fit?)."""


def columns_of(spans: Sequence[ReadableSpan]) -> Columns:
    """Turn ended spans into the columns of the span table, rows in the order given."""
    builder = _Builder(len(spans))
    for row, span in enumerate(spans):
        builder.add(row, span)
    return builder.columns


def to_json(attributes: Mapping[str, Any] | None) -> str:
    """Encode attributes as the JSON object that the span table keeps, without loss."""
    return _encode({key: _tagged(value) for key, value in (attributes or {}).items()})


def operation_of(attributes: Mapping[str, Any]) -> Operation:
    """Return what a span of our own scope is, from its `gen_ai.operation.name`."""
    name = attributes.get(GenAI.OPERATION_NAME)
    if not isinstance(name, str):
        return Operation.OTHER
    return schema.OPERATION_OF_GENAI_NAME.get(name, Operation.OTHER)


class _Builder:
    """The columns of one batch, filled row by row; a column exists once a row has a value for it.

    Resources, trace ids and scopes repeat within a batch: each is encoded once.
    """

    def __init__(self, rows: int) -> None:
        self.columns: Columns = {}
        self._rows = rows
        self._resources: dict[int, tuple[str, str | None]] = {}
        self._traces: dict[int, str] = {}

    def set(self, row: int, column: str, value: Any) -> None:
        values = self.columns.get(column)
        if values is None:
            values = self.columns[column] = [None] * self._rows
        values[row] = value

    def add(self, row: int, span: ReadableSpan) -> None:
        put = self.set
        context = span.context
        assert context is not None, "the SDK ends no span without a context"
        scope = span.instrumentation_scope
        attributes = _plain(span.attributes)
        operation = None
        if scope is not None:
            put(row, "scope", _unicode(scope.name))
            if scope.version:
                put(row, "scope_version", _unicode(scope.version))
            if scope.name == schema.SCOPE_NAME:
                operation = operation_of(attributes)
                put(row, "operation", operation.value)
                put(row, "source", schema.SCOPE_NAME)
        put(row, "attributes", self._split(row, attributes, operation))
        put(row, "trace_id", self._trace(context.trace_id))
        put(row, "span_id", f"{context.span_id:016x}")
        if span.parent is not None:
            put(row, "parent_span_id", f"{span.parent.span_id:016x}")
        put(row, "name", _unicode(span.name))
        put(row, "kind", span.kind.name)
        put(row, "start", span.start_time or span.end_time or 0)
        put(row, "end", span.end_time)
        put(row, "status", span.status.status_code.name)
        if span.status.description is not None:
            put(row, "error_message", _unicode(span.status.description))
        resource, service = self._resource(span)
        put(row, "resource", resource)
        put(row, "service", service)
        put(row, "flags", _flags(context, span.parent))
        put(row, "schema_version", schema.SCHEMA_VERSION)
        if context.trace_state:
            put(row, "trace_state", context.trace_state.to_header())
        if span.events:
            put(row, "events", [_event(event) for event in span.events])
        if span.links:
            put(row, "links", [_link(link) for link in span.links])
        for column, dropped in (
            ("dropped_attributes", span.dropped_attributes),
            ("dropped_events", span.dropped_events),
            ("dropped_links", span.dropped_links),
        ):
            if dropped:
                put(row, column, dropped)

    def _split(self, row: int, attributes: Mapping[str, Any], operation: Operation | None) -> str:
        """Put each attribute where it belongs and return the JSON of what has no column."""
        places = _PLACES[operation]
        rest: dict[str, Any] = {}
        for key, value in attributes.items():
            place = places.get(key)
            if place is not None and place[1](value):
                self.set(row, place[0], value)
            else:
                rest[key] = value if value.__class__ in _AS_IS else _tagged(value)
        return _encode(rest)

    def _trace(self, trace_id: int) -> str:
        text = self._traces.get(trace_id)
        if text is None:
            text = self._traces[trace_id] = f"{trace_id:032x}"
        return text

    def _resource(self, span: ReadableSpan) -> tuple[str, str | None]:
        known = self._resources.get(id(span.resource))
        if known is None:
            attributes = span.resource.attributes
            service = attributes.get(GenAI.SERVICE_NAME)
            known = (to_json(attributes), _unicode(service) if isinstance(service, str) else None)
            self._resources[id(span.resource)] = known
        return known


_AS_IS: Final = frozenset({str, int, bool, type(None)})
_TAGS: Final = frozenset({schema.BYTES_TAG, schema.FLOAT_TAG, schema.MAP_TAG})
_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _tagged(value: Any) -> Any:
    """Replace what JSON lacks by its tagged form."""
    if isinstance(value, float):
        return value if math.isfinite(value) else {schema.FLOAT_TAG: _NOT_FINITE[str(value)]}
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


_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ESCAPED: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _encode(tagged: dict[str, Any]) -> str:
    text = _COMPACT.encode(tagged)
    return text if _is_unicode(text) else _ESCAPED.encode(tagged)


def _plain(attributes: Any) -> Mapping[str, Any]:
    """Return the dict below the SDK's locked, bounded mapping: an ended span changes no more."""
    if not attributes:
        return {}
    return attributes.copy()  # type: ignore[no-any-return]


def _unicode(text: str) -> str:
    return text if _is_unicode(text) else text.encode("utf-8", "replace").decode()


def _flags(context: SpanContext, parent: SpanContext | None) -> int:
    remote = _IS_REMOTE if parent is not None and parent.is_remote else 0
    return int(context.trace_flags) | _HAS_IS_REMOTE | remote


def _event(event: Event) -> dict[str, Any]:
    return {
        "name": _unicode(event.name),
        "time": event.timestamp,
        "attributes": to_json(event.attributes),
    }


def _link(link: Link) -> dict[str, Any]:
    return {
        "trace_id": f"{link.context.trace_id:032x}",
        "span_id": f"{link.context.span_id:016x}",
        "attributes": to_json(link.attributes),
    }
