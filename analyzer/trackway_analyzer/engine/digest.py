"""Spans to a few numbers each, in SQL: everything that decides about a run, and nothing else.

The numbers go through the sort instead of texts. Of one span they are:

- `run`: hash of the run id. `span`, `parent`: hashes of the trace and the own or the parent's id,
  with what the spans of a plain run share. `start`, `end`: ns.
- `role`: `ROOT`, `STEP`, `TOOL_STEP`, or `BESIDE`, a span that is no step; plus `ODD` where it
  takes the whole reconstruction to read the span.
- `shape`: hash of what is exact: operation, tool, outcome, what is recorded, values that decide.
- `call`, `effect`, `value_…`: hashes of what is only compared: a tool with its arguments, its
  operation id, values at the paths of `Looks.same`.
- `text`: the final text, on a root, where the check looks at it; and columns that limits are on.

1. Two different values of one run have the same hash with a chance of 1 in 10^19. Small numbers
   below `FIRST` stand for what is no plain text or number; `DOUBTFUL` is left to reconstruction.
2. Arguments and results are read as the recorder writes them: JSON by an encoder, keys once.
3. Of a call that raised nothing and declared nothing, `happened` decides whether it took effect:
   from members of its result where it is an object, from a text's first words. Usual members are
   taken as they are; an object with a member that says so in another spelling, and a text in which
   one of those words occurs, are taken whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from trackway.schema import Trackway
from trackway_analyzer.engine.looks import Column, Looks, Value
from trackway_analyzer.engine.native_files import NativeFiles
from trackway_analyzer.reads_as_failure import DOUBTED, DOUBTED_LIST
from trackway_analyzer.reconstruct.messages import ASSISTANT
from trackway_analyzer.reconstruct.spoken import IN_PIECES, STREAMED
from trackway_analyzer.said_no import SAYING, TELLING, USUAL


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


ROOT, STEP, TOOL_STEP, BESIDE = 0, 1, 2, 3
ODD: Final = 8
DOUBTFUL, ABSENT, UNRECORDED = 0, 1, 2
FIRST: Final = 16

_EXACT: Final = (
    "operation",
    "scope",
    "tool",
    "tool_alias",
    "tool_kind",
    "agent",
    "ok",
    "status",
    "error_type",
    "attempt",
    "step_index",
)
_WHETHER: Final = ("arguments", "result", "input", "output", "tokens_in", "tokens_out", "cost")
"""Columns of which it decides whether they hold something."""
_SAYS_PATHS: Final = [f"'$.{key}'" for key in USUAL]
_MERGED: Final = "('(merged tools)', '(merged)')"
_WHAT: Final = (
    f"(CASE operation WHEN 'tool' THEN {TOOL_STEP} WHEN 'llm' THEN {STEP}"
    f" WHEN 'retrieval' THEN {STEP} WHEN 'wait' THEN {STEP} WHEN 'agent' THEN {ROOT}"
    f" WHEN 'workflow' THEN {ROOT} ELSE {BESIDE} END)::TINYINT"
)
_MARKED: Final = "coalesce(contains(attributes, '\"trackway.'), false)"
"""Whether the recorder left a mark that has no column; asked once a text where texts repeat."""
_IS_ROOT: Final = f"what = {ROOT}"
_IS_TOOL: Final = f"what = {TOOL_STEP}"
_WORDS: Final = _quoted(rf'(?i){SAYING}|…|\\|^"\s*[\[{{<]')
"""One of them stands in every text by which a call may say that it took no effect, or nothing."""
_OTHERWISE: Final = rf'"(?:{"|".join(name for name in TELLING if name not in USUAL)})":|{DOUBTED}'
_BEYOND: Final = (
    """contains(result, '"…":') OR contains(result, '"sha256')"""
    f" OR regexp_matches(result, {_quoted(_OTHERWISE)})"
)
"""Objects of which more decides than their usual members: cut ones, digests, other spellings, and
those that may read like a failure."""
_WRAPPED: Final = r"'\\|^\"\s*[\[{]'"
"""A text that may be JSON of an object or a list: reconstruction reads it as that."""
_SAID_BEFORE: Final = f"""'"({"|".join(sorted(filter(None, ASSISTANT)))})"'"""
_NUMBER: Final = ", ".join(str(ord(sign)) for sign in "-0123456789")
"""With what a number begins."""
_LAST_STEP: Final = f"""TRY(json_extract(attributes, '$."{Trackway.RUN_LAST_STEP}"'))"""
_ROOT_SAYS: Final = (
    f"CASE WHEN {_IS_ROOT} THEN hash({_LAST_STEP},"
    f""" contains(attributes, '"{Trackway.SCHEMA_VERSION}":'),"""
    f""" contains(attributes, '"{Trackway.INSTRUMENTATION_ON}":')) END"""
)
"""What the attributes of a run span tell of its clock, its being one and what watched it; keys
stand bare only at the top of the object, for inside a text their quotes are escaped."""


def digest_query(files: NativeFiles, looks: Looks, source: str) -> str:
    """Return the SELECT that digests the rows of `source`, a table expression."""
    return _Digest(files, looks).query(source)


def number_columns(looks: Looks) -> list[str]:
    """Number columns that limits are on."""
    return sorted({name for limit in looks.limits for name in limit.columns} - {"seconds"})


def value_columns(looks: Looks) -> int:
    """How many columns `value_…` there are."""
    return max((len(values) for values in _by_tool(looks.same).values()), default=0)


class _Digest:
    """One query, in levels, each over the one before: a text is parsed and a name compared once.

    `what` is the role of a row, `which` the tool as far as values of it are looked at, `asked` and
    `got` what is read out of arguments and result, `slot_…` the values that are compared.
    """

    def __init__(self, files: NativeFiles, looks: Looks) -> None:
        self.files = files
        self.looks = looks
        self.same = _by_tool(looks.same)
        self.exact = _by_tool(looks.exact)
        self.slots = value_columns(looks)
        others = self._paths(None)
        named = {name for name in {*self.same, *self.exact} if name}
        self.tools = [None, *sorted(name for name in named if self._paths(name) != others)]
        """Tools of which values are looked at; first any other tool. The place is `which`."""

    def query(self, source: str) -> str:
        """The whole query."""
        shared = self._varying(["resource", "scope"])
        columns = {
            "run": "hash(run_id)",
            "span": f"hash({', '.join(['trace_id', 'span_id', *shared])})",
            "parent": f"CASE WHEN parent_span_id IS NULL THEN {ABSENT}::UBIGINT"
            f" ELSE hash({', '.join(['trace_id', 'parent_span_id', *shared])}) END",
            "start": "epoch_ns(start)",
            "end": 'epoch_ns("end")',
            "role": self._role(),
            "shape": self._shape(),
            "call": f"CASE WHEN {_IS_TOOL} AND arguments IS NOT NULL THEN hash(tool, arguments)"
            f" ELSE {ABSENT}::UBIGINT END",
            "effect": self._effect(),
        }
        for slot in range(self.slots):
            columns[f"value_{slot}"] = self._value(slot)
        if self.looks.texts:
            columns["text"] = f"CASE WHEN {_IS_ROOT} THEN output END"
        for name in number_columns(self.looks):
            columns[name] = name
        chosen = ", ".join(f'{text} AS "{name}"' for name, text in columns.items())
        slots = "".join(f", {self._slot(slot)} AS slot_{slot}" for slot in range(self.slots))
        return (
            f"SELECT {chosen} FROM (SELECT *{slots} FROM (SELECT *,"
            f" {self._extracted('arguments')} AS asked, {self._extracted('result')} AS got"
            f" FROM (SELECT *, {self._which()} AS which FROM ({self._rows(source)}))))"
        )

    def _rows(self, source: str) -> str:
        read = self._varying([*_EXACT, *_WHETHER, "resource", "scope"])
        plain = {*read, *_NEEDED, *number_columns(self.looks)}
        plain |= {name for name in _LISTS if self._filled(name)}
        names = ", ".join(f'"{name}"' for name in sorted(plain))
        return f"SELECT {names}, {_WHAT} AS what, {_MARKED} AS marked FROM {source}"

    def _which(self) -> str:
        cases = " ".join(
            f"WHEN {_quoted(name)} THEN {place}" for place, name in enumerate(self.tools) if name
        )
        known = f"CASE tool {cases} ELSE 0 END" if cases else "0"
        return f"(CASE WHEN {_IS_TOOL} THEN {known} ELSE -1 END)::TINYINT"

    def _paths(self, tool: str | None) -> list[list[tuple[str, str]]]:
        return [[_place(value) for value in by.get(tool, ())] for by in (self.same, self.exact)]

    def _extracted(self, column: Column) -> str:
        cases = []
        for which, tool in enumerate(self.tools):
            paths = [_path(value) for value in self._values(tool, column)]
            says = _SAYS_PATHS if column == "result" else []
            if not paths and not says:
                continue
            listed = f"TRY(json_extract({column}, [{', '.join([*paths, *says])}]))"
            if column == "result" and self._looked_for(tool):
                names = "|".join([*USUAL, *(value.path for value in self._values(tool, column))])
                pattern = _quoted(f'"(?:{names})"')
                listed = f"CASE WHEN regexp_matches(result, {pattern}) THEN {listed} END"
            # Out of a text, DuckDB would read a list of nothing.
            listed = f"CASE WHEN starts_with({column}, '{{') THEN {listed} END"
            cases.append(f"WHEN which = {which} THEN {listed}")
        return f"CASE {' '.join(cases)} END" if cases else "NULL::JSON[]"

    def _looked_for(self, tool: str | None) -> bool:
        """Whether a look for names saves the parsing of most results of a tool."""
        return all(not value.path.startswith("$") for value in self._values(tool, "result"))

    def _values(self, tool: str | None, column: Column) -> list[Value]:
        """Values of a tool that stand in a column: those that are compared, then exact ones."""
        same = [value for value in self.same.get(tool, ()) if value.column == column]
        exact = [value for value in self.exact.get(tool, ()) if value.column == column]
        return same + [value for value in exact if value not in same]

    def _varying(self, names: Iterable[str]) -> list[str]:
        """Columns that hold more than one value."""
        still = self.files.empty | self.files.constant
        return [name for name in names if name not in still]

    def _filled(self, name: str) -> bool:
        return name not in self.files.empty

    def _role(self) -> str:
        odd = " OR ".join(self._odd())
        return f"(what + CASE WHEN coalesce({odd}, true) THEN {ODD} ELSE 0 END)::UTINYINT"

    def _odd(self) -> list[str]:
        """What a plain span has not."""
        # In a projection AND looks at both sides of every row, CASE only at those that are left.
        call = "(arguments IS NOT NULL AND NOT starts_with(arguments, '{'))"
        call += f" OR coalesce(tool IN {_MERGED}, false)"
        for said in (
            Trackway.CAPTURE_ERROR,
            Trackway.STREAM_ABANDONED,
            Trackway.STREAM_RETURNED,
        ):
            call += f" OR coalesce(contains(attributes, '\"{said}\"'), false)"
        if self._filled("entity_refs"):
            call += (
                " OR ((arguments IS NULL OR result IS NULL) AND coalesce(len(entity_refs), 0) > 0)"
            )
        told = " OR ".join(
            f"coalesce(contains({name}, '\"tool_call'), false)" for name in ("input", "output")
        )
        if self.looks.texts:
            # What the assistant said before the final text: a later model was told of it.
            told += f" OR coalesce(regexp_matches(input, {_SAID_BEFORE}), false)"
        root = (
            "tool IS NOT NULL OR coalesce(output = 'null', false)"
            f" OR coalesce(contains(attributes, '\"{Trackway.INSTRUMENTATION_LOST}\"'), false)"
            f" OR CASE WHEN coalesce(contains(attributes, {_quoted(STREAMED)}), false)"
            f" THEN coalesce(regexp_matches(output, {_quoted(IN_PIECES)}), false) ELSE false END"
        )
        beside = "marked"
        found = [
            '"end" IS NULL',
            '"end" < start',
            f"CASE what WHEN {TOOL_STEP} THEN {call} WHEN {STEP} THEN {told}"
            f" WHEN {ROOT} THEN {root} ELSE {beside} END",
        ]
        if self._filled("truncated"):
            found.append("coalesce(len(truncated), 0) > 0")
        if self._filled("links"):
            found.append("coalesce(len(links), 0) > 0")
        if self._filled("dropped_attributes"):
            found.append("coalesce(dropped_attributes, 0) > 0")
        if self._filled("events"):
            found.append(
                "CASE WHEN coalesce(len(events), 0) > 0 THEN"
                " len(list_filter(events, lambda e: starts_with(e.name, 'trackway.'))) > 0"
                " ELSE false END"
            )
        return found

    def _shape(self) -> str:
        parts = self._varying(_EXACT)
        parts += [f"{name} IS NULL" for name in _WHETHER if self._filled(name)]
        if self._filled("finish_reasons"):
            parts.append("coalesce(len(finish_reasons), 0) > 0")
        parts += [self._outcome(), _ROOT_SAYS]
        parts += self._exact_arguments()
        return f"hash({', '.join(parts)})"

    def _outcome(self) -> str:
        """What decides whether a call took effect, and the exact values of its result."""
        compared = "".join(
            f" WHEN {which} THEN hash(got[{count + 1}:])"
            for which, tool in enumerate(self.tools)
            if (count := sum(v.column == "result" for v in self.same.get(tool, ())))
        )
        members = f"CASE which{compared} ELSE hash(got) END" if compared else "hash(got)"
        return f"""CASE WHEN which < 0 THEN 0 WHEN result IS NULL THEN 1
            WHEN starts_with(result, '{{') AND ({_BEYOND}) THEN hash(result)
            WHEN starts_with(result, '[') AND regexp_matches(result, {_quoted(DOUBTED_LIST)})
              THEN hash(result)
            WHEN got IS NOT NULL THEN {members}
            ELSE CASE ascii(result) WHEN {ord("{")} THEN 2 WHEN {ord("[")} THEN 3
              WHEN {ord('"')} THEN
                CASE WHEN regexp_matches(result, {_WORDS}) THEN hash(result) ELSE 4 END
              ELSE CASE WHEN ascii(result) IN ({_NUMBER}) THEN 3 ELSE hash(result) END
            END END::UBIGINT"""

    def _exact_arguments(self) -> list[str]:
        found = []
        for which, tool in enumerate(self.tools):
            values = self._values(tool, "arguments")
            first = len([v for v in self.same.get(tool, ()) if v.column == "arguments"])
            if len(values) > first:
                found.append(f"CASE WHEN which = {which} THEN hash(asked[{first + 1}:]) END")
        return found

    def _effect(self) -> str:
        keys = ("operation_id", "idempotency_key")
        named = " OR ".join(f"contains(arguments, '\"{key}\"')" for key in keys)
        own = "WHEN operation_id IS NOT NULL THEN hash(operation_id)"
        return (
            f"CASE {own if self._filled('operation_id') else ''}"
            f" WHEN {_IS_TOOL} AND coalesce(tool_kind, 'mutate') = 'mutate' THEN"
            f" CASE WHEN coalesce(contains(arguments, '[redacted:') OR {named}, false)"
            f" THEN {DOUBTFUL}::UBIGINT ELSE {ABSENT}::UBIGINT END ELSE {ABSENT}::UBIGINT END"
        )

    def _slot(self, slot: int) -> str:
        """The value itself, as JSON."""
        cases = []
        for which, tool in enumerate(self.tools):
            values = self.same.get(tool, [])
            if slot < len(values):
                column = values[slot].column
                place = self._values(tool, column).index(values[slot]) + 1
                listed = "asked" if column == "arguments" else "got"
                cases.append(f"WHEN {which} THEN {listed}[{place}]")
        return f"CASE which {' '.join(cases)} END"

    def _value(self, slot: int) -> str:
        cases = []
        for which, tool in enumerate(self.tools):
            values = self.same.get(tool, [])
            if slot < len(values):
                skipped = values[slot].column == "result" and self._looked_for(tool)
                text = _without_value(values[slot], skipped=skipped)
                cases.append(f"WHEN {which} THEN {text}")
        missing = f"CASE which {' '.join(cases)} ELSE {ABSENT}::UBIGINT END"
        value = _comparable(f"slot_{slot}", missing)
        return f"CASE WHEN which < 0 THEN {ABSENT}::UBIGINT ELSE {value} END"


_NEEDED: Final = (
    "run_id",
    "trace_id",
    "span_id",
    "parent_span_id",
    "start",
    "end",
    "operation",
    "tool",
    "tool_kind",
    "arguments",
    "result",
    "input",
    "output",
    "attributes",
)
_LISTS: Final = (
    "truncated",
    "links",
    "events",
    "entity_refs",
    "finish_reasons",
    "dropped_attributes",
    "operation_id",
    *_WHETHER,
)


def _by_tool(values: Iterable[Value]) -> dict[str | None, list[Value]]:
    by_tool: dict[str | None, set[Value]] = defaultdict(set)
    for value in values:
        by_tool[value.tool].add(value)
    return {tool: sorted(own, key=_place) for tool, own in by_tool.items()}


def _place(value: Value) -> tuple[str, str]:
    return value.column, value.path


def _path(value: Value) -> str:
    return _quoted(value.path if value.path.startswith("$") else f'$."{value.path}"')


def _without_value(value: Value, *, skipped: bool) -> str:
    """What stands for a value that is not there; `skipped`: what lacks the name was not parsed."""
    if value.column == "arguments":
        return (
            f"CASE WHEN arguments IS NULL THEN {UNRECORDED}::UBIGINT ELSE {DOUBTFUL}::UBIGINT END"
        )
    absent = f"{ABSENT}::UBIGINT"
    inside = absent
    if not value.path.startswith("$"):
        # A plain name is looked for at any depth where it is not at the top.
        key = _quoted(f'"{value.path}"')
        inside = f"CASE WHEN contains(result, {key}) THEN {DOUBTFUL} ELSE {ABSENT} END::UBIGINT"
    unread = inside if skipped else f"{DOUBTFUL}::UBIGINT"
    return f"""CASE WHEN result IS NULL THEN {UNRECORDED}::UBIGINT
        WHEN starts_with(result, '{{') THEN CASE WHEN got IS NULL THEN {unread} ELSE {inside} END
        WHEN starts_with(result, '[') THEN {inside}
        WHEN starts_with(result, '"') AND regexp_matches(result, {_WRAPPED})
          THEN {DOUBTFUL}::UBIGINT
        ELSE {absent} END"""


def _comparable(found: str, missing: str) -> str:
    """Hash of a text or number; small numbers for what is neither."""
    return f"""CASE WHEN {found} IS NULL THEN {missing}
        WHEN starts_with({found}, '"') THEN
          CASE WHEN contains({found}, '\\') THEN {DOUBTFUL}::UBIGINT
            WHEN contains({found}, '[redacted:') THEN {DOUBTFUL}::UBIGINT ELSE hash({found}) END
        WHEN {found} = 'true' THEN 3::UBIGINT
        WHEN {found} = 'false' THEN 4::UBIGINT
        WHEN {found} = 'null' THEN 5::UBIGINT
        WHEN abs(TRY_CAST({found} AS DOUBLE)) < 9007199254740992
          THEN hash(TRY_CAST({found} AS DOUBLE) + 0.0, 1)
        ELSE {DOUBTFUL}::UBIGINT END"""
