"""`trackway stats SRC`: how much there is, and how reliably the tasks succeed."""

from __future__ import annotations

from dataclasses import asdict

import click

from trackway_analyzer.cli.exit import Exit
from trackway_analyzer.cli.options import (
    Command,
    Reading,
    note,
    notes,
    outcomes_option,
    source_options,
)
from trackway_analyzer.measure import pass_sets
from trackway_analyzer.read.quarantine import lost
from trackway_analyzer.report.json import line
from trackway_analyzer.report.summary import print_passes, print_stats, set_name
from trackway_analyzer.report.terminal import console
from trackway_analyzer.summary import tool_table, totals


@click.command(cls=Command)
@source_options
@outcomes_option
def command(source: str, outcomes: str | None, as_json: bool, reading: Reading) -> Exit:
    """Print how many runs, steps, calls, tokens and failures there are, and each tool's share.

    Where runs were judged, also pass^1, pass^2, … of each set of runs: the probability that k
    trials of a task all succeed, averaged over the tasks. Ends with 2 where a set has outcomes and
    no task ids, for then there is no such number. Beside it stands how much was set aside that may
    have held runs: these are not in the number.
    """
    trajectories = reading.judged(source, outcomes)
    counted, tools = totals(trajectories.batch), tool_table(trajectories.batch)
    sets, aside = pass_sets(trajectories.batch), lost(trajectories.quarantined)
    if as_json:
        passes = [asdict(each) for each in sets]
        click.echo(
            line(
                asdict(counted) | {"set_aside": aside, "tools": tools.to_pylist(), "passes": passes}
            )
        )
    else:
        print_stats(counted, tools, console())
        print_passes(sets, console(), set_aside=aside)
    notes(trajectories, source, reading)
    refused = [each for each in sets if each.refused]
    for each in refused:
        note(f"no pass^k of {set_name(each)}: {each.refused}; --outcomes FILE can give them")
    return Exit.INSUFFICIENT if refused else Exit.PASS
