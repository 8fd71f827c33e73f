"""`trackway gaps SRC`: holes in the evidence, named."""

from __future__ import annotations

import click

from trackway_analyzer.cli.options import Command, Reading, notes, source_options
from trackway_analyzer.cli.output import print_rows


@click.command(cls=Command)
@source_options
def command(source: str, as_json: bool, reading: Reading) -> None:
    """Print every gap: its run, its name, the step that it hides, how often, what was found."""
    trajectories = reading.open(source)
    print_rows(trajectories.gap_table, as_json, empty="no gap in this source")
    notes(trajectories, source, reading)
