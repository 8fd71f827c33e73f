"""Values at paths of arguments and results, in SQL: which are read, and what is compared of them.

1. Tools of which the same values are looked at share a number, `which`; first any other tool.
2. Of a result are read the values that are looked at, and where it is `told` (`told_outcome`) also
   the members that commonly say whether a call took effect. A plain name is looked for at any depth
   where it is not at the top; an object that is not told does not have it.
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
        whens = " ".join(
            f"WHEN named_tool = hash({quoted(name)}) THEN {place}"
            for place, name in enumerate(self.tools)
            if name
        )
        return f"(CASE WHEN what <> {TOOL_STEP} THEN -1 {whens} ELSE 0 END)::TINYINT"

    def asked(self) -> str:
        """Values of the arguments."""
        found = {}
        for which, tool in enumerate(self.tools):
            if values := self._values(tool, "arguments"):
                read = _read("arguments", map(_path, values))
                # Out of a text, DuckDB would read a list of nothing.
                found[which] = f"CASE WHEN starts_with(arguments, '{{') THEN {read} END"
        return cases("which", found, "NULL::JSON[]")

    def got(self) -> str:
        """Values of the result, and behind them what it says where it is told."""
        untold, all_told = {}, {}
        for which, tool in enumerate(self.tools):
            paths = [_path(value) for value in self._values(tool, "result")]
            all_told[which] = _read("result", [*paths, *_SAYS])
            if paths and not self.looked_for(tool):
                untold[which] = f"CASE WHEN opens = {_OBJECT} THEN {_read('result', paths)} END"
        rest = cases("which", untold, "NULL::JSON[]")
        return f"CASE WHEN told THEN {cases('which', all_told, 'NULL')} ELSE {rest} END"

    def names(self, tool: str | None) -> list[str]:
        """Names of members that make a result of a tool `told`."""
        values = self._values(tool, "result")
        plain = [value.path for value in values if not value.path.startswith("$")]
        # What it says by such a member is known exactly without.
        known = {value.path for value in self._exact.get(tool, ()) if value.column == "result"}
        return [name for name in USUAL if f"$.{name}" not in known] + plain

    def looked_for(self, tool: str | None) -> bool:
        """Whether all values of the result of a tool are looked for by a name."""
        return all(not value.path.startswith("$") for value in self._values(tool, "result"))

    def compared(self, tool: str | None) -> int:
        """How many values of a tool's result are only compared; they come first in `got`."""
        return sum(value.column == "result" for value in self._same.get(tool, ()))

    def exact(self, tool: str | None) -> bool:
        """Whether values of a tool's result decide by what they are."""
        return len(self._values(tool, "result")) > self.compared(tool)

    def exact_arguments(self) -> list[str]:
        """Hashes of the arguments that decide, a tool each."""
        found = []
        for which, tool in enumerate(self.tools):
            values = self._values(tool, "arguments")
            first = sum(value.column == "arguments" for value in self._same.get(tool, ()))
            if len(values) > first:
                found.append(f"CASE WHEN which = {which} THEN hash(asked[{first + 1}:]) END")
        return found

    def slot(self, slot: int) -> str:
        """The value itself, as JSON."""
        found = {}
        for which, tool in enumerate(self.tools):
            values = self._same.get(tool, [])
            if slot < len(values):
                column = values[slot].column
                place = self._values(tool, column).index(values[slot]) + 1
                found[which] = f"{'asked' if column == 'arguments' else 'got'}[{place}]"
        return cases("which", found, "NULL")

    def value(self, slot: int) -> str:
        """The value as a hash, or what stands for it."""
        missing = {
            which: _without_value(values[slot], skipped=self.looked_for(tool))
            for which, tool in enumerate(self.tools)
            if slot < len(values := self._same.get(tool, []))
        }
        return _comparable(f"slot_{slot}", cases("which", missing, word(ABSENT)))

    def _paths(self, tool: str | None) -> list[list[tuple[str, str]]]:
        return [[_place(value) for value in by.get(tool, ())] for by in (self._same, self._exact)]

    def _values(self, tool: str | None, column: Column) -> list[Value]:
        """Values of a tool that stand in a column: those that are compared, then exact ones."""
        same = [value for value in self._same.get(tool, ()) if value.column == column]
        exact = [value for value in self._exact.get(tool, ()) if value.column == column]
        return same + [value for value in exact if value not in same]


def _by_tool(values: Iterable[Value]) -> dict[str | None, list[Value]]:
    by_tool: dict[str | None, set[Value]] = defaultdict(set)
    for value in values:
        by_tool[value.tool].add(value)
    return {tool: sorted(own, key=_place) for tool, own in by_tool.items()}


def _place(value: Value) -> tuple[str, str]:
    return value.column, value.path


def _path(value: Value) -> str:
    return quoted(value.path if value.path.startswith("$") else f'$."{value.path}"')


def _read(column: Column, paths: Iterable[str]) -> str:
    return f"TRY(json_extract({column}, [{', '.join(paths)}]))"


def _without_value(value: Value, *, skipped: bool) -> str:
    """What stands for a value that is not there; `skipped`: what is not told was not parsed."""
    doubtful, absent, unrecorded = (word(number) for number in (DOUBTFUL, ABSENT, UNRECORDED))
    if value.column == "arguments":
        return f"CASE WHEN arguments IS NULL THEN {unrecorded} ELSE {doubtful} END"
    inside = absent
    if not value.path.startswith("$"):
        # A plain name is looked for at any depth where it is not at the top.
        key = quoted(f'"{value.path}"')
        inside = f"CASE WHEN contains(result, {key}) THEN {doubtful} ELSE {absent} END"
    untold = f"WHEN opens = {_OBJECT} AND NOT told THEN {absent}" if skipped else ""
    return f"""CASE {untold} WHEN result IS NULL THEN {unrecorded}
        WHEN opens = {_OBJECT} THEN CASE WHEN got IS NULL THEN {doubtful} ELSE {inside} END
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
