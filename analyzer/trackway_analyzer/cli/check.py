"""`trackway check SRC --policy FILE`: do the runs keep to the policy?"""

from __future__ import annotations

import warnings

import click

from trackway_analyzer.cli.exit import Exit
from trackway_analyzer.cli.options import (
    Command,
    Reading,
    note_passed_over,
    notes,
    source_options,
    strict_option,
)
from trackway_analyzer.report.check import PER_RULE, print_report, report_json
from trackway_analyzer.report.json import line
from trackway_analyzer.report.terminal import console
from trackway_analyzer.rules.policy import Policy, PolicyWarning


@click.command(cls=Command)
@click.option("--policy", required=True, metavar="FILE", help="The policy file (YAML).")
@strict_option
@click.option("--all", "everything", is_flag=True, help="Every finding, however many.")
@source_options
def command(
    source: str, policy: str, strict: bool, everything: bool, as_json: bool, reading: Reading
) -> Exit:
    """Check every run of SRC against a policy file; exit by the verdict.

    0 pass, 1 violation, 2 insufficient evidence: a gap hides the answer, there was no run, or
    something could not be read that may have held spans.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PolicyWarning)  # told with the other notes, below
        rules = Policy.from_yaml(policy)
    trajectories = reading.open(source)
    report = trajectories.check(rules, strict=strict)
    if as_json:
        click.echo(line(report_json(report)))
    else:
        print_report(report, console(), per_rule=None if everything else PER_RULE)
    for note in report.checked.notes(rules):
        click.echo(note, err=True)
    if trajectories.large_files is None:
        notes(trajectories, source, reading)
    else:
        note_passed_over(trajectories)
    return Exit(report.exit_code)
