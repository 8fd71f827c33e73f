"""Which spools in a folder has no running program, so that nobody else will tell of their spans?

1. The spool of a folder is `.spool` in it, one file a process.
2. A process holds a lock on its file as long as it lives. It writes those spans to a file of the
   folder itself, soon; they are not read here.
3. What a killed process left is written by the next one that records into the folder. Until then
   it is read from the spool; what was set aside as damaged is too, as far as it goes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

SPOOL_FOLDER: Final = ".spool"
SPOOL_ENDINGS: Final = (".spool", ".spool.unreadable")


def left_spools(folder: str | Path) -> list[str]:
    """Return the files of a spool folder that no running program writes."""
    paths = sorted(path for path in Path(folder).iterdir() if path.name.endswith(SPOOL_ENDINGS))
    return [str(path) for path in paths if not _is_held(path)]


def _is_held(path: Path) -> bool:
    """Whether a process holds the lock of a segment."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover - a system whose locks cannot be asked for
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # gone by now, or the reader is told why
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
