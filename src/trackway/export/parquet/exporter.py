"""When do spans become Parquet files?

1. `export` puts a batch into the write-ahead spool and keeps it in memory: from then on a killed
   process loses none of it.
2. The batches become files when they reach `rotate_rows`, `rotate_bytes` or `rotate_seconds`, and
   at `force_flush` and `shutdown`.
3. Files are named after the spool segment that they come from, one in each partition. The segment
   is deleted after its last file is in place. A later start that finds the segment writes the files
   that are missing and skips those that exist: every span once.
4. Where files cannot be written, the segment stays and is tried again; its rows leave memory. Where
   the spool cannot be written either, the rows wait in memory up to `memory_bytes`, then the oldest
   are dropped and counted as failed.
5. A segment that a later start cannot read or write costs no other one, and no span of that start.
   Where the place of the files is away, what is left is tried again after a while.
6. The exporter raises nothing and says what is wrong once, in the log.
"""

from __future__ import annotations

import hashlib
import logging
import math
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from trackway.export.clean import Cleaner
from trackway.export.counts import ExportCounts
from trackway.export.fork import in_forked_child
from trackway.export.leftovers import retire
from trackway.export.parquet.chunk import ARROW, Chunk, Unwritable, content_of, left_by
from trackway.export.parquet.compaction import already_stored
from trackway.export.parquet.screen import Screen
from trackway.export.parquet.store import LocalStore, open_store
from trackway.export.shown import shown
from trackway.export.spool import Segment, claim_abandoned, state_directory

_LOG: Final = logging.getLogger(__name__)
_RETRY_SECONDS: Final = 5.0
_RECOVERY_SECONDS: Final = 60.0
"""Between tries to write what earlier processes left."""


