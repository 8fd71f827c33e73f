"""Digested rows in any order, gathered by run while they come: the sort that files can do without.

1. A run is taken as whole when its root has come: a run span ends last, and rows are written in the
   order in which spans ended. Rows of other runs wait for later batches.
2. Rows of a run that come after it was taken make a second run with the same key. Who reads the
   runs finds that out, and may sort all rows instead (`groups`).
3. No more than `WAITING` rows wait: then all of them are taken as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trackway_analyzer.engine.roles import ODD, ROOT

WAITING: Final = 2_000_000
_BITS: Final = 64


def gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Put the rows of each run together, in order of start; the last batch empties the rest."""
    waiting: pa.RecordBatch | None = None
    for batch in batches:
        rows = batch if waiting is None else pa.concat_batches([waiting, batch])
        run = pa.array(_column(rows, "run")).dictionary_encode()
        code = run.indices.to_numpy()
        role = _column(rows, "role") & (ODD - 1)
        ended = np.zeros(len(run.dictionary), dtype=bool)
        ended[code[role == ROOT]] = True
        ready = ended[code]
        if len(rows) - np.count_nonzero(ready) > WAITING:
            ready[:] = True
        yield _in_order(rows, code, np.flatnonzero(ready))
        waiting = rows.filter(pa.array(~ready))
    if waiting is not None and len(waiting):
        code = pa.array(_column(waiting, "run")).dictionary_encode().indices.to_numpy()
        yield _in_order(waiting, code, np.arange(len(waiting)))


def _in_order(
    rows: pa.RecordBatch, code: npt.NDArray[np.int32], chosen: npt.NDArray[np.int64]
) -> pa.RecordBatch:
    """Chosen rows by run and start."""
    run, start = code[chosen], _column(rows, "start")[chosen]
    since = start - start.min(initial=np.iinfo(np.int64).max)
    bits = int(since.max(initial=0)).bit_length()
    if int(run.max(initial=0)).bit_length() + bits <= _BITS:
        # One number of both is sorted several times as quickly as two.
        by = np.argsort((run.astype(np.uint64) << np.uint64(bits)) | since.astype(np.uint64))
    else:
        by = np.lexsort((start, run))
    return rows.take(pa.array(chosen[by]))


def _column(rows: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = rows.column(name).to_numpy(zero_copy_only=False)
    return values
