"""What a person names as a source, to the files that hold it.

1. A file is taken whatever its name. A folder is searched to any depth for files whose name ends
   like a format that is known, in the order of their paths; hidden files and those that begin
   with `_` are left out. A pattern with `*` is what it finds. A list is each of its items. `-` is
   standard input.
2. A path that is not there, or a folder without any such file, raises `SourceError`, which says
   what was looked for and what is there instead.
"""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

STDIN: Final = "-"
ENDINGS: Final = (
    ".parquet",
    ".json",
    ".jsonl",
    ".ndjson",
    ".otlp",
    ".pb",
    ".binpb",
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


class SourceError(FileNotFoundError):
    """A source that is not there, or that holds nothing to read."""


def files(source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    """Return the files of a source. Raises SourceError."""
    if isinstance(source, str | os.PathLike):
        yield from _files_of(os.fspath(source))
        return
    items = list(source)
    if not items:
        raise SourceError("expected a file, a folder or a list of them; found an empty list")
    for item in items:
        yield from _files_of(os.fspath(item))


def _files_of(path: str) -> Iterator[str]:
    if path == STDIN:
        yield path
    elif os.path.isdir(path):
        yield from _files_in(path)
    elif os.path.exists(path):
        yield path
    elif glob.has_magic(path):
        found = sorted(match for match in glob.glob(path, recursive=True) if os.path.isfile(match))
        if not found:
            raise SourceError(f"no file fits the pattern {path}")
        yield from found
    else:
        raise SourceError(_missing(path))


def _files_in(folder: str) -> list[str]:
    found, others = [], []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        for name in sorted(names):
            path = os.path.join(place, name)
            if name.startswith((".", "_")) or not name.endswith(ENDINGS):
                others.append(os.path.relpath(path, folder))
            else:
                found.append(path)
    if not found:
        there = _listed(others) if others else "nothing"
        raise SourceError(
            f"no traces in {folder}: looked for names that end in "
            f"{', '.join(ENDINGS[:6])}, .gz, .zst; there is {there}"
        )
    return sorted(found)


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
