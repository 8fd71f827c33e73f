"""The fields of many ended spans, each as a column.

The public properties of a span cost a call each, and some copy what they give under a lock: 3 µs a
span for what is mostly empty. So the fields behind them are read, all at once. A test holds their
names (seen in OpenTelemetry 1.30 to 1.45); where one is gone, the property is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode


class Fields(NamedTuple):
    """One value a span in each field."""

    name: tuple[str, ...]
    context: tuple[SpanContext, ...]
    parent: tuple[SpanContext | None, ...]
    kind: tuple[SpanKind, ...]
    start_time: tuple[int | None, ...]
    end_time: tuple[int | None, ...]
    status: tuple[Status, ...]
    attributes: tuple[BoundedAttributes | None, ...]
    events: tuple[Sequence[Event], ...]
    links: tuple[Sequence[Link], ...]
    resource: tuple[Resource, ...]
    instrumentation_scope: tuple[InstrumentationScope | None, ...]


def _stored(owner: object, name: str) -> str:
    return f"_{name}" if hasattr(owner, f"_{name}") else name


_SPAN: Final = ReadableSpan(name="", status=Status(StatusCode.UNSET), resource=Resource.get_empty())
_read: Final = attrgetter(*(_stored(_SPAN, name) for name in Fields._fields))
code_of: Final = attrgetter(_stored(_SPAN.status, "status_code"))
"""The code of a status."""
description_of: Final = attrgetter(_stored(_SPAN.status, "description"))
"""The description of a status."""


def with_resource(span: ReadableSpan, resource: Resource) -> ReadableSpan:
    """Return the span as another producer's; it shares all else, for it has ended."""
    fields: dict[str, Any] = dict(zip(Fields._fields, _read(span), strict=True))
    return ReadableSpan(**{**fields, "resource": resource})


def fields_of(spans: Sequence[ReadableSpan]) -> Fields:
    """Take spans, one at least, apart."""
    return Fields(*zip(*map(_read, spans), strict=True))
