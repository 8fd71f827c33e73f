"""The shape of a dialect: a table of keys and a few value maps, nothing else.

1. `marks` say which spans a dialect knows, `operations` what such a span is.
2. `fields` say where the value of each typed column stands: sources in order, the first that holds
   something wins. `of` has sources for spans of one operation; they come before `fields`.
3. Values are brought to their one form elsewhere (`normalise`), the same for all dialects; how
   several dialects share a span is said in `span_reader`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from trackway.schema import Operation
from trackway_analyzer.model import JsonValue
from trackway_analyzer.spans import Attributes, RawSpan
from trackway_analyzer.written import WrittenAttributes

Look: TypeAlias = Callable[[RawSpan], Any]
"""Returns what it finds in a span; None: nothing."""


_NOTHING_TELLS: Final[dict[str, frozenset[str]]] = {}


class Shape(NamedTuple):
    """What spans have in common that are read in the same way, whatever their values."""

    scope: str | None
    names: tuple[str, ...]
    """Keys of the attributes."""
    events: tuple[str, ...]
    """Names of the events."""
    root: bool
    values: tuple[tuple[str, str], ...] = ()
    """Values that tell a dialect, with their keys."""


def shape_of(span: RawSpan, telling: Mapping[str, Container[str]] = _NOTHING_TELLS) -> Shape:
    """Return the shape of a span; `telling` are the keys whose values matter, and which do."""
    attributes = span.attributes
    values: list[tuple[str, str]] = []
    for key, known in telling.items():
        value = attributes.get(key) if key in attributes else None
        if isinstance(value, str) and value in known:
            values.append((key, value))
    return Shape(
        span.origin.scope,
        names_of(attributes),
        tuple([event.name for event in span.events]) if span.events else (),
        span.parent_span_id is None,
        tuple(values),
    )


def names_of(attributes: Attributes) -> tuple[str, ...]:
    """Return the keys of attributes, in order."""
    if isinstance(attributes, WrittenAttributes):
        return attributes.names
    return tuple(attributes)


@dataclass(frozen=True)
class Place:
    """Where a value stands that is no single attribute: numbered keys, events, several keys."""

    within: Callable[[Shape], Look | None]
    """Returns what looks there in spans of a shape; None where such spans cannot have it."""

    def __call__(self, span: RawSpan) -> Any:
        """Look into one span."""
        look = self.within(shape_of(span))
        return None if look is None else look(span)


Source: TypeAlias = str | tuple[str, Callable[[JsonValue], JsonValue]] | Place | Look
"""An attribute key, a key with a transform of its value, a place, or a function of the span."""

Fields: TypeAlias = dict[str, Sequence[Source]]
"""Column of the span table to the places where its value may stand."""


@dataclass(frozen=True)
class Marks:
    """How a dialect is told from the others: any one of these is enough."""

    keys: Sequence[str] = ()
    """Attribute keys that only this dialect writes."""
    scopes: Sequence[str] = ()
    """Names of instrumentation scopes, or the part of them before a dot."""
    events: Sequence[str] = ()
    """Names of span events."""
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Attribute keys that others write too, with the values that only this dialect gives them."""
    all: bool = False
    """Every span is taken for this dialect: somebody said so."""

    def fit_scope(self, scope: str | None) -> bool:
        """Tell whether a scope is one of `scopes` or below one."""
        if scope is None:
            return self.all
        return self.all or any(
            scope == name or scope.startswith(name + ".") for name in self.scopes
        )


@dataclass(frozen=True)
class Dialect:
    """One way of writing an agent's run as spans."""

    name: str
    marks: Marks
    operations: Sequence[tuple[str, Mapping[str, Operation] | Operation]] = ()
    """Attribute key to what each of its values means, or to what its mere presence means; the first
    that tells wins."""
    fields: Fields = field(default_factory=dict)
    of: Mapping[Operation, Fields] = field(default_factory=dict)

    def operation(self, span: RawSpan) -> Operation | None:
        """Return what the span is; None where this dialect cannot tell."""
        return told_by(self.operations, span.attributes)

    def sources(self, operation: Operation) -> Fields:
        """Return column to sources for spans of one operation."""
        special = self.of.get(operation, {})
        columns = dict.fromkeys((*special, *self.fields))
        return {name: (*special.get(name, ()), *self.fields.get(name, ())) for name in columns}


def told_by(
    operations: Sequence[tuple[str, Mapping[str, Operation] | Operation]], attributes: Attributes
) -> Operation | None:
    """Return the operation that the first attribute that tells one tells."""
    for key, meaning in operations:
        value = attributes.get(key)
        if value is None:
            continue
        if isinstance(meaning, Operation):
            return meaning
        if value.__class__ is str and value in meaning:
            return meaning[value]
    return None
