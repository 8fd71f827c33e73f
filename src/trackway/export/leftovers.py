"""What becomes of a spool file once its frames are safe elsewhere, or cannot be read?

1. Whole frames that decode are delivered; whatever else is in the file costs none of them.
2. A file that holds nothing else is deleted, and so is one that never held a frame. The beginning
   of a frame at its end goes too, and is said: a process was killed while it wrote that.
3. A file with something that nobody can read (damage, content of another make) is set aside as
   `NAME.spool.unreadable`, said, and counted under `UNREADABLE` in `trackway.capture_errors()`.
"""

from __future__ import annotations

import logging
from typing import Final

from trackway.capture import count_capture_errors
from trackway.export.spool import Rest, Segment

_LOG: Final = logging.getLogger(__name__)
UNREADABLE: Final = "export: unreadable spool files"
"""The place of such files in `trackway.capture_errors()`."""


def retire(segment: Segment, unreadable: str | None = None) -> None:
    """Delete a segment that was read to its end, or set it aside; raises nothing.

    unreadable: what is wrong with a frame of it, or with reading it at all.
    """
    wrong = unreadable
    if wrong is None and segment.rest is Rest.DAMAGED:
        wrong = "it is damaged, or no spool file"
    try:
        if wrong is not None:
            _set_aside(segment, wrong)
            return
        if segment.rest is Rest.CUT_SHORT:
            _LOG.warning(
                "trackway: the process that wrote %s was killed amid a batch; "
                "the spans of that batch are lost, the others are recovered",
                segment.path,
            )
        segment.discard()
    except OSError as error:
        segment.close()
        _LOG.warning(
            "trackway cannot remove %s: %s; the next start reads it again", segment.path, error
        )


def _set_aside(segment: Segment, wrong: str) -> None:
    count_capture_errors(UNREADABLE, 1)
    aside = segment.set_aside()
    _LOG.warning(
        "trackway cannot read all of the spool file %s: %s; what could be read is recovered, "
        "the file is kept as %s",
        segment.path,
        wrong,
        aside.name,
    )
