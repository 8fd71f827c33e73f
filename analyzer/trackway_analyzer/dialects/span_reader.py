"""How several dialects read one span.

1. The first dialect whose marks fit is primary and gives the row's `source`; every later one that
   fits fills columns that are still empty. `common` comes last and fills what any span may carry.
2. The operation is the first one that a fitting dialect can tell; a span that none can tell is
   `other`.
3. A placeholder for a value that was not recorded is no value.
4. A span of the native dialect is taken as it is stored, by that dialect alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from trackway.schema import Operation
from trackway_analyzer.dialects.dialect import Dialect, Source
from trackway_analyzer.dialects.native import NATIVE, native_columns
from trackway_analyzer.dialects.normalise import normalised
from trackway_analyzer.dialects.values import PLACEHOLDERS
from trackway_analyzer.spans import Attributes, RawSpan

_Look = Callable[[RawSpan], Any]
_Plan = tuple[tuple[str, tuple[str | _Look, ...]], ...]
"""Columns, each with the keys and functions that are asked for its value, in order."""


class SpanReader:
    """Reads spans with the dialects of `known`, in their order."""

    def __init__(self, known: Sequence[Dialect], common: Dialect, unknown: str) -> None:
        self._known = tuple(known)
        self._common = common
        self._unknown = unknown
        self._by_key: dict[str, list[int]] = {}
        self._by_event: dict[str, list[int]] = {}
        self._by_value: dict[str, dict[str, list[int]]] = {}
        self._by_scope: dict[str | None, frozenset[int]] = {}
        self._plans: dict[tuple[tuple[int, ...], Operation], _Plan] = {}
        for index, dialect in enumerate(known):
            for key in dialect.marks.keys:
                self._by_key.setdefault(key, []).append(index)
            for name in dialect.marks.events:
                self._by_event.setdefault(name, []).append(index)
            for key, values in dialect.marks.values.items():
                known_values = self._by_value.setdefault(key, {})
                for value in values:
                    known_values.setdefault(value, []).append(index)

    def __call__(self, span: RawSpan) -> tuple[dict[str, Any], Attributes]:
        """Return a span's typed columns and the attributes to store beside them."""
        fitting = self._fitting(span)
        dialects = [self._known[index] for index in fitting]
        if dialects and dialects[0] is NATIVE:
            return native_columns(span)
        operation = Operation.OTHER
        for dialect in dialects:
            told = dialect.operation(span)
            if told is not None:
                operation = told
                break
        typed = normalised(span, operation, self._found(span, self._plan(fitting, operation)))
        typed["source"] = dialects[0].name if dialects else self._unknown
        return typed, span.attributes

    def _fitting(self, span: RawSpan) -> tuple[int, ...]:
        scope = span.origin.scope
        of_scope = self._by_scope.get(scope)
        if of_scope is None:
            known = enumerate(self._known)
            of_scope = frozenset(i for i, dialect in known if dialect.marks.fit_scope(scope))
            self._by_scope[scope] = of_scope
        found = set(of_scope)
        by_key = self._by_key
        for key in span.attributes:
            if key in by_key:
                found.update(by_key[key])
        for key, values in self._by_value.items():
            value = span.attributes.get(key)
            if value.__class__ is str and value in values:
                found.update(values[value])
        if span.events and self._by_event:
            for event in span.events:
                found.update(self._by_event.get(event.name, ()))
        return tuple(sorted(found))

    def _plan(self, fitting: tuple[int, ...], operation: Operation) -> _Plan:
        key = (fitting, operation)
        plan = self._plans.get(key)
        if plan is None:
            columns: dict[str, list[str | _Look]] = {}
            for dialect in (*(self._known[index] for index in fitting), self._common):
                for column, sources in dialect.sources(operation).items():
                    columns.setdefault(column, []).extend(map(_look, sources))
            plan = tuple((column, tuple(looks)) for column, looks in columns.items())
            self._plans[key] = plan
        return plan

    def _found(self, span: RawSpan, plan: _Plan) -> dict[str, Any]:
        attributes = span.attributes
        found = {}
        for column, looks in plan:
            for look in looks:
                value = attributes.get(look) if isinstance(look, str) else look(span)
                if value is not None and not (isinstance(value, str) and value in PLACEHOLDERS):
                    found[column] = value
                    break
        return found


def _look(source: Source) -> str | _Look:
    if not isinstance(source, tuple):
        return source
    key, transform = source

    def look(span: RawSpan) -> Any:
        value = span.attributes.get(key)
        return None if value is None else transform(value)

    return look
