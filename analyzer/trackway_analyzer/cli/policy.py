"""`trackway policy init SRC`: propose a policy from runs that passed."""

from __future__ import annotations

import click

from trackway_analyzer.cli.options import Command, Reading, notes, reading_options
from trackway_analyzer.rules.mine import LEAST, mine


@click.group()
@click.option("--debug", is_flag=True, expose_value=False, help="Print the traceback of an error.")
def command() -> None:
    """Make policy files."""


@command.command(cls=Command)
@click.argument("source", metavar="SRC")
@click.option(
    "--least",
    type=click.IntRange(1),
    default=LEAST,
    show_default=True,
    help="Fewest runs or calls that a line must rest on.",
)
@reading_options
def init(source: str, least: int, reading: Reading) -> None:
    """Propose a policy mined from the runs of SRC that passed.

    Prints a policy file, each line with its support as a comment. What held so far need not be a
    rule: edit it before you use it.
    """
    trajectories = reading.open(source)
    click.echo(mine(trajectories.batch, least=least).to_yaml(), nl=False)
    notes(trajectories, source, reading)
