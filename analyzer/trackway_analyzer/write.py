"""Write spans as canonical Parquet: all of the file or none of it.

1. The file appears under its name when it is complete; until then it has a name of its own beside
   it, which an interrupted writer leaves for nobody.
2. Rows of a row group are sorted by run (the trace where there is no run id) and start.
3. The footer says schema version, writer version, spans and runs, and what could not be read of the
   source (`read.carried`); so does a row of its own, the last.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Final, TypeAlias
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import SCHEMA_VERSION
from trackway_analyzer.read.carried import footer_of, unread_row
from trackway_analyzer.tables import SPAN_SCHEMA

Unread: TypeAlias = Callable[[], pa.Table]
"""What could not be read of the source (`QUARANTINE_SCHEMA`), known once the tables are drawn."""


def write_spans(tables: Iterable[pa.Table], path: str | PathLike[str], *, unread: Unread) -> int:
    """Write span tables to one file and return the number of spans.

    Raises OSError where the folder does not exist or cannot be written.
    """
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{uuid4().hex}.unfinished")
    try:
        spans = _write(tables, unfinished, unread)
        os.replace(unfinished, target)
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()
    return spans


def _write(tables: Iterable[pa.Table], path: Path, unread: Unread) -> int:
    import pyarrow.parquet as pq  # slow to import, and not needed to read

    spans, runs = 0, set[str]()
    start = pa.scalar(None, SPAN_SCHEMA.field("start").type)
    with path.open("xb") as file:
        with pq.ParquetWriter(
            file,
            SPAN_SCHEMA,
            compression="zstd",
            use_dictionary=_SHORT,
            write_statistics=_SHORT,
        ) as writer:
            for table in filter(len, tables):
                keys = pc.coalesce(table.column("run_id"), table.column("trace_id"))
                runs.update(pc.unique(keys).to_pylist())
                spans += len(table)
                start = pc.max(table.column("start"))
                writer.write_table(_sorted(table, keys))
            aside = unread()
            row = unread_row(aside, start)
            if row is not None:
                writer.write_table(row)
            writer.add_key_value_metadata(
                {
                    "trackway.schema.version": SCHEMA_VERSION,
                    "trackway.writer.version": f"analyzer {version('trackway-analyzer')}",
                    "trackway.spans": str(spans),
                    "trackway.runs": str(len(runs)),
                    **footer_of(aside),
                }
            )
        file.flush()
        os.fsync(file.fileno())
    return spans


_LONG: Final = frozenset(["attributes", "arguments", "result", "input", "output"])


def _leaves(name: str, kind: pa.DataType) -> Iterator[str]:
    """Return the columns of Parquet that hold a field."""
    if pa.types.is_list(kind):
        yield from _leaves(f"{name}.list.element", kind.value_type)
    elif pa.types.is_struct(kind):
        for field in kind.fields:
            yield from _leaves(f"{name}.{field.name}", field.type)
    else:
        yield name


_SHORT: Final = [
    leaf
    for field in SPAN_SCHEMA
    if field.name not in _LONG
    for leaf in _leaves(field.name, field.type)
]
"""Long texts are seldom equal and never compared: no dictionary, no smallest and largest."""


def _sorted(table: pa.Table, keys: pa.ChunkedArray) -> pa.Table:
    order = pc.sort_indices(
        pa.table({"key": keys, "start": table.column("start")}),
        sort_keys=[("key", "ascending"), ("start", "ascending")],
    )
    return table.take(order)
