"""Who runs a function over run batches? An engine; no other code knows which.

1. An engine gets span tables in any order and a function of a run batch.
2. It hands the function whole runs only: a run is never cut between two batches.
3. It gives back what the function returned, batch by batch; a function of a batch never depends on
   what else is in the batch, so results merge in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, Protocol, TypeAlias, TypeVar

import pyarrow as pa

from trackway_analyzer.batch import RunBatch

Result = TypeVar("Result")

By: TypeAlias = Literal["trace", "session"]
"""What makes spans without a run id one run: their trace, or the conversation of several traces."""


class Engine(Protocol):
    """Runs a function over the runs of a stream of span tables."""

    def map(
        self, spans: Iterable[pa.Table], function: Callable[[RunBatch], Result], *, by: By
    ) -> Iterator[Result]:
        """Cut the spans into runs and call `function` once a batch of whole runs."""
        ...
