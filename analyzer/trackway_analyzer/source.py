"""A source of spans, read once and kept or streamed past, and the runs that an engine makes of it.

1. `tables` reads the source on its first call and keeps what it read.
2. `stream` keeps nothing; of a source that was kept already it repeats what was read.
3. What could not be read is known once the source was read to its end, either way.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from os import PathLike
from typing import Any

import pyarrow as pa

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine import By, Engine
from trackway_analyzer.read import read
from trackway_analyzer.read.quarantine import QUARANTINE_SCHEMA


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
        if self._quarantine is None:
            self.tables()
        return self._quarantine


class RunSource:
    """The runs of a source, reconstructed once."""

    def __init__(self, spans: SpanSource, engine: Engine, by: By) -> None:
        self.spans = spans
        self._engine = engine
        self.by = by

    @cached_property
    def batch(self) -> RunBatch:
        """All runs as one run batch."""
        batches = self._engine.map(self.spans.tables(), lambda batch: batch, by=self.by)
        return RunBatch.concat(list(batches))
