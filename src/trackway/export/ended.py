"""Ended spans are read-only: how to build one anew, from a message or with other contents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util import BoundedList
from opentelemetry.trace import Link, Status


def attributes_of(members: Mapping[str, Any], dropped: int) -> BoundedAttributes:
    """Return attributes that remember how many the SDK has dropped."""
    attributes = BoundedAttributes(attributes=members)
    attributes.dropped = dropped
    return attributes


def list_of(items: Iterable[Any], dropped: int) -> Any:
    """Return events or links that remember how many the SDK has dropped."""
    bounded = BoundedList.from_seq(None, items)
    bounded.dropped = dropped
    return bounded


def changed(
    span: ReadableSpan,
    *,
    name: str,
    attributes: Mapping[str, Any],
    events: Iterable[Event],
    links: Iterable[Link],
    status: Status,
    resource: Resource,
) -> ReadableSpan:
    """Return a span with other contents and the same identity, times and counts."""
    return ReadableSpan(
        name=name,
        context=span.context,
        parent=span.parent,
        resource=resource,
        attributes=attributes_of(attributes, span.dropped_attributes),
        events=list_of(events, span.dropped_events),
        links=list_of(links, span.dropped_links),
        kind=span.kind,
        status=status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )
