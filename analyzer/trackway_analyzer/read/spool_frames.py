"""Spans that a recorder left in its spool: it was killed before it could write them to a file.

1. The spool of a folder is `.spool` in it, one file `*.spool` a process: a header (`TWSPOOL1` and
   the position up to which all is written elsewhere), then frames: length, CRC-32, an Arrow stream
   or, where spans wait for a receiver, an OTLP message.
2. The end of a frame that was being written is what was never recorded, and is passed over. What
   is damaged otherwise is put aside.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from trackway_analyzer.read.byte_stream import ByteStream
from trackway_analyzer.read.quarantine import Quarantine, Reason

_HEADER: Final = struct.Struct("<8sQ")
_FRAME: Final = struct.Struct("<II")
_ARROW: Final = b"\xff\xff\xff\xff"


def spooled(stream: ByteStream, quarantine: Quarantine) -> Iterator[tuple[int, bytes]]:
    """Return (place, bytes) of each whole frame that is in no other file."""
    header = stream.read_exactly(_HEADER.size)
    if len(header) < _HEADER.size:
        return
    _, position = _HEADER.unpack(header)
    if not _skip(stream, position - _HEADER.size):
        quarantine.add(Reason.BROKEN_LINE, "a spool whose header names no place in it", 0)
        return
    while len(head := stream.read_exactly(_FRAME.size)) == _FRAME.size:
        length, checksum = _FRAME.unpack(head)
        body = stream.read_exactly(length)
        if len(body) < length:
            return
        if zlib.crc32(body) != checksum:
            quarantine.add(Reason.BROKEN_SPAN, "a frame of the spool is damaged", position)
            return
        yield position, body
        position += _FRAME.size + length


def arrow_table(frame: bytes) -> pa.Table | None:
    """Return the rows of a frame; None of one that is no Arrow stream. Raises pa.ArrowException."""
    if not frame.startswith(_ARROW):
        return None
    with pa.ipc.open_stream(frame) as reader:
        table = reader.read_all()
    table.validate(full=True)
    return table


def _skip(stream: ByteStream, size: int) -> bool:
    """Pass over so many bytes; False where there are fewer."""
    while size > 0:
        passed = len(stream.read_exactly(min(size, 1 << 20)))
        if not passed:
            return False
        size -= passed
    return size == 0
