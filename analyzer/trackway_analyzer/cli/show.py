"""`trackway show SRC#RUN`: one run on one screen."""

from __future__ import annotations

import click

from trackway_analyzer.cli.options import Command, Reading, json_option, reading_options
from trackway_analyzer.report.json import line, trajectory_json
from trackway_analyzer.report.terminal import console, print_trajectory


@click.command(cls=Command)
@click.argument("run", metavar="SRC#RUN")
@click.option("--all", "every_step", is_flag=True, help="Every model turn too, however long.")
@json_option
@reading_options
def command(run: str, every_step: bool, as_json: bool, reading: Reading) -> None:
    """Print one run: what it was asked, its steps, what it said, and what the record lacks.

    `∥` marks steps without an order among them. Steps are numbered as in findings.
    """
    trajectory = reading.one(run)
    if as_json:
        click.echo(line(trajectory_json(trajectory, content=True)))
    else:
        print_trajectory(trajectory, console(), every_step=every_step)
