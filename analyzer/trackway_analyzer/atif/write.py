"""Write trajectories to files: one file a run in a folder, or one line a run in a `.jsonl` file."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, count
from os import PathLike
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa

from trackway.schema import STEP_OPERATIONS
from trackway_analyzer.atif.trajectory import atif_of
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine import By
from trackway_analyzer.json_text import compact, compact_bytes, parsed
from trackway_analyzer.read.atif_evidence import EXTRA
from trackway_analyzer.read.carried import UNREAD, Row, carried_rows
from trackway_analyzer.reconstruct.membership import rows_of_runs
from trackway_analyzer.reconstruct.run_spans import ATTRIBUTES

LINES: Final = (".jsonl", ".ndjson")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_WRITTEN: Final = re.compile(rb'"trajectory_id":("(?:[^"\\]|\\.)*")')
_HEAD: Final = 65_536


def write_atif(
    batch: RunBatch, spans: pa.Table, path: str | PathLike[str], *, by: By, unread: pa.Table
) -> int:
    """Write each run of a batch as an ATIF trajectory and return how many.

    Each tells what could not be read of their source (`unread`, rows of `QUARANTINE_SCHEMA`).

    A name that ends in `.jsonl` gets one trajectory a line, one in `.json` the only run; any other
    name is a folder, made if need be, of one file a run: it takes the place of the file of the same
    run, and of no other. Raises ValueError for several runs and one
    `.json` file, OSError where nothing can be written.
    """
    target = Path(path)
    documents = _documents(batch, spans, by, carried_rows(unread))
    if target.suffix in LINES:
        _write(target, (compact_bytes(document) + b"\n" for document in documents))
    elif target.suffix == ".json" and not target.is_dir():
        if len(batch) != 1:
            raise ValueError(
                f"an ATIF file holds one trajectory, found {len(batch)} runs: give a folder, or a "
                "name that ends in .jsonl for one trajectory a line"
            )
        _write(target, (compact_bytes(document) for document in documents))
    else:
        target.mkdir(parents=True, exist_ok=True)
        taken: set[str] = set()
        for document in documents:
            file = _file_of(document["trajectory_id"], target, taken)
            _write(file, [compact_bytes(document)])
    return len(batch)


def _documents(
    batch: RunBatch, spans: pa.Table, by: By, unread: list[Row]
) -> Iterator[dict[str, Any]]:
    rows = rows_of_runs(spans, by=by)
    for trajectory in batch:
        own = spans.take(pa.array(rows[trajectory.run_id]))
        document = atif_of(trajectory, _judged(own, trajectory.run))
        if unread:
            document["extra"][EXTRA][UNREAD] = unread
        yield document


def _heads(spans: pa.Table) -> list[int]:
    """Return the rows of spans that are no steps."""
    operations = spans.column("operation").to_pylist()
    return [row for row, name in enumerate(operations) if name not in STEP_OPERATIONS]


def _judged(spans: pa.Table, run: dict[str, Any]) -> pa.Table:
    """Return the spans with an outcome that was joined to the run and that no span of it tells."""
    told = "\n".join(filter(None, spans.column("attributes").to_pylist()))
    outcome = {
        key: run[column]
        for column, key in ATTRIBUTES.items()
        if column.startswith("outcome_") and run[column] is not None and f'"{key}"' not in told
    }
    heads = _heads(spans)
    return _with(spans, heads[0], outcome) if outcome and heads else spans


def _with(spans: pa.Table, row: int, members: dict[str, Any]) -> pa.Table:
    """Return the spans with more attributes on one of them."""
    texts = spans.column("attributes").to_pylist()
    own = parsed(texts[row] or "{}")
    texts[row] = compact({**(own if isinstance(own, dict) else {}), **members})
    place = spans.schema.get_field_index("attributes")
    return spans.set_column(place, spans.schema.field(place), pa.array(texts, pa.string()))


def _file_of(run_id: str, folder: Path, taken: set[str]) -> Path:
    """Return the file of a run: its own of before, or one that no other run and nobody else has."""
    plain = _UNSAFE.sub("_", run_id)[:120].lstrip("._") or "run"
    told_apart = f"{plain}-{hashlib.sha256(run_id.encode()).hexdigest()[:12]}"
    numbered = (f"{told_apart}-{number}" for number in count(2))
    for name in chain((plain, told_apart), numbered):
        file = folder / f"{name}.json"
        if name.casefold() not in taken and (not file.exists() or _is_of(run_id, file)):
            taken.add(name.casefold())
            return file
    raise AssertionError("numbers end")  # pragma: no cover  # they do not


def _is_of(run_id: str, file: Path) -> bool:
    """Tell by the beginning of a file, as it is written here, whether it holds this run."""
    with file.open("rb") as opened:
        found = _WRITTEN.search(opened.read(_HEAD))
    return found is not None and found[1] == compact_bytes(run_id)


def _write(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file, all of it or none."""
    unfinished = path.with_name(f".{path.name}.{uuid4().hex}.unfinished")
    try:
        with unfinished.open("xb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()