class ParquetSpanExporter(SpanExporter):
    """Write spans as Parquet files below a directory or URL, safe against `kill -9`.

    Args:
        target: directory, or URL of an object store that pyarrow or fsspec reaches.
        spool: local directory of the write-ahead spool; by default `.spool` below a local target,
            and a folder of the user's state directory for a URL. False: no spool.
        rotate_rows, rotate_bytes (of Arrow memory), rotate_seconds: when a file is finished.
        memory_bytes: rows kept in memory while neither files nor spool can be written.
        fsync: also survive the machine, at a disk flush a batch.
        cleaner: what is redacted and cut once more; by default the built-in kinds and limits.
    """

    def __init__(
        self,
        target: str | Path,
        *,
        spool: str | Path | bool = True,
        rotate_rows: int = 100_000,
        rotate_bytes: int = 64 * 2**20,
        rotate_seconds: float = 60.0,
        memory_bytes: int = 256 * 2**20,
        fsync: bool = False,
        cleaner: Cleaner | None = None,
    ) -> None:
        self._screen = Screen(Cleaner() if cleaner is None else cleaner)
        self._store = open_store(target)
        self._spool = _spool_directory(target, spool)
        self._rotate_rows = rotate_rows
        self._rotate_bytes = rotate_bytes
        self._rotate_seconds = rotate_seconds
        self._memory_bytes = memory_bytes
        self._fsync = fsync
        self.counts = ExportCounts()
        self._complained: set[str] = set()
        self._closed = False
        self._start_empty()
        in_forked_child(self, ParquetSpanExporter._forget_parent)

    def _start_empty(self) -> None:
        self._lock = threading.Lock()
        self._open: Chunk | None = None
        self._waiting: list[Chunk] = []
        self._lost_before = 0
        self._retry_at = 0.0
        self._recover_at = 0.0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Spool a batch, and finish files that are due."""
        if self._closed:
            return SpanExportResult.FAILURE
        if not spans:
            return SpanExportResult.SUCCESS
        with ARROW.held():
            batch = self._screen.batch_of(spans)
        with self._lock:
            self._recover()
            self.counts.ended += len(spans)
            self._add(batch)
            self._finish_due()
        return SpanExportResult.SUCCESS

    def poll(self) -> None:
        """Finish what is due by age, and recover what an earlier process left."""
        with self._lock:
            self._recover()
            self._finish_due()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Finish every file. True: all that came since the last flush is in complete files."""
        if not self._lock.acquire(timeout=timeout_millis / 1000):
            return False
        try:
            self._recover()
            self._close_open()
            self._write_waiting()
            lost, self._lost_before = self._lost_before, self.counts.failed
            return not self._waiting and lost == self.counts.failed
        finally:
            self._lock.release()

    def shutdown(self) -> None:
        """Finish every file; what cannot be written stays in the spool for the next start."""
        if self._closed:
            return
        self.force_flush()
        self._closed = True
        with self._lock:
            for chunk in self._waiting:
                self.counts.failed += chunk.forget_memory()
                _leave(chunk)

    def _add(self, batch: pa.RecordBatch) -> None:
        chunk = self._open
        if chunk is None:
            chunk = self._open = Chunk(self._new_segment())
        try:
            chunk.add(batch, fsync=self._fsync)
        except OSError as error:
            self._complain("spool", error)

    def _new_segment(self) -> Segment | None:
        if self._spool is None:
            return None
        try:
            return Segment.create(self._spool)
        except OSError as error:
            self._complain("spool", error)
            return None

    def _finish_due(self) -> None:
        chunk = self._open
        if chunk is not None and (
            chunk.rows >= self._rotate_rows
            or chunk.bytes >= self._rotate_bytes
            or time.monotonic() - chunk.opened >= self._rotate_seconds
        ):
            self._close_open()
        if time.monotonic() >= self._retry_at:
            self._write_waiting()
        else:
            self._shed()

    def _close_open(self) -> None:
        if self._open is not None:
            self._waiting.append(self._open)
            self._open = None

    def _write_waiting(self) -> None:
        while self._waiting:
            chunk, wrong = self._waiting[0], None
            try:
                self._write(chunk)
            except Unwritable as error:
                self._complain("rows", error)
                self.counts.failed += chunk.rows
                wrong = str(error)
            except Exception as error:  # noqa: BLE001 - stores raise what their makers chose
                self._complain("file", error)
                self._retry_at = time.monotonic() + _RETRY_SECONDS
                self._shed()
                return
            else:
                self.counts.delivered += chunk.rows
            self._waiting.remove(chunk)
            if chunk.segment is not None:
                retire(chunk.segment, wrong)
        self._complained.discard("file")

    def _write(self, chunk: Chunk) -> None:
        for part in chunk.parts():
            if chunk.recovered and already_stored(self._store, part.partition, chunk.id):
                continue
            self._store.write(f"{part.partition}/{chunk.id}.parquet", content_of(part))

    def _shed(self) -> None:
        """Free the memory of rows that the spool has; drop the oldest that have no place at all."""
        for chunk in self._waiting:
            if chunk.is_spooled:
                chunk.forget_memory()
        homeless = [chunk for chunk in self._waiting if not chunk.is_spooled]
        while homeless and sum(chunk.bytes for chunk in homeless) > self._memory_bytes:
            chunk = homeless.pop(0)
            self.counts.failed += chunk.forget_memory()
            if chunk.rows == 0:
                self._waiting.remove(chunk)
                _leave(chunk)

    def _recover(self) -> None:
        """Finish the files of processes that ended without doing so."""
        if self._spool is None or time.monotonic() < self._recover_at:
            return
        self._recover_at = math.inf
        try:
            for segment in claim_abandoned(self._spool):
                self._finish(segment)
        except Exception as error:  # noqa: BLE001 - stores raise what their makers chose
            self._complain("file", error)
            self._recover_at = time.monotonic() + _RECOVERY_SECONDS

    def _finish(self, segment: Segment) -> None:
        """Write the files of one of them. Raises what the store does."""
        chunk, wrong = left_by(segment)
        try:
            if chunk.rows:
                self._write(chunk)
        except Unwritable as error:
            wrong = str(error)
        except Exception:
            segment.close()
            raise
        else:
            self.counts.recovered += chunk.rows
        retire(segment, wrong)

    def _complain(self, what: str, error: Exception) -> None:
        if what in self._complained:
            return
        self._complained.add(what)
        consequence = {
            "spool": "a killed process will lose the spans of the open file",
            "file": "the spans wait and are tried again",
            "rows": "the spans are lost, unless the spool has them",
        }[what]
        _LOG.warning(
            "trackway cannot write its Parquet %s: %s; %s", what, shown(error), consequence
        )

    def _forget_parent(self) -> None:
        """In a forked child: what is open belongs to the parent."""
        inherited = [*self._waiting, *([self._open] if self._open else [])]
        for chunk in inherited:
            if chunk.segment is not None:
                chunk.segment.close()
        self.counts = ExportCounts()
        self._start_empty()


def _leave(chunk: Chunk) -> None:
    """Leave a segment to the next start, if it has rows."""
    if chunk.segment is not None and chunk.spooled_rows:
        chunk.segment.close()
    elif chunk.segment is not None:
        retire(chunk.segment)


def _spool_directory(target: str | Path, spool: str | Path | bool) -> Path | None:
    if spool is False:
        return None
    if spool is not True:
        return Path(spool).absolute()
    store = open_store(target)
    if isinstance(store, LocalStore):
        return store.root / ".spool"
    digest = hashlib.sha256(str(target).encode()).hexdigest()[:16]
    return state_directory() / f"parquet-{digest}"
