"""`trackway quarantine SRC`: what could not be read, and why."""

from __future__ import annotations

import click

from trackway_analyzer.cli import run_name
from trackway_analyzer.cli.options import Command, Reading, source_options
from trackway_analyzer.cli.output import print_rows


@click.command(cls=Command)
@source_options
def command(source: str, as_json: bool, reading: Reading) -> None:
    """Print what was put aside while reading: file, byte offset, reason, what was found."""
    wanted = run_name.parse(source)
    if wanted.run is not None:
        raise click.ClickException(
            "what could not be read belongs to no run: name the source alone,"
            f" trackway quarantine {wanted.source}"
        )
    print_rows(reading.unread(source).quarantined, as_json, empty="everything could be read")
