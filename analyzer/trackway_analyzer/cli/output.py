"""Print a small table: rows for a person, JSON lines for a machine."""

from __future__ import annotations

import click
import pyarrow as pa

from trackway_analyzer.report.json import line
from trackway_analyzer.report.terminal import console, print_table


def print_rows(table: pa.Table, as_json: bool, *, empty: str) -> None:
    """Print the rows of a table; `empty` is what a person reads where there is none."""
    if as_json:
        for row in table.to_pylist():
            click.echo(line(row))
    elif len(table):
        header = [name.replace("_", " ") for name in table.schema.names]
        print_table(header, [list(row.values()) for row in table.to_pylist()], console())
    else:
        click.echo(empty)
