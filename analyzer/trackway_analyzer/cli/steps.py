"""`trackway steps SRC`: the steps of each run, one run a line."""

from __future__ import annotations

import click

from trackway_analyzer.cli import run_name
from trackway_analyzer.cli.options import Command, Reading, notes, source_options
from trackway_analyzer.report.json import line, trajectory_json
from trackway_analyzer.report.terminal import console, print_sequences


@click.command(cls=Command)
@click.option("--run", "run", metavar="ID", help="Only this run: an id, or task=T,trial=3.")
@click.option("--content", is_flag=True, help="With --json: the messages of model turns too.")
@source_options
def command(source: str, run: str | None, as_json: bool, content: bool, reading: Reading) -> None:
    """Print the steps of each run, one run a line.

    `∥` stands between calls that one model turn asked for together, `✗` behind a call that failed,
    `?` behind one that was asked for and never executed. With --json each line is one run.
    """
    name = run_name.parse(source) if run is None else run_name.RunName(source, run)
    trajectories = reading.open(name.source)
    chosen = iter(trajectories)
    if name.run is not None:
        chosen = iter([trajectories[run_name.find(name, trajectories.batch.runs)]])
    if as_json:
        for trajectory in chosen:
            click.echo(line(trajectory_json(trajectory, content=content)))
    else:
        print_sequences(chosen, console())
    notes(trajectories, name.source, reading)
