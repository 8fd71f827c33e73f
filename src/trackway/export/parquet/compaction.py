"""How do many small files become few, without a span lost or doubled?

1. Within a partition, files smaller than `file_bytes` are merged, oldest first, into files of about
   that size, sorted by run and start: runs that lay in several files come together. Only files of
   ours, of one schema version, are touched.
2. Order of steps: a journal names inputs and output; the output appears; the inputs are deleted;
   the journal is deleted. A compaction that was interrupted is completed by the next one: where the
   output is there its inputs go, where it isn't the journal goes. Between two steps a reader can
   see a span twice, never miss one.
3. The output's footer names the files that went into it, so that an exporter that recovers its
   spool does not write them again (`already_stored`), and what could not be read of the sources of
   those that were converted.
4. One compaction runs on a local directory at a time; a second one raises. On an object store that
   is up to whoever calls.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from trackway.export.parquet.encoding import parquet_bytes
from trackway.export.parquet.store import LocalStore, Store, Stored, open_store
from trackway.export.parquet.table import merged, with_footer
from trackway.export.spool import locked, new_id
from trackway.schema import UNREAD_FOOTER

_SUFFIX: Final = ".parquet"
_JOURNAL: Final = ".compaction"
_OUTPUT: Final = "compact-"
_SOURCES: Final = "trackway.compacted"
_VERSION: Final = b"trackway.schema.version"
_REMEMBERED_NS: Final = 90 * 86_400 * 10**9
"""How long an output names its inputs: a spool older than that is not recovered any more."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction did."""

    merged_files: int
    """Files that are gone."""
    new_files: int
    spans: int
    """Spans in the new files."""


def compact(target: str | Path, *, file_bytes: int = 64 * 2**20) -> Compaction:
    """Merge the small files below a directory or URL.

    Raises `OSError` where files cannot be read or written, `BlockingIOError` where another
    compaction runs on the same directory.
    """
    store = open_store(target)
    alone: AbstractContextManager[None] = nullcontext()
    if isinstance(store, LocalStore):
        store.root.mkdir(parents=True, exist_ok=True)
        alone = locked(store.root / ".compact.lock")
    with alone:
        _complete(store)
        done = [_merge(store, group) for group in _groups(store, file_bytes)]
    return Compaction(
        merged_files=sum(files for files, _ in done),
        new_files=len(done),
        spans=sum(spans for _, spans in done),
    )


def already_stored(store: Store, partition: str, identity: str) -> bool:
    """Tell whether the file of a spool segment stands in a partition, as itself or compacted."""
    if store.exists(_inside(partition, f"{identity}{_SUFFIX}")):
        return True
    return any(
        identity in _sources(_footer(store, file.name))
        for file in store.files(_SUFFIX)
        if _partition(file) == partition and _base(file).startswith(_OUTPUT)
    )


def _groups(store: Store, file_bytes: int) -> Iterator[list[Stored]]:
    """Yield the files that are merged into one: at least two, of one partition and version."""
    small = (file for file in store.files(_SUFFIX) if file.bytes < file_bytes)
    for _, files in groupby(small, _partition):
        versions: dict[bytes, list[Stored]] = {}
        for file in files:
            version = _footer(store, file.name).get(_VERSION)
            if version is not None:
                versions.setdefault(version, []).append(file)
        for same in versions.values():
            yield from (group for group in _filled(same, file_bytes) if len(group) > 1)


def _filled(files: Iterable[Stored], file_bytes: int) -> Iterator[list[Stored]]:
    group: list[Stored] = []
    size = 0
    for file in files:
        if group and size + file.bytes > file_bytes:
            yield group
            group, size = [], 0
        group.append(file)
        size += file.bytes
    if group:
        yield group


def _merge(store: Store, group: list[Stored]) -> tuple[int, int]:
    partition = _partition(group[0])
    footers = [_footer(store, file.name) for file in group]
    table = merged(_table(store, file.name) for file in group)
    sources = _still_remembered(
        source
        for file, footer in zip(group, footers, strict=True)
        for source in (*_sources(footer), _base(file).removesuffix(_SUFFIX))
    )
    service = footers[0].get(b"trackway.service")
    unread = [row for footer in footers for row in _listed(footer, UNREAD_FOOTER)]
    said = {_SOURCES: json.dumps(sources)} | ({UNREAD_FOOTER: json.dumps(unread)} if unread else {})
    named = with_footer(table, None if service is None else service.decode(), **said)
    output = _inside(partition, f"{_OUTPUT}{new_id()}{_SUFFIX}")
    journal = _inside(partition, f".{new_id()}{_JOURNAL}")
    steps = {"inputs": [file.name for file in group], "output": output}
    store.write(journal, pa.py_buffer(json.dumps(steps).encode()))
    store.write(output, parquet_bytes(named))
    _finish(store, journal, steps["inputs"])
    return len(group), table.num_rows


def _complete(store: Store) -> None:
    """Finish or undo what an interrupted compaction left."""
    for journal in store.files(_JOURNAL, hidden=True):
        with store.open(journal.name) as file:
            steps = json.loads(file.read())
        _finish(store, journal.name, steps["inputs"] if store.exists(steps["output"]) else ())


def _finish(store: Store, journal: str, inputs: Iterable[str]) -> None:
    for name in inputs:
        store.delete(name)
    store.delete(journal)


def _table(store: Store, name: str) -> pa.Table:
    with store.open(name) as file:
        return pq.ParquetFile(file).read()


def _footer(store: Store, name: str) -> dict[bytes, bytes]:
    """Return what a file says about itself; nothing for what is no Parquet file."""
    with store.open(name) as file:
        try:
            return dict(pq.read_metadata(file).metadata or {})
        except pa.ArrowInvalid:
            return {}


def _sources(footer: dict[bytes, bytes]) -> list[str]:
    return [str(source) for source in _listed(footer, _SOURCES)]


def _listed(footer: dict[bytes, bytes], key: str) -> list[object]:
    listed: list[object] = json.loads(footer.get(key.encode(), b"[]"))
    return listed


def _still_remembered(sources: Iterable[str]) -> list[str]:
    """Leave out what is too old to stand in a spool; names begin with the time of their birth."""
    oldest = f"{time.time_ns() - _REMEMBERED_NS:019d}"
    segments = {source for source in sources if not source.startswith(_OUTPUT)}
    return sorted(segment for segment in segments if segment >= oldest)


def _partition(file: Stored) -> str:
    return file.name.rpartition("/")[0]


def _inside(partition: str, name: str) -> str:
    """Return the name of a file in a partition; files beside the partitions are in none."""
    return f"{partition}/{name}" if partition else name


def _base(file: Stored) -> str:
    return file.name.rpartition("/")[2]
