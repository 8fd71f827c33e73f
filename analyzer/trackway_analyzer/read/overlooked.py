"""Which of the files that a folder passes over for their names may hold traces all the same?

1. A file may where its beginning is that of Arrow, Parquet or a document with calls or spans
   (`unread_forms`), or a table, database or pickle with columns of theirs.
2. So may an archive with a member that is named like traces, and a file whose name ends like a
   format but for a compression that is not undone.
3. Only the first bytes are looked at, of what is compressed too. A picture or a page costs no look.
4. Of any other, the words are kept that may name a tool (`names_held`).
"""

from __future__ import annotations

import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

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
_OF_TRACES: Final = re.compile(rb"span_?id|trace_?id|tool_?calls?\b|tool_?name", re.IGNORECASE)
_BINARY: Final = ((b"SQLite format 3", "an SQLite database"), (b"\x80\x04", "a pickle"))
_TABLES: Final = ((b"Obj\x01", "a file of Avro"), (b"ORC", "a file of ORC"))
_BINARY_PICKLE: Final = (b"\x80\x05", "a pickle")
_ZIP: Final = b"PK\x03\x04"
_GZIP: Final = b"\x1f\x8b"


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
            what = _holds_member(file, head)
            inner = _inflated(head)
            what = what or _packed(inner) or _looks_like(inner)
        except (OSError, zipfile.BadZipFile, tarfile.TarError, NotImplementedError, ValueError):
            continue
        names = () if what is not None else names_in_file(file.name, inner)
        if what is not None or names:
            yield Overlooked(file, what, names)


def _inflated(head: bytes) -> bytes:
    """Undo the gzip of the beginning of a file."""
    if not head.startswith(_GZIP):
        return head
    try:
        return zlib.decompressobj(wbits=31).decompress(head, _HEAD)
    except zlib.error:
        return head


def _packed(head: bytes) -> str | None:
    """Tell of an archive that was compressed what its first member is, if it is traces."""
    if not is_tape(head):
        return None
    member = head[:100].rstrip(b"\0").decode("utf-8", "replace")
    return f"an archive with {member[:64]!r}: unpack it" if is_named_like_traces(member) else None


def _looks_like(head: bytes) -> str | None:
    if head.startswith((b"PAR1", b"ARROW1")):
        return _READ_IF_NAMED
    for start, what in (*_BINARY, _BINARY_PICKLE, *_TABLES):
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
    member = next((name for name in names if is_named_like_traces(name)), None)
    return None if member is None else f"an archive with {member[:64]!r}: unpack it"
