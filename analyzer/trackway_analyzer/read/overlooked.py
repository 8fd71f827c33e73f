"""Which of the files that a folder passes over for their names may hold traces all the same?

1. A file may where its beginning is that of Arrow, Parquet or a document with calls or spans
   (`unread_forms`), or a table, database or pickle with columns of theirs.
2. So may an archive with a member that is named like traces, and a file whose name ends like a
   format but for a compression that is not undone.
3. Only the first bytes are looked at, and nothing is unpacked. A picture or a page costs no look.
"""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections.abc import Iterator
from typing import Final

from trackway_analyzer.read.decoded_json import NotJson, decoded
from trackway_analyzer.read.source import Listing, TraceFile, is_named_like_traces
from trackway_analyzer.read.unread_forms import unread_form, unread_text

_HEAD: Final = 65_536
_READ_IF_NAMED: Final = "traces whose name ends like no format: give it by name, or rename it"
_NO_TRACES: Final = re.compile(
    r"\.(png|jpe?g|gif|svg|webp|pdf|html?|css|js|ts|ipynb|woff2?|ico|mp[34]|wav|sh|sql|diff|patch)$"
)
_PACKED: Final = re.compile(r"\.(lz4|lzo|br|z|7z|rar|snappy|sz|lzma)$")
_OF_TRACES: Final = re.compile(rb"span_?id|trace_?id|tool_?calls?\b|tool_?name", re.IGNORECASE)
_BINARY: Final = ((b"SQLite format 3", "an SQLite database"), (b"\x80\x04", "a pickle"))
_BINARY_PICKLE: Final = (b"\x80\x05", "a pickle")
_ZIP: Final = b"PK\x03\x04"


def overlooked(listing: Listing) -> Iterator[tuple[TraceFile, str]]:
    """Return files that are passed over and may hold traces, and what to say of each."""
    for file in listing.others():
        name = file.name.lower()
        if _NO_TRACES.search(name):
            continue
        unpacked = _PACKED.sub("", name)
        if unpacked != name and is_named_like_traces(unpacked):
            yield file, "a compression that is not undone: unpack it"
            continue
        try:
            with file.open() as opened:
                head = opened.read(_HEAD)
            what = _looks_like(head) or _holds_member(file, head)
        except (OSError, zipfile.BadZipFile, tarfile.TarError, NotImplementedError, ValueError):
            continue
        if what is not None:
            yield file, what


def _looks_like(head: bytes) -> str | None:
    if head.startswith((b"PAR1", b"ARROW1")):
        return _READ_IF_NAMED
    for start, what in (*_BINARY, _BINARY_PICKLE):
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
    if file.filesystem is not None or not (head.startswith(_ZIP) or head[257:262] == b"ustar"):
        return None
    if head.startswith(_ZIP):
        with zipfile.ZipFile(file.path) as archive:
            names = archive.namelist()
    else:
        with tarfile.open(file.path) as tape:
            names = tape.getnames()
    member = next((name for name in names if is_named_like_traces(name)), None)
    return None if member is None else f"an archive with {member[:64]!r}: unpack it"
