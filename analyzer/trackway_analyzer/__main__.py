"""`python -m trackway_analyzer` is the `trackway` command."""

from __future__ import annotations

from trackway_analyzer.cli import main

main()
