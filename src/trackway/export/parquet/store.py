"""Where files go: a local directory or an object store, written whole or not at all.

1. A local file is written beside its final name as `.NAME.tmp` and renamed when complete. Readers
   pass over names that start with a dot, and a rename replaces the name in one step.
2. An object is uploaded from memory in one go and exists only once the upload is complete.
3. A name that exists already is complete: it is never written again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

ROW_GROUP_ROWS: Final = 65_536


class Store(Protocol):
    """A place for Parquet files."""

    def exists(self, name: str) -> bool:
        """Tell whether the complete file stands there."""

    def write(self, name: str, table: pa.Table) -> None:
        """Write a Parquet file under `name` (a relative path with `/`). Raises `OSError`."""


def open_store(target: str | Path) -> Store:
    """Open a directory, or the URL of anything that pyarrow or fsspec reaches.

    Raises `ValueError` for a URL that neither knows.
    """
    text = str(target)
    if "://" not in text:
        return LocalStore(Path(text))
    if text.startswith("file://"):
        return LocalStore(Path(text.removeprefix("file://")))
    try:
        filesystem, path = pafs.FileSystem.from_uri(text)
    except pa.ArrowInvalid as unknown:
        filesystem, path = _through_fsspec(text, unknown)
    return ObjectStore(filesystem, path.rstrip("/"))


@dataclass(frozen=True, slots=True)
class LocalStore:
    """A local directory; made on first use."""

    root: Path

    def exists(self, name: str) -> bool:
        """Tell whether the complete file stands there."""
        return (self.root / name).exists()

    def write(self, name: str, table: pa.Table) -> None:
        """Write beside the final name and rename. Raises `OSError`."""
        path = self.root / name
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.tmp")
        try:
            with unfinished.open("wb") as file:
                _write_parquet(table, file)
            os.replace(unfinished, path)
        except BaseException:
            with suppress(OSError):
                unfinished.unlink()
            raise


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A bucket, through a pyarrow file system."""

    filesystem: Any
    root: str

    def exists(self, name: str) -> bool:
        """Tell whether the object stands there."""
        info = self.filesystem.get_file_info(f"{self.root}/{name}")
        return bool(info.type == pafs.FileType.File)

    def write(self, name: str, table: pa.Table) -> None:
        """Upload the file from memory. Raises `OSError`."""
        if self.exists(name):
            return
        buffer = pa.BufferOutputStream()
        _write_parquet(table, buffer)
        path = f"{self.root}/{name}"
        # Stores without real folders take this as a no-op or an empty marker.
        self.filesystem.create_dir(path.rsplit("/", 1)[0], recursive=True)
        with self.filesystem.open_output_stream(path) as stream:
            stream.write(buffer.getvalue())


def _write_parquet(table: pa.Table, file: Any) -> None:
    low_cardinality = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    # Times that rise within a run: deltas take a third of the plain bytes.
    times = dict.fromkeys(("start", "end"), "DELTA_BINARY_PACKED")
    pq.write_table(
        table,
        file,
        row_group_size=ROW_GROUP_ROWS,
        compression="zstd",
        compression_level=3,
        use_dictionary=low_cardinality,
        column_encoding=times,
        write_statistics=True,
    )


def _through_fsspec(url: str, unknown: Exception) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise ValueError(
            f"export URL {url!r}: pyarrow does not know it, and fsspec is not installed; "
            "pip install fsspec and the package of that store"
        ) from unknown
    filesystem, path = fsspec.core.url_to_fs(url)
    return pafs.PyFileSystem(pafs.FSSpecHandler(filesystem)), path
