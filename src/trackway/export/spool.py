"""What survives a killed process: frames of bytes in an append-only file.

1. A spool is a directory of segments, `ID.spool`. One process writes a segment; an operating-system
   lock on the file says that this process is alive, and the kernel drops it with the process.
2. A segment is a header (`MAGIC`, then the position up to which frames are done) and frames:
   length, CRC-32 and the bytes. A frame is there once `append` has returned: it survives the
   process. It survives the machine only with `fsync=True`.
3. Reading stops at the first torn frame; what was appended before it is whole. `rest` says what
   the bytes left over are, `leftovers` what becomes of them.
4. A segment whose lock is free belongs to nobody alive. `claim_abandoned` takes the lock, so two
   starting processes never recover the same segment.
5. Files are readable by their owner alone: they hold what the spans hold.
"""

from __future__ import annotations

import logging
import os
import secrets
import struct
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from io import FileIO
from pathlib import Path
from typing import Final

_LOG: Final = logging.getLogger(__name__)
MAGIC: Final = b"TWSPOOL1"
SUFFIX: Final = ".spool"
ASIDE_SUFFIX: Final = ".unreadable"
_HEADER: Final = struct.Struct("<8sQ")
_FRAME: Final = struct.Struct("<II")


class Rest(Enum):
    """What stands behind the last whole frame."""

    NOTHING = "nothing"
    CUT_SHORT = "cut short"
    """The beginning of a frame: its writer was killed."""
    DAMAGED = "damaged"
    """Something else than a frame, or a file that is no spool."""


class Segment:
    """One locked file of frames. Not thread-safe: its owner serialises access."""

    def __init__(self, path: Path, file: FileIO) -> None:
        self.path = path
        self.rest = Rest.NOTHING
        """As of the last time that `unread` was read to its end."""
        self._file = file
        self._end = file.seek(0, os.SEEK_END)
        self._done = 0

    @classmethod
    def create(cls, directory: Path, *, born: int | None = None) -> Segment:
        """Open a new segment, which sorts by `born` (ns since 1970; null: now).

        Raises `OSError` where the directory cannot be written.
        """
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = directory / f"{new_id(born)}{SUFFIX}"
        # Locked under a name that nobody claims, then shown.
        hidden = path.with_suffix(".new")
        file = FileIO(os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o600), "r+")
        try:
            _try_lock(file.fileno())
            _write_all(file, (_HEADER.pack(MAGIC, _HEADER.size),))
            os.rename(hidden, path)
        except OSError:
            file.close()
            hidden.unlink(missing_ok=True)
            raise
        return cls(path, file)

    @property
    def id(self) -> str:
        """The segment's name without its suffix; sorts by time of creation."""
        return self.path.name.removesuffix(SUFFIX)

    @property
    def born(self) -> int:
        """Nanoseconds since 1970, by which segments sort; 0 for a name that is not ours."""
        moment = self.id.partition("-")[0]
        return int(moment) if moment.isdigit() else 0

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return self._end

    def append(self, *parts: bytes | bytearray | memoryview, fsync: bool = False) -> None:
        """Add a frame of these parts, one after another.

        Raises `OSError` and leaves the segment as it was when the disk is full.
        """
        size = checksum = 0
        for part in parts:
            size += len(part)
            checksum = zlib.crc32(part, checksum)
        self._file.seek(self._end)
        try:
            _write_all(self._file, (_FRAME.pack(size, checksum), *parts))
            if fsync:
                os.fsync(self._file.fileno())
        except OSError:
            self.cut(self._end)
            raise
        self._end += _FRAME.size + size

    def cut(self, size: int) -> None:
        """Take back the frames behind the first `size` bytes."""
        self._file.truncate(size)
        self._end = size

    def unread(self) -> Iterator[tuple[int, bytes]]:
        """Yield (position behind the frame, bytes) of every whole frame that is not done."""
        position = self.done()
        self.rest = Rest.NOTHING
        if position < _HEADER.size or position > self._end:
            self.rest = self._without_header()
            return
        while position < self._end:
            left = self._end - position - _FRAME.size
            self._file.seek(position)
            head = self._file.read(_FRAME.size)
            length, checksum = _FRAME.unpack(head) if left >= 0 else (0, 0)
            if left < length:
                self.rest = Rest.CUT_SHORT
                return
            payload = self._file.read(length)
            if zlib.crc32(payload) != checksum:
                self.rest = Rest.DAMAGED
                return
            position += _FRAME.size + length
            yield position, payload

    def done(self) -> int:
        """Return the position up to which frames are done with; 0 in a file that is no spool."""
        self._file.seek(0)
        header = self._file.read(_HEADER.size)
        if len(header) < _HEADER.size or not header.startswith(MAGIC):
            return 0
        return max(self._done, int(_HEADER.unpack(header)[1]))

    def mark_done(self, position: int) -> None:
        """Note that the frames before `position` need no recovery."""
        self._done = position
        self._file.seek(0)
        with suppress(OSError):  # then a later process does them twice
            _write_all(self._file, (_HEADER.pack(MAGIC, position),))

    def discard(self) -> None:
        """Delete the segment: all of it is safe elsewhere."""
        self.path.unlink(missing_ok=True)
        self.close()

    def set_aside(self) -> Path:
        """Rename the file so that nobody recovers it; return where it is. Raises `OSError`."""
        aside = self.path.with_name(self.path.name + ASIDE_SUFFIX)
        try:
            os.replace(self.path, aside)
        finally:
            self.close()
        return aside

    def close(self) -> None:
        """Give up the lock and keep the file, for a later start to recover."""
        self._file.close()

    def _without_header(self) -> Rest:
        self._file.seek(0)
        header = self._file.read(len(MAGIC))
        is_cut_short = self._end < _HEADER.size and MAGIC.startswith(header)
        return Rest.NOTHING if is_cut_short else Rest.DAMAGED


