"""The shape of a dialect: a table of keys, and how a span is read with several of them.

1. A dialect says by its `Marks` whether it knows a span, by its `operations` what the span is,
   and by `fields` where the value of each typed column stands: sources in order, the first that
   holds something wins. `of` has sources for spans of one operation; they come before `fields`.
2. The first dialect that knows a span is primary; every later one that knows it fills columns that
   are still empty. `COMMON` comes last and fills what any span may carry.
3. The operation is the first one that a matching dialect can tell; a span that none can tell is
   `other`.
4. A dialect holds no code: values are brought to their one form by `normalise`, in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from trackway.schema import Operation
from trackway_analyzer.dialects.normalise import normalised
from trackway_analyzer.dialects.values import is_placeholder
from trackway_analyzer.model import JsonValue
from trackway_analyzer.spans import RawSpan

Source: TypeAlias = str | tuple[str, Callable[[JsonValue], JsonValue]] | Callable[[RawSpan], Any]
"""An attribute key, a key with a transform of its value, or a function of the span."""

Fields: TypeAlias = dict[str, Sequence[Source]]
"""Column of the span table to the places where its value may stand."""

_Look = Callable[[RawSpan], Any]


@dataclass(frozen=True)
class Marks:
    """How a dialect is told from the others: any one of these is enough."""

    keys: Sequence[str] = ()
    """Attribute keys that only this dialect writes."""
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Attribute keys that others write too, with the values that are this dialect's."""
    scopes: Sequence[str] = ()
    """Names of instrumentation scopes, or the part of them before a dot."""
    events: frozenset[str] = frozenset()
    """Names of span events."""

    all: bool = False
    """Every span is taken for this dialect: somebody said so."""

    def fit(self, span: RawSpan) -> bool:
        """Tell whether the span carries one of the marks."""
        if self.all:
            return True
        attributes = span.attributes
        for key in self.keys:
            if key in attributes:
                return True
        for key, known in self.values.items():
            value = attributes.get(key)
            if isinstance(value, str) and value in known:
                return True
        if self.scopes and span.origin.scope is not None:
            scope = span.origin.scope
            if any(scope == name or scope.startswith(name + ".") for name in self.scopes):
                return True
        return bool(self.events) and any(event.name in self.events for event in span.events)


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
        attributes = span.attributes
        for key, meaning in self.operations:
            value = attributes.get(key)
            if value is None:
                continue
            if isinstance(meaning, Operation):
                return meaning
            if isinstance(value, str) and value in meaning:
                return meaning[value]
        return None

    @cached_property
    def lookups(self) -> Mapping[Operation, Sequence[tuple[str, Sequence[_Look]]]]:
        """Per operation: columns with the functions that look for their values."""
        return {operation: self._compiled(operation) for operation in Operation}

    def _compiled(self, operation: Operation) -> list[tuple[str, Sequence[_Look]]]:
        special = self.of.get(operation, {})
        columns = [*special, *(name for name in self.fields if name not in special)]
        return [
            (
                column,
                [
                    _look(source)
                    for source in (*special.get(column, ()), *self.fields.get(column, ()))
                ],
            )
            for column in columns
        ]


def _look(source: Source) -> _Look:
    if isinstance(source, str):
        key = source
        return lambda span: span.attributes.get(key)
    if isinstance(source, tuple):
        name, transform = source

        def look(span: RawSpan) -> Any:
            value = span.attributes.get(name)
            return None if value is None else transform(value)

        return look
    return source


def read_span(
    span: RawSpan, known: Sequence[Dialect], common: Dialect, unknown: str
) -> dict[str, Any]:
    """Return the typed columns of a span, read with the dialects of `known` in their order.

    `unknown` becomes the source of a span that no dialect knows.
    """
    matching = [dialect for dialect in known if dialect.marks.fit(span)]
    operation = next(
        (told for dialect in matching if (told := dialect.operation(span)) is not None),
        Operation.OTHER,
    )
    found: dict[str, Any] = {}
    for dialect in (*matching, common):
        for column, looks in dialect.lookups[operation]:
            if column in found:
                continue
            for look in looks:
                value = look(span)
                if value is not None and not is_placeholder(value):
                    found[column] = value
                    break
    typed = normalised(span, operation, found)
    typed["source"] = matching[0].name if matching else unknown
    return typed
