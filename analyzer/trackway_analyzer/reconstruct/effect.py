"""Did a recorded call take effect? `happened` holds the rules; here a result is still a text."""

from __future__ import annotations

from trackway.schema import StepKind
from trackway_analyzer.happened import happened
from trackway_analyzer.model import NOT_RECORDED
from trackway_analyzer.reconstruct.messages import quickly_parsed


def took_effect(
    result: str | None,
    kind: str | None,
    *,
    raised: bool,
    declared: bool | None = None,
    cancels: bool = False,
) -> bool | None:
    """Return whether a call took effect; None where the record leaves it open."""
    if declared is not None:
        return declared
    value = NOT_RECORDED if result is None else quickly_parsed(result)
    return happened(value, raised=raised, lookup=kind == StepKind.LOOKUP, cancels=cancels)
