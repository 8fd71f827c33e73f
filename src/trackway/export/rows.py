"""What do ended spans become in the span table?

1. One span, one row. Ids are lower-case hex, times are nanoseconds since 1970 (UTC).
2. An attribute goes to its column when its value fits there (`places`). Everything else stays in
   `attributes`, a JSON object (`json_text`); so does a value that the column cannot hold.
3. `operation` and `source` are filled for spans of our own scope. Spans of other instrumentors keep
   both null: the row is raw, a dialect reads it later.
4. In span names and messages "?" stands for what is not valid Unicode.
5. Work goes column by column, not span by span, and what spans share is encoded once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final, NamedTuple, TypeVar

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, TraceState

from trackway import schema
from trackway.export.fields import Fields, code_of, description_of, fields_of
from trackway.export.json_text import all_to_json, to_json
from trackway.export.places import CONTENT_PLACES, PLACES, is_unicode, take
from trackway.schema import GenAI, Operation

Columns = dict[str, list[Any]]
"""Column name to its values, one a span. A column that is missing is null throughout."""

_IS_LOCAL: Final = 0x100
_IS_REMOTE: Final = 0x300
"""Bits of OTLP: it is known whether the parent is remote, and it is."""
_OPERATIONS: Final = {
    name: operation.value for name, operation in schema.OPERATION_OF_GENAI_NAME.items()
}
_OTHER: Final = Operation.OTHER.value
_dropped_of: Final = operator.attrgetter("dropped")
_Text = Callable[[str], str]
T = TypeVar("T")
V = TypeVar("V")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Rows:
    """Spans as columns of the span table, and what a look at them needs to know besides."""

    columns: Columns
    own_keys: frozenset[str] = frozenset()
    """Attribute keys on spans of our own scope."""
    foreign_keys: frozenset[str] = frozenset()
    """Attribute keys on the other spans."""
    own: Sequence[bool] = ()
    """Whether each span is of our own scope."""
    nested: frozenset[int] = frozenset()
    """Rows with a value that is a mapping, or a list of mappings: keys stand inside of it."""


def rows_of(spans: Sequence[ReadableSpan], *, careful: bool = False) -> Rows:
    """Turn ended spans into the columns of the span table, rows in the order given.

    Unless careful, a rare value may be left in a column that cannot hold it (no valid Unicode, more
    than 64 bits, a name that is no text): Arrow refuses it, and the caller comes back careful.
    """
    if not spans:
        return Rows({})
    fields = fields_of(spans)
    text = _unicode if careful else str
    scopes = _by_identity(fields.instrumentation_scope, _scope)
    own = [scope.ours for scope in scopes]
    # The copy of the SDK's attributes is a dict, whatever its annotation says.
    copies: list[Any] = [{} if found is None else found.copy() for found in fields.attributes]
    members: list[dict[str, Any]] = copies
    own_keys = frozenset[str]().union(*compress(members, own))
    foreign_keys = frozenset[str]().union(*compress(members, map(operator.not_, own)))
    columns = _identity(fields, text) | _origin(fields, scopes)
    operations = [_operation(of) if ours else None for of, ours in zip(members, own, strict=True)]
    if any(own):
        columns["operation"] = operations
        columns["source"] = [schema.SCOPE_NAME if ours else None for ours in own]
    for key in PLACES.keys() & (own_keys | foreign_keys):
        columns[PLACES[key].column] = take(key, PLACES[key], members, careful)
    columns |= _content(members, operations, own_keys | foreign_keys, careful)
    columns["attributes"], nested = all_to_json(members)
    columns |= _rare(fields, text)
    return Rows(columns, own_keys, foreign_keys, own, nested)


def _identity(fields: Fields, text: _Text) -> Columns:
    """Return what a span is called, and what tells it from others."""
    # A span context is a tuple, by its own documentation.
    trace_ids, span_ids, _, flags, _, _ = zip(*fields.context, strict=True)
    parent_ids = [None if parent is None else parent[1] for parent in fields.parent]
    return {
        "trace_id": _by_value(trace_ids, lambda trace_id: trace_id.to_bytes(16).hex()),
        "span_id": [span_id.to_bytes(8).hex() for span_id in span_ids],
        "parent_span_id": _by_value(
            parent_ids, lambda parent_id: None if parent_id is None else parent_id.to_bytes(8).hex()
        ),
        "name": list(fields.name if text is str else map(text, fields.name)),
        "kind": [kind._name_ for kind in fields.kind],
        "start": [
            start or end or 0 for start, end in zip(fields.start_time, fields.end_time, strict=True)
        ],
        "end": list(fields.end_time),
        "status": [code._name_ for code in map(code_of, fields.status)],
        "flags": [
            flag | (_IS_LOCAL if parent is None or not parent[2] else _IS_REMOTE)
            for flag, parent in zip(flags, fields.parent, strict=True)
        ],
    }


class _Scope(NamedTuple):
    name: str | None
    version: str | None
    ours: bool


def _origin(fields: Fields, scopes: Sequence[_Scope]) -> Columns:
    """Return who wrote the spans, and in which version of the schema they stand here."""
    resources = _by_identity(fields.resource, _resource)
    return {
        "scope": [scope.name for scope in scopes],
        "scope_version": [scope.version for scope in scopes],
        "resource": [encoded for encoded, _ in resources],
        "service": [service for _, service in resources],
        "schema_version": [schema.SCHEMA_VERSION] * len(scopes),
    }


def _content(
    members: Sequence[dict[str, Any]],
    operations: Sequence[str | None],
    keys: frozenset[str],
    careful: bool,
) -> Columns:
    """Take the content of each span, whose keys depend on its operation."""
    columns: Columns = {}
    for operation in set(operations):
        places = {key: at for key, at in CONTENT_PLACES[operation].items() if key in keys}
        if not places:
            continue
        rows = [row for row, found in enumerate(operations) if found == operation]
        some = [members[row] for row in rows]
        for key, place in places.items():
            column = columns.setdefault(place.column, [None] * len(members))
            for row, value in zip(rows, take(key, place, some, careful), strict=True):
                column[row] = value
    return columns


def _rare(fields: Fields, text: _Text) -> Columns:
    """Return the columns that most batches lack."""
    columns: Columns = {
        "trace_state": _by_identity([context[4] for context in fields.context], _header),
        "dropped_attributes": _dropped(fields.attributes),
        "dropped_events": _dropped(fields.events),
        "dropped_links": _dropped(fields.links),
    }
    messages = list(map(description_of, fields.status))
    if any(messages):
        columns["error_message"] = [None if said is None else text(said) for said in messages]
    if any(map(len, fields.events)):
        columns["events"] = [[_event(e, text) for e in some] or None for some in fields.events]
    if any(map(len, fields.links)):
        columns["links"] = [[_link(link) for link in some] or None for some in fields.links]
    return {name: values for name, values in columns.items() if any(values)}


def _dropped(owners: Sequence[object]) -> list[int | None]:
    try:
        if not any(map(_dropped_of, owners)):
            return []
    except AttributeError:
        pass  # no list of the SDK, which would keep count
    return [getattr(owner, "dropped", 0) or None for owner in owners]


def _by_value(values: Sequence[K], encode: Callable[[K], V]) -> list[V]:
    """Encode every value, equal ones once."""
    encoded = {value: encode(value) for value in set(values)}
    return [encoded[value] for value in values]


def _by_identity(objects: Sequence[T], encode: Callable[[T], V]) -> list[V]:
    """Encode every object, the same one once."""
    if len(set(map(id, objects))) == 1:
        return [encode(objects[0])] * len(objects)
    distinct = {id(found): found for found in objects}
    encoded = {key: encode(found) for key, found in distinct.items()}
    return [encoded[id(found)] for found in objects]


def _operation(attributes: Mapping[str, Any]) -> str:
    """Return what a span of our own scope is, from its `gen_ai.operation.name`."""
    name = attributes.get(GenAI.OPERATION_NAME)
    return _OPERATIONS.get(name, _OTHER) if isinstance(name, str) else _OTHER


def _scope(scope: InstrumentationScope | None) -> _Scope:
    if scope is None:
        return _Scope(None, None, False)
    version = _unicode(scope.version) if scope.version else None
    return _Scope(_unicode(scope.name), version, scope.name == schema.SCOPE_NAME)


def _resource(resource: Resource) -> tuple[str, str | None]:
    """Return a resource as JSON, and the service in it."""
    name = resource.attributes.get(GenAI.SERVICE_NAME)
    return to_json(resource.attributes), _unicode(name) if isinstance(name, str) else None


def _header(state: TraceState) -> str | None:
    return state.to_header() if state else None


def _event(event: Event, text: _Text) -> dict[str, Any]:
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


def _unicode(text: object) -> str:
    valid = text if isinstance(text, str) else str(text)
    return valid if is_unicode(valid) else valid.encode("utf-8", "replace").decode()
