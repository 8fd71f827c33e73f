"""Who runs a function over run batches? An engine; no other code knows which.

1. An engine gets span tables in any order, or files of ours, and a function of a run batch.
2. It hands the function whole runs only: a run is never cut between two batches.
3. It gives back what the function returned, batch by batch; a function of a batch never depends on
   what else is in the batch, so results merge in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

import pyarrow as pa

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine.native_files import NativeFiles
from trackway_analyzer.reconstruct.runs import By

__all__ = ["By", "Engine", "Result"]

Result = TypeVar("Result")


class Engine(Protocol):
    """Runs a function over the runs of a stream of span tables."""

    def map(
        self,
        spans: Iterable[pa.Table] | NativeFiles,
        function: Callable[[RunBatch], Result],
        *,
        by: By,
    ) -> Iterator[Result]:
        """Cut the spans into runs and call `function` once a batch of whole runs."""
        ...
