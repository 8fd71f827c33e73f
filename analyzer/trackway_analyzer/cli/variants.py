"""`trackway variants SRC`: the distinct sequences of tools."""

from __future__ import annotations

import click

from trackway_analyzer.cli.options import Command, Reading, notes, outcomes_option, source_options
from trackway_analyzer.cli.output import print_rows
from trackway_analyzer.summary import variant_table


@click.command(cls=Command)
@source_options
@outcomes_option
def command(source: str, outcomes: str | None, as_json: bool, reading: Reading) -> None:
    """Print the distinct sequences of tools, the most frequent first, each with one run to look at.

    Calls of one model turn stand in parentheses; `✗` failed, `?` was asked for and never executed.
    """
    trajectories = reading.judged(source, outcomes)
    print_rows(variant_table(trajectories.batch), as_json, empty="this source holds no run")
    notes(trajectories, source, reading)
