"""Messages with their length before them, as the collector's file exporter writes them.

1. Each message is preceded by its length, four bytes, big end first. The exporter does so for
   protobuf, and for any encoding once compression is on: then each message is a zstd stream.
2. A length beyond `MAX_FRAME` is no frame, and ends the file with `too_large`; a last message cut
   short is a truncated file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from trackway_analyzer.read.byte_stream import (
    MAX_RATIO,
    ZSTD,
    ByteStream,
    UnreadableStreamError,
    Window,
)
from trackway_analyzer.read.quarantine import Quarantine, Reason

MAX_FRAME: Final = 128 * 1024 * 1024
LENGTH: Final = 4


def is_framed(head: bytes) -> bool:
    """Tell whether a file begins with a length and, after it, what messages begin with."""
    if len(head) <= LENGTH:
        return False
    length = int.from_bytes(head[:LENGTH])
    body = head[LENGTH:]
    return 0 < length <= MAX_FRAME and (body[:1] in (b"\n", b"{") or body.startswith(ZSTD))


def frames(stream: ByteStream | Window, quarantine: Quarantine) -> Iterator[tuple[int, bytes]]:
    """Return the messages with their offsets, decompressed."""
    position = 0
    while True:
        try:
            head = stream.read_exactly(LENGTH)
            length = int.from_bytes(head)
            if len(head) == LENGTH and length > MAX_FRAME:
                detail = f"a message of {length} bytes, more than {MAX_FRAME}"
                quarantine.add(Reason.TOO_LARGE, detail, position)
                return
            body = stream.read_exactly(length)
        except UnreadableStreamError as error:
            quarantine.add(error.reason, str(error), position)
            return
        if not head:
            return
        if len(head) < LENGTH or len(body) < length:
            quarantine.add(Reason.TRUNCATED_FILE, "the last message ends in the middle", position)
            return
        if body.startswith(ZSTD):
            unpacked = _unpacked(body)
            if unpacked is None:
                detail = "a message that cannot be decompressed within the bounds"
                quarantine.add(Reason.BROKEN_COMPRESSION, detail, position)
                position += LENGTH + length
                continue
            body = unpacked
        yield position, body
        position += LENGTH + length


def _unpacked(body: bytes) -> bytes | None:
    """Decompress one message; None where it is broken or a bomb."""
    bound = max(MAX_FRAME, MAX_RATIO * len(body))
    try:
        with pa.CompressedInputStream(pa.BufferReader(body), "zstd") as stream:
            unpacked: bytes = stream.read(bound + 1)
    except (pa.ArrowException, OSError):
        return None
    return unpacked if len(unpacked) <= bound else None
