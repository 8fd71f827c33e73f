"""The columns of a span table, decoded once into arrays and lists.

Structure needs few columns of every row; values are fetched for the rows that somebody asks about.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import STEP_OPERATIONS, Operation
from trackway_analyzer.dialects.transcript import TRANSCRIPT
from trackway_analyzer.json_text import unwrapped
from trackway_analyzer.model import JsonValue
from trackway_analyzer.reconstruct.messages import quickly_parsed
from trackway_analyzer.tables import SPAN_SCHEMA

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NONE: Final = -1
"""No row, no code, no index: -1 in every integer array of this room."""
NEVER: Final = np.iinfo(np.int64).min
"""A time that was not recorded."""

OPERATIONS: Final = tuple(operation.value for operation in Operation)
LLM: Final = OPERATIONS.index(Operation.LLM)
TOOL: Final = OPERATIONS.index(Operation.TOOL)
AGENT: Final = OPERATIONS.index(Operation.AGENT)
WORKFLOW: Final = OPERATIONS.index(Operation.WORKFLOW)
OTHER: Final = OPERATIONS.index(Operation.OTHER)
STEP_CODES: Final = tuple(OPERATIONS.index(operation) for operation in sorted(STEP_OPERATIONS))


_OURS: Final = r'"trackway\.'
_VALUES: Final = frozenset({"arguments", "result"})
_WRAPPED: Final = r'^\s*"(?:\\[nrt]|\s)*[{\[]'


class SpanColumns:
    """A span table of distinct spans. Rows are numbered from 0.

    Arguments and results that are a JSON string with an object or a list in it are read as that:
    here, so that everything after it sees the same value.
    """

    def __init__(self, table: pa.Table) -> None:
        if not table.schema.equals(SPAN_SCHEMA):
            raise ValueError(f"expected a table of SPAN_SCHEMA, found {table.schema.to_string()}")
        self.table = table
        self._arrays: dict[str, pa.Array] = {}
        self._encodings: dict[str, pa.DictionaryArray] = {}
        self._names: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self.table)

    def array(self, name: str) -> pa.Array:
        """Return one column as one array."""
        if name not in self._arrays:
            column = self.table.column(name)
            one = column.num_chunks == 1
            array = column.chunk(0) if one else column.combine_chunks()
            self._arrays[name] = _unwrapped(array) if name in _VALUES else array
        return self._arrays[name]

    def values(self, name: str, rows: Iterable[int] | Ints | None = None) -> list[Any]:
        """Return a column as Python values, of these rows or of all."""
        array = self.array(name)
        if rows is not None:
            wanted = rows if isinstance(rows, np.ndarray) else np.fromiter(rows, np.int64)
            array = array.take(pa.array(wanted, pa.int64()))
        if not pa.types.is_dictionary(array.type):
            return array.to_pylist()  # type: ignore[no-any-return]  # Arrow is untyped
        # One Python string for each distinct value, not one a row.
        names = [*array.dictionary.to_pylist(), None]
        return [names[code] for code in _filled(array.indices, NONE).tolist()]

    def codes(self, name: str) -> Ints:
        """Return small integers for the distinct values of a column; `NONE` is null."""
        return _filled(self._encoded(name).indices, NONE)

    def name_of(self, name: str, code: int) -> str:
        """Return the value behind a code of a text column."""
        if name not in self._names:
            self._names[name] = self._encoded(name).dictionary.to_pylist()
        return self._names[name][code]

    def name_order(self, name: str) -> Ints:
        """Return the alphabetical place of each code of a text column."""
        order: Ints = pc.array_sort_indices(self._encoded(name).dictionary).to_numpy()
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return place

    def _encoded(self, name: str) -> pa.DictionaryArray:
        if name not in self._encodings:
            column = self.array(name)
            plain = not pa.types.is_dictionary(column.type)
            self._encodings[name] = pc.dictionary_encode(column) if plain else column
        return self._encodings[name]

    def ints(self, name: str, missing: int = NONE) -> Ints:
        """Return an integer or timestamp column; `missing` is null."""
        column = self.array(name)
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        return _filled(column, missing)

    def recorded(self, name: str) -> Mask:
        """Return where a column is not null."""
        return self.array(name).is_valid().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]  # Arrow is untyped

    @cached_property
    def operation(self) -> Ints:
        """Operation code of each row; a tool that somebody labelled an agent is a tool."""
        column = self.array("operation")
        names = column.dictionary.to_pylist()
        known = {name: code for code, name in enumerate(OPERATIONS)}
        table = np.array([*(known.get(name, OTHER) for name in names), OTHER], dtype=np.int64)
        codes: Ints = table[_filled(column.indices, len(names))]
        mislabelled = (codes == AGENT) & self.recorded("tool")
        if mislabelled.any():
            codes[mislabelled] = TOOL
        return codes

    @cached_property
    def is_agent(self) -> Mask:
        """Where a span is an agent's or a workflow's."""
        agents: Mask = (self.operation == AGENT) | (self.operation == WORKFLOW)
        return agents

    @cached_property
    def is_step(self) -> Mask:
        """Where a span is a step of a trajectory."""
        return np.isin(self.operation, STEP_CODES)

    @cached_property
    def start(self) -> Ints:
        """Start in ns."""
        return self.ints("start", NEVER)

    @cached_property
    def end(self) -> Ints:
        """End in ns; `NEVER` on an unfinished span."""
        return self.ints("end", NEVER)

    @cached_property
    def trace(self) -> Ints:
        """Code of the trace."""
        return self.codes("trace_id")

    @cached_property
    def ours(self) -> Ints:
        """Rows whose attributes name something of the recorder's: few, where another recorded.

        Attributes are most of a source; so they are searched once.
        """
        found = pc.match_substring_regex(self.array("attributes"), _OURS).fill_null(False)
        return np.flatnonzero(found.to_numpy(zero_copy_only=False))

    def naming(self, pattern: str) -> Ints:
        """Return the rows whose attributes match a pattern that begins with `"trackway.`."""
        texts = self.array("attributes").take(pa.array(self.ours))
        found = pc.match_substring_regex(texts, pattern).fill_null(False)
        rows: Ints = self.ours[found.to_numpy(zero_copy_only=False)]
        return rows

    def told(self, key: str, among: Mask) -> list[tuple[int, JsonValue]]:
        """Return row and value of each attribute of the recorder's that has this key."""
        rows = self.naming(f'"{key}":'.replace(".", r"\."))
        rows = rows[among[rows]]
        if not len(rows):
            return []
        found = []
        for row, text in zip(rows.tolist(), self.values("attributes", rows), strict=True):
            members = quickly_parsed(text)
            if isinstance(members, dict) and members.get(key) is not None:
                found.append((row, members[key]))
        return found

    @cached_property
    def transcribed(self) -> Mask:
        """Where a reader of ours made the span out of a transcript."""
        told = pc.equal(self.array("source"), TRANSCRIPT.name).fill_null(False)
        flag: Mask = told.to_numpy(zero_copy_only=False)
        return flag

    @cached_property
    def failed(self) -> Mask:
        """Where a span says that it raised: status ERROR or an error type."""
        status = pc.equal(self.array("status"), "ERROR").fill_null(False)
        flag: Mask = status.to_numpy(zero_copy_only=False)
        return flag | self.recorded("error_type")


def paired(one: Ints, other: Ints) -> Ints:
    """Return one number for each pair of numbers from -1 up."""
    return (one + 1) * (int(other.max(initial=NONE)) + 2) + other + 1


def _unwrapped(texts: pa.Array) -> pa.Array:
    wrapped = pc.match_substring_regex(texts, _WRAPPED).fill_null(False)
    if not pc.any(wrapped).as_py():
        return texts
    values = [unwrapped(text) for text in texts.filter(wrapped).to_pylist()]
    return pc.replace_with_mask(texts, wrapped, pa.array(values, pa.string()))


def _filled(column: pa.Array, missing: int) -> Ints:
    wide = column.cast(pa.int64())
    if wide.null_count:
        wide = wide.fill_null(missing)
    return wide.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]  # Arrow is untyped


def distinct(columns: pa.Table) -> pa.Table:
    """Return a table in one chunk with one dictionary a column."""
    return columns.unify_dictionaries().combine_chunks()
