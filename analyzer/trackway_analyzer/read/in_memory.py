"""What a program has in memory instead of a file: tables, bytes, open files, decoded documents.

1. A table of Arrow, pandas or Polars is a table. Ids in it are texts: those that something took
   for numbers have lost their leading zeros, and are refused.
2. Bytes, and what an open file still holds, are the content of a file.
3. A mapping is one document, decoded; so is a list that begins with a mapping: of documents, or of
   the messages of one transcript. Both are read as the JSON that they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
import pyarrow as pa

from trackway.schema import UNREAD_FOOTER
from trackway_analyzer.json_text import UnencodableError, compact, plain
from trackway_analyzer.read.source import SourceError

_IDS: Final = ("trace_id", "span_id", "parent_span_id", "context.trace_id", "context.span_id")
_AS_TEXT: Final = (
    "CSV keeps no types: take Parquet, or read ids as texts, pandas.read_csv(path, dtype=str)"
)


def table_of(source: Any) -> pa.Table | None:
    """Return a table as one of Arrow, None where it is none. Raises SourceError."""
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, pa.RecordBatchReader):
        return source.read_all()  # what DuckDB's `arrow()` gives
    if hasattr(source, "collect_schema") and hasattr(source, "collect"):
        source = source.collect()  # a lazy frame of Polars
    if hasattr(source, "to_arrow"):
        return _with_ids(source.to_arrow())
    if hasattr(source, "columns") and hasattr(source, "to_parquet"):
        try:
            table = pa.Table.from_pandas(_with_named_index(source), preserve_index=False)
        except (OverflowError, pa.ArrowException) as error:
            raise SourceError(f"a data frame that Arrow cannot hold: {error}; {_AS_TEXT}") from None
        unread = getattr(source, "attrs", {}).get(UNREAD_FOOTER)
        told = {UNREAD_FOOTER: unread} if isinstance(unread, str) else None
        return _with_ids(table.replace_schema_metadata(told))
    return None


def _with_named_index(frame: Any) -> Any:
    """Make columns of an index that has names: the client of Phoenix keeps span ids in it."""
    names = getattr(getattr(frame, "index", None), "names", None) or ()
    lacking = [name for name in names if name is not None and name not in frame.columns]
    return frame.reset_index(level=lacking) if lacking else frame


def _with_ids(table: pa.Table) -> pa.Table:
    for name in _IDS:
        kind = table.schema.field(name).type if table.column_names.count(name) == 1 else None
        if kind is None or table.column(name).null_count == len(table):
            continue
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            raise SourceError(f"expected texts in the column {name}, found {kind}; {_AS_TEXT}")
    return table


def content_of(source: Any) -> bytes | None:
    """Return what a file would hold; None where the source names files. Raises SourceError."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    if hasattr(source, "read"):
        content = source.read()
        return content.encode() if isinstance(content, str) else bytes(content)
    is_list = isinstance(source, list | tuple) and bool(source) and isinstance(source[0], Mapping)
    if not is_list and not isinstance(source, Mapping):
        return None
    document = [_dict(item) for item in source] if is_list else _dict(source)
    try:
        return orjson.dumps(document)
    except TypeError:
        pass
    try:
        return compact(plain(document)).encode()
    except (UnencodableError, RecursionError) as error:
        raise SourceError(f"expected a document of JSON, found one {error}") from None


def _dict(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value
