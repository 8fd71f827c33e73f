"""`trackway gaps SRC`: holes in the evidence, named."""

from __future__ import annotations

import click

from trackway_analyzer.cli.options import Command, Reading, notes, source_options
from trackway_analyzer.cli.output import print_rows
from trackway_analyzer.summary import gap_summary


@click.command(cls=Command)
@source_options
def command(source: str, as_json: bool, reading: Reading) -> None:
    """Print every gap: its run, its name, the step that it hides, how often, what was found.

    Of several gaps each name is summed up at the end.
    """
    trajectories = reading.open(source)
    gaps = trajectories.gap_table
    print_rows(gaps, as_json, empty="no gap in this source")
    if len(gaps) > 1 and not as_json:
        click.echo()
        print_rows(gap_summary(gaps), as_json, empty="")
    notes(trajectories, source, reading)
