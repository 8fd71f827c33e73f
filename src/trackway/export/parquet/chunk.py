"""The rows that become one file a partition, in memory and in a segment of the spool.

1. A row is in memory, in the segment, or in both. `spooled_rows` of them survive the process.
2. `table` and `content_of` raise `Unwritable` where no file can be made of rows: trying again would
   fail again. A want of memory passes, and is raised as it is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from trackway.export.fork import ForkGate
from trackway.export.parquet.encoding import parquet_bytes
from trackway.export.parquet.table import (
    Part,
    frame_of,
    from_bytes,
    parts_of,
    table_of,
    with_footer,
)
from trackway.export.spool import Segment, new_id

ARROW: Final = ForkGate()
"""Held while Arrow works: it has locks of its own, and a child would inherit them held."""


class Unwritable(Exception):
    """No file can be made of these rows, now or later."""


@dataclass(slots=True, eq=False)
class Chunk:
    """Rows on their way into files."""

    segment: Segment | None
    """Null where the spool could not be written."""
    batches: list[pa.RecordBatch] = field(default_factory=list)
    """Empty once the rows are only in the segment."""
    rows: int = 0
    bytes: int = 0
    spooled_rows: int = 0
    """Rows in the segment."""
    opened: float = field(default_factory=time.monotonic)
    recovered: bool = False
    """An earlier process may have written some of its files."""
    fallback_id: str = field(default_factory=new_id)

    @property
    def id(self) -> str:
        """What its files are named after."""
        return self.fallback_id if self.segment is None else self.segment.id

    @property
    def is_spooled(self) -> bool:
        """Whether every row is in the segment."""
        return self.spooled_rows == self.rows

    def add(self, batch: pa.RecordBatch, *, fsync: bool) -> None:
        """Take a batch over. Raises `OSError` where the spool refuses it: it is in memory then."""
        frame = None
        if self.segment is not None:
            with ARROW.held():
                frame = frame_of(batch)
        self.batches.append(batch)
        self.rows += batch.num_rows
        self.bytes += batch.get_total_buffer_size()
        if self.segment is not None and frame is not None:
            self.segment.append(*frame, fsync=fsync)
            self.spooled_rows += batch.num_rows

    def forget_memory(self) -> int:
        """Keep what the segment has; return how many rows are gone with the memory."""
        gone, self.rows = self.rows - self.spooled_rows, self.spooled_rows
        self.batches, self.bytes = [], 0
        return gone

    def parts(self) -> list[Part]:
        """Return the rows of each file."""
        with _arrow_at_work():
            if self.batches or self.segment is None:
                return list(parts_of(table_of(self.batches)))
            frames = [frame for _, frame in self.segment.unread()]
            return list(
                parts_of(table_of(batch for frame in frames for batch in from_bytes(frame)))
            )


def left_by(segment: Segment) -> tuple[Chunk, str | None]:
    """Return the rows of a segment that its writer left, and what of it is unreadable."""
    chunk, wrong = Chunk(segment, recovered=True), None
    try:
        for _, frame in segment.unread():
            try:
                with ARROW.held():
                    batches = from_bytes(frame)
            except ValueError as error:
                wrong = str(error)
            else:
                chunk.batches += batches
    except OSError as error:  # the disk fails at it
        wrong = str(error)
    chunk.rows = chunk.spooled_rows = sum(batch.num_rows for batch in chunk.batches)
    return chunk, wrong


def content_of(part: Part) -> pa.Buffer:
    """Encode the file of a part."""
    with _arrow_at_work():
        return parquet_bytes(with_footer(part.rows, part.service))


@contextmanager
def _arrow_at_work() -> Iterator[None]:
    try:
        with ARROW.held():
            yield
    except MemoryError:
        raise
    except Exception as error:  # of whatever kind, it would come again
        raise Unwritable(f"{type(error).__name__}: {error}") from error
