"""Did a recorded call take effect? What was declared wins, else its result says.

`happened` holds the rules; here a result is still a text.
"""

from __future__ import annotations

from trackway.schema import StepKind
from trackway_analyzer.happened import happened
from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import NOT_RECORDED


def took_effect(result: str | None, kind: str | None, *, raised: bool) -> bool | None:
    """Return whether a call took effect; None where the record leaves it open."""
    value = NOT_RECORDED if result is None else parsed(result)
    return happened(value, raised=raised, lookup=kind == StepKind.LOOKUP)
