"""A source of spans, read once and kept or streamed past, and the runs that an engine makes of it.

1. `tables` reads the source on its first call and keeps what it read.
2. `stream` keeps nothing; of a source that was kept already it repeats what was read.
3. What could not be read is known once the source was read to its end, either way.
4. Two gaps are of the source and of no run: spans that no dialect knows, where they are in no run,
   and files that end in the middle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import GapName
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.dialects import UNKNOWN
from trackway_analyzer.engine import By, Engine
from trackway_analyzer.engine.native_files import NativeFiles
from trackway_analyzer.outcomes import Joined, OutcomeRow, joined
from trackway_analyzer.read import read
from trackway_analyzer.read.overlooked import overlooked
from trackway_analyzer.read.quarantine import QUARANTINE_SCHEMA, quarantine_table, told
from trackway_analyzer.read.source import PassedOver, listing
from trackway_analyzer.summary import GAP_SCHEMA

_PARQUET: Final = ".parquet"
_TRUNCATED: Final = GapName.TRUNCATED_FILE.value


class SpanSource:
    """Spans of a path, folder, URL, open file or table."""

    def __init__(
        self, source: Any, *, format: str | None, dialect: str | None, strict: bool
    ) -> None:
        self._source = source
        self._format = format
        self._dialect = dialect
        self._strict = strict
        self._kept: list[pa.Table] | None = None
        self._quarantine: pa.Table | None = None

    @property
    def name(self) -> str:
        """What to call the source in a message."""
        source = self._source
        return str(source) if isinstance(source, str | PathLike) else type(source).__name__

    @cached_property
    def native(self) -> NativeFiles | None:
        """The files of the source, where all are Parquet of ours on this machine and none was read.

        Raises SourceError.
        """
        place = isinstance(self._source, str | PathLike)
        if not place or self._dialect is not None or self._format not in (None, "parquet"):
            return None
        named = listing(self._source)
        found = named.files
        if any(file.filesystem is not None or not file.path.endswith(_PARQUET) for file in found):
            return None
        beside = list(overlooked(named))
        if any(other.what is not None for other in beside):
            return None
        files = NativeFiles.of([file.path for file in found])
        if files is None or not beside:
            return files
        aside = quarantine_table([other.passed_over() for other in beside])
        return replace(files, quarantine=pa.concat_tables([files.quarantine, aside]))

    @cached_property
    def passed_over(self) -> tuple[PassedOver, ...]:
        """Files in the folders of the source that are not read. Raises SourceError."""
        place = isinstance(self._source, str | PathLike)
        return listing(self._source).passed_over if place else ()

    @property
    def is_read(self) -> bool:
        """Whether the spans are kept already."""
        return self._kept is not None

    def tables(self) -> list[pa.Table]:
        """Span tables of the whole source."""
        if self._kept is None:
            self._kept = list(self.stream())
        return self._kept

    def stream(self) -> Iterator[pa.Table]:
        """Span tables of the source, one after the other."""
        if self._kept is not None:
            yield from self._kept
            return
        quarantined = [QUARANTINE_SCHEMA.empty_table()]
        for batch in read(
            self._source, format=self._format, dialect=self._dialect, strict=self._strict
        ):
            quarantined.append(batch.quarantine)
            yield batch.spans
        self._quarantine = pa.concat_tables(quarantined)

    @property
    def quarantine(self) -> pa.Table:
        """What could not be read (`read.quarantine.QUARANTINE_SCHEMA`)."""
        return told(self.aside)

    @property
    def aside(self) -> pa.Table:
        """The same, and the words beside what was read that may name a tool."""
        if self._quarantine is None:
            self.tables()
        return self._quarantine


class RunSource:
    """The runs of a source, reconstructed once."""

    def __init__(self, spans: SpanSource, engine: Engine, by: By) -> None:
        self.spans = spans
        self.engine = engine
        self.by = by

    @property
    def batch(self) -> RunBatch:
        """All runs as one run batch."""
        return self._batch

    @property
    def unused(self) -> int:
        """Rows of outcomes that fit no run."""
        return 0

    @cached_property
    def _batch(self) -> RunBatch:
        batches = self.engine.map(self.spans.tables(), lambda batch: batch, by=self.by)
        return RunBatch.concat(list(batches))


class JudgedSource(RunSource):
    """The runs of a source with outcomes joined that lay beside it."""

    def __init__(self, source: RunSource, rows: tuple[OutcomeRow, ...]) -> None:
        super().__init__(source.spans, source.engine, source.by)
        self._source = source
        self._rows = rows

    @cached_property
    def _joined(self) -> Joined:
        return joined(self._source.batch, self._rows)

    @property
    def batch(self) -> RunBatch:
        """All runs, judged. Raises ValueError where a row fits several runs or contradicts one."""
        return self._joined.batch

    @property
    def unused(self) -> int:
        """Rows that fit no run."""
        return self._source.unused + self._joined.unused


def source_gap_table(spans: pa.Table, runs: pa.Table, quarantine: pa.Table) -> pa.Table:
    """Gaps of a source that belong to no run of it (`GAP_SCHEMA`)."""
    rows = [_truncated(row) for row in quarantine.to_pylist() if row["reason"] == _TRUNCATED]
    unknown = spans.filter(pc.equal(spans.column("source"), UNKNOWN))
    traces = runs.column("trace_ids").combine_chunks().flatten()
    lost = unknown.filter(pc.invert(pc.is_in(unknown.column("trace_id"), traces)))
    if len(lost):
        scopes = sorted(lost.column("scope").drop_null().unique().to_pylist())
        detail = f"no dialect knows these spans, they are in no run; scopes: {', '.join(scopes)}"
        rows.append({"name": GapName.UNKNOWN_DIALECT.value, "count": len(lost), "detail": detail})
    return pa.Table.from_pylist(rows, schema=GAP_SCHEMA)


def _truncated(row: dict[str, object]) -> dict[str, object]:
    place = row["file"] if row["offset"] is None else f"{row['file']} at byte {row['offset']}"
    return {"name": _TRUNCATED, "count": row["count"], "detail": f"{place}: {row['detail']}"}
