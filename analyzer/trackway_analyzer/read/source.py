"""What a person names as a source, to the files that hold it.

1. A file is taken whatever its name. A folder is searched to any depth for files whose name ends
   like a format that is known, in upper case or lower, with a number of rotation behind it or
   without, in the order of their paths. A pattern with `*` is what it finds. A list is each of its
   items. `-` is standard input.
2. Of a folder, hidden files, those that begin with `_` and those that only tell people or programs
   about it (`_BESIDE`: a README, a policy) are left out; any other is passed over, and named
   (`overlooked` says which of them may hold traces).
3. A URL is read through pyarrow, or else through fsspec where it is installed.
4. A path that is not there, or a folder without any such file, raises `SourceError`, which says
   what was looked for and what is there instead.
"""

from __future__ import annotations

import difflib
import glob
import io
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from trackway_analyzer.read.left_spools import SPOOL_FOLDER, left_spools

if TYPE_CHECKING:
    import pyarrow.fs as pafs

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
    ".bz2",
    ".xz",
    ".arrow",
    ".arrows",
    ".feather",
    ".ipc",
)
_ROTATED: Final = re.compile(r"([.-]\d+)+$")
_BESIDE: Final = re.compile(
    r"(readme|license|licence|notice|changelog|makefile|dockerfile)(\..*)?|.*\.(md|rst|ya?ml|toml|py)"
)
_SHOWN: Final = 8
_SHOWN_OF_ITEM: Final = 40
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
    content: bytes | None = None
    """What it holds, if it is in memory."""

    def open(self) -> Any:
        """Open the file for reading bytes. Raises OSError."""
        if self.name == STDIN:
            return sys.stdin.buffer
        if self.content is not None:
            return io.BytesIO(self.content)
        if self.filesystem is not None:
            return self.filesystem.open_input_file(self.path)
        return open(self.path, "rb")


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Files of a folder that are not read, for their names end like no format."""

    folder: str
    names: tuple[str, ...]
    root: str
    """The folder on its file system."""
    filesystem: pafs.FileSystem | None = None

    def but(self, files: Collection[str]) -> PassedOver:
        """Those that are none of these files."""
        kept = tuple(name for name in self.names if self.name_of(name) not in files)
        return replace(self, names=kept)

    def name_of(self, below: str) -> str:
        """Return what a file of the folder is called elsewhere."""
        return f"{self.folder.rstrip('/')}/{below}"

    def __str__(self) -> str:
        return f"names that end like no format: {_listed(list(self.names))}"


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source names."""

    files: tuple[TraceFile, ...]
    passed_over: tuple[PassedOver, ...]

    def others(self) -> Iterator[TraceFile]:
        """Return the files that are passed over."""
        for others in self.passed_over:
            for below in others.names:
                yield TraceFile(others.name_of(below), f"{others.root}/{below}", others.filesystem)


def listing(source: Location | Iterable[Location]) -> Listing:
    """Return the files of a source, and what of its folders is passed over. Raises SourceError."""
    passed_over: list[PassedOver] = []
    found = tuple(_files_of_all(source, passed_over))
    return Listing(found, tuple(passed_over))


def files(source: Location | Iterable[Location]) -> Iterator[TraceFile]:
    """Return the files of a source. Raises SourceError."""
    yield from _files_of_all(source, [])


def _files_of_all(
    source: Location | Iterable[Location], passed_over: list[PassedOver]
) -> Iterator[TraceFile]:
    if isinstance(source, str | os.PathLike):
        yield from _files_of(os.fspath(source), passed_over)
        return
    items = list(source)
    if not items:
        raise SourceError("expected a file, a folder or a list of them; found an empty list")
    for item in items:
        if not isinstance(item, str | os.PathLike):
            raise SourceError(
                f"expected paths, spans or decoded documents in a {type(source).__name__}, found "
                f"{type(item).__name__} {str(item)[:_SHOWN_OF_ITEM]!r}: give load() what holds the "
                "traces"
            )
        yield from _files_of(os.fspath(item), passed_over)


def _files_of(path: str, passed_over: list[PassedOver]) -> Iterator[TraceFile]:
    if "://" in path:
        yield from _remote_files(path, passed_over)
    elif path == STDIN:
        yield TraceFile(STDIN, STDIN)
    elif os.path.isdir(path):
        for found in _files_in(path, passed_over):
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


def is_named_like_traces(name: str) -> bool:
    """Tell whether the name of a file ends like a format that is known."""
    name = name.lower()
    return name.endswith(ENDINGS) or _ROTATED.sub("", name).endswith(ENDINGS)


def _is_hidden(below: str) -> bool:
    return any(part.startswith(_HIDDEN) for part in below.split("/"))


def _pass_over(
    folder: str,
    others: list[str],
    passed_over: list[PassedOver],
    root: str,
    filesystem: pafs.FileSystem | None = None,
) -> None:
    names = [
        name
        for name in others
        if not _is_hidden(name) and not _BESIDE.fullmatch(name.rpartition("/")[2].lower())
    ]
    if names:
        passed_over.append(PassedOver(folder, tuple(names), root, filesystem))


def _files_in(folder: str, passed_over: list[PassedOver]) -> list[str]:
    found, others = [], []
    for place, folders, names in os.walk(folder):
        if SPOOL_FOLDER in folders:
            found += left_spools(os.path.join(place, SPOOL_FOLDER))
        folders[:] = sorted(name for name in folders if not name.startswith(_HIDDEN))
        for name in sorted(names):
            path = os.path.join(place, name)
            if name.startswith(_HIDDEN) or not is_named_like_traces(name):
                others.append(Path(path).relative_to(folder).as_posix())
            else:
                found.append(path)
    if not found:
        raise SourceError(_nothing_in(folder, others))
    _pass_over(folder, others, passed_over, folder)
    return sorted(found)


def _remote_files(url: str, passed_over: list[PassedOver]) -> Iterator[TraceFile]:
    import pyarrow.fs as pafs

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
        if _is_hidden(below) or not is_named_like_traces(below):
            others.append(below)
        else:
            found.append(item.path)
    if not found:
        raise SourceError(_nothing_in(url, others))
    _pass_over(url, others, passed_over, root, filesystem)
    for path in sorted(found):
        yield TraceFile(f"{prefix}{path}", path, filesystem)


def _filesystem(url: str) -> tuple[pafs.FileSystem, str]:
    """Return what reaches a URL, through pyarrow or else fsspec, and the path in it."""
    import pyarrow.fs as pafs  # slow to import, and few sources are URLs

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
