"""One batch of spoilt inputs through the readers, the dialects and the reconstruction.

1. A batch holds up to `SIZE` inputs of one kind, made from seed and number of the batch alone, so
   that any batch can be made again.
2. What must hold: no exception but the two that the readers promise (`SourceError`, and ValueError
   for a table or a choice that is refused), no batch slower than `SECONDS`, the process below
   `MEGABYTES`. A batch that fails is taken apart to find the input.
"""

from __future__ import annotations

import faulthandler
import resource
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

import orjson
import pyarrow as pa

from benchmarks.fuzz import mutate
from benchmarks.fuzz.seeds import Seeds, as_parquet
from trackway_analyzer.read import SourceError, read
from trackway_analyzer.read.parquet import ForeignTableError
from trackway_analyzer.reconstruct import reconstruct

SIZE: Final = 256
SECONDS: Final = 60
MEGABYTES: Final = 2048

Input: TypeAlias = bytes | pa.Table


@dataclass
class Tally:
    """What came of the inputs so far."""

    inputs: Counter[str] = field(default_factory=Counter)
    spans: int = 0
    runs: int = 0
    put_aside: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    slowest: float = 0.0
    """Seconds of the slowest batch."""
    failures: dict[str, str] = field(default_factory=dict)
    """What was raised and where, with the first input that did it."""


def kind_of(number: int) -> str:
    """Return the kind of input that a batch holds."""
    return KINDS[number % len(KINDS)]


KINDS: Final = (
    *("lines", "lines", "document", "lines", "session", "lines", "bytes", "document", "lines"),
    *("protobuf", "lines", "packed", "lines", "lines", "session", "table", "document", "lines"),
)
"""Even and odd numbers hold every kind, for two processes take one each."""


def inputs_of(seeds: Seeds, seed: int, number: int) -> list[Input]:
    """Return the inputs of a batch."""
    random = Random(f"{seed}:{number}")
    kind = kind_of(number)
    return [_MAKERS[kind](random, seeds) for _ in range(SIZE)]


def _line(random: Random, seeds: Seeds) -> bytes:
    spoilt = mutate.document(random, random.choice(seeds.documents), seeds.documents)
    return _written(spoilt).replace(b"\n", b" ") + b"\n"


def _document(random: Random, seeds: Seeds) -> bytes:
    spoilt = mutate.document(random, random.choice(seeds.documents), seeds.documents)
    return _written(spoilt, orjson.OPT_INDENT_2 if random.random() < 0.5 else 0)


def _session(random: Random, seeds: Seeds) -> bytes:
    lines = mutate.document(random, random.choice(seeds.sessions), seeds.documents)
    lines = lines if isinstance(lines, list) else [lines]
    return b"\n".join(map(_written, lines))


def _bytes(random: Random, seeds: Seeds) -> bytes:
    way = random.random()
    if way < 0.6:
        return mutate.raw(random, _written(random.choice(seeds.documents)))
    if way < 0.9 or not seeds.archives:
        return mutate.raw(random, random.choice(seeds.parquet))
    return mutate.raw(random, random.choice(seeds.archives))


def _protobuf(random: Random, seeds: Seeds) -> bytes:
    return mutate.raw(random, random.choice(seeds.messages))


def _packed(random: Random, seeds: Seeds) -> bytes:
    text = random.choice([_document, _protobuf])(random, seeds)
    text = mutate.packed(random, text)
    return mutate.raw(random, text) if random.random() < 0.5 else text


def _table(random: Random, seeds: Seeds) -> pa.Table:
    return mutate.table(random, random.choice(seeds.tables))


_MAKERS: Final[dict[str, Callable[[Random, Seeds], Input]]] = {
    "lines": _line,
    "document": _document,
    "session": _session,
    "bytes": _bytes,
    "protobuf": _protobuf,
    "packed": _packed,
    "table": _table,
}


def _written(document: Any, option: int = 0) -> bytes:
    try:
        return orjson.dumps(document, option=option)
    except TypeError:  # nested too deep to be written: as text, then
        return b"[" * 1500 + b"]" * 1500


def attempt(seeds: Seeds, seed: int, number: int, folder: Path, tally: Tally) -> None:
    """Put one batch through; what fails is noted in the tally."""
    kind, inputs = kind_of(number), inputs_of(seeds, seed, number)
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    started = time.monotonic()
    if _failure(kind, inputs, tally) is not None:
        for place, one in enumerate(inputs):
            found = _failure(kind, [one], Tally())
            if found is not None:
                _note(tally, f"{seed}-{number}-{place}", one, found, folder)
    faulthandler.cancel_dump_traceback_later()
    tally.inputs[kind] += len(inputs)
    tally.slowest = max(tally.slowest, time.monotonic() - started)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    if megabytes > MEGABYTES:
        raise MemoryError(f"batch {number} of seed {seed}: {megabytes} MB")


def _failure(kind: str, inputs: Sequence[Input], tally: Tally) -> str | None:
    """Return the traceback of reading some inputs together; None where nothing is wrong."""
    tables: list[pa.Table] = []
    try:
        with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
            for source in _sources(kind, inputs, Path(folder)):
                try:
                    _read(source, tables, tally)
                except (SourceError, ForeignTableError):
                    tally.refused += 1
        if sum(map(len, tables)):
            tally.runs += len(reconstruct(pa.concat_tables(tables).unify_dictionaries()))
    except Exception:  # noqa: BLE001 - whatever is raised is what is looked for
        return traceback.format_exc()
    return None


_MEMORY: Final = Path("/dev/shm")


def _sources(kind: str, inputs: Sequence[Input], folder: Path) -> Iterator[Any]:
    """Return what `read` takes: all texts as lines of a file or as files of a list; each table."""
    tables = [one for one in inputs if isinstance(one, pa.Table)]
    texts = [one for one in inputs if isinstance(one, bytes)]
    if kind == "lines":
        texts = [b"".join(texts)]
    for place, text in enumerate(texts):
        (folder / str(place)).write_bytes(text)
    if texts:
        yield [str(folder / str(place)) for place in range(len(texts))]
    yield from tables


def _read(source: Any, tables: list[pa.Table], tally: Tally) -> None:
    for batch in read(source):
        tables.append(batch.spans)
        tally.spans += len(batch.spans)
        for row in batch.quarantine.to_pylist():
            tally.put_aside[row["reason"]] += row["count"]


def _note(tally: Tally, name: str, one: Input, found: str, folder: Path) -> None:
    """Keep the first input of each failure."""
    lines = found.strip().splitlines()
    where = [line.strip() for line in lines if line.startswith("  File")][-1]
    cause = f"{lines[-1][:160]} | {where}"
    if cause not in tally.failures:
        kept = folder / f"failure-{name}"
        kept.write_bytes(one if isinstance(one, bytes) else as_parquet(one))
        tally.failures[cause] = str(kept)
