"""One span as any reader hands it over, and the table that spans become.

1. A `RawSpan` holds what the file said, decoded: ids in lower-case hex, times in ns, attributes as
   JSON values. Nothing is interpreted; a dialect does that.
2. A dialect fills the typed columns of a row (`typed`); everything that the span carried stays in
   `attributes`, `events`, `links` and `resource`, so that no key is lost.
3. Spans of the native dialect are stored as the recorder stores them: an attribute that its own
   column holds exactly is not repeated in `attributes` (`trackway.schema.Column.attribute`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final, NamedTuple

import pyarrow as pa

from trackway.schema import SCHEMA_VERSION, SPAN_COLUMNS, Otlp, Trackway
from trackway_analyzer.json_text import compact, compact_bytes
from trackway_analyzer.model import JsonValue
from trackway_analyzer.tables import SPAN_SCHEMA, table_of, text_array
from trackway_analyzer.written import WrittenAttributes

Attributes = dict[str, JsonValue]

NO_TIME: Final = 0
"""Start or end of a span that its file does not hold: 1970, for a start is never null."""


class RawEvent(NamedTuple):
    """A span event, or a log record that names the span."""

    name: str
    time: int | None
    attributes: Attributes


class RawLink(NamedTuple):
    """A link to another span."""

    trace_id: str
    span_id: str
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Origin:
    """Who wrote a span: resource and instrumentation scope, shared by many spans."""

    resource: Attributes = field(default_factory=dict)
    scope: str | None = None
    scope_version: str | None = None
    resource_text: str = "{}"
    """`resource` as JSON."""
    beside: str = ""
    """Members of `attributes`, as JSON, for what has no column (`trackway.schema.Otlp`)."""

    @property
    def service(self) -> str | None:
        """The resource's `service.name`."""
        name = self.resource.get("service.name")
        return name if isinstance(name, str) else None


def beside(scope: Attributes, scope_url: str | None, resource_url: str | None) -> str:
    """Return an origin's `beside`: attributes and schema URL of the scope, URL of the resource.

    Raises UnencodableError.
    """
    found = {
        Otlp.SCOPE_ATTRIBUTES: scope,
        Otlp.SCOPE_SCHEMA_URL: scope_url,
        Otlp.RESOURCE_SCHEMA_URL: resource_url,
    }
    return compact({key: value for key, value in found.items() if value})[1:-1]


def link_attributes(
    attributes: Attributes, trace_state: str | None, flags: int | None
) -> Attributes:
    """Return a link's attributes with what else it says."""
    if not trace_state and not flags:
        return attributes
    more = {Otlp.LINK_TRACE_STATE: trace_state, Otlp.LINK_FLAGS: flags}
    return attributes | {key: value for key, value in more.items() if value}


class RawSpan(NamedTuple):
    """One span before any dialect has read it."""

    trace_id: str
    span_id: str
    name: str
    start: int
    origin: Origin
    attributes: Attributes
    parent_span_id: str | None = None
    kind: str | None = None
    end: int | None = None
    status: str | None = None
    status_message: str | None = None
    events: tuple[RawEvent, ...] = ()
    links: tuple[RawLink, ...] = ()
    trace_state: str | None = None
    flags: int | None = None
    dropped_attributes: int | None = None
    dropped_events: int | None = None
    dropped_links: int | None = None


CARRIED: Final = (
    "trace_id",
    "span_id",
    "parent_span_id",
    "name",
    "kind",
    "start",
    "end",
    "status",
    "trace_state",
    "flags",
    "dropped_attributes",
    "dropped_events",
    "dropped_links",
)
"""Columns that a `RawSpan` fills by itself; the rest of the typed columns is a dialect's."""

_OF_ORIGIN = ("service", "scope", "scope_version", "resource")
_ENCODED = ("attributes", "events", "links", "schema_version")
TYPED: Final = tuple(
    column.name for column in SPAN_COLUMNS if column.name not in (*CARRIED, *_OF_ORIGIN, *_ENCODED)
)
"""Columns that a dialect fills, `source` among them."""


class SpanRows:
    """Spans on their way into a span table."""

    def __init__(self) -> None:
        self._carried: list[tuple[Any, ...]] = []
        self._origins: list[Origin] = []
        self._events: dict[int, list[tuple[Any, ...]]] = {}
        self._links: dict[int, list[tuple[Any, ...]]] = {}
        self._typed: list[Mapping[str, Any]] = []
        self._attributes: list[bytes] = []
        self._versions: list[str] = []
        self.bytes = 0
        """Roughly what the rows weigh: length of their attribute texts."""

    def __len__(self) -> int:
        return len(self._carried)

    def add(self, span: RawSpan, typed: Mapping[str, Any], attributes: Attributes) -> None:
        """Append a span with its typed columns; `attributes`: what is stored beside them."""
        if attributes.__class__ is WrittenAttributes:
            text = attributes.text
        else:
            text = compact_bytes(attributes)
        beside = span.origin.beside
        if beside:
            text = b"%b%b%b}" % (text[:-1], b"," if attributes else b"", beside.encode())
        row = len(self._carried)
        if span.name.__class__ is not str or not _fits(span.start) or not _fits(span.end or 0):
            span = _storable(span)
        if span.events:
            self._events[row] = [*map(_event_row, span.events)]
        if span.links:
            self._links[row] = [*map(_link_row, span.links)]
        self._versions.append(_version(span))
        self._carried.append(_carried(span))
        self._origins.append(span.origin)
        self._typed.append(typed)
        self._attributes.append(text)
        self.bytes += len(text)

    def table(self) -> pa.Table:
        """Return the span table of what was added."""
        rows, typed = len(self), self._typed
        columns: dict[str, Any] = dict(zip(CARRIED, zip(*self._carried, strict=True), strict=False))
        for name in set(TYPED) & set[str]().union(*typed):
            columns[name] = [row.get(name) for row in typed]
        columns["service"] = [origin.service for origin in self._origins]
        columns["scope"] = [origin.scope for origin in self._origins]
        columns["scope_version"] = [origin.scope_version for origin in self._origins]
        columns["resource"] = [origin.resource_text for origin in self._origins]
        columns["attributes"] = self._attributes
        columns["schema_version"] = self._versions
        for name, found in (("events", self._events), ("links", self._links)):
            if found:
                columns[name] = [found.get(row) for row in range(rows)]
        for name in _LONG & columns.keys():
            columns[name] = text_array(columns[name])
        return table_of(SPAN_SCHEMA, columns, rows)


def _fits(time: int) -> bool:
    return -(2**63) <= time < 2**63


def _storable(span: RawSpan) -> RawSpan:
    """Return a span whose columns can hold it: a time out of range is none, a name is a text."""
    return span._replace(
        name=str(span.name),
        start=span.start if _fits(span.start) else NO_TIME,
        end=span.end if span.end is not None and _fits(span.end) else None,
    )


_carried: Final = attrgetter(*CARRIED)
_LONG: Final = frozenset(["attributes", "arguments", "result", "input", "output"])


def _version(span: RawSpan) -> str:
    if Trackway.SCHEMA_VERSION not in span.attributes:
        return SCHEMA_VERSION
    version = span.attributes[Trackway.SCHEMA_VERSION]
    return version if isinstance(version, str) else SCHEMA_VERSION


def _event_row(event: RawEvent) -> tuple[str, int | None, str]:
    return event.name, event.time, compact(event.attributes)


def _link_row(link: RawLink) -> tuple[str, str, str]:
    return link.trace_id, link.span_id, compact(link.attributes)
