"""What the exit code of `trackway` says."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of every command."""

    PASS = 0
    """Pass; warnings alone too."""
    VIOLATION = 1
    """A violation, a failed diff or a regression; with `--strict` a warning too."""
    INSUFFICIENT = 2
    """The evidence does not decide. This is no pass."""
    INCOMPARABLE = 3
    """A condition that must be the same differs or is unknown."""
    ERROR = 4
    """Wrong usage, unreadable input, or an error of this program."""
