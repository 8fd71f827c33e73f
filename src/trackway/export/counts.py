"""What became of the spans that ended: the numbers behind every "nothing was lost"."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class ExportCounts:
    """Spans since the start of the process. `ended` is the sum of the others and what waits."""

    ended: int = 0
    """Handed to the processor."""
    delivered: int = 0
    """In a complete file, or accepted by the receiver."""
    recovered: int = 0
    """Left by an earlier process and delivered by this one; not part of `ended`."""
    dropped: int = 0
    """Lost because the queue was full."""
    failed: int = 0
    """Lost because they could be written nowhere, or the receiver refused them for good."""

    @property
    def lost(self) -> int:
        """Spans that no retry will bring back."""
        return self.dropped + self.failed
