"""Parquet files of ours in DuckDB: sorted out of core, streamed as Arrow, cut where runs end.

1. The sort goes by a hash of the run id. Two runs with one hash look like one run with two roots:
   that is not plain, and the whole reconstruction tells them apart by their ids.
2. Files that say that they are sorted are not sorted again. A run that turns up twice in them is
   left to the whole reconstruction.
3. `whole` returns spans with all their columns, and what belongs together comes together: runs
   that share a trace are in one table.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trackway_analyzer.dialects import span_reader
from trackway_analyzer.engine.digest import digest_query
from trackway_analyzer.engine.gathered import gathered
from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.engine.native_files import NativeFiles
from trackway_analyzer.engine.sql_text import quoted
from trackway_analyzer.read.carried import UNREAD_SOURCE
from trackway_analyzer.read.parquet import span_table
from trackway_analyzer.reconstruct.runs import By
from trackway_analyzer.tables import SPAN_SCHEMA

if TYPE_CHECKING:
    import duckdb

MEMORY: Final = "1GB"
"""What DuckDB may use; the process takes up to half a gigabyte more."""
DIGEST_ROWS: Final = 200_000
"""More at a time take longer each: what is worked on falls out of the cache of the processor."""
SPAN_ROWS: Final = 100_000
_KEY: Final = "trackway_key"


class Store:
    """The spans of some files."""

    def __init__(self, files: NativeFiles, connection: duckdb.DuckDBPyConnection) -> None:
        self.files = files
        self._connection = connection
        self._reader = span_reader()
        paths = ", ".join(quoted(path) for path in files.paths)
        self._source = f"read_parquet([{paths}], hive_partitioning = false)"
        if files.tell_of_unread:
            self._source = f"(FROM {self._source} WHERE source <> {quoted(UNREAD_SOURCE)})"

    def digests(
        self, looks: Looks, *, order: Literal["sorted", "gathered"] = "sorted"
    ) -> Iterator[pa.RecordBatch]:
        """Digested rows by run and start, no run cut between two batches.

        `gathered`: without a sort of all, and so that a run may turn up again (`gathered`).
        """
        query = digest_query(self.files, looks, self._source)
        if order == "gathered":
            yield from gathered(self._stream(query, DIGEST_ROWS))
            return
        if not self.files.sorted:
            query += " ORDER BY run, start"
        yield from _whole_keys(self._stream(query, DIGEST_ROWS), "run")

    def whole(
        self, keys: npt.NDArray[np.uint64] | None = None, *, by: By = "trace"
    ) -> Iterator[pa.Table]:
        """Spans of the runs with these keys, or of all; with them runs that share their traces.

        By session, also runs that share their sessions.
        """
        units = self._units(keys, by)
        self._connection.register("units", units)
        names = ", ".join(f's."{name}"' for name in SPAN_SCHEMA.names if self._has(name))
        query = (
            f"SELECT u.unit AS {_KEY}, {names} FROM {self._source} s"
            " JOIN units u ON hash(s.run_id) = u.run ORDER BY u.unit"
        )
        for batch in _whole_keys(self._stream(query, SPAN_ROWS), _KEY):
            table = pa.Table.from_batches([batch]).drop_columns([_KEY])
            yield span_table(table, self._reader)

    def few(
        self,
        keys: npt.NDArray[np.uint64],
        *,
        plain: bool,
        until: int | None = None,
        rows: int | None = None,
    ) -> pa.Table:
        """Spans of the runs with these keys, looked for by their ids: for a few thousand runs.

        Unless the runs are plain, also what else is in their traces. `until`: no span of them
        starts later, in ns; `rows`: all of them are among the first rows of the files.
        """
        early = "" if until is None else f"start <= {_instant(until)}"
        source = self._source if rows is None else f"(SELECT * FROM {self._source} LIMIT {rows})"
        ids = self.ids(keys, early, source).column("run_id").to_pylist()
        wanted = f"run_id IN ({', '.join(map(quoted, ids))})"
        if early:
            wanted += f" AND {early}"
        if not plain:
            shared = self._connection.sql(f"SELECT DISTINCT trace_id FROM {source} WHERE {wanted}")
            traces = ", ".join(quoted(trace) for (trace,) in shared.fetchall())
            wanted += f" OR trace_id IN ({traces})"
        names = ", ".join(f'"{name}"' for name in SPAN_SCHEMA.names if self._has(name))
        found = self._connection.sql(f"SELECT {names} FROM {source} WHERE {wanted}")
        return span_table(found.to_arrow_table(), self._reader)

    def key_of(self, run_ids: pa.Array) -> npt.NDArray[np.uint64]:
        """The keys of run ids."""
        with self._connection.cursor() as beside:  # a stream of spans may be open
            beside.register("ids", pa.table({"run_id": run_ids.cast(pa.string())}))
            found = beside.sql("SELECT hash(run_id) AS key FROM ids").to_arrow_table()
        keys: npt.NDArray[np.uint64] = found.column("key").to_numpy()
        return keys

    def ids(
        self, keys: npt.NDArray[np.uint64], where: str = "", source: str | None = None
    ) -> pa.Table:
        """Columns `key`, `run_id` and `task_id` of the runs with these keys, of all or `source`."""
        self._connection.register("wanted", pa.table({"run": keys}))
        return self._connection.sql(
            "SELECT hash(run_id) AS key, run_id, any_value(task_id) AS task_id"
            f" FROM {source or self._source} WHERE hash(run_id) IN (SELECT run FROM wanted)"
            f"{f' AND {where}' if where else ''} GROUP BY run_id"
        ).to_arrow_table()

    def names(self, column: str) -> list[str]:
        """Distinct values of a column."""
        found = self._connection.sql(f'SELECT DISTINCT "{column}" AS name FROM {self._source}')
        return [name for (name,) in found.fetchall() if name is not None]

    def _has(self, name: str) -> bool:
        return name in self.files.columns and name not in self.files.empty

    def _stream(self, query: str, rows: int) -> Iterator[pa.RecordBatch]:
        # `sql` streams; `execute` would copy the result first.
        return iter(self._connection.sql(query).to_arrow_reader(rows))

    def _units(self, keys: npt.NDArray[np.uint64] | None, by: By) -> pa.Table:
        """Key of each run, with the number of what it is connected to by traces."""
        pairs = f"SELECT DISTINCT hash(run_id) AS run, hash(trace_id) AS trace FROM {self._source}"
        if by == "session":
            pairs += (
                f" UNION SELECT DISTINCT hash(run_id), hash(session_id, 'session')"
                f" FROM {self._source} WHERE session_id IS NOT NULL"
            )
        if keys is not None:
            self._connection.register("wanted", pa.table({"run": keys}))
            traces = (
                f"SELECT DISTINCT hash(trace_id) FROM {self._source}"
                " WHERE hash(run_id) IN (SELECT run FROM wanted)"
            )
            pairs += f" WHERE hash(trace_id) IN ({traces})"
        found = self._connection.sql(pairs).to_arrow_table()
        run, trace = (found.column(name).to_numpy() for name in ("run", "trace"))
        runs, of_run = np.unique(run, return_inverse=True)
        traces_, of_trace = np.unique(trace, return_inverse=True)
        unit = np.arange(len(runs))
        if len(run) > len(runs) or len(run) > len(traces_):
            unit = _connected(of_run, of_trace, len(runs), len(traces_))
        return pa.table({"run": runs, "unit": unit.astype(np.int64)})


@contextmanager
def store_of(files: NativeFiles, *, threads: int | None = None) -> Iterator[Store]:
    """Open files in DuckDB, with what it spills in a folder of its own."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="trackway-") as spill, duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        connection.execute(f"SET temp_directory = {quoted(spill)}")
        connection.execute("SET enable_progress_bar = false")
        if threads is not None:
            connection.execute(f"SET threads = {threads}")
        yield Store(files, connection)


