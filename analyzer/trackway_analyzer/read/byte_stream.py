"""Bytes of a file, decompressed, within bounds.

1. gzip, zstd, bzip2 and xz are told by their first bytes, never by the file's name.
2. More than `MAX_RATIO` bytes out of one byte in, once `FREE_BYTES` have come out, is a bomb.
3. A compressed file that ends too early gives what it holds, and then says so.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Final

import pyarrow as pa

from trackway_analyzer.read.quarantine import Reason
from trackway_analyzer.read.source import TraceFile

MAX_RATIO: Final = 300
FREE_BYTES: Final = 64 * 1024 * 1024
CHUNK: Final = 4 * 1024 * 1024
HEAD: Final = 4096
ZSTD: Final = b"\x28\xb5\x2f\xfd"

_PIECE: Final = 64 * 1024
_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zX"
_BZIP2 = b"BZh"
_BZIP2_BLOCK = b"1AY&SY"
"""What stands behind the mark and a digit: a text may begin as the mark does."""
_START: Final = 10


def is_compressed(head: bytes) -> bool:
    """Tell whether bytes begin as a compressed file does."""
    return head.startswith((_GZIP, ZSTD, _XZ)) or _is_bzip2(head)


def _is_bzip2(head: bytes) -> bool:
    return head.startswith(_BZIP2) and head[4:].startswith(_BZIP2_BLOCK)


class UnreadableStreamError(ValueError):
    """A compressed file cannot be read on: it is cut short, damaged, or a bomb."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class _Bytes:
    """Bytes read once from front to back, of which some may have been seen ahead."""

    def __init__(self, seen: bytes = b"") -> None:
        self._seen = seen
        self._at = 0

    def head(self) -> bytes:
        """Return the first bytes without taking them; fewer where the file ends or breaks there."""
        return self.look(HEAD)

    def look(self, size: int) -> bytes:
        """Return the next bytes without taking them; fewer where the file ends or breaks there."""
        parts = [self._seen[self._at :]]
        length = len(parts[0])
        while length < size:
            try:
                chunk = self._read(min(size, CHUNK))
            except UnreadableStreamError:
                break
            if not chunk:
                break
            parts.append(chunk)
            length += len(chunk)
        self._seen, self._at = b"".join(parts), 0
        return self._seen[:size]

    def read(self, size: int = CHUNK) -> bytes:
        """Return some of the next bytes, empty at the end. Raises UnreadableStreamError."""
        chunk = self._seen[self._at : self._at + size]
        if chunk:
            self._at += len(chunk)
            return chunk
        if self._seen:
            self._seen, self._at = b"", 0
        return self._read(size)

    def read_exactly(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer only at the end. Raises UnreadableStreamError."""
        parts = []
        while size > 0 and (chunk := self.read(min(size, CHUNK))):
            parts.append(chunk)
            size -= len(chunk)
        return b"".join(parts)

    def _read(self, _size: int) -> bytes:
        return b""


class Window(_Bytes):
    """The beginning of a file, that was looked at ahead."""


class ByteStream(_Bytes):
    """Decompressed bytes of one file."""

    def __init__(self, file: TraceFile) -> None:
        super().__init__()
        raw = file.open()
        start = raw.read(_START)
        self._file = _Counted(start, raw)
        opened: Any = self._file
        self._stream: Any = opened
        self._out = 0
        self._compressed = True
        # What was decompressed before an early end must not be lost: one piece at a time.
        self._next: Callable[[int], bytes] = self._file.read
        if start.startswith(_GZIP):
            self._stream = gzip.GzipFile(fileobj=self._file)
            self._next = self._stream.read1
        elif _is_bzip2(start):
            self._stream = bz2.BZ2File(self._file)
            self._next = self._stream.read1
        elif start.startswith(_XZ):
            self._stream = lzma.LZMAFile(opened)  # noqa: SIM115  # closed with the stream
            self._next = self._stream.read1
        elif start.startswith(ZSTD):
            self._stream = pa.CompressedInputStream(pa.PythonFile(self._file, "r"), "zstd")
            self._next = lambda size: self._stream.read(min(size, _PIECE))
        else:
            self._compressed = False

    def _read(self, size: int) -> bytes:
        try:
            chunk = self._next(size)
        except EOFError as error:
            raise UnreadableStreamError(
                Reason.TRUNCATED_FILE, f"the compressed file ends early: {error}"
            ) from None
        except (zlib.error, lzma.LZMAError, pa.ArrowException, OSError) as error:
            if not self._compressed:
                raise
            cut = "runcated" in str(error)
            reason = Reason.TRUNCATED_FILE if cut else Reason.BROKEN_COMPRESSION
            raise UnreadableStreamError(reason, str(error)) from None
        self._out += len(chunk)
        taken = self._file.taken
        if self._compressed and self._out > max(FREE_BYTES, MAX_RATIO * taken):
            detail = f"more than {MAX_RATIO} bytes out of one: {self._out} out of {taken}"
            raise UnreadableStreamError(Reason.DECOMPRESSION_RATIO, detail)
        return chunk

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._file.close()


class _Counted(io.RawIOBase):
    """A file whose first bytes were read already, counting what is taken from it."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        super().__init__()
        self._start = start
        self._rest = rest
        self.taken = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._start:
            data, self._start = self._start, b""
            if size < 0 or size > len(data):
                data += self._rest.read(-1 if size < 0 else size - len(data))
            elif size < len(data):
                data, self._start = data[:size], data[size:]
        else:
            data = self._rest.read(size)
        self.taken += len(data)
        return data

    def close(self) -> None:
        if not self.closed and self._rest is not sys.stdin.buffer:
            self._rest.close()
        super().close()
