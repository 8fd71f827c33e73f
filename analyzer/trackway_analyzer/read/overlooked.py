"""Which of the files that a folder passes over for their names may hold traces all the same?

1. A file may where its beginning is that of Arrow, Parquet or a document with calls or spans
   (`unread_forms`), or a table, database or pickle with columns of theirs.
2. So may an archive with a member that is named like traces or that is a workbook, and what nobody
   can look into: a compression that is not undone, tables of ORC, DuckDB or Avro without a schema.
3. Only the first bytes are looked at, of what is compressed too, whatever its name. A picture or a
   page costs no look.
4. Of any other, the words are kept that may name a tool (`names_held`).
"""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections.abc import Iterator
from typing import Final, NamedTuple

from trackway_analyzer.read.byte_stream import ByteStream
from trackway_analyzer.read.decoded_json import NotJson, decoded
from trackway_analyzer.read.detect import is_tape
from trackway_analyzer.read.names_held import names_in_file
from trackway_analyzer.read.quarantine import Quarantined, Reason
from trackway_analyzer.read.source import Listing, TraceFile, is_named_like_traces
from trackway_analyzer.read.unread_forms import unread_form, unread_text

_HEAD: Final = 65_536
OTHERWISE_NAMED: Final = "its name ends like no format: give it by name, or rename it"
"""What there is to say of a file that is passed over."""
_READ_IF_NAMED: Final = "traces whose name ends like no format: give it by name, or rename it"
_NO_TRACES: Final = re.compile(
    r"\.(png|jpe?g|gif|svg|webp|pdf|html?|css|js|ts|ipynb|woff2?|ico|mp[34]|wav|sh|sql|diff|patch)$"
)
_PACKED: Final = re.compile(r"\.(lz4|lzo|br|z|7z|rar|snappy|sz|lzma)$")
_OF_TRACES: Final = re.compile(
    rb"span_?id|trace_?id|(?:tool|function)_?calls?\b|tool_?name|agent_messages", re.IGNORECASE
)
_BINARY: Final = ((b"SQLite format 3", "an SQLite database"), (b"\x80\x04", "a pickle"))
_AVRO: Final = b"Obj\x01"
_SEALED: Final = (
    (b"7z\xbc\xaf\x27\x1c", "an archive of 7-Zip: unpack it"),
    (b"Rar!\x1a\x07", "an archive of RAR: unpack it"),
    (b"\x04\x22\x4d\x18", "a compression that is not undone (LZ4): unpack it"),
    (b"\xff\x06\x00\x00sNaPpY", "a compression that is not undone (Snappy): unpack it"),
    (b"ORC", "a file of ORC: write it as Parquet"),
)
"""How something begins that nobody can look into."""
_DUCKDB: Final = b"DUCK"
_SHEETS: Final = "xl/worksheets/"
_BINARY_PICKLE: Final = (b"\x80\x05", "a pickle")
_ZIP: Final = b"PK\x03\x04"


class Overlooked(NamedTuple):
    """A file that is passed over."""

    file: TraceFile
    what: str | None
    """What it is, where it may hold traces."""
    names: tuple[str, ...] = ()
    """Words of it that may name a tool."""

    def passed_over(self) -> Quarantined:
        """What is put aside of one that is not known to hold traces."""
        return Quarantined(
            self.file.name, Reason.PASSED_OVER, OTHERWISE_NAMED, count=1, names=self.names
        )


def overlooked(listing: Listing) -> Iterator[Overlooked]:
    """Return files that are passed over and may hold traces, or name tools."""
    for file in listing.others():
        name = file.name.lower()
        if _NO_TRACES.search(name):
            continue
        unpacked = _PACKED.sub("", name)
        if unpacked != name and is_named_like_traces(unpacked):
            yield Overlooked(file, "a compression that is not undone: unpack it")
            continue
        try:
            with file.open() as opened:
                head = opened.read(_HEAD)
            what = _holds_member(file, head) or _sealed(head)
            inner = ByteStream(file).look(_HEAD)
            what = what or _packed(inner) or _looks_like(inner)
        except (zipfile.BadZipFile, tarfile.TarError, NotImplementedError):
            yield Overlooked(file, "an archive that cannot be opened")
            continue
        except (OSError, ValueError):
            continue
        names = () if what is not None else names_in_file(file.name, inner)
        if what is not None or names:
            yield Overlooked(file, what, names)


def _sealed(head: bytes) -> str | None:
    """Tell what nobody can look into."""
    found = next((what for start, what in _SEALED if head.startswith(start)), None)
    if head[8:12] == _DUCKDB:
        return "a database of DuckDB: export its traces"
    return found


def _packed(head: bytes) -> str | None:
    """Tell of an archive that was compressed what its first member is, if it is traces."""
    if not is_tape(head):
        return None
    member = head[:100].rstrip(b"\0").decode("utf-8", "replace")
    return f"an archive with {member[:64]!r}: unpack it" if is_named_like_traces(member) else None


def _looks_like(head: bytes) -> str | None:
    if head.startswith((b"PAR1", b"ARROW1")):
        return _READ_IF_NAMED
    if head.startswith(_AVRO) and b"avro.schema" not in head:
        return "a file of Avro: write it as Parquet"
    for start, what in (*_BINARY, _BINARY_PICKLE, (_AVRO, "a file of Avro")):
        if head.startswith(start):
            found = _OF_TRACES.search(head)
            return f"{what} that names {found[0].decode()}: export its traces" if found else None
    first, _, rest = head.lstrip().partition(b"\n")
    if first.startswith((b"{", b"[")):
        whole = head if len(head) < _HEAD or not rest else b""
        for text in (first, whole):
            document = decoded(text, usual=False)
            if not isinstance(document, NotJson):
                return _READ_IF_NAMED if unread_form(document) is not None else None
    return unread_text(head)


def _holds_member(file: TraceFile, head: bytes) -> str | None:
    """Tell whether an archive has a member that is named like traces."""
    if file.filesystem is not None or not (head.startswith(_ZIP) or is_tape(head)):
        return None
    if head.startswith(_ZIP):
        with zipfile.ZipFile(file.path) as archive:
            names = archive.namelist()
    else:
        with tarfile.open(file.path) as tape:
            names = tape.getnames()
    if any(name.startswith(_SHEETS) for name in names):
        return "a workbook of Excel: export what it holds in a form that is read"
    member = next((name for name in names if is_named_like_traces(name)), None)
    return None if member is None else f"an archive with {member[:64]!r}: unpack it"
