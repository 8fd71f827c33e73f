"""How several dialects read one span.

1. The first dialect whose marks fit is primary and gives the row's `source`; every later one that
   fits fills columns that are still empty. `common` comes last and fills what any span may carry.
2. The operation is the first one that a fitting dialect can tell; a span that none can tell is
   `other`.
3. A placeholder for a value that was not recorded is no value.
4. A span of the native dialect is taken as it is stored, by that dialect alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson

from trackway.schema import Operation
from trackway_analyzer.dialects.dialect import Dialect, Look, Shape, Source, shape_of, told_by
from trackway_analyzer.dialects.formed import Formed
from trackway_analyzer.dialects.native import NATIVE, native_columns
from trackway_analyzer.dialects.normalise import Form, form_of, holds_content, normalised
from trackway_analyzer.dialects.sources import content_look, look_of
from trackway_analyzer.dialects.values import is_placeholder
from trackway_analyzer.spans import Attributes, RawSpan

_SHAPES: Final = 4096
"""Plans that are kept; one that is not is made again."""
_LONG_SHAPE: Final = 1024


class _Column(NamedTuple):
    """A column and where its value is looked for."""

    name: str
    formed: Formed | None
    """Brings the value to its form; None: `normalised` does."""
    key: str | None
    """The attribute that holds it, where there is but this one."""
    literal: bool
    """The attribute is taken as it is written."""
    looks: tuple[Look, ...]


class _Plan(NamedTuple):
    """How spans of one shape are read."""

    shape: Shape
    dialects: tuple[Dialect, ...]
    operations: tuple[tuple[str, Mapping[str, Operation] | Operation], ...]
    columns: dict[Operation, tuple[_Column, ...]]
    """Filled as operations are met."""


class SpanReader:
    """Reads spans with the dialects of `known`, in their order."""

    def __init__(self, known: Sequence[Dialect], common: Dialect, unknown: str) -> None:
        self._known = tuple(known)
        self._common = common
        self._unknown = unknown
        self._by_key: dict[str, list[int]] = {}
        self._by_event: dict[str, list[int]] = {}
        self._by_value: dict[str, dict[str, list[int]]] = {}
        self._plans: dict[Shape, _Plan] = {}
        self._plans_of_outlines: dict[Shape, _Plan] = {}
        self._forms: dict[Form, Formed] = {}
        self._named = frozenset(_keys_of((*known, common)))
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
        """Return a span's typed columns and the attributes to store beside them.

        A long text may be UTF-8 (bytes).
        """
        shape = shape_of(span, self._by_value)
        plan = self._plans.get(shape)
        if plan is None:
            plan = self._plan(shape)
        outline, dialects, operations, known = plan
        if dialects and dialects[0] is NATIVE:
            return native_columns(span)
        operation = told_by(operations, span.attributes) or Operation.OTHER
        columns = known.get(operation)
        if columns is None:
            columns = known[operation] = self._columns(outline, dialects, operation)
        typed: dict[str, Any] = {"operation": operation.value}
        typed["source"] = dialects[0].name if dialects else self._unknown
        return normalised(span, operation, typed, _found(span, columns, typed)), span.attributes

    def _plan(self, shape: Shape) -> _Plan:
        if len(shape.names) + len(shape.events) > _LONG_SHAPE:
            return self._new_plan(shape)
        outline = shape._replace(names=self._outline(shape.names))
        plan = self._plans_of_outlines.get(outline)
        if plan is None:
            plan = self._new_plan(outline)
            _keep(self._plans_of_outlines, outline, plan)
        _keep(self._plans, shape, plan)
        return plan

    def _outline(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the keys with one for each flattened list, however long it is."""
        named = self._named
        return tuple(dict.fromkeys([n if n in named else _before_number(n) for n in names]))

    def _new_plan(self, shape: Shape) -> _Plan:
        dialects = tuple(self._known[index] for index in self._fitting(shape))
        names = frozenset(shape.names)
        operations = tuple(
            (key, meaning)
            for dialect in dialects
            for key, meaning in dialect.operations
            if key in names
        )
        return _Plan(shape, dialects, operations, {})

    def _fitting(self, shape: Shape) -> list[int]:
        known = enumerate(self._known)
        found = {index for index, dialect in known if dialect.marks.fit_scope(shape.scope)}
        for key in shape.names:
            found.update(self._by_key.get(key, ()))
        for key, value in shape.values:
            found.update(self._by_value[key].get(value, ()))
        for name in shape.events:
            found.update(self._by_event.get(name, ()))
        return sorted(found)

    def _columns(
        self, shape: Shape, dialects: tuple[Dialect, ...], operation: Operation
    ) -> tuple[_Column, ...]:
        found: dict[str, list[Source]] = {}
        content = holds_content(operation, root=shape.root)
        for dialect in (*dialects, self._common):
            for column, sources in dialect.sources(operation).items():
                if content or column not in _CONTENT:
                    found.setdefault(column, []).extend(sources)
        names = frozenset(shape.names)
        columns = []
        for column, sources in found.items():
            literal = column in _CONTENT
            there = dict.fromkeys(s for s in sources if not isinstance(s, str) or s in names)
            find = content_look if literal else look_of
            looks = [look for s in there if (look := find(s, shape)) is not None]
            (first, *others) = there or (None,)
            key = first if isinstance(first, str) and not others else None
            if looks:
                columns.append(_Column(column, self._formed(column), key, literal, tuple(looks)))
        return tuple(columns)

    def _formed(self, column: str) -> Formed | None:
        form = form_of(column)
        return None if form is None else self._forms.setdefault(form, Formed(form))


