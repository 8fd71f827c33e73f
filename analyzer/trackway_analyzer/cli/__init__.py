"""The `trackway` command: one thin file a command; exit codes in `exit`, the start in `program`."""

from trackway_analyzer.cli.program import main

__all__ = ["main"]
