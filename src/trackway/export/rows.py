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
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import orjson
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, TraceState

from trackway import schema
from trackway.schema import GenAI, Operation

Columns = dict[str, list[Any]]
"""Column name to its values, one a span. A column that is missing is null throughout."""

_DENSE: Final = (
    *("trace_id", "span_id", "parent_span_id", "name", "kind", "start", "end", "status", "flags"),
    *("scope", "scope_version", "resource", "service", "attributes"),
)
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


_FITS: Final[dict[str, tuple[type, Callable[[Any], bool]]]] = {
    "string": (str, _is_text),
    "bool": (bool, lambda value: isinstance(value, bool)),
    "int32": (int, lambda value: _is_whole(value, _INT32)),
    "int64": (int, lambda value: _is_whole(value, _INT64)),
    "double": (float, lambda value: isinstance(value, float)),
    "list<string>": (
        Mapping,  # no list fits unseen
        lambda value: isinstance(value, (tuple, list)) and all(map(_is_text, value)),
    ),
}
"""Column type to the Python type whose values nearly all fit, and the exact test."""
_Place = tuple[str, type, Callable[[Any], bool]]
"""Column, type whose values nearly all fit, exact test."""
_OpenPlace = tuple[list[Any], type | None, Callable[[Any], bool]]
"""The same in one batch, with the values of the column."""
_Scope = tuple[str | None, str | None, bool]
"""Name, version, is it ours?"""


def _places(operation: str | None) -> dict[str, _Place]:
    named = {
        column.attribute: (column.name, *_FITS[column.type])
        for column in schema.SPAN_COLUMNS
        if column.attribute is not None
    }
    for key, name in zip(schema.content_attributes(operation), ("input", "output"), strict=True):
        named[key] = (name, *_FITS["string"])
    return named


_PLACES: Final = {operation: _places(operation) for operation in (None, *Operation)}
"""Operation to attribute key to its column."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Spans as columns of the span table, and what a look at them needs to know besides."""

    columns: Columns
    own_keys: frozenset[str]
    """Attribute keys on spans of our own scope."""
    foreign_keys: frozenset[str]
    """Attribute keys on the other spans."""
    nested: frozenset[int]
    """Rows with a value that is a mapping, or a list of mappings: keys stand inside of it."""


def rows_of(spans: Sequence[ReadableSpan], *, careful: bool = False) -> Rows:
    """Turn ended spans into the columns of the span table, rows in the order given.

    Unless careful, a rare text or number may be left in a column that cannot hold it (no valid
    Unicode, more than 64 bits): Arrow refuses such a column, and the caller comes back careful.
    """
    table = _Table(len(spans), careful)
    for row, span in enumerate(spans):
        table.add(row, span)
    return table.rows()


def to_json(attributes: Mapping[str, Any] | None) -> str:
    """Encode attributes as the JSON object that the span table keeps, without loss."""
    return _encode({key: _tagged(value) for key, value in (attributes or {}).items()})


def operation_of(attributes: Mapping[str, Any]) -> Operation:
    """Return what a span of our own scope is, from its `gen_ai.operation.name`."""
    name = attributes.get(GenAI.OPERATION_NAME)
    if not isinstance(name, str):
        return Operation.OTHER
    return schema.OPERATION_OF_GENAI_NAME.get(name, Operation.OTHER)


