"""Arrow files (IPC files, which are Feather's, and streams) of spans, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from trackway_analyzer.dialects import SpanReader
from trackway_analyzer.read.detect import Format
from trackway_analyzer.read.parquet import any_table
from trackway_analyzer.read.quarantine import Quarantine

_FILE_MARK: Final = b"ARROW1\x00\x00"


def arrow_tables(
    body: bytes, reader: SpanReader, forced: Format | None, quarantine: Quarantine
) -> Iterator[pa.Table]:
    """Return the spans of an Arrow file. Raises ForeignTableError, pyarrow.ArrowException."""
    if body.startswith(_FILE_MARK):
        with pa.ipc.open_file(pa.BufferReader(body)) as file:
            batches = [file.get_batch(place) for place in range(file.num_record_batches)]
            schema = file.schema
    else:
        with pa.ipc.open_stream(pa.BufferReader(body)) as stream:
            batches, schema = list(stream), stream.schema
    table = pa.Table.from_batches(batches, schema)
    table.validate(full=True)  # a damaged file may hold what is no UTF-8
    yield any_table(table, reader, forced, quarantine)
