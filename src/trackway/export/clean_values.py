"""What may stand for one value of a span that leaves the process?

1. What stands under a denied key is replaced whole; texts, in lists and mappings too, go through
   the redactor, and bytes as text. What changed is named in `trackway.redacted`.
2. A value of more than `Limits.value_bytes` is cut. JSON stays JSON: its leaves are cut; JSON of
   more than `Limits.hash_bytes` becomes one text, beginning and end. What was cut is named in
   `trackway.truncated` and `trackway.content.sha256.KEY` holds the digest of the whole.
3. With content off, `trackway.content.sha256.KEY` keeps the keyed hash of a value that is content,
   and of a URL that loses its query; of events and links content is left out (`content.py`).
4. An integer beyond 64 bits is a text: OTLP has no room for it.
5. A value that needs nothing of this is the same object.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from opentelemetry.sdk.trace import Event
from opentelemetry.trace import Link, Status

from trackway.capture import Capture, Limits, Redactor
from trackway.capture.integers import is_whole, whole
from trackway.capture.redact import KEY_NAME_MARKER
from trackway.export.content import EVENTS, is_content, without_content
from trackway.export.ended import attributes_of
from trackway.export.own_keys import is_name_of_schema
from trackway.export.urls import name_without_query, without_query
from trackway.schema import Trackway

SMALLEST_VALUE: Final = 128
"""Bytes to which a value is cut at most."""


def no_key(_key: str) -> bool:
    """Tell of no key that it is to be skipped."""
    return False


class ValueCleaner:
    """The cleaning of the values of one span; remembers what it did."""

    def __init__(self, redactor: Redactor | None, limits: Limits, content: bool) -> None:
        self._limits = limits
        self._redactor = redactor
        self._capture = Capture(limits, redactor)
        self._hidden = None if content else Capture(limits, redactor, content=False)
        self._redacted: list[str] = []
        self._digests: dict[str, str] = {}
        self._hashes: dict[str, str] = {}
        self._rewritten = False

    @property
    def touched(self) -> bool:
        """Whether anything was changed."""
        return bool(self._redacted or self._digests or self._hashes or self._rewritten)

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
        self, members: Mapping[str, Any], skip: Callable[[str], bool] = no_key
    ) -> dict[str, Any]:
        """Return what may stand in a span; content that is off leaves its hash alone."""
        kept = {}
        for key, value in members.items():
            if skip(key):
                kept[key] = value
                continue
            name = self._key(key, kept)
            told = value if self._hidden is None else without_query(key, value)
            is_hidden = self._hidden is not None and is_content(key, told)
            if self._hidden is not None and (is_hidden or told is not value):
                self._hashes[name] = self._hidden.value(value).digest or ""
            if not is_hidden:
                kept[name] = self._member(key, name, told)
        return kept

    def _member(self, key: str, name: str, value: Any) -> Any:
        """Return what may stand under a key, whose name is without secrets."""
        if self._redactor is not None and self._redactor.withholds(key, value):
            if value != KEY_NAME_MARKER:
                self._redacted.append(name)
            return KEY_NAME_MARKER
        if isinstance(value, str):
            return self._cut(name, self.text(name, value))
        if isinstance(value, bytes):
            return self._cut_bytes(name, self._bytes(name, value))
        if isinstance(value, (Mapping, Sequence)):
            return self._cut_tree(name, self._tree(name, value))
        return self._number(value)

    def name(self, name: str) -> str:
        """Return what may stand as the name of a span of another instrumentor."""
        told = name if self._hidden is None else name_without_query(name)
        self._rewritten = self._rewritten or told is not name
        return self.text("name", told)

    def text(self, field: str, text: str) -> str:
        """Return a text without secrets; `field` is noted where it held one."""
        if self._redactor is None:
            return text
        clean, was_redacted = self._redactor.text(text)
        if was_redacted:
            self._redacted.append(field)
        return clean

    def _bytes(self, field: str, value: bytes) -> bytes:
        """Return bytes without the secrets that their text holds."""
        text = value.decode("latin-1")  # as many signs as bytes, and back without a loss
        clean = self.text(field, text)
        return value if clean == text else clean.encode("latin-1", "replace")

    def status(self, status: Status) -> Status:
        """Return what may stand as the status."""
        if not status.description:
            return status
        if self._hidden is not None:
            self._rewritten = True
            return Status(status.status_code)
        clean = self._cut("status", self.text("status", status.description))
        return status if clean == status.description else Status(status.status_code, clean)

    def event(self, event: Event) -> Event:
        """Return what may stand as an event."""
        members = event.attributes or {}
        if self._hidden is not None and event.name in EVENTS and members:
            self._rewritten = True
            return Event(event.name, attributes_of({}, event.dropped_attributes), event.timestamp)
        told = members if self._hidden is None else without_content(members)
        self._rewritten = self._rewritten or told is not members
        name = self.text("event", event.name)
        clean = self._hanging(name, told)
        if clean is members and name == event.name:
            return event
        return Event(name, attributes_of(clean, event.dropped_attributes), event.timestamp)

    def link(self, link: Link) -> Link:
        """Return what may stand as a link."""
        members = link.attributes or {}
        told = members if self._hidden is None else without_content(members)
        self._rewritten = self._rewritten or told is not members
        clean = self._hanging("link", told)
        if clean is members:
            return link
        return Link(link.context, attributes_of(clean, link.dropped_attributes))

    def _hanging(self, prefix: str, members: Mapping[str, Any]) -> Mapping[str, Any]:
        """Clean the members of an event or link; the same object where nothing changes."""
        clean: dict[str, Any] = {}
        for key, value in members.items():
            name = self._key(key, clean)
            clean[name] = self._of(prefix, key, name, value)
        return members if all(clean.get(key) is members[key] for key in members) else clean

    def _key(self, key: str, taken: Mapping[str, Any]) -> str:
        """Return a key without secrets, another one than those that are taken."""
        if self._redactor is None or is_name_of_schema(key):
            return key
        clean, was_redacted = self._redactor.text(key)
        if not was_redacted:
            return key
        name, number = clean, 1
        while name in taken:
            number += 1
            name = f"{clean} ({number})"
        self._redacted.append(name)
        return name

    def _of(self, prefix: str, key: str, name: str, value: Any) -> Any:
        """Clean a member of an event or link; what was done is noted as PREFIX.KEY."""
        redacted, digests = self._redacted, self._digests
        self._redacted, self._digests = [], {}
        clean = self._member(key, name, value)
        redacted += [f"{prefix}.{field}" for field in self._redacted]
        digests |= {f"{prefix}.{field}": digest for field, digest in self._digests.items()}
        self._redacted, self._digests = redacted, digests
        return clean

    def _tree(self, key: str, value: Any) -> Any:
        """Redact inside a list or mapping; the same object where nothing changes."""
        if isinstance(value, str):
            return self.text(key, value)
        if isinstance(value, bytes):
            return self._bytes(key, value)
        if isinstance(value, Mapping):
            members: dict[str, Any] = {}
            for name, item in value.items():
                members[self._key(name, members)] = self._inner(key, _name(name), item)
            if self._redactor is not None and self._redactor.pairs.hide_in_object(members):
                self._redacted.append(key)
            return value if all(members.get(name) is value[name] for name in value) else members
        if isinstance(value, Sequence):
            items = tuple(self._beside(key, [self._tree(key, item) for item in value]))
            return value if all(map(_is, items, value)) else items
        return self._number(value)

    def _number(self, value: Any) -> Any:
        """Return what may stand for a value that is no text and no container."""
        if is_whole(value):
            return value
        self._rewritten = True
        return whole(value)

    def _beside(self, key: str, items: list[Any]) -> list[Any]:
        if self._redactor is None:
            return items
        pairs = [list(i) if isinstance(i, tuple) and len(i) == 2 else i for i in items]
        if not self._redactor.pairs.hide_in_list(pairs):
            return items
        self._redacted.append(key)
        return pairs

    def _inner(self, key: str, name: str, value: Any) -> Any:
        if self._redactor is not None and self._redactor.withholds(name, value):
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
        shorter = Limits(max(SMALLEST_VALUE, limit // 2))
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


def _name(key: Any) -> str:
    return key.decode("latin-1") if isinstance(key, bytes) else str(key)


def _is(one: Any, other: Any) -> bool:
    return one is other


def byte_size(value: str | bytes) -> int:
    """Return the bytes of a text in UTF-8, or of bytes."""
    return len(value) if isinstance(value, bytes) else len(value.encode("utf-8", "surrogatepass"))


def _tree_size(value: Any) -> int:
    if isinstance(value, (str, bytes)):
        return byte_size(value)
    if isinstance(value, Mapping):
        return sum(byte_size(str(key)) + _tree_size(item) + 4 for key, item in value.items())
    if isinstance(value, Sequence):
        return sum(_tree_size(item) + 1 for item in value)
    return 8
