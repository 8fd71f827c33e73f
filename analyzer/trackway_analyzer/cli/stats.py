"""`trackway stats SRC`: how much there is."""

from __future__ import annotations

from dataclasses import asdict

import click

from trackway_analyzer.cli.options import Command, Reading, notes, source_options
from trackway_analyzer.report.json import line
from trackway_analyzer.report.summary import print_stats
from trackway_analyzer.report.terminal import console
from trackway_analyzer.summary import tool_table, totals


@click.command(cls=Command)
@source_options
def command(source: str, as_json: bool, reading: Reading) -> None:
    """Print how many runs, steps, calls, tokens and failures there are, and each tool's share."""
    trajectories = reading.open(source)
    counted, tools = totals(trajectories.batch), tool_table(trajectories.batch)
    if as_json:
        click.echo(line(asdict(counted) | {"tools": tools.to_pylist()}))
    else:
        print_stats(counted, tools, console())
    notes(trajectories, source, reading)
