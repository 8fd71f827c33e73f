"""Values at paths of arguments and results, in SQL: which are read, and what is compared of them.

1. Tools of which the same values are looked at share a number, `which`; first any other tool.
2. A plain name is looked for at any depth where it is not at the top; an object that is not `told`
   (`told_outcome`) does not have it, and is not parsed for it.
3. A text or number is compared by its hash. Small numbers stand for a value that is not there, was
   not recorded, or is left to reconstruction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from trackway_analyzer.engine.looks import Column, Looks, Value
from trackway_analyzer.engine.roles import ABSENT, DOUBTFUL, TOOL_STEP, UNRECORDED
from trackway_analyzer.engine.sql_text import cases, quoted, word
from trackway_analyzer.said_no import USUAL
from trackway_analyzer.tool_names import bare

_NAMES: Final = (
    ("named_tool", str),
    ("named_alias", str),
    ("bare_tool", bare),
    ("bare_alias", bare),
)
_SAYS: Final = [quoted(f"$.{key}") for key in USUAL]
_OBJECT: Final = ord("{")
_WRAPPED: Final = quoted(r'\\|^"\s*[\[{]')
"""A text that may be JSON of an object or a list: reconstruction reads it as that."""


def value_columns(looks: Looks) -> int:
    """How many columns `value_…` there are."""
    return max((len(values) for values in _by_tool(looks.same).values()), default=0)


class ReadValues:
    """The values that a check looks at, by tool."""

    def __init__(self, looks: Looks) -> None:
        self.slots = value_columns(looks)
        self._same = _by_tool(looks.same)
        self._exact = _by_tool(looks.exact)
        others = self._paths(None)
        named = {name for name in {*self._same, *self._exact} if name}
        self.tools = [None, *sorted(name for name in named if self._paths(name) != others)]
        """The place of a tool is its `which`."""

    def which(self) -> str:
        """Place of a row's tool in `tools`; -1 where the row is no call."""
        # The same order as in `tool_names`; a name that may mean another's call has no looks.
        whens = " ".join(
            f"WHEN {column} = hash({quoted(own(name))}) THEN {place}"
            for column, own in _NAMES
            for place, name in enumerate(self.tools)
            if name
        )
        return f"(CASE WHEN what <> {TOOL_STEP} THEN -1 {whens} ELSE 0 END)::TINYINT"

    def says(self) -> str:
        """Members by which a told result commonly says whether its call took effect."""
        return f"CASE WHEN told THEN TRY(json_extract(result, [{', '.join(_SAYS)}])) END"

    def names(self, tool: str | None) -> list[str]:
        """Names of members that make a result of a tool `told`."""
        same, exact = (
            [value.path for value in by.get(tool, ()) if value.column == "result"]
            for by in (self._same, self._exact)
        )
        plain = {path for path in same + exact if not path.startswith("$")}
        # What it says by a member that is taken exactly is known without.
        return [name for name in USUAL if f"$.{name}" not in exact] + sorted(plain)

    def exact(self, column: Column) -> dict[int, list[str]]:
        """Values of a column that decide by what they are, by `which`."""
        found = {
            which: [_read(value) for value in self._exact.get(tool, ()) if value.column == column]
            for which, tool in enumerate(self.tools)
        }
        return {which: values for which, values in found.items() if values}

    def slot(self, slot: int) -> str:
        """The value itself, as JSON."""
        found = {
            which: _read(values[slot])
            for which, tool in enumerate(self.tools)
            if slot < len(values := self._same.get(tool, []))
        }
        return cases("which", found, "NULL")

    def value(self, slot: int) -> str:
        """The value as a hash, or what stands for it."""
        missing = {
            which: _without_value(values[slot])
            for which, tool in enumerate(self.tools)
            if slot < len(values := self._same.get(tool, []))
        }
        return _comparable(f"slot_{slot}", cases("which", missing, word(ABSENT)))

    def _paths(self, tool: str | None) -> list[list[tuple[str, str]]]:
        return [[_place(value) for value in by.get(tool, ())] for by in (self._same, self._exact)]


def _by_tool(values: Iterable[Value]) -> dict[str | None, list[Value]]:
    by_tool: dict[str | None, set[Value]] = defaultdict(set)
    for value in values:
        by_tool[value.tool].add(value)
    return {tool: sorted(own, key=_place) for tool, own in by_tool.items()}


def _place(value: Value) -> tuple[str, str]:
    return value.column, value.path


def _read(value: Value) -> str:
    """The value as JSON; null where it is not there. Out of a text, DuckDB would read one."""
    path = quoted(value.path if value.path.startswith("$") else f'$."{value.path}"')
    if value.column == "arguments":
        where = "starts_with(arguments, '{')"
    else:
        where = f"opens = {_OBJECT}" if value.path.startswith("$") else "told"
    return f"CASE WHEN {where} THEN TRY(json_extract({value.column}, {path})) END"


def _without_value(value: Value) -> str:
    """What stands for a value that is not there."""
    doubtful, absent, unrecorded = (word(number) for number in (DOUBTFUL, ABSENT, UNRECORDED))
    if value.column == "arguments":
        return f"CASE WHEN arguments IS NULL THEN {unrecorded} ELSE {doubtful} END"
    inside, untold = absent, ""
    if not value.path.startswith("$"):
        # A plain name is looked for at any depth where it is not at the top.
        key = quoted(f'"{value.path}"')
        inside = f"CASE WHEN contains(result, {key}) THEN {doubtful} ELSE {absent} END"
        untold = f"WHEN opens = {_OBJECT} AND NOT told THEN {absent}"
    return f"""CASE {untold} WHEN result IS NULL THEN {unrecorded}
        WHEN opens = {_OBJECT} THEN CASE WHEN json_valid(result) THEN {inside} ELSE {doubtful} END
        WHEN opens = {ord("[")} THEN {inside}
        WHEN opens = {ord('"')} AND regexp_matches(result, {_WRAPPED}) THEN {doubtful}
        ELSE {absent} END"""


def _comparable(found: str, missing: str) -> str:
    """Hash of a text or number; small numbers for what is neither."""
    return f"""CASE WHEN which < 0 THEN {word(ABSENT)}
        WHEN {found} IS NULL THEN {missing}
        WHEN starts_with({found}, '"') THEN
          CASE WHEN contains({found}, '\\') OR contains({found}, '[redacted:')
            THEN {word(DOUBTFUL)} ELSE hash({found}) END
        WHEN {found} = 'true' THEN 3::UBIGINT
        WHEN {found} = 'false' THEN 4::UBIGINT
        WHEN {found} = 'null' THEN 5::UBIGINT
        WHEN abs(TRY_CAST({found} AS DOUBLE)) < 9007199254740992
          THEN hash(TRY_CAST({found} AS DOUBLE) + 0.0, 1)
        ELSE {word(DOUBTFUL)} END"""