def new_id(born: int | None = None) -> str:
    """Name something of this process, unique among processes and machines; sorts by time."""
    moment = time.time_ns() if born is None else born
    return f"{moment:019d}-{os.getpid()}-{secrets.token_hex(4)}"


def state_directory() -> Path:
    """Return where this user's spools are kept: `TRACKWAY_SPOOL_DIR`, else below the state home."""
    chosen = os.environ.get("TRACKWAY_SPOOL_DIR")
    if chosen:
        return Path(chosen).absolute()
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state).absolute() if state else Path.home() / ".local" / "state") / "trackway"


def claim_abandoned(directory: Path) -> Iterator[Segment]:
    """Yield, oldest first and locked, the segments whose writers are gone."""
    for path in sorted(directory.glob(f"*{SUFFIX}")):
        try:
            file = path.open("r+b", buffering=0)
        except FileNotFoundError:  # another process has just recovered it
            continue
        except OSError as error:
            _LOG.warning("trackway cannot open the spool file %s: it stays as it is", error)
            continue
        if _try_lock(file.fileno()) and _still_at(path, file.fileno()):
            yield Segment(path, file)
        else:
            file.close()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process. Raises `BlockingIOError` where another holds it."""
    with path.open("a+b", buffering=0) as file:
        if not _try_lock(file.fileno()):
            raise BlockingIOError(f"{path} is locked by another process")
        yield


def _write_all(file: FileIO, parts: tuple[bytes | bytearray | memoryview, ...]) -> None:
    for part in parts:
        view = memoryview(part)
        while view:
            view = view[file.write(view) :]


def _still_at(path: Path, descriptor: int) -> bool:
    """Tell whether the name still leads to this file: it may have been deleted before our lock."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    _BINARY: Final = os.O_BINARY

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, 2**40, os.SEEK_SET)  # far behind the data: the lock is mandatory
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    _BINARY: Final = 0

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
