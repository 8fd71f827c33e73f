"""Where files go: a local directory or an object store, written whole or not at all.

1. A local file is written beside its final name as `.NAME.tmp` and renamed when complete. Readers
   pass over names that start with a dot, and a rename replaces the name in one step.
2. An object is uploaded from memory in one go and exists only once the upload is complete.
3. So a name that exists is a complete file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.fs as pafs

_PROTOCOLS: Final = frozenset({"http", "https", "grpc", "grpcs", "otlp"})
_WITHOUT_FOLDERS: Final = frozenset({"s3", "gcs", "abfs"})


@dataclass(frozen=True, slots=True)
class Stored:
    """A complete file of a store."""

    name: str
    """Relative path, with `/`."""
    bytes: int


class Store(Protocol):
    """A place for files."""

    def exists(self, name: str) -> bool:
        """Tell whether the complete file stands there."""

    def files(self, suffix: str, *, hidden: bool = False) -> Iterator[Stored]:
        """Yield the files below the root that end so, shown or hidden ones, sorted by name."""

    def open(self, name: str) -> pa.NativeFile:
        """Open a file for reading at any place. Raises `OSError`."""

    def write(self, name: str, content: pa.Buffer) -> None:
        """Write a file, in place only when complete. Raises `OSError`."""

    def delete(self, name: str) -> None:
        """Delete a file. Raises `OSError`; a file that is gone is no error."""


def open_store(target: str | Path) -> Store:
    """Open a directory, or the URL of anything that pyarrow or fsspec reaches.

    Raises `ValueError` for a URL that neither knows, or that leads nowhere.
    """
    text = str(target)
    scheme, separator, rest = text.partition("://")
    if not separator:
        return LocalStore(Path(text).absolute())  # a program may change its folder
    if not rest.strip("/") and scheme != "file":
        raise ValueError(
            f"export URL {text!r}: expected a bucket or a path, found none; write it as in "
            f"{scheme}://bucket/traces"
        )
    if scheme in _PROTOCOLS:
        raise ValueError(
            f"export URL {text!r}: expected a place for files, found the protocol {scheme!r}; "
            f"for an OTLP receiver write otlp+http://{rest} or otlp+grpc://{rest}"
        )
    if scheme == "file":
        return _local(text, rest)
    try:
        filesystem, path = pafs.FileSystem.from_uri(text)
    except pa.ArrowInvalid as unknown:
        filesystem, path = _through_fsspec(text, unknown)
    return ObjectStore(filesystem, path.rstrip("/"))


def _local(url: str, path: str) -> LocalStore:
    if not path.startswith("/"):
        raise ValueError(
            f"export URL {url!r}: expected an absolute path, found {path!r}; write it as in "
            "file:///var/traces, or without file://"
        )
    return LocalStore(Path(path))


@dataclass(frozen=True, slots=True)
class LocalStore:
    """A local directory; made on first use."""

    root: Path

    def exists(self, name: str) -> bool:
        """Tell whether the complete file stands there."""
        return (self.root / name).exists()

    def files(self, suffix: str, *, hidden: bool = False) -> Iterator[Stored]:
        """Yield the files below the root that end so, shown or hidden ones, sorted by name."""
        for path in sorted(self.root.rglob(f"*{suffix}")):
            name = path.relative_to(self.root).as_posix()
            if is_hidden(name) is hidden:
                with suppress(FileNotFoundError):
                    yield Stored(name, path.stat().st_size)

    def open(self, name: str) -> pa.NativeFile:
        """Open a file for reading at any place. Raises `OSError`."""
        return pa.OSFile(str(self.root / name))

    def write(self, name: str, content: pa.Buffer) -> None:
        """Write beside the final name and rename. Raises `OSError`."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.tmp")
        try:
            unfinished.write_bytes(content)
            os.replace(unfinished, path)
        except BaseException:
            with suppress(OSError):
                unfinished.unlink()
            raise

    def delete(self, name: str) -> None:
        """Delete a file. Raises `OSError`; a file that is gone is no error."""
        (self.root / name).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A bucket, through a pyarrow file system."""

    filesystem: Any
    root: str

    def exists(self, name: str) -> bool:
        """Tell whether the object stands there."""
        info = self.filesystem.get_file_info(f"{self.root}/{name}")
        return bool(info.type == pafs.FileType.File)

    def files(self, suffix: str, *, hidden: bool = False) -> Iterator[Stored]:
        """Yield the files below the root that end so, shown or hidden ones, sorted by name."""
        below = pafs.FileSelector(self.root, recursive=True, allow_not_found=True)
        infos = self.filesystem.get_file_info(below)
        for info in sorted(infos, key=lambda info: str(info.path)):
            name = info.path.removeprefix(f"{self.root}/")
            is_file = info.type == pafs.FileType.File
            if is_file and name.endswith(suffix) and is_hidden(name) is hidden:
                yield Stored(name, info.size)

    def open(self, name: str) -> pa.NativeFile:
        """Open an object for reading at any place. Raises `OSError`."""
        return self.filesystem.open_input_file(f"{self.root}/{name}")

    def write(self, name: str, content: pa.Buffer) -> None:
        """Upload in one go. Raises `OSError`."""
        path = f"{self.root}/{name}"
        if self.filesystem.type_name not in _WITHOUT_FOLDERS:
            self.filesystem.create_dir(path.rsplit("/", 1)[0], recursive=True)
        with self.filesystem.open_output_stream(path) as stream:
            stream.write(content)

    def delete(self, name: str) -> None:
        """Delete an object. Raises `OSError`; one that is gone is no error."""
        with suppress(FileNotFoundError):
            self.filesystem.delete_file(f"{self.root}/{name}")


def is_hidden(name: str) -> bool:
    """Tell whether readers pass over a file, for it or a folder above starts with a dot or `_`."""
    return any(part.startswith((".", "_")) for part in name.split("/"))


def _through_fsspec(url: str, unknown: Exception) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise ValueError(
            f"export URL {url!r}: pyarrow does not know it, and fsspec is not installed; "
            "pip install fsspec and the package of that store"
        ) from unknown
    try:
        filesystem, path = fsspec.core.url_to_fs(url)
    except (ValueError, ImportError) as error:
        raise ValueError(
            f"export URL {url!r}: expected a store that pyarrow or fsspec knows, found neither "
            f"({unknown}; {error}); write a directory, s3://…, gs://… or abfs://…, or install "
            "the fsspec package of that store"
        ) from error
    return pafs.PyFileSystem(pafs.FSSpecHandler(filesystem)), path
