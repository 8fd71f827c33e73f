"""The runs of one source: as a person gets them.

1. The first look reads the source once and keeps it; `to_parquet` of a source that nobody looked at
   streams.
2. What cannot be read is in `quarantine()`; with `strict=True` the first such row raises.
3. `filter` keeps whole runs, by columns of `runs()`: a value, or a list of values. None means the
   runs that did not record it.
4. Everything that a person gets is pandas with Arrow-backed dtypes; one run is a `Trajectory`.
5. What only one of the methods needs is imported there: reading imports no rule and no report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pyarrow as pa

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine.local import LocalEngine, collect
from trackway_analyzer.engine.native_files import NativeFiles
from trackway_analyzer.frames import frame
from trackway_analyzer.model import Trajectory
from trackway_analyzer.read.carried import footer_of
from trackway_analyzer.reconstruct.membership import spans_of_runs
from trackway_analyzer.select import Where, matching, where
from trackway_analyzer.source import JudgedSource, RunSource, source_gap_table
from trackway_analyzer.summary import gap_table, session_table, variant_table

if TYPE_CHECKING:
    import pandas as pd

    from trackway_analyzer.check import CheckReport
    from trackway_analyzer.outcomes import Row
    from trackway_analyzer.read.source import PassedOver
    from trackway_analyzer.rules.policy import Policy

Watch: TypeAlias = Callable[[Iterable[pa.Table]], Iterable[pa.Table]]
"""Sees span tables go by."""

_LARGE: Final = 20_000
"""Spans from which on files are checked where they lie."""
_SHOWN: Final = 20
"""Runs that a notebook shows of a whole set."""


class Trajectories:
    """Runs of one source. Looking at them reads the source, once."""

    def __init__(self, source: RunSource, wanted: Where = ()) -> None:
        self._source = source
        self._wanted = wanted

    @cached_property
    def batch(self) -> RunBatch:
        """All runs as one run batch."""
        return matching(self._source.batch, self._wanted)

    @property
    def span_table(self) -> pa.Table:
        """The spans as an Arrow table; without a filter also those that belong to no run.

        Its metadata says what could not be read beside them.
        """
        table = collect(self._source.spans.tables())
        table = table.replace_schema_metadata(footer_of(self.quarantined) or None)
        if not self._wanted:
            return table
        run_ids = frozenset(self.batch.runs.column("run_id").to_pylist())
        return spans_of_runs(table, run_ids, by=self._source.by)

    @property
    def gap_table(self) -> pa.Table:
        """The gaps as an Arrow table; without a filter also those of the whole source."""
        gaps = gap_table(self.batch)
        if self._wanted:
            return gaps
        beside = source_gap_table(self.span_table, self.batch.runs, self.quarantined)
        return pa.concat_tables([gaps, beside])

    @property
    def quarantined(self) -> pa.Table:
        """What could not be read, as an Arrow table (`read.quarantine.QUARANTINE_SCHEMA`)."""
        return self._source.spans.quarantine

    @property
    def passed_over(self) -> tuple[PassedOver, ...]:
        """Files in the folders of the source that are not read, for their names fit no format."""
        return self._source.spans.passed_over

    def __len__(self) -> int:
        return len(self.batch)

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.batch)

    def __getitem__(self, run: str | int) -> Trajectory:
        """Return the run with this id, or the run at this place. Raises KeyError or IndexError."""
        if isinstance(run, int):
            return self.batch.trajectory(run if run >= 0 else len(self) + run)
        return self.batch.trajectory(self._ordinal_of(run))

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._ordinals

    def __repr__(self) -> str:
        if "batch" not in self.__dict__:
            return f"Trajectories({self._source.spans.name!r}, not read yet)"
        return f"Trajectories({self._source.spans.name!r}, {len(self)} runs)"

    def _repr_html_(self) -> str:
        from trackway_analyzer.report.html import runs_html

        return runs_html(islice(self, _SHOWN), len(self))

    def runs(self) -> pd.DataFrame:
        """One row a run; columns as in `tables.RUN_SCHEMA`."""
        return frame(self.batch.runs)

    def steps(self) -> pd.DataFrame:
        """One row a step, under its run's id; columns as in `tables.STEP_SCHEMA`."""
        ids = self.batch.runs.column("run_id").take(self.batch.steps.column("run"))
        return frame(self.batch.steps.set_column(0, "run_id", ids))

    def spans(self) -> pd.DataFrame:
        """One row a span of these runs, as stored; columns as in `trackway.schema.SPAN_COLUMNS`.

        Without a filter also the spans that belong to no run.
        """
        return frame(self.span_table)

    def gaps(self) -> pd.DataFrame:
        """One row a named hole in the evidence; gaps of the whole source name no run."""
        return frame(self.gap_table)

    def quarantine(self) -> pd.DataFrame:
        """One row a thing that could not be read: file, offset, reason, detail, count."""
        return frame(self.quarantined)

    def sessions(self) -> pd.DataFrame:
        """One row a conversation; runs without a session id are in none."""
        return frame(session_table(self.batch))

    def variants(self) -> pd.DataFrame:
        """One row a distinct sequence of tools, the most frequent first."""
        return frame(variant_table(self.batch))

    def filter(self, **columns: Any) -> Trajectories:
        """Keep the runs whose columns have these values; a list, tuple or set means any of them.

        Raises ValueError for a name that is no column of `runs()`.
        """
        return Trajectories(self._source, (*self._wanted, *where(columns)))

    def with_outcomes(self, outcomes: str | PathLike[str] | Iterable[Row]) -> Trajectories:
        """Join outcomes that lie beside the traces: a file of rows, or the rows (`outcomes`).

        A row names its run by `run_id`, `session_id`, or `task_id` and `trial`, and judges it by
        `success` or `reward`. Raises OSError or ValueError here where a row is none, and when
        somebody looks where one fits several runs or contradicts what a run recorded.
        """
        from trackway_analyzer.outcomes import outcome_rows

        return Trajectories(JudgedSource(self._source, outcome_rows(outcomes)), self._wanted)

    @property
    def unused_outcomes(self) -> int:
        """How many rows of `with_outcomes` fit no run of the source."""
        return self._source.unused

    def check(self, policy: Policy, *, strict: bool = False) -> CheckReport:
        """Check every run against a policy; when strict, warnings count as violations.

        Raises TypeError where the policy is none.
        """
        from trackway_analyzer.check import check

        files = self.large_files
        if files is not None:
            from trackway_analyzer.check_files import check_files

            return check_files(files, policy, strict=strict, everything=lambda: self.batch)
        return check(self.batch, policy, strict=strict, quarantine=self._source.spans.aside)

    @property
    def large_files(self) -> NativeFiles | None:
        """Files of ours that are better checked where they lie: large, and not read yet."""
        spans = self._source.spans
        plain = type(self._source) is RunSource and self._source.by == "trace"
        if self._wanted or not plain or spans.is_read:
            return None
        if not isinstance(self._source.engine, LocalEngine):
            return None
        files = spans.native
        return files if files is not None and files.rows >= _LARGE else None

    def to_parquet(self, path: str | PathLike[str], *, watch: Watch | None = None) -> int:
        """Write the spans as canonical Parquet, all of the file or none; return how many.

        What could not be read of the source goes with them: the file is as undecided as it is.
        `watch` gets the stream of span tables and passes it on: a progress bar, say.
        """
        from trackway_analyzer.write import write_spans

        tables = iter([self.span_table]) if self._wanted else self._source.spans.stream()
        return write_spans(
            watch(tables) if watch else tables, path, unread=lambda: self._source.spans.aside
        )

    def to_atif(self, path: str | PathLike[str]) -> int:
        """Write each run as an ATIF trajectory and return how many; see `atif.write_atif`.

        A folder gets one file a run, a name in `.jsonl` one trajectory a line. Raises ValueError
        for several runs and a name in `.json`.
        """
        from trackway_analyzer.atif import write_atif

        return write_atif(
            self.batch, self.span_table, path, by=self._source.by, unread=self._source.spans.aside
        )

    @cached_property
    def _ordinals(self) -> dict[str, int]:
        ids = self.batch.runs.column("run_id").to_pylist()
        return {run_id: ordinal for ordinal, run_id in enumerate(ids)}

    def _ordinal_of(self, run_id: str) -> int:
        if run_id in self._ordinals:
            return self._ordinals[run_id]
        near = get_close_matches(run_id, self._ordinals, n=1, cutoff=0.0)
        hint = f"; the nearest is {near[0]!r}" if near else ""
        raise KeyError(
            f"no run {run_id!r} among {len(self)} runs of {self._source.spans.name}{hint}"
        )