def _whole_keys(batches: Iterator[pa.RecordBatch], name: str) -> Iterator[pa.RecordBatch]:
    """Cut batches where the key changes."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if not len(batch):
            continue
        keys = batch.column(name).to_numpy()
        changes = np.flatnonzero(keys[1:] != keys[:-1])
        fresh = bool(waiting) and waiting[-1].column(name)[-1].as_py() != keys[0]
        if not len(changes) and not fresh:
            waiting.append(batch)
            continue
        cut = int(changes[-1]) + 1 if len(changes) else 0
        # Only what was cut is copied.
        own = 0 if fresh else int(changes[0]) + 1
        if waiting:
            yield _joined([*waiting, batch.slice(0, own)])
            batch, cut = batch.slice(own), cut - own
        if cut:
            yield batch.slice(0, cut)
        waiting = [batch.slice(cut)]
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    filled = [batch for batch in batches if len(batch)]
    return filled[0] if len(filled) == 1 else pa.concat_batches(filled)


def _connected(
    run: npt.NDArray[Any], trace: npt.NDArray[Any], runs: int, traces: int
) -> npt.NDArray[np.int64]:
    """Number of the connected part that each run is in, runs joined by the traces they share."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    links = coo_matrix((np.ones(len(run)), (run, runs + trace)), shape=(runs + traces,) * 2)
    _, label = connected_components(links, directed=False)
    parts: npt.NDArray[np.int64] = label[:runs].astype(np.int64)
    return parts


def _instant(nanoseconds: int) -> str:
    """A constant in SQL, rounded up to microseconds: statistics of files are compared with it."""
    moment = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=-(-nanoseconds // 1000))
    return f"TIMESTAMPTZ '{moment.isoformat()}'"
