"""Spans to a few numbers each, in SQL: everything that decides about a run, and nothing else.

The numbers go through the sort instead of texts. Of one span they are:

- `run`: hash of the run id. `home`: of what all spans of a plain run share, its trace above all.
  `span`, `parent`: of the own and the parent's id. `start`, `end`: ns.
- `role`: `ROOT`, `STEP`, `TOOL_STEP`, or `BESIDE`, a span that is no step; plus `ODD` where it
  takes the whole reconstruction to read the span (`odd_spans`).
- `shape`: hash of what is exact: operation, tool, outcome (`told_outcome`), what is recorded,
  values that decide.
- `call`, `effect`, `value_…`: hashes of what is only compared: a tool with its arguments, its
  operation id, values at the paths of `Looks.same` (`read_values`).
- `text`: the final text, on a root, where the check looks at it; and columns that limits are on.

1. Two different values of one run have the same hash with a chance of 1 in 10^19. Small numbers
   below `FIRST` stand for what is no plain text or number; `DOUBTFUL` is left to reconstruction.
2. Arguments and results are read as the recorder writes them: JSON by an encoder, keys once.
3. What is asked of one column alone stands at the bottom, unconditioned: where texts repeat, it is
   asked once a text. What costs more is asked at the top, of the rows that it concerns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.engine.native_files import NativeFiles
from trackway_analyzer.engine.odd_spans import odd_spans, root_says
from trackway_analyzer.engine.read_values import ReadValues
from trackway_analyzer.engine.roles import ABSENT, ODD, ROOT, WHAT
from trackway_analyzer.engine.sql_text import word
from trackway_analyzer.engine.told_outcome import outcome, told

_NAMES: Final = ("operation", "tool", "tool_kind")
"""Names that a span is told by; they go by their hashes."""
_EXACT: Final = (
    "scope",
    "tool_alias",
    "agent",
    "ok",
    "status",
    "error_type",
    "attempt",
    "step_index",
)
_WHETHER: Final = ("arguments", "result", "input", "output", "tokens_in", "tokens_out", "cost")
"""Columns of which it decides whether they hold something."""
_NEEDED: Final = (
    "run_id",
    "trace_id",
    "span_id",
    "parent_span_id",
    "start",
    "end",
    *_NAMES,
    "arguments",
    "result",
    "input",
    "output",
    "attributes",
)
_IF_FILLED: Final = (
    "truncated",
    "links",
    "events",
    "entity_refs",
    "finish_reasons",
    "dropped_attributes",
    "operation_id",
    *_WHETHER,
)


def digest_query(files: NativeFiles, looks: Looks, source: str) -> str:
    """Return the SELECT that digests the rows of `source`, a table expression."""
    return _Digest(files, looks).query(source)


def _bare(name: str) -> str:
    """The name in a column without the server that it is of (`tool_names.bare`)."""
    after = f"nullif(regexp_extract({name}, '^mcp__.+?__(.+)$', 1), '')"
    return f"CASE WHEN starts_with({name}, 'mcp__') THEN coalesce({after}, {name}) ELSE {name} END"


def number_columns(looks: Looks) -> list[str]:
    """Number columns that limits are on."""
    return sorted({name for limit in looks.limits for name in limit.columns} - {"seconds"})


class _Digest:
    """One query, in levels, each over the one before: a text is parsed and a name compared once.

    `what` is the role of a row, `which` the tool as far as values of it are looked at, `told`
    whether its result has a member that is looked for by its name, `says` what usual members of it
    say, `slot_…` the values that are compared.
    """

    def __init__(self, files: NativeFiles, looks: Looks) -> None:
        self.files = files
        self.looks = looks
        self.values = ReadValues(looks)

    def query(self, source: str) -> str:
        """The whole query."""
        values = self.values
        columns = {
            "run": "hash(run_id)",
            "home": f"hash({', '.join(['trace_id', *self._varying(['resource', 'scope'])])})",
            "span": "hash(span_id)",
            "parent": "hash(parent_span_id)",
            "start": "epoch_ns(start)",
            "end": 'epoch_ns("end")',
            "role": self._role(),
            "shape": self._shape(),
            "call": "hash(named_tool, arguments)",
            "effect": self._effect(),
        }
        for slot in range(values.slots):
            columns[f"value_{slot}"] = values.value(slot)
        if self.looks.texts:
            columns["text"] = f"CASE WHEN what = {ROOT} THEN output END"
        for name in number_columns(self.looks):
            columns[name] = name
        chosen = ", ".join(f'{text} AS "{name}"' for name, text in columns.items())
        slots = "".join(f", {values.slot(slot)} AS slot_{slot}" for slot in range(values.slots))
        levels = (
            f"*, {WHAT} AS what",
            f"*, {values.which()} AS which",
            f"*, {told(values)} AS told",
            f"*, {values.says()} AS says{slots}",
            chosen,
        )
        query = self._rows(source)
        for level in levels:
            query = f"SELECT {level} FROM ({query})"
        return query

    def _rows(self, source: str) -> str:
        read = self._varying([*_EXACT, *_WHETHER, "resource", "scope"])
        plain = {*read, *_NEEDED, *number_columns(self.looks)}
        plain |= {name for name in _IF_FILLED if self._filled(name)}
        names = ", ".join(f'"{name}"' for name in sorted(plain))
        hashed = ", ".join(f"hash({name}) AS named_{name}" for name in _NAMES)
        hashed += f", hash({_bare('tool')}) AS bare_tool"
        for short, of in (("named_alias", "tool_alias"), ("bare_alias", _bare("tool_alias"))):
            hashed += f", {f'hash({of})' if self._filled('tool_alias') else 'NULL'} AS {short}"
        marked = "coalesce(contains(attributes, '\"trackway.'), false) AS marked"
        return f"SELECT {names}, {hashed}, {marked}, ascii(result) AS opens FROM {source}"

    def _varying(self, names: Iterable[str]) -> list[str]:
        """Columns that hold more than one value."""
        still = self.files.empty | self.files.constant
        return [name for name in names if name not in still]

    def _filled(self, name: str) -> bool:
        return name not in self.files.empty

    def _role(self) -> str:
        odd = odd_spans(self.files, self.looks)
        return f"what::UTINYINT + {ODD}::UTINYINT * coalesce({odd}, true)::UTINYINT"

    def _shape(self) -> str:
        parts = [f"named_{name}" for name in self._varying(_NAMES)]
        parts += self._varying(_EXACT)
        parts += [f"{name} IS NULL" for name in _WHETHER if self._filled(name)]
        if self._filled("finish_reasons"):
            parts.append("coalesce(len(finish_reasons), 0) > 0")
        parts += [outcome(self.values), root_says()]
        for which, read in self.values.exact("arguments").items():
            parts.append(f"CASE WHEN which = {which} THEN hash({', '.join(read)}) END")
        return f"hash({', '.join(parts)})"

    def _effect(self) -> str:
        if not self._filled("operation_id"):
            return word(ABSENT)
        return f"CASE WHEN operation_id IS NULL THEN {word(ABSENT)} ELSE hash(operation_id) END"
