"""Bytes of a file, decompressed, within bounds.

1. gzip and zstd are told by their first bytes, never by the file's name.
2. More than `MAX_RATIO` bytes out of one byte in, once `FREE_BYTES` have come out, is a bomb:
   `DecompressionRatioError`.
3. A compressed file that ends too early gives what it holds and then raises `TruncatedStreamError`.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Final

import pyarrow as pa

from trackway_analyzer.read.source import STDIN

MAX_RATIO: Final = 300
FREE_BYTES: Final = 64 * 1024 * 1024
CHUNK: Final = 4 * 1024 * 1024

_PIECE: Final = 64 * 1024
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


class DecompressionRatioError(ValueError):
    """The file decompresses to far more than traces ever do."""


class TruncatedStreamError(EOFError):
    """A compressed file ends before its end mark: its writer died, or is still writing."""


class BrokenCompressionError(ValueError):
    """A compressed file that cannot be decompressed."""


class ByteStream:
    """Decompressed bytes of one file, read once from front to back."""

    def __init__(self, path: str) -> None:
        raw = sys.stdin.buffer if path == STDIN else open(path, "rb")  # noqa: SIM115
        head = raw.read(4)
        self.counted = _Counted(head, raw)
        self._out = 0
        self._compressed = True
        self._stream: Any = self.counted
        # What was decompressed before an early end must not be lost: one piece at a time.
        self._next: Callable[[int], bytes] = self.counted.read
        if head.startswith(_GZIP):
            self._stream = gzip.GzipFile(fileobj=self.counted)
            self._next = self._stream.read1
        elif head == _ZSTD:
            self._stream = pa.CompressedInputStream(pa.PythonFile(self.counted, "r"), "zstd")
            self._next = lambda size: self._stream.read(min(size, _PIECE))
        else:
            self._compressed = False

    def read(self, size: int = CHUNK) -> bytes:
        """Return the next bytes, empty at the end.

        Raises DecompressionRatioError, TruncatedStreamError, BrokenCompressionError.
        """
        try:
            chunk = self._next(size)
        except EOFError as error:
            raise TruncatedStreamError(str(error)) from None
        except (zlib.error, gzip.BadGzipFile, pa.ArrowException, OSError) as error:
            if not self._compressed:
                raise
            kind = TruncatedStreamError if "runcated" in str(error) else BrokenCompressionError
            raise kind(str(error)) from None
        self._out += len(chunk)
        if self._compressed and self._out > max(FREE_BYTES, MAX_RATIO * self.counted.read_bytes):
            raise DecompressionRatioError(
                f"more than {MAX_RATIO} bytes out of one: {self._out} out of "
                f"{self.counted.read_bytes}"
            )
        return chunk

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self.counted.close()


class _Counted(io.RawIOBase):
    """A file whose first bytes were read already, counting what is taken from it."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        super().__init__()
        self._head = head
        self._rest = rest
        self.read_bytes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._head:
            data = self._head
            self._head = b""
            if size < 0 or size > len(data):
                data += self._rest.read(-1 if size < 0 else size - len(data))
            elif size < len(data):
                data, self._head = data[:size], data[size:]
        else:
            data = self._rest.read(size)
        self.read_bytes += len(data)
        return data

    def close(self) -> None:
        if not self.closed and self._rest is not sys.stdin.buffer:
            self._rest.close()
        super().close()
