"""`trackway variants SRC`: the distinct sequences of tools."""

from __future__ import annotations

from itertools import groupby

import click
import pyarrow as pa

from trackway_analyzer.cli.options import Command, Reading, notes, outcomes_option, source_options
from trackway_analyzer.cli.output import print_rows
from trackway_analyzer.summary import variant_table


@click.command(cls=Command)
@source_options
@outcomes_option
def command(source: str, outcomes: str | None, as_json: bool, reading: Reading) -> None:
    """Print the distinct sequences of tools, the most frequent first, each with one run to look at.

    Calls of one model turn stand in parentheses; `✗` failed, `?` was asked for and never executed,
    `×3` came three times in a row.
    """
    trajectories = reading.judged(source, outcomes)
    variants = variant_table(trajectories.batch)
    if not as_json:
        variants = _for_people(variants)
    print_rows(variants, as_json, empty="this source holds no run")
    notes(trajectories, source, reading)


def _for_people(variants: pa.Table) -> pa.Table:
    """Put the longest column last, and what comes again in a row once."""
    texts = [_folded(text) for text in variants.column("sequence").to_pylist()]
    shares = [f"{share:.0%}" for share in variants.column("share").to_pylist()]
    rest = variants.select(["runs", "share", "succeeded", "failed", "example"])
    rest = rest.set_column(1, "share", pa.array(shares, pa.string()))
    return rest.append_column("sequence", pa.array(texts, pa.string()))


def _folded(sequence: str) -> str:
    groups = ((name, len(list(same))) for name, same in groupby(sequence.split(" → ")))
    return " → ".join(name if count == 1 else f"{name} ×{count}" for name, count in groups)
