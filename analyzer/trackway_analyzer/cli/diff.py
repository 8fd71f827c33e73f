"""`trackway diff REF CAND`: what differs between two runs."""

from __future__ import annotations

import click

from trackway_analyzer.cli.exit import Exit
from trackway_analyzer.cli.options import (
    Command,
    Reading,
    json_option,
    reading_options,
    strict_option,
)
from trackway_analyzer.diff import TrajectoryDiff, diff_trajectories
from trackway_analyzer.report.json import line
from trackway_analyzer.report.terminal import console


@click.command(cls=Command)
@click.argument("reference", metavar="REF")
@click.argument("candidate", metavar="CAND")
@strict_option
@json_option
@reading_options
def command(reference: str, candidate: str, strict: bool, as_json: bool, reading: Reading) -> Exit:
    """Compare two runs step by step, after aligning them.

    REF and CAND are SRC#RUN, or a source that holds one run. Exits 1 if a difference fails, 2 if
    the record does not allow a comparison that could fail, else 0.
    """
    diff = diff_trajectories(reading.one(reference), reading.one(candidate))
    if as_json:
        click.echo(line(diff.to_dict()))
    else:
        console().print(str(diff), soft_wrap=True)
    return _exit(diff, strict)


def _exit(diff: TrajectoryDiff, strict: bool) -> Exit:
    if diff.failures or (strict and diff.warnings):
        return Exit.VIOLATION
    return Exit.INSUFFICIENT if diff.insufficient else Exit.PASS
