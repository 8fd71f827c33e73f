"""`trackway gaps SRC`: holes in the evidence, named."""

from __future__ import annotations

import click

from trackway_analyzer.cli.options import Command, Reading, notes, source_options
from trackway_analyzer.cli.output import print_rows
from trackway_analyzer.summary import gap_table


@click.command(cls=Command)
@source_options
def command(source: str, as_json: bool, reading: Reading) -> None:
    """Print every gap of every run: its name, the step that it hides, how often, what was found."""
    trajectories = reading.open(source)
    print_rows(gap_table(trajectories.batch), as_json, empty="no gap in the runs of this source")
    notes(trajectories, source, reading)
