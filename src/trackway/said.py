"""What a program says in a way that may not be meant: told in the log, once for each.

1. A run's final text that is said anew: what was said is said, so both stand, a blank line between.
2. A `success` predicate that gives something other than True or False: its truth counts, and a text
   such as `"failed"` is true.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from trackway.capture.storage import library_of, type_name

_LOGGER: Final = logging.getLogger("trackway")
_MOST: Final = 1024
_told: set[tuple[str, str | None]] = set()


def both_texts(earlier: str | None, text: str, task: str | None) -> str:
    """Return the final text of a run to which another was given before, or not (None)."""
    if earlier is None or text == earlier:
        return text
    _tell_once(
        ("final", task),
        "trackway: final() gave a run%s a second text; both are its final text: call it once, at "
        "the end",
        f" of {task!r}" if task else "",
    )
    return f"{earlier}\n\n{text}"


def note_verdict(tool: str, verdict: Any) -> None:
    """Tell of a verdict that counts as true and is no flag or number."""
    if type(verdict) not in (bool, int) and library_of(verdict) != "numpy":
        _tell_once(
            ("success", tool),
            "trackway: %s: success gave a %s, which counts as True whatever it says; return True "
            "or False",
            *(tool, type_name(type(verdict))),
        )


def _tell_once(what: tuple[str, str | None], message: str, *about: object) -> None:
    if what not in _told and len(_told) < _MOST:
        _told.add(what)
        _LOGGER.warning(message, *about)