class _Table:
    """The columns of one batch. What every span has is one tuple a row; what some have is sparse.

    Resources, scopes and trace ids repeat within a batch: each is encoded once.
    """

    def __init__(self, rows: int, careful: bool) -> None:
        self._rows = rows
        self._careful = careful
        self._text: Callable[[str], str] = _unicode if careful else str
        self._dense: list[tuple[Any, ...]] = []
        self._sparse: Columns = {}
        self._resources: dict[int, tuple[str, str | None]] = {}
        self._scopes: dict[int, _Scope] = {}
        self._states: dict[int, str | None] = {}
        self._traces: dict[int, str] = {}
        self._nested: list[int] = []
        self._open: dict[str | None, dict[str, _OpenPlace | None]] = {}

    def rows(self) -> Rows:
        dense = dict(zip(_DENSE, map(list, zip(*self._dense, strict=True)), strict=True))
        constant = {"schema_version": [schema.SCHEMA_VERSION] * self._rows}
        own = (places for operation, places in self._open.items() if operation is not None)
        return Rows(
            columns={**dense, **self._sparse, **constant},
            own_keys=frozenset(chain.from_iterable(own)),
            foreign_keys=frozenset(self._open.get(None, ())),
            nested=frozenset(self._nested),
        )

    def put(self, row: int, column: str, value: Any) -> None:
        self._sparse.setdefault(column, [None] * self._rows)[row] = value

    def add(self, row: int, span: ReadableSpan) -> None:
        # The public properties of a span copy attributes, events and links, two of them under a
        # lock: 3 µs for what is mostly empty. A test holds these names (seen in 1.30 to 1.45).
        members: Any = span._attributes
        events, links = span._events, span._links
        attributes: dict[str, Any] = {} if members is None else members.copy()
        # A span context is a tuple, by its own documentation.
        trace_id, span_id, _, trace_flags, trace_state, _ = span.context
        parent, end, status = span.parent, span.end_time, span.status
        name, version, ours = self._scope(span.instrumentation_scope)
        operation = None
        if ours:
            operation = operation_of(attributes)
            self.put(row, "operation", operation.value)
            self.put(row, "source", schema.SCOPE_NAME)
        trace = self._traces.get(trace_id)
        if trace is None:
            trace = self._traces[trace_id] = trace_id.to_bytes(16).hex()
        resource, service = self._resource(span.resource)
        parent_id, flags = None, trace_flags | _HAS_IS_REMOTE
        if parent is not None:
            parent_id = parent.span_id.to_bytes(8).hex()
            if parent.is_remote:
                flags |= _IS_REMOTE
        self._dense.append(
            (
                trace,
                span_id.to_bytes(8).hex(),
                parent_id,
                self._text(span.name),
                span.kind._name_,
                span.start_time or end or 0,
                end,
                status.status_code._name_,
                flags,
                name,
                version,
                resource,
                service,
                self._split(row, attributes, operation),
            )
        )
        if status.description is not None:
            self.put(row, "error_message", self._text(status.description))
        state = self._state(trace_state)
        if state is not None:
            self.put(row, "trace_state", state)
        if len(events):
            self.put(row, "events", [_event(event, self._text) for event in events])
        if len(links):
            self.put(row, "links", [_link(link) for link in links])
        if dropped := getattr(members, "dropped", 0):
            self.put(row, "dropped_attributes", dropped)
        if dropped := getattr(events, "dropped", 0):
            self.put(row, "dropped_events", dropped)
        if dropped := getattr(links, "dropped", 0):
            self.put(row, "dropped_links", dropped)

    def _split(self, row: int, attributes: dict[str, Any], operation: Operation | None) -> str:
        """Put each attribute where it belongs and return the JSON of what has no column."""
        places = self._open.get(operation)
        if places is None:
            places = self._open[operation] = {}
        rest: dict[str, Any] = {}
        for key, value in attributes.items():
            try:
                place = places[key]
            except KeyError:
                place = places[key] = self._open_place(key, operation)
            if place is not None:
                values, usual, fits = place
                if value.__class__ is usual or fits(value):
                    values[row] = value
                    continue
            if value.__class__ not in _AS_IS:
                if _holds_keys(value):
                    self._nested.append(row)
                value = _tagged(value)
            rest[key] = value
        return _encode(rest) if rest else "{}"

    def _open_place(self, key: str, operation: Operation | None) -> _OpenPlace | None:
        place = _PLACES[operation].get(key)
        if place is None:
            return None
        column, usual, fits = place
        values = self._sparse.setdefault(column, [None] * self._rows)
        return values, None if self._careful else usual, fits

    def _scope(self, scope: InstrumentationScope | None) -> _Scope:
        known = self._scopes.get(id(scope))
        if known is None:
            known = (None, None, False)
            if scope is not None:
                version = _unicode(scope.version) if scope.version else None
                known = (_unicode(scope.name), version, scope.name == schema.SCOPE_NAME)
            self._scopes[id(scope)] = known
        return known

    def _state(self, state: TraceState) -> str | None:
        try:
            return self._states[id(state)]
        except KeyError:
            known = self._states[id(state)] = state.to_header() if state else None
            return known

    def _resource(self, resource: Resource) -> tuple[str, str | None]:
        known = self._resources.get(id(resource))
        if known is None:
            service = resource.attributes.get(GenAI.SERVICE_NAME)
            named = _unicode(service) if isinstance(service, str) else None
            known = self._resources[id(resource)] = (to_json(resource.attributes), named)
        return known


_AS_IS: Final = frozenset({str, int, bool, type(None)})
_TAGS: Final = frozenset({schema.BYTES_TAG, schema.FLOAT_TAG, schema.MAP_TAG})
_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


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


def _holds_keys(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return isinstance(value, (tuple, list)) and any(map(_holds_keys, value))


def _encode(tagged: dict[str, Any]) -> str:
    try:
        return orjson.dumps(tagged).decode()
    except TypeError:  # an integer of more than 64 bits, or no valid Unicode
        return json.dumps(tagged, separators=(",", ":"))


def _unicode(text: str) -> str:
    return text if _is_unicode(text) else text.encode("utf-8", "replace").decode()


def _event(event: Event, text: Callable[[str], str]) -> dict[str, Any]:
    return {
        "name": text(event.name),
        "time": event.timestamp,
        "attributes": to_json(event.attributes),
    }


def _link(link: Link) -> dict[str, Any]:
    return {
        "trace_id": f"{link.context.trace_id:032x}",
        "span_id": f"{link.context.span_id:016x}",
        "attributes": to_json(link.attributes),
    }
