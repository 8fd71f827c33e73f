"""What rules look at in a run, told beforehand: values of the tools that they and the policy name.

A rule that cannot say so in these terms says None and gets every run whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from trackway_analyzer.engine.looks import Column, Looks, Value
from trackway_analyzer.rules.expression import Expression
from trackway_analyzer.rules.terms import Literal, Name, Path
from trackway_analyzer.rules.tools import DEFAULT_KEY, MUTATE, NOTIFY, Tools
from trackway_analyzer.rules.values import simple_keys

_PLAIN: Final = re.compile(r"[^\W\d][\w-]*\Z")

SHAPE: Final = Looks()
"""Nothing but the shape."""


def value_at(tool: str | None, column: Column, path: str) -> Value | None:
    """A value at a plain name or a path from a member of an object; None for anything else."""
    if _PLAIN.match(path):
        return Value(tool, column, path)
    full = path if path.startswith("$") else f"$.{path}"
    keys = simple_keys(full)
    return Value(tool, column, full) if keys and isinstance(keys[0], str) else None


def compared(values: Iterable[Value | None]) -> Looks | None:
    """Looks of a rule that compares these values; None where one is out of reach."""
    found = list(values)
    known = [value for value in found if value is not None]
    return Looks(same=frozenset(known)) if len(known) == len(found) else None


def entities_returned(tools: Tools, kind_of_thing: str | None = None) -> list[Value | None]:
    """Where lookups return ids: of one type, or of any."""
    found = [
        value_at(name, "result", spec.entity.result or DEFAULT_KEY)
        for name, spec in tools.items()
        if spec.kind not in (MUTATE, NOTIFY)
        and (kind_of_thing is None or spec.entity.type == kind_of_thing)
    ]
    return found if kind_of_thing else [*found, Value(None, "result", DEFAULT_KEY)]


def successes(tools: Tools) -> Looks | None:
    """What the declared successes read."""
    values: list[Value | None] = []
    for name, spec in tools.items():
        if spec.success is not None:
            values += _read_by(name, spec.success)
    known = [value for value in values if value is not None]
    return Looks(exact=frozenset(known)) if len(known) == len(values) else None


def _read_by(tool: str, expression: Expression) -> list[Value | None]:
    found: list[Value | None] = []
    for term in expression.terms:
        if isinstance(term, Path):
            found.append(value_at(tool, "result", term.path))
        elif isinstance(term, Name):
            own = term.path == "$" and not term.quoted
            found.append(value_at(tool, "arguments", f"$.{term.name}") if own else None)
        else:
            assert isinstance(term, Literal)
    return found


def everywhere(looks: Looks, tools: Tools) -> Looks:
    """Spell out for tools that are named what is looked at of every tool."""
    named = {value.tool for value in (*looks.same, *looks.exact)}
    own = {(value.tool, value.column) for value in looks.same}
    more = {
        Value(tool, value.column, value.path)
        for value in looks.same
        if value.tool is None
        for tool in named
        if tool is not None
        and (tool, value.column) not in own
        and (tool not in tools or tools[tool].kind not in (MUTATE, NOTIFY))
    }
    return Looks(looks.same | more, looks.exact, looks.texts, looks.limits)
