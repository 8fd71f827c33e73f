"""Parquet files that the recorder wrote, told by their footers without reading a row.

1. All columns of the span table that matter are there with their types; `source` is ours in every
   row; every row has a run id. Anything else is for the readers of `read`.
2. Statistics tell which columns hold nothing, or one value, in all files: those are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from trackway.schema import SCOPE_NAME
from trackway_analyzer.read.carried import UNREAD_SOURCE, told_by
from trackway_analyzer.read.quarantine import quarantine_table
from trackway_analyzer.tables import SPAN_SCHEMA

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_PARTITION: Final = "service"
"""The one column that stands in the folder's name and in the footer."""
_SERVICE: Final = b"trackway.service"
_ORDER: Final = b"trackway.order"
_SORTED: Final = b"run,start"


@dataclass(frozen=True, slots=True)
class NativeFiles:
    """Files of one schema, all of ours."""

    paths: tuple[str, ...]
    rows: int
    sorted: bool
    """Each file says that its rows are sorted by run and start."""
    columns: frozenset[str]
    empty: frozenset[str]
    """Columns without any value."""
    constant: frozenset[str]
    """Columns with one value in all rows."""
    quarantine: pa.Table = field(default_factory=quarantine_table)
    """What could not be read of the sources that they were converted from."""
    tell_of_unread: bool = False
    """Some hold a row that tells of those, and is none of a span (`carried`)."""

    @classmethod
    def of(cls, paths: Sequence[str | Path]) -> NativeFiles | None:
        """Read the footers; None where the files are not, all of them, the recorder's."""
        import pyarrow.parquet as pq  # slow to import, and not of every source

        found: list[pq.FileMetaData] = []
        schema: pa.Schema | None = None
        for path in paths:
            try:
                with pq.ParquetFile(path) as file:
                    own = file.schema_arrow
                    found.append(file.metadata)
            except (OSError, pa.ArrowException):
                return None
            if schema is None:
                schema = own
            if not _is_ours(own) or not own.equals(schema):
                return None
        if schema is None:
            return None
        spread = {name: _Spread() for name in schema.names}
        aside = sum(_gather(metadata, spread) for metadata in found)
        said, run = spread["source"], spread["run_id"]
        rows = sum(metadata.num_rows for metadata in found) - aside
        if rows and (said.nulls or said.values != {SCOPE_NAME} or run.nulls != 0):
            return None
        return cls(
            tuple(map(str, paths)),
            rows,
            all((m.metadata or {}).get(_ORDER) == _SORTED for m in found),
            frozenset(schema.names),
            frozenset(name for name, s in spread.items() if not s.filled),
            frozenset(
                name
                for name, s in spread.items()
                if s.filled and not s.nulls and len(s.values) == 1
            ),
            told_by(metadata.metadata for metadata in found),
            aside > 0,
        )


class _Spread:
    """What the statistics say of a column: nulls, and its smallest and largest values."""

    def __init__(self) -> None:
        self.nulls = 0
        self.filled = False
        self.values: set[Any] = set()

    def add(self, statistics: Any, rows: int, slots: int, *, nested: bool) -> None:
        """Take in one column of one row group; of a nested column, one of its leaves."""
        if statistics is None or not statistics.has_null_count:
            self.filled = True
            self.values |= {object(), object()}
            return
        self.filled |= statistics.null_count < slots
        if nested:
            return
        self.nulls += statistics.null_count
        if statistics.has_min_max:
            self.values |= _bounds(statistics)
        elif statistics.null_count < rows:
            self.values |= {object(), object()}


def _bounds(statistics: Any) -> set[Any]:
    """Return the smallest and the largest value; a time as an integer, which needs no pandas."""
    if statistics.physical_type == "INT64":
        return {statistics.min_raw, statistics.max_raw}
    return {statistics.min, statistics.max}


def _is_ours(schema: pa.Schema) -> bool:
    return all(
        field.name in schema.names and schema.field(field.name).type == field.type
        for field in SPAN_SCHEMA
        if field.name != _PARTITION
    )


def _gather(metadata: pq.FileMetaData, spread: dict[str, _Spread]) -> int:
    """Take in a file; return how many of its rows tell of what was not read."""
    aside = 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        columns = [row_group.column(place) for place in range(row_group.num_columns)]
        if any(map(_tells_of_unread, columns)):
            aside += row_group.num_rows
            continue
        for column in columns:
            name, dot, _ = column.path_in_schema.partition(".")
            statistics = column.statistics if column.is_stats_set else None
            if name in spread:
                spread[name].add(
                    statistics, row_group.num_rows, column.num_values, nested=bool(dot)
                )
    return aside


def _tells_of_unread(column: pq.ColumnChunkMetaData) -> bool:
    """Tell whether a column says that no row of its row group is a span."""
    if column.path_in_schema != "source" or not column.is_stats_set:
        return False
    statistics = column.statistics
    return bool(
        statistics.has_min_max
        and statistics.min == statistics.max == UNREAD_SOURCE
        and statistics.null_count == 0
    )
