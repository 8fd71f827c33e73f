"""What is installed here, and who records it? `trackway.instrument()` turns it on and says so.

1. Each library of the registry that can be imported is turned on by the first of its ways that is
   installed and fits its version. What is not installed is skipped.
2. A library that another instrumentor records already is left to it, and the report says by which.
   Calling `instrument()` again changes nothing for what is on.
3. The content choice of `configure()` (else of the environment) goes to every instrumentor.
4. Nothing raises into the program: what fails is off in the report, with the error, counted among
   the capture errors and logged once.
5. `uninstrument()` takes back what `instrument()` did, and nothing else.
6. A run that is open while a library that is imported already is turned on, or any is turned off,
   says so: a part of it is not in the record.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trackway.instrument.report import Entry, Report
    from trackway.instrument.turning_on import instrument, uninstrument

__all__ = ["Entry", "Report", "instrument", "uninstrument"]

_PLACES = {"Entry": "report", "Report": "report"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for: the analyzer reads `registry` alone."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES.get(name, 'turning_on')}"), name)
