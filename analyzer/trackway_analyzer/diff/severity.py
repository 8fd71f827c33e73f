"""How grave is a difference: ok, warning or fail?

Defaults, first line that fits:
1. A missing call fails; one that had not taken effect in the reference warns.
2. A call that is not in the reference fails where it is a mutation, unless its result says that it
   did not happen; any other extra call warns.
3. A mutation that took effect on one side only fails; another tool's success that changed warns.
4. An identifier or an amount (any number) of a mutation fails, and the argument that is declared
   to name its entity; any other argument warns.
5. A move across a dependency warns.
6. A result that differs is reported and counts for nothing: it is what the world answered, not what
   the agent did.
7. A changed final action fails.

`severity` overrides a line, the narrowest entry first: a tool's argument (a JSONPath), a tool's
kind of difference (`missing`, `unexpected`, `reordered`, `argument`, `result`, `effect`), a whole
tool, then the same for `*`, every tool. `{"send_email": {"$.body": "ok", "missing": "warning"}}`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import Final, TypeAlias

import jsonpath

from trackway.schema import StepKind
from trackway_analyzer.diff.calls import ANY_TOOL, Call, compiled_path, selected
from trackway_analyzer.diff.values import (
    Change,
    Location,
    is_amount,
    is_identifier,
    leaves,
)
from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.values import ABSENT, Absent

Levels: TypeAlias = Mapping[str, str | Mapping[str, str]]


class Level(StrEnum):
    """What a difference does to the status of the diff."""

    OK = "ok"
    WARNING = "warning"
    FAIL = "fail"


class What(StrEnum):
    """The kinds of difference."""

    MISSING = "missing"
    UNEXPECTED = "unexpected"
    REORDERED = "reordered"
    ARGUMENT = "argument"
    RESULT = "result"
    EFFECT = "effect"
    TERMINAL = "terminal"
    EVIDENCE = "evidence"
    """Not enough is recorded of a whole run."""


_SETTABLE: Final = tuple(what.value for what in What if what not in (What.TERMINAL, What.EVIDENCE))


def default_level(what: What, call: Call, change: Change | None = None) -> Level:
    """The level of a difference where nobody set one; `call` is the reference's, if it has it."""
    mutation = call.kind == StepKind.MUTATE
    match what:
        case What.TERMINAL | What.EVIDENCE:
            fails = True
        case What.MISSING:
            fails = call.step.ok is not False
        case What.UNEXPECTED:
            fails = mutation and call.step.ok is not False
        case What.EFFECT:
            fails = mutation
        case What.ARGUMENT:
            fails = mutation and change is not None and _names_or_counts(change, call)
        case What.REORDERED:
            fails = False
        case What.RESULT:
            return Level.OK
    return Level.FAIL if fails else Level.WARNING


def _names_or_counts(change: Change, call: Call) -> bool:
    """Whether a changed argument holds an identifier or an amount, on either side."""
    if change.at in call.entity:
        return True
    return any(
        is_identifier(at, value) or is_amount(value)
        for side in (change.reference, change.candidate)
        for at, value in _scalars(change.at, side)
    )


def _scalars(at: Location, value: JsonValue | Absent) -> Iterator[tuple[Location, JsonValue]]:
    if value is not ABSENT:
        for below, (_, leaf) in leaves(value).items():
            yield (*at, *below), leaf


class LevelsOf:
    """Levels that a user set. Raises ValueError for an entry that is none."""

    def __init__(self, levels: Levels | None) -> None:
        self._tools: dict[str, Mapping[str, str]] = {}
        self._paths: dict[str, list[tuple[jsonpath.JSONPath, Level]]] = {}
        for tool, entry in (levels or {}).items():
            named = {ANY_TOOL: entry} if isinstance(entry, str) else entry
            for key, level in named.items():
                self._add(tool, key, _level(tool, level))
            self._tools[tool] = named

    def _add(self, tool: str, key: str, level: Level) -> None:
        if key.startswith("$"):
            self._paths.setdefault(tool, []).append((compiled_path(key), level))
        elif key not in (ANY_TOOL, *_SETTABLE):
            near = get_close_matches(key, _SETTABLE, n=1)
            hint = f", did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"severity[{tool!r}]: expected a JSONPath or one of {list(_SETTABLE)}, "
                f"found {key!r}{hint}"
            )

    def level(
        self, what: What, call: Call, change: Change | None = None, other: Call | None = None
    ) -> Level:
        """The level of one difference: set by the user, else the default.

        `other` is the call that `call` is paired with: a path may select in either's arguments.
        """
        for tool in (call.tool, ANY_TOOL):
            if what is What.ARGUMENT and change is not None:
                for query, level in self._paths.get(tool, ()):
                    if any(_selects(query, change, side) for side in (call, other) if side):
                        return level
            named = self._tools.get(tool, {})
            found = named.get(what) or named.get(ANY_TOOL)
            if found:
                return Level(found)
        return default_level(what, call, change)


def _level(tool: str, level: str) -> Level:
    try:
        return Level(level)
    except ValueError:
        known = [known.value for known in Level]
        raise ValueError(f"severity[{tool!r}]: expected one of {known}, found {level!r}") from None


def _selects(query: jsonpath.JSONPath, change: Change, call: Call) -> bool:
    """Whether a path selects the changed place, or something around it."""
    places = selected(query, call.step.arguments)
    return any(change.at[: len(place)] == place for place in places)
