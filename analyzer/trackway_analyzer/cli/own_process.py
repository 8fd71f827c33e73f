"""What a process does without that runs one command and ends: it starts in half the time.

1. No threads for NumPy's linear algebra, of which a command has none to speak of.
2. No pandas before a time needs it: see `times`.
3. No search for garbage among what is imported: modules stay until the end.

Nothing of it is done where a command is run inside another program.
"""

from __future__ import annotations

import gc
import os

_OBJECTS_BETWEEN_SEARCHES = 50_000
"""Python's own 700 has it search a hundred times while the modules of a command are imported."""


def lighten() -> None:
    """Call before NumPy and pyarrow are imported."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_OBJECTS_BETWEEN_SEARCHES, *gc.get_threshold()[1:])

    # Not at the head of the file: it imports pyarrow, which help does without.
    from trackway_analyzer.times import without_pandas

    without_pandas()
