"""What is redacted and cut once more, when a span leaves the process?

1. Everything that our own capture has not cleaned: all of the spans of other instrumentors; of our
   own spans the attributes under keys that are not ours, and exceptions.
2. Names, attributes, events, links, status texts and the resource go through the redactor; what
   stands under a denied key is replaced whole. What changed is named in `trackway.redacted`.
3. A value of more than `Limits.value_bytes` is cut. JSON stays JSON: its leaves are cut; JSON of
   more than `Limits.hash_bytes` becomes one text, beginning and end. What was cut is named in
   `trackway.truncated` and `trackway.content.sha256.KEY` holds the digest of the whole.
4. With content off, attributes and events of other instrumentors that hold it are left out
   (`content`); `trackway.content.sha256.KEY` keeps its keyed hash.
5. A span of more than `Limits.span_bytes` has its largest values cut to a common size.
6. A span that needs nothing of this is passed on as it is, the same object.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Link, Status

from trackway.capture import DEFAULT_REDACTOR, Capture, Limits, Redactor
from trackway.capture.redact import KEY_NAME_MARKER
from trackway.export.content import EVENTS, is_content
from trackway.export.ended import attributes_of, changed
from trackway.export.size import size_of
from trackway.schema import SCOPE_NAME, GenAI, Trackway

_OWN_KEYS: Final = frozenset(
    value
    for owner in (GenAI, Trackway)
    for name, value in vars(owner).items()
    if name.isupper() and isinstance(value, str)
)
_OWN_PREFIXES: Final = (f"{Trackway.CONTENT_SHA256}.", f"{Trackway.FINGERPRINT}.")
_SMALLEST_VALUE: Final = 128
_MARK_BYTES: Final = 256
"""What the digest and the name of a cut value take, besides the value."""
_KNOWN_RESOURCES: Final = 64


def is_own_key(key: str) -> bool:
    """Tell whether our own capture writes this attribute or event, and has cleaned it."""
    return key in _OWN_KEYS or key.startswith(_OWN_PREFIXES)


def is_own(span: ReadableSpan) -> bool:
    """Tell whether our own instrumentation wrote the span."""
    scope = span.instrumentation_scope
    return scope is not None and scope.name == SCOPE_NAME


def _no_key(_key: str) -> bool:
    return False


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
        work = _Work(self)
        skip = is_own_key if is_own(span) else _no_key
        members = span.attributes or {}
        attributes = work.members(members, skip)
        name = work.text("name", span.name)
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
        work = _Work(self)
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
        sizes = sorted(map(_size, texts))
        fixed = size_of(span) - sum(sizes) + _MARK_BYTES * len(sizes)
        room = self.limits.span_bytes - fixed
        level = max(_SMALLEST_VALUE, _common_size(sizes, room))
        work = _Work(self, value_bytes=level)
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


class _Work:
    """The cleaning of one span; remembers what it did."""

    def __init__(self, cleaner: Cleaner, value_bytes: int | None = None) -> None:
        limits = cleaner.limits
        if value_bytes is not None:
            limits = Limits(value_bytes, limits.depth, limits.span_bytes, limits.hash_bytes)
        self._limits = limits
        self._redactor = cleaner.redactor
        self._capture = Capture(limits, cleaner.redactor)
        self._hidden = None if cleaner.content else Capture(limits, cleaner.redactor, content=False)
        self._redacted: list[str] = []
        self._digests: dict[str, str] = {}
        self._hashes: dict[str, str] = {}
        self._emptied = False

    @property
    def touched(self) -> bool:
        return bool(self._redacted or self._digests or self._hashes or self._emptied)

    def marks(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """Return the attributes that say what was done, added to what the span says already."""
        marks: dict[str, Any] = {
            f"{Trackway.CONTENT_SHA256}.{key}": digest
            for key, digest in (*self._digests.items(), *self._hashes.items())
        }
        done = ((Trackway.REDACTED, self._redacted), (Trackway.TRUNCATED, self._digests))
        for key, fields in done:
            if fields:
                said = members.get(key)
                before = tuple(said) if isinstance(said, (tuple, list)) else ()
                marks[key] = tuple(dict.fromkeys((*before, *fields)))
        return marks

    def members(
        self, members: Mapping[str, Any], skip: Callable[[str], bool] = _no_key
    ) -> dict[str, Any]:
        """Return what may stand in a span; content that is off leaves its hash alone."""
        kept = {}
        for key, value in members.items():
            if skip(key):
                kept[key] = value
            elif self._hidden is not None and is_content(key):
                self._hashes[key] = self._hidden.value(value).digest or ""
            else:
                kept[key] = self.member(key, value)
        return kept

    def member(self, key: str, value: Any) -> Any:
        """Return what may stand under a key."""
        if self._redactor is not None and self._redactor.denies(key):
            if value is None or value == "" or isinstance(value, bool):
                return value
            if value != KEY_NAME_MARKER:
                self._redacted.append(key)
            return KEY_NAME_MARKER
        if isinstance(value, str):
            return self._cut(key, self.text(key, value))
        if isinstance(value, bytes):
            return self._cut_bytes(key, value)
        if isinstance(value, (Mapping, Sequence)):
            return self._cut_tree(key, self._tree(key, value))
        return value

    def text(self, field: str, text: str) -> str:
        if self._redactor is None:
            return text
        clean, was_redacted = self._redactor.text(text)
        if was_redacted:
            self._redacted.append(field)
        return clean

    def status(self, status: Status) -> Status:
        if not status.description:
            return status
        clean = self._cut("status", self.text("status", status.description))
        return status if clean == status.description else Status(status.status_code, clean)

    def event(self, event: Event) -> Event:
        members = event.attributes or {}
        if self._hidden is not None and event.name in EVENTS and members:
            self._emptied = True
            return Event(event.name, attributes_of({}, event.dropped_attributes), event.timestamp)
        prefix = event.name
        clean = {key: self._of(prefix, key, value) for key, value in members.items()}
        if all(clean[key] is members[key] for key in members):
            return event
        return Event(event.name, attributes_of(clean, event.dropped_attributes), event.timestamp)

    def link(self, link: Link) -> Link:
        members = link.attributes or {}
        clean = {key: self._of("link", key, value) for key, value in members.items()}
        if all(clean[key] is members[key] for key in members):
            return link
        return Link(link.context, attributes_of(clean, link.dropped_attributes))

    def _of(self, prefix: str, key: str, value: Any) -> Any:
        """Clean a member of an event or link; what was done is noted as PREFIX.KEY."""
        redacted, digests = self._redacted, self._digests
        self._redacted, self._digests = [], {}
        clean = self.member(key, value)
        redacted += [f"{prefix}.{field}" for field in self._redacted]
        digests |= {f"{prefix}.{field}": digest for field, digest in self._digests.items()}
        self._redacted, self._digests = redacted, digests
        return clean

    def _tree(self, key: str, value: Any) -> Any:
        """Redact inside a list or mapping; the same object where nothing changes."""
        if isinstance(value, str):
            return self.text(key, value)
        if isinstance(value, Mapping):
            members = {name: self._inner(key, str(name), item) for name, item in value.items()}
            return value if all(members[name] is value[name] for name in value) else members
        if isinstance(value, Sequence) and not isinstance(value, bytes):
            items = tuple(self._tree(key, item) for item in value)
            return value if all(map(_is, items, value)) else items
        return value

    def _inner(self, key: str, name: str, value: Any) -> Any:
        if (
            self._redactor is not None
            and self._redactor.denies(name)
            and value is not None
            and value != ""
            and not isinstance(value, bool)
        ):
            if value != KEY_NAME_MARKER:
                self._redacted.append(key)
            return KEY_NAME_MARKER
        return self._tree(key, value)

    def _cut(self, key: str, text: str) -> str:
        limit = self._limits.value_bytes
        if len(text) <= limit // 4:  # no character takes more than four bytes
            return text
        raw = text.encode("utf-8", "surrogatepass")
        if len(raw) <= limit:
            return text
        self._digests[key] = self._digest(raw)
        if text[:1] not in ("{", "["):
            return self._capture.text(text)
        if len(raw) <= self._limits.hash_bytes:
            try:
                captured = self._capture.value(json.loads(text))
            except (ValueError, RecursionError):
                return self._capture.text(text)
            if captured.redacted:
                self._redacted.append(key)
            if captured.text is not None:
                return captured.text
        # Half the room: quotes and line breaks take two bytes in JSON.
        shorter = Limits(max(_SMALLEST_VALUE, limit // 2))
        return json.dumps(Capture(shorter, None).text(text), ensure_ascii=False)

    def _cut_bytes(self, key: str, value: bytes) -> bytes:
        if len(value) <= self._limits.value_bytes:
            return value
        self._digests[key] = self._digest(value)
        return value[: self._limits.value_bytes]

    def _cut_tree(self, key: str, value: Any) -> Any:
        """Keep a list or mapping that fits; one that is too large becomes its JSON, cut."""
        if _tree_size(value) <= self._limits.value_bytes:
            return value
        captured = self._capture.value(value)
        self._digests[key] = captured.digest or ""
        return captured.text

    def _digest(self, raw: bytes) -> str:
        """Return the digest of a whole value; of head, tail and length beyond `hash_bytes`."""
        most = self._limits.hash_bytes
        if len(raw) <= most:
            return f"sha256:{hashlib.sha256(raw).hexdigest()}"
        part = raw[: most // 2] + raw[-(most // 2) :] + str(len(raw)).encode()
        return f"sha256-partial:{hashlib.sha256(part).hexdigest()}"


def _is(one: Any, other: Any) -> bool:
    return one is other


def _size(value: str | bytes) -> int:
    return len(value) if isinstance(value, bytes) else len(value.encode("utf-8", "surrogatepass"))


def _tree_size(value: Any) -> int:
    if isinstance(value, (str, bytes)):
        return _size(value)
    if isinstance(value, Mapping):
        return sum(_size(str(key)) + _tree_size(item) + 4 for key, item in value.items())
    if isinstance(value, Sequence):
        return sum(_tree_size(item) + 1 for item in value)
    return 8


def _common_size(sizes: Sequence[int], room: int) -> int:
    """Return the size to which the largest of the (sorted) sizes are cut so that all fit."""
    level = 0
    for place, size in enumerate(sizes):
        level = max(0, room) // (len(sizes) - place)
        if size > level:
            return level
        room -= size
    return max(sizes, default=level)
