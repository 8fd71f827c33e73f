"""How is each column written in a Parquet file?

1. Zstandard everywhere. Level 3 for what people and models wrote; level 1 for the rest: ids and
   numbers have nothing that a longer search finds, and the few bytes it seems to find cost more.
2. Names that repeat are dictionaries. Ids are written as their lengths and then their bytes,
   numbers and times as differences.
3. Statistics, by which readers skip row groups, stand for ids, times, names and numbers. Those of
   texts would repeat the smallest and the largest one, 4 KB each, in every page.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from trackway import schema

ROW_GROUP_ROWS: Final = 65_536
_WRITTEN: Final = ("arguments", "result", "input", "output", "attributes", "error_message")
_NUMBERS: Final = frozenset({"int32", "int64", "timestamp"})


def _leaves(column: schema.Column) -> list[str]:
    """Return the paths of a column's values in the file."""
    match column.type:
        case "list<string>":
            return [f"{column.name}.list.element"]
        case "events":
            return [f"{column.name}.list.element.{part}" for part in ("name", "time", "attributes")]
        case "links":
            parts = ("trace_id", "span_id", "attributes")
            return [f"{column.name}.list.element.{part}" for part in parts]
        case _:
            return [column.name]


def _encoding(column: schema.Column) -> str | None:
    if column.type in _NUMBERS:
        return "DELTA_BINARY_PACKED"
    if column.type == "string" and not column.dictionary and column.name not in _WRITTEN:
        return "DELTA_LENGTH_BYTE_ARRAY"
    return None


_STORED: Final = [column for column in schema.SPAN_COLUMNS if column.name != "service"]
_OPTIONS: Final[dict[str, Any]] = {
    "compression": "zstd",
    "compression_level": {
        leaf: 3 if column.name in _WRITTEN else 1 for column in _STORED for leaf in _leaves(column)
    },
    "use_dictionary": [column.name for column in _STORED if column.dictionary],
    "column_encoding": {
        column.name: encoding for column in _STORED if (encoding := _encoding(column)) is not None
    },
    "write_statistics": [column.name for column in _STORED if column.name not in _WRITTEN],
}


def parquet_bytes(table: pa.Table) -> pa.Buffer:
    """Encode a table of the files' schema as a Parquet file."""
    file = pa.BufferOutputStream()
    pq.write_table(table, file, row_group_size=ROW_GROUP_ROWS, **_OPTIONS)
    return file.getvalue()
