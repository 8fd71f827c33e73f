"""The `trackway` command: one thin file a command, exit codes in `exit`, the way in in `main`."""

from trackway_analyzer.cli.main import main

__all__ = ["main"]
