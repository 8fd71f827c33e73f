"""OTLP JSON documents of the usual form, decoded by type: several times quicker than by key.

1. Usual is what the protocol says and nothing besides: lowerCamelCase names, ids, names and times
   where they belong, no field that is not known. Any other document is left to `otlp_json`, which
   reads it all the same; of a usual one both make equal spans.
2. A text among the attributes stays the JSON literal that it is in the document, until somebody
   asks for it (`written`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec
import orjson
from msgspec import UNSET, Raw, Struct

from trackway_analyzer.json_text import compact_bytes
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.any_value import BrokenValueError, any_value
from trackway_analyzer.read.otlp_json import NO_START, checked, origin_of, resource_of, span_of
from trackway_analyzer.read.quarantine import Quarantine
from trackway_analyzer.spans import Attributes, RawSpan
from trackway_analyzer.written import WrittenAttributes, is_written

_HEAD: Final = 256
_NONE: Final = Raw(b"")
_QUOTE: Final = b'"'


class _Value(Struct, forbid_unknown_fields=True, gc=False):
    stringValue: Raw = _NONE
    intValue: Any = UNSET
    boolValue: Any = UNSET
    doubleValue: Any = UNSET
    bytesValue: Any = UNSET
    arrayValue: Raw = _NONE
    kvlistValue: Raw = _NONE


class _KeyValue(Struct, forbid_unknown_fields=True, gc=False):
    key: str
    value: _Value


class _Span(Struct, forbid_unknown_fields=True, gc=False):
    traceId: str
    spanId: str
    name: str
    startTimeUnixNano: int | str
    parentSpanId: str | None = None
    endTimeUnixNano: int | str | None = None
    kind: int | str | None = None
    attributes: list[_KeyValue] | None = None
    status: Any = None
    events: Any = None
    links: Any = None
    traceState: str | None = None
    flags: Any = None
    droppedAttributesCount: Any = None
    droppedEventsCount: Any = None
    droppedLinksCount: Any = None


class _ScopeSpans(Struct, forbid_unknown_fields=True, gc=False):
    spans: list[_Span] | None = None
    scope: dict[str, Any] | None = None
    schemaUrl: str | None = None


class _ResourceSpans(Struct, forbid_unknown_fields=True, gc=False):
    scopeSpans: list[_ScopeSpans]
    resource: Any = None
    schemaUrl: str | None = None


class UsualDocument(Struct, forbid_unknown_fields=True, gc=False):
    """A document of the usual form."""

    resourceSpans: list[_ResourceSpans]
    texts_are_written: bool = False
    """Not of the document: every text in it is escaped as we would escape it."""


_decode: Final = msgspec.json.Decoder(UsualDocument).decode


def usual_document(text: bytes) -> UsualDocument | None:
    """Return a JSON text as a document; None where it is not of the usual form, or no JSON."""
    if b'"resourceSpans"' not in text[:_HEAD]:
        return None
    try:
        if not text.isascii():
            text.decode()
        document = _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    document.texts_are_written = is_written(text)
    return document


def usual_spans(
    document: UsualDocument, quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan]:
    """Decode the spans of a document."""
    attributes_of = _attributes if document.texts_are_written else _rewritten_attributes
    for group in document.resourceSpans:
        resource, resource_text = resource_of(group.resource, quarantine, offset)
        outer = {"schemaUrl": group.schemaUrl}
        for part in group.scopeSpans:
            inner = {"schemaUrl": part.schemaUrl, "scope": part.scope}
            origin = origin_of(resource, resource_text, outer, inner, quarantine, offset)
            for item in part.spans or ():
                broken: list[str] = []
                span = span_of(
                    origin,
                    attributes_of(item.attributes, broken),
                    broken,
                    item.traceId,
                    item.spanId,
                    item.parentSpanId,
                    item.name,
                    item.kind,
                    item.startTimeUnixNano,
                    item.endTimeUnixNano,
                    item.status,
                    item.events,
                    item.links,
                    item.traceState,
                    item.flags,
                    item.droppedAttributesCount,
                    item.droppedEventsCount,
                    item.droppedLinksCount,
                )
                if span is None or broken or span.start == NO_START:
                    span = checked(span, broken, quarantine, offset)
                    if span is None:
                        continue
                yield span


def _attributes(items: list[_KeyValue] | None, broken: list[str]) -> Attributes:
    """Return attributes whose texts are as we would write them."""
    if not items:
        return {}
    literals: list[Any] = [bytes(item.value.stringValue) for item in items]
    written = literals
    for place, literal in enumerate(literals):
        if not literal.startswith(_QUOTE):
            if written is literals:
                written = literals.copy()
            try:
                literals[place], written[place] = _other(items[place].value)
            except BrokenValueError:
                return _one_by_one(items, broken)
    return _written([item.key for item in items], literals, written) or _one_by_one(items, broken)


def _rewritten_attributes(items: list[_KeyValue] | None, broken: list[str]) -> Attributes:
    """As `_attributes`, for texts that may be escaped in another way."""
    attributes = _attributes(items, broken)
    if attributes.__class__ is not WrittenAttributes:
        return attributes
    values = [attributes.literal(name) for name in attributes.names]
    written = [compact_bytes(v) if v.__class__ is not bytes else v for v in values]
    for place, value in enumerate(values):
        if value.__class__ is bytes and not is_written(value):
            values[place] = written[place] = orjson.dumps(orjson.loads(value))
    return _written(attributes.names, values, written) or attributes


def _one_by_one(items: list[_KeyValue], broken: list[str]) -> Attributes:
    """Decode attributes of which a key comes twice or a value is broken."""
    decoded: Attributes = {}
    for item in items:
        literal = bytes(item.value.stringValue)
        try:
            text = literal.startswith(_QUOTE)
            decoded[item.key] = orjson.loads(literal) if text else _other(item.value)[0]
        except BrokenValueError as error:
            broken.append(f"attribute {item.key}: {error}")
    return decoded


def _written(
    names: Sequence[str], values: list[Any], written: list[bytes]
) -> WrittenAttributes | None:
    """Return attributes with their JSON; None where a key comes twice."""
    members = dict(zip(names, values, strict=True))
    if len(members) != len(names):
        return None
    keys = tuple(members)
    return WrittenAttributes(members, keys, _template(keys) % tuple(written))


@lru_cache(maxsize=2048)
def _template(names: tuple[str, ...]) -> bytes:
    """Return the JSON object with these keys, `%b` for each value."""
    members = (orjson.dumps(name).replace(b"%", b"%%") + b":%b" for name in names)
    return b"{%b}" % b",".join(members)


def _other(value: _Value) -> tuple[JsonValue, bytes]:
    """Decode what is no text; return it also as JSON. Raises BrokenValueError."""
    forms = {}
    for name in _PLAIN:
        content = getattr(value, name)
        if content is not UNSET:
            forms[name] = content
    for name in _NESTED:
        raw = bytes(getattr(value, name))
        if raw and not forms and len(raw) <= _LONG:
            return _nested(name, raw)
        if raw:
            forms[name] = _decoded(raw)
    if len(forms) == 1:
        ((name, content),) = forms.items()
        # -0.0 and 0.0 are equal, and would find each other among the values read before.
        if content.__class__ in _SIMPLE and (content or content.__class__ is not float):
            return _single(name, content)
    decoded = any_value(forms)
    return decoded, compact_bytes(decoded)


@lru_cache(maxsize=4096, typed=True)
def _single(name: str, content: str | int | float | bool) -> tuple[JsonValue, bytes]:
    """Decode a value of one form; most come again."""
    decoded = any_value({name: content})
    return decoded, compact_bytes(decoded)


@lru_cache(maxsize=1024)
def _nested(name: str, raw: bytes) -> tuple[JsonValue, bytes]:
    """Decode a short list or mapping; many spans carry the same."""
    decoded = any_value({name: _decoded(raw)})
    return decoded, compact_bytes(decoded)


def _decoded(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BrokenValueError(str(error)) from None


_PLAIN: Final = ("intValue", "boolValue", "doubleValue", "bytesValue")
_SIMPLE: Final = (str, int, float, bool)
_NESTED: Final = ("stringValue", "arrayValue", "kvlistValue")
_LONG: Final = 512
