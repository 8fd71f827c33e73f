"""What is redacted and cut once more, when a span leaves the process?

1. Everything that our own capture has not cleaned: all of the spans of other instrumentors; of our
   own spans the attributes under keys that are not ours, and exceptions.
2. Names, attributes, events, links, status texts and the resource, value by value
   (`clean_values`).
3. With content off, attributes and events of other instrumentors that hold it are left out
   (`content`); `trackway.content.sha256.KEY` keeps its keyed hash.
4. A span of more than `Limits.span_bytes` has its largest values cut to a common size.
5. A span that needs nothing of this is passed on as it is, the same object.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from trackway.capture import DEFAULT_REDACTOR, Limits, Redactor
from trackway.export.clean_values import SMALLEST_VALUE, ValueCleaner, byte_size, no_key
from trackway.export.ended import changed
from trackway.export.own_keys import is_own_key
from trackway.export.size import size_of
from trackway.schema import SCOPE_NAME

_MARK_BYTES: Final = 256
"""What the digest and the name of a cut value take, besides the value."""
_KNOWN_RESOURCES: Final = 64


def is_own(span: ReadableSpan) -> bool:
    """Tell whether our own instrumentation wrote the span."""
    scope = span.instrumentation_scope
    return scope is not None and scope.name == SCOPE_NAME


class Cleaner:
    """A policy of what leaves the process.

    `redactor` None: nothing is redacted. `content` False: no content of other instrumentors.
    """

    def __init__(
        self,
        redactor: Redactor | None = DEFAULT_REDACTOR,
        limits: Limits | None = None,
        content: bool = True,
    ) -> None:
        self.redactor: Final = redactor
        self.content: Final = content
        self.limits: Final = Limits() if limits is None else limits
        self._resources: dict[int, tuple[Resource, Resource]] = {}

    def clean(self, span: ReadableSpan) -> ReadableSpan:
        """Return the span, or one that holds no secret and keeps to the limits."""
        resource = self.resource(span.resource)
        work = self._values(self.limits)
        skip = is_own_key if is_own(span) else no_key
        members = span.attributes or {}
        attributes = work.members(members, skip)
        name = work.text("name", span.name) if skip is is_own_key else work.name(span.name)
        status = work.status(span.status)
        events = [event if skip(event.name) else work.event(event) for event in span.events]
        links = [work.link(link) for link in span.links]
        if work.touched or resource is not span.resource:
            span = changed(
                span,
                name=name,
                attributes={**attributes, **work.marks(members)},
                events=events,
                links=links,
                status=status,
                resource=resource,
            )
        if size_of(span) > self.limits.span_bytes:
            return self._shrunk(span)
        return span

    def clean_all(self, spans: Iterable[ReadableSpan]) -> list[ReadableSpan]:
        """Clean each of the spans."""
        return [self.clean(span) for span in spans]

    def resource(self, resource: Resource) -> Resource:
        """Return the resource, or one without secrets; each is looked at once."""
        known = self._resources.get(id(resource))
        if known is not None and known[0] is resource:
            return known[1]
        work = ValueCleaner(self.redactor, self.limits, content=True)
        attributes = work.members(resource.attributes)
        clean = resource
        if work.touched:
            marks = work.marks(resource.attributes)
            clean = Resource({**attributes, **marks}, resource.schema_url)
        if len(self._resources) >= _KNOWN_RESOURCES:
            self._resources.clear()
        self._resources[id(resource)] = (resource, clean)
        return clean

    def _shrunk(self, span: ReadableSpan) -> ReadableSpan:
        """Cut the largest values to a common size, so that the span keeps to its limit."""
        texts = [
            value
            for members in (span.attributes, *(event.attributes for event in span.events))
            for value in (members or {}).values()
            if isinstance(value, (str, bytes))
        ]
        sizes = sorted(map(byte_size, texts))
        fixed = size_of(span) - sum(sizes) + _MARK_BYTES * len(sizes)
        room = self.limits.span_bytes - fixed
        level = max(SMALLEST_VALUE, _common_size(sizes, room))
        work = self._values(replace(self.limits, value_bytes=level))
        members = span.attributes or {}
        return changed(
            span,
            name=span.name,
            attributes={
                **work.members(members),
                **work.marks(members),
            },
            events=[work.event(event) for event in span.events],
            links=span.links,
            status=span.status,
            resource=span.resource,
        )

    def _values(self, limits: Limits) -> ValueCleaner:
        return ValueCleaner(self.redactor, limits, self.content)


def _common_size(sizes: Sequence[int], room: int) -> int:
    """Return the size to which the largest of the (sorted) sizes are cut so that all fit."""
    level = 0
    for place, size in enumerate(sizes):
        level = max(0, room) // (len(sizes) - place)
        if size > level:
            return level
        room -= size
    return max(sizes, default=level)
