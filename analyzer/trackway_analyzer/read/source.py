"""What a person names as a source, to the files that hold it.

1. A file is taken whatever its name. A folder is searched to any depth for files whose name ends
   like a format that is known, in the order of their paths; hidden files and those that begin
   with `_` are left out. A pattern with `*` is what it finds. A list is each of its items. `-` is
   standard input.
2. A URL is read through pyarrow, or else through fsspec where it is installed.
3. A path that is not there, or a folder without any such file, raises `SourceError`, which says
   what was looked for and what is there instead.
"""

from __future__ import annotations

import difflib
import glob
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.fs as pafs

from trackway_analyzer.read.left_spools import SPOOL_FOLDER, left_spools

STDIN: Final = "-"
ENDINGS: Final = (
    ".parquet",
    ".json",
    ".jsonl",
    ".ndjson",
    ".otlp",
    ".pb",
    ".binpb",
    ".eval",
    ".traj",
    ".json.gz",
    ".jsonl.gz",
    ".ndjson.gz",
    ".pb.gz",
    ".json.zst",
    ".jsonl.zst",
    ".ndjson.zst",
    ".pb.zst",
    ".zst",
    ".gz",
)
_SHOWN: Final = 8
_HIDDEN: Final = (".", "_")

Location = str | os.PathLike[str]
"""A path, a URL, a pattern, or `-`."""


class SourceError(FileNotFoundError):
    """A source that is not there, or that holds nothing to read."""


@dataclass(frozen=True, slots=True)
class TraceFile:
    """One file of a source."""

    name: str
    """What to call it in messages: its path or URL."""
    path: str
    filesystem: pafs.FileSystem | None = None
    """Where the path leads, if not on this machine."""

    def open(self) -> Any:
        """Open the file for reading bytes. Raises OSError."""
        if self.name == STDIN:
            return sys.stdin.buffer
        if self.filesystem is not None:
            return self.filesystem.open_input_file(self.path)
        return open(self.path, "rb")


def files(source: Location | Iterable[Location]) -> Iterator[TraceFile]:
    """Return the files of a source. Raises SourceError."""
    if isinstance(source, str | os.PathLike):
        yield from _files_of(os.fspath(source))
        return
    items = list(source)
    if not items:
        raise SourceError("expected a file, a folder or a list of them; found an empty list")
    for item in items:
        yield from _files_of(os.fspath(item))


def _files_of(path: str) -> Iterator[TraceFile]:
    if "://" in path:
        yield from _remote_files(path)
    elif path == STDIN:
        yield TraceFile(STDIN, STDIN)
    elif os.path.isdir(path):
        for found in _files_in(path):
            yield TraceFile(found, found)
    elif os.path.exists(path):
        yield TraceFile(path, path)
    elif glob.has_magic(path):
        matches = sorted(filter(os.path.isfile, glob.glob(path, recursive=True)))
        if not matches:
            raise SourceError(f"no file fits the pattern {path}")
        for found in matches:
            yield TraceFile(found, found)
    else:
        raise SourceError(_missing(path))


def _files_in(folder: str) -> list[str]:
    found, others = [], []
    for place, folders, names in os.walk(folder):
        if SPOOL_FOLDER in folders:
            found += left_spools(os.path.join(place, SPOOL_FOLDER))
        folders[:] = sorted(name for name in folders if not name.startswith(_HIDDEN))
        for name in sorted(names):
            path = os.path.join(place, name)
            if name.startswith(_HIDDEN) or not name.endswith(ENDINGS):
                others.append(os.path.relpath(path, folder))
            else:
                found.append(path)
    if not found:
        raise SourceError(_nothing_in(folder, others))
    return sorted(found)


def _remote_files(url: str) -> Iterator[TraceFile]:
    filesystem, root = _filesystem(url)
    prefix = url[: len(url) - len(root)] if url.endswith(root) else f"{url.partition('://')[0]}://"
    (info,) = filesystem.get_file_info([root])
    if info.type == pafs.FileType.File:
        yield TraceFile(url, root, filesystem)
        return
    selector = pafs.FileSelector(root, allow_not_found=True, recursive=True)
    found: list[str] = []
    others: list[str] = []
    for item in filesystem.get_file_info(selector):
        if item.type != pafs.FileType.File:
            continue
        below = item.path[len(root) :].strip("/")
        hidden = any(part.startswith(_HIDDEN) for part in below.split("/"))
        (others if hidden or not below.endswith(ENDINGS) else found).append(item.path)
    if not found:
        raise SourceError(_nothing_in(url, others))
    for path in sorted(found):
        yield TraceFile(f"{prefix}{path}", path, filesystem)


def _filesystem(url: str) -> tuple[pafs.FileSystem, str]:
    """Return what reaches a URL, through pyarrow or else fsspec, and the path in it."""
    try:
        filesystem, path = pafs.FileSystem.from_uri(url)
    except pa.ArrowInvalid as unknown:
        try:
            import fsspec

            opened, path = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError):
            raise SourceError(f"no file system for {url}: {unknown}") from None
        filesystem = pafs.PyFileSystem(pafs.FSSpecHandler(opened))
    return filesystem, path.rstrip("/")


def _nothing_in(folder: str, others: list[str]) -> str:
    there = _listed(others) if others else "nothing"
    return (
        f"no traces in {folder}: looked for names that end in "
        f"{', '.join(ENDINGS[:6])}, .gz, .zst; there is {there}"
    )


def _missing(path: str) -> str:
    parent = Path(path).parent
    if not parent.is_dir():
        while not parent.is_dir():
            parent = parent.parent
        return f"no such file or folder: {path}; the path ends at {parent}"
    names = sorted(entry.name for entry in parent.iterdir())
    near = difflib.get_close_matches(Path(path).name, names, 1)
    hint = f"did you mean {parent / near[0]}?" if near else f"{parent} holds {_listed(names)}"
    return f"no such file or folder: {path}; {hint}"


def _listed(names: list[str]) -> str:
    if not names:
        return "nothing"
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
