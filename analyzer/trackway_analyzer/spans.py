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
from typing import Any, Final, NamedTuple

import pyarrow as pa

from trackway.schema import SCHEMA_VERSION, SPAN_COLUMNS, Otlp, Trackway
from trackway_analyzer.json_text import compact
from trackway_analyzer.model import JsonValue
from trackway_analyzer.tables import SPAN_SCHEMA, table_of

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
        self._spans: list[RawSpan] = []
        self._typed: list[Mapping[str, Any]] = []
        self._attributes: list[str] = []
        self._versions: list[str] = []
        self.bytes = 0
        """Roughly what the rows weigh: length of their attribute texts."""

    def __len__(self) -> int:
        return len(self._spans)

    def add(self, span: RawSpan, typed: Mapping[str, Any], attributes: Attributes) -> None:
        """Append a span with its typed columns; `attributes`: what is stored beside them."""
        text = compact(attributes)
        beside = span.origin.beside
        if beside:
            text = f"{text[:-1]}{',' if attributes else ''}{beside}}}"
        self._versions.append(_version(span))
        self._spans.append(span._replace(attributes=_WRITTEN))
        self._typed.append(typed)
        self._attributes.append(text)
        self.bytes += len(text)

    def table(self) -> pa.Table:
        """Return the span table of what was added."""
        spans, typed = self._spans, self._typed
        fields = dict(zip(RawSpan._fields, zip(*spans, strict=True), strict=True)) if spans else {}
        columns: dict[str, Any] = {name: fields.get(name, ()) for name in CARRIED}
        columns |= {name: [row.get(name) for row in typed] for name in TYPED}
        columns["service"] = [span.origin.service for span in spans]
        columns["scope"] = [span.origin.scope for span in spans]
        columns["scope_version"] = [span.origin.scope_version for span in spans]
        columns["resource"] = [span.origin.resource_text for span in spans]
        columns["attributes"] = self._attributes
        columns["events"] = [list(map(_event_row, span.events)) or None for span in spans]
        columns["links"] = [list(map(_link_row, span.links)) or None for span in spans]
        columns["schema_version"] = self._versions
        return table_of(SPAN_SCHEMA, columns, len(spans))


_WRITTEN: Final[Attributes] = {}
"""Stands for attributes whose text was written: they need not be kept twice."""


def _version(span: RawSpan) -> str:
    version = span.attributes.get(Trackway.SCHEMA_VERSION)
    return version if isinstance(version, str) else SCHEMA_VERSION


def _event_row(event: RawEvent) -> tuple[str, int | None, str]:
    return event.name, event.time, compact(event.attributes)


def _link_row(link: RawLink) -> tuple[str, str, str]:
    return link.trace_id, link.span_id, compact(link.attributes)