_CONTENT: Final = ("input", "output")
_NUMBERED: Final = re.compile(r"[^0-9]*?\.(?=\d+(?:\.|$))")


@lru_cache(maxsize=8192)
def _before_number(name: str) -> str:
    """Return what the keys of a flattened list begin with; another key as it is."""
    numbered = _NUMBERED.match(name)
    return name if numbered is None else numbered[0]


def _keys_of(dialects: Sequence[Dialect]) -> Iterator[str]:
    """Return every attribute key that the tables of dialects name."""
    for dialect in dialects:
        yield from (*dialect.marks.keys, *dialect.marks.values)
        yield from (key for key, _ in dialect.operations)
        for fields in (dialect.fields, *dialect.of.values()):
            for sources in fields.values():
                for source in sources:
                    if isinstance(source, str):
                        yield source
                    elif isinstance(source, tuple):
                        yield source[0]


def _keep(plans: dict[Shape, _Plan], shape: Shape, plan: _Plan) -> None:
    if len(plans) >= _SHAPES:
        plans.clear()
    plans[shape] = plan


def _found(span: RawSpan, columns: tuple[_Column, ...], typed: dict[str, Any]) -> dict[str, Any]:
    """Fill the simple columns, and return what was found for the others."""
    attributes = span.attributes
    found = {}
    for name, formed, key, literal, looks in columns:
        if key is not None:
            value: Any = dict.get(attributes, key)
            if value.__class__ is bytes:
                if formed is not None:
                    value = formed[value]
                    if value is not None:
                        typed[name] = value
                    continue
                if not literal:
                    value = attributes[key]
            if value is None or _is_placeholder(value):
                continue
        else:
            for look in looks:
                value = look(span)
                if value is not None and not _is_placeholder(value):
                    break
            else:
                continue
        if formed is None:
            found[name] = value
        else:
            typed[name] = formed.form(value)
    return found


def _is_placeholder(value: Any) -> bool:
    if value.__class__ is bytes:
        return len(value) <= _LONGEST_PLACEHOLDER and is_placeholder(orjson.loads(value))
    return is_placeholder(value)


_LONGEST_PLACEHOLDER: Final = 256
"""Bytes of the literal of a text that is looked at."""
